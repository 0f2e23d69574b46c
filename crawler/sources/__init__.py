"""The sources of articles, one per file."""
