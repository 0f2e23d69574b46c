"""Reading the session file. Never changes anything."""

from wikitopics.session.storage.reader.session import SessionReader

__all__ = ["SessionReader"]
