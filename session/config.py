"""The user's own settings file: the contact that Wikimedia asks for, and the screen's theme and
keys.

The HTTP client is imported late: the screen uses this module and would otherwise load it for
nothing.
"""

import json
import os
import re
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.paths import config_file
from wikitopics.session.storage.files import make_folder, read_input, replacing

if TYPE_CHECKING:
    from wikitopics.crawler.source import Identity, SourceKind
    from wikitopics.session.request import TrainRequest

_VARIABLE = "WIKITOPICS_CONTACT"
_MOST_BYTES = 100_000
"""The most bytes of a settings file."""


def load() -> dict[str, Any]:
    """The whole file; empty if there is none. Raises `BadUsage` if it is not TOML."""
    return _parsed(_read())


def _read() -> bytes:
    path = config_file()
    try:
        return read_input(path, _MOST_BYTES)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise SessionError(f"{path}: {error.strerror}") from None


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode())
    except ValueError as error:
        raise BadUsage(f"{config_file()} is not valid TOML: {error}") from None
    except RecursionError:
        raise BadUsage(f"{config_file()} is nested too deeply") from None


def contact() -> str | None:
    """The contact of `$WIKITOPICS_CONTACT`, else the one in the file. Raises `BadUsage`."""
    if text := os.environ.get(_VARIABLE):
        return text
    value = load().get("contact")
    if value is not None and not isinstance(value, str):
        raise BadUsage(f"{config_file()}: contact must be text in quotes")
    return value


def with_contact(
    request: "TrainRequest", kind: "SourceKind", identity: "Identity"
) -> "TrainRequest":
    """The request with the user's contact, if the source may send one: the one given, else the
    saved one.

    Raises `ContactMissing` if Wikimedia's servers require one and would not recognise it. If none
    is required, a settings file that cannot be read is ignored.
    """
    from wikitopics.crawler.mediawiki.kinds import CONTACT

    text = request.get(CONTACT)
    if kind.needs_contact(identity):
        from wikitopics.crawler.http.contact import check_contact

        text = check_contact(text or contact() or "")
    elif not text:
        with suppress(SessionError):
            text = contact()
    return request.giving(**{CONTACT.name: text})


def lacks_contact() -> bool:
    """Whether the user must be asked for a contact that Wikimedia's servers recognise.

    Raises `BadUsage` if they would not recognise the one in `$WIKITOPICS_CONTACT`, which would be
    used instead of any answer.
    """
    problem = contact_problem(contact() or "")
    if problem and os.environ.get(_VARIABLE):
        raise BadUsage(f"${_VARIABLE}: {problem}")
    return problem is not None


def contact_problem(text: str) -> str | None:
    """What is wrong with ``text`` as a contact for Wikimedia, in one line; None if it is valid."""
    from wikitopics.crawler.errors import ContactMissing
    from wikitopics.crawler.http.contact import HOW, check_contact

    try:
        check_contact(text)
    except ContactMissing as error:
        # The dialog has a field for it.
        return str(error).removesuffix(f": {HOW}").removesuffix(" with --contact")
    return None


def save_contact(text: str) -> Path:
    """Save the contact as it is sent to servers, and leave the rest of the file as it is.

    Only the user can read the file. Raises `ContactMissing` for text that is not a contact.
    """
    from wikitopics.crawler.http.contact import check_contact

    path = config_file()
    quoted = json.dumps(check_contact(text), ensure_ascii=False)  # a JSON string is a TOML string
    line = f"contact = {quoted}"
    before = _read()
    _parsed(before)  # a file that is not valid TOML is left alone
    lines = [line]
    in_table = False
    for old_line in before.decode().splitlines():
        in_table = in_table or old_line.lstrip().startswith("[")
        is_old_contact = not in_table and re.match(r"\s*contact\s*=", old_line)
        if not is_old_contact:
            lines.append(old_line)
    after = "\n".join(lines) + "\n"
    try:
        tomllib.loads(after)
    except ValueError:  # such as an old contact of several lines
        raise BadUsage(f"cannot change {path} automatically; put this line in it: {line}") from None
    make_folder(path.parent)
    with replacing(path, mode=0o600) as file:
        file.write(after.encode())
    return path
