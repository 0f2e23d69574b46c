"""What can be learnt from a stored session: exports, the report, comparison, and the topics of any
text."""
