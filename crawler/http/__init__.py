"""Requests to servers: their limits, their replies, and what messages may quote of them."""
