"""The arguments of what a session offers in Python: what they may be, and what is said if they
are not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from numbers import Real
from operator import index
from pathlib import Path
from typing import SupportsIndex

from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import session_path, user_path
from wikitopics.session.storage.articles import MOST_ARTICLES


def path_of(session: str | os.PathLike[str]) -> Path:
    """The file of the session of this name, or at this path, as for `open`.

    Raises ValueError for anything that cannot be a name, and TypeError.
    """
    if not isinstance(session, str | os.PathLike):
        raise wrong_type("session", "a name or a path", session)
    try:
        if isinstance(session, str):
            return session_path(session)
        return session_path(str(Path(session).absolute()))
    except BadUsage as error:
        raise ValueError(f"session: {error}") from None


def target_of(path: str | os.PathLike[str]) -> Path:
    """The file to write. Raises ValueError and TypeError."""
    if not isinstance(path, str | os.PathLike):
        raise wrong_type("path", "a path", path)
    try:
        return user_path(os.fspath(path))
    except BadUsage as error:
        raise ValueError(f"path: {error}") from None


def wrong_type(argument: str, needed: str, value: object) -> TypeError:
    """The error for a value that is not what an argument ``needed``, in one line."""
    shown = " ".join(repr(value).split())
    return TypeError(f"{argument} must be {needed}, not {shown:.60} ({type(value).__name__})")


def check_collection(argument: str, value: object) -> None:
    """Raise TypeError unless the value is a collection, such as a list or a column of a table."""
    # Iterating over a table yields the names of its columns, or its rows.
    if hasattr(value, "columns") or hasattr(value, "column_names"):
        raise TypeError(f"{argument} must be a column, such as frame['text'], not a table")
    # Arrays without dimensions hold one value.
    is_single = isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0
    yields_keys = isinstance(value, Mapping)
    if is_single or yields_keys or not isinstance(value, Iterable):
        raise wrong_type(argument, "a collection, such as a list", value)


def may_be_tokens(document: object) -> bool:
    """Whether a document may be a list of tokens, or of counts."""
    return isinstance(document, Iterable) and not isinstance(document, str | bytes | Mapping)


def cell(value: object) -> object:
    """The value of a table's cell: None for NaN, for pandas' NA and NaT, and for what numpy masks;
    for a scalar of Arrow, the value that it holds."""
    if type(value).__module__.partition(".")[0] == "pyarrow":
        value = value.as_py()  # type: ignore[attr-defined]
    # By name, since pandas need not be installed.
    if type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return None
    is_nan = isinstance(value, Real) and value != value
    return None if is_nan else value


def given_flag(argument: str, value: object) -> bool:
    """True or False, also numpy's. Raises TypeError for anything else."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise wrong_type(argument, "True or False", value)
    return bool(value)


def whole(argument: str, value: SupportsIndex, least: int | None = None) -> int:
    """A whole number, which may be numpy's, but no bool; with ``least``, one from there to a
    million. Raises TypeError and ValueError."""
    if isinstance(value, bool):
        raise wrong_type(argument, "a whole number", value)
    try:
        number = index(value)
    except TypeError:
        raise wrong_type(argument, "a whole number", value) from None
    if least is not None and not least <= number <= MOST_ARTICLES:
        raise ValueError(f"{argument} must be from {least} to {MOST_ARTICLES:,}, not {number}")
    return number
