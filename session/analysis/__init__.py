"""What a stored session tells: exports, the report, comparison, and the topics of any text."""
