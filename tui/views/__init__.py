"""The views, one per file."""
