"""How a session file is told from others, and all else that a reader needs of the schema."""

from session.records import Role

APPLICATION_ID = 0x77746F70
"""'wtop' in the SQLite header: how a session is told from any other SQLite file."""

ROLES: tuple[Role, ...] = ("trained", "held_out", "skipped")
"""A role is kept as its place here."""

VERSION = 8
"""The number of the newest migration; kept in `PRAGMA user_version` so that an older program can refuse."""
