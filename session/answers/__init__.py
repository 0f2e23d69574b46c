"""Answers from a stored session: exports, and what its models make of any text."""
