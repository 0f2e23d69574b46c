"""The exports, one per file."""
