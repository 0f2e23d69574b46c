"""The user's own settings file: the contact, and what the screen keeps there."""

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from session.errors import BadUsage, SessionError
from session.paths import config_file


def load() -> dict[str, Any]:
    """The whole file; empty where there is none. Raises :class:`BadUsage` where it is no TOML."""
    path = config_file()
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SessionError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadUsage(f"{path} is no TOML: {error}") from None


def contact() -> str | None:
    """The contact kept there."""
    value = load().get("contact")
    if value is not None and not isinstance(value, str):
        raise BadUsage(f"{config_file()}: contact must be a text in quotes")
    return value


def save_contact(text: str) -> Path:
    """Keep the contact, leaving everything else in the file as it is; only the user can read it."""
    path = config_file()
    line = f"contact = {json.dumps(text, ensure_ascii=False)}"  # a JSON string is a TOML string
    load()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        tables = next((n for n, old in enumerate(lines) if old.lstrip().startswith("[")), len(lines))
        kept = [old for n, old in enumerate(lines) if n >= tables or not re.match(r"\s*contact\s*=", old)]
        draft = path.with_name(f".{path.name}.{os.getpid()}.new")
        descriptor = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write("\n".join([line, *kept]) + "\n")
        draft.replace(path)
    except OSError as error:
        raise SessionError(f"cannot write {path}: {error.strerror}") from None
    return path
