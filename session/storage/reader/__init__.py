"""Reading the session file. Never changes anything, and reads files of every schema as they are."""

from session.storage.reader.session import SessionReader

__all__ = ["SessionReader"]
