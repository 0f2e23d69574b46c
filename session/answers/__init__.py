"""Answers from a stored session: exports, and the topics of any text."""
