"""The sessions of this user."""

from pathlib import Path

from wikitopics.session.errors import SessionError
from wikitopics.session.paths import session_folder
from wikitopics.session.records import Status
from wikitopics.session.storage.reader import SessionReader


def list_sessions() -> list[tuple[str, Path, Status | str]]:
    """(name, file, status) of every session in the session folder, by name; a message instead of the
    status if the file cannot be read."""
    found: list[tuple[str, Path, Status | str]] = []
    for path in sorted(session_folder().glob("[!.]*.db")):
        try:
            with SessionReader(path) as reader:
                found.append((path.stem, path, reader.status()))
        except SessionError as error:
            found.append((path.stem, path, str(error)))
    return found
