"""Requests to servers: their limits, their replies, and what may be repeated of them."""
