"""The user's own settings file: the contact that Wikimedia asks for, and the screen's theme and keys.

The HTTP client is imported late: the screen uses this module and would otherwise load it for nothing.
"""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from session.errors import BadUsage, SessionError
from session.paths import config_file
from session.storage.files import read_input, replacing

_MOST_BYTES = 100_000


def load() -> dict[str, Any]:
    """The whole file; empty if there is none. Raises :class:`BadUsage` if it is not TOML."""
    return _parsed(_read())


def _read() -> str:
    path = config_file()
    try:
        return read_input(path, _MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise SessionError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadUsage(f"{path} is not valid TOML: {error}") from None


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise BadUsage(f"{config_file()} is not valid TOML: {error}") from None
    except RecursionError:
        raise BadUsage(f"{config_file()} is nested too deeply") from None


def contact() -> str | None:
    """The contact of `$WIKITOPICS_CONTACT`, else the one in the file. Raises :class:`BadUsage`."""
    if told := os.environ.get("WIKITOPICS_CONTACT"):
        return told
    value = load().get("contact")
    if value is not None and not isinstance(value, str):
        raise BadUsage(f"{config_file()}: contact must be text in quotes")
    return value


def contact_problem(text: str) -> str | None:
    """What is wrong with ``text`` as a contact, in one line; None if it will do."""
    from crawler.contact import check_contact
    from crawler.errors import ContactMissing

    try:
        check_contact(text)
    except ContactMissing as error:
        return str(error).removesuffix(" with --contact")  # the dialog has a field for it
    return None


def save_contact(text: str) -> Path:
    """Save the contact, in the form in which it is sent, and leave the rest of the file as it is.

    Only the user can read the file. Raises :class:`~crawler.errors.ContactMissing` for text that is not a
    contact.
    """
    from crawler.contact import check_contact

    path = config_file()
    line = (
        f"contact = {json.dumps(check_contact(text), ensure_ascii=False)}"  # a JSON string is a TOML string
    )
    before = _read()
    _parsed(before)  # a file that cannot be read is not written either
    lines = before.splitlines()
    tables = next((n for n, old in enumerate(lines) if old.lstrip().startswith("[")), len(lines))
    kept = [old for n, old in enumerate(lines) if n >= tables or not re.match(r"\s*contact\s*=", old)]
    after = "\n".join([line, *kept]) + "\n"
    try:
        tomllib.loads(after)
    except ValueError:  # such as an old contact of several lines
        raise BadUsage(f"cannot change {path} automatically; set this line in it: {line}") from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SessionError(f"cannot create the folder {path.parent}: {error.strerror}") from None
    with replacing(path, mode=0o600) as file:
        file.write(after.encode())
    return path
