"""How a session file is recognised, and what else a reader needs of the schema."""

from session.records import Role

APPLICATION_ID = 0x77746F70
"""'wtop' in the SQLite header, which distinguishes a session from any other SQLite file."""

ROLES: tuple[Role, ...] = ("trained", "held_out", "skipped")
"""A role is stored as its index here."""

VERSION = 8
"""The number of the newest migration; kept in `PRAGMA user_version` so that an older program can refuse."""
