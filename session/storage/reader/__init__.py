"""The session file, read. Never changes anything, and reads files of every schema as they lie."""

from session.storage.reader.session import SessionReader

__all__ = ["SessionReader"]
