"""The user's own documents: JSON lines, tables and plain texts."""
