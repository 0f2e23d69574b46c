"""The export formats, one per file."""
