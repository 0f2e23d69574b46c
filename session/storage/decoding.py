"""Values from a session file, checked one by one and converted from what SQLite or JSON gave.

Every function takes a value and its place, such as "progress.articles", and raises `Damaged`, naming the
place, for a value that no session of ours can have. `check_of` knows which function fits which column.
"""

import contextlib
import json
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged
from wikitopics.session.records import Event, State, TopicChange
from wikitopics.session.storage.schema import tables

T = TypeVar("T")
Check = Callable[[object, str], Any]

MOST = 10**15
"""No count is larger, so that sums of them fit 64 bits and floats."""
LARGEST = 1e15
"""No other number is larger, whatever it measures."""
FINITE = sys.float_info.max
LATEST = 4e10
"""Seconds since the epoch, in the 33rd century: a calendar can show it."""
LONGEST = 65_536
"""The most characters of a title or a message."""
MOST_WORD_BYTES = 64 * 2**20
"""The most bytes of a vocabulary."""
LONGEST_NAME = 60
"""The most characters of a given name."""
LONGEST_WORDS = 1000
"""The most characters of a name made of words."""

_KINDS = {
    type(None): "missing",
    str: "text",
    bytes: "a blob",
    bool: "a flag",
    list: "a list",
    dict: "an object",
}


def whole(value: object, place: str, low: int = 0, high: int = MOST) -> int:
    """A whole number from ``low`` to ``high``."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(value, place, "a whole number")
    if not low <= value <= high:
        raise Damaged(f"{place} is out of range")
    return value


def wholes(values: Sequence[object], place: str, low: int = 0, high: int = MOST) -> Sequence[int]:
    """Whole numbers from ``low`` to ``high``, a column of them at once."""
    if set(map(type, values)) == {int}:
        column = cast(Sequence[int], values)
        if low <= min(column) and max(column) <= high:
            return column
    return [whole(value, place, low, high) for value in values]  # to say which value is wrong


def number(value: object, place: str, low: float = 0.0, high: float = LARGEST) -> float:
    """A number from ``low`` to ``high``, never NaN."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _wrong(value, place, "a number")
    if not low <= value <= high:
        raise Damaged(f"{place} is out of range")
    return float(value)


def text(value: object, place: str, longest: int = LONGEST) -> str:
    """Text of at most ``longest`` characters that UTF-8 can write."""
    if not isinstance(value, str):
        raise _wrong(value, place, "text")
    if len(value) > longest:
        raise Damaged(f"{place} is over {longest:,} characters long")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Damaged(f"{place} is not Unicode text") from None
    return value


def texts(values: Sequence[object], place: str) -> Sequence[str]:
    """Texts of at most `LONGEST` characters that UTF-8 can write, a column of them at once."""
    if set(map(type, values)) == {str}:
        column = cast(Sequence[str], values)
        if max(map(len, column)) <= LONGEST:
            with contextlib.suppress(UnicodeEncodeError):
                "".join(column).encode()
                return column
    return [text(value, place) for value in values]  # to say which value is wrong


def one_of(value: object, place: str, choices: Collection[T]) -> T:
    """One of these values."""
    for choice in choices:
        if type(value) is type(choice) and value == choice:
            return choice
    raise Damaged(f"{place} is not one of its {len(choices)} possible values")


def flag(value: object, place: str) -> bool:
    """True or false, as JSON writes them."""
    if not isinstance(value, bool):
        raise _wrong(value, place, "true or false")
    return value


def optional(value: object, place: str, decode: Callable[[object, str], T]) -> T | None:
    """None if nothing is there, otherwise the value as ``decode`` converts it."""
    return None if value is None else decode(value, place)


def from_json(value: object, place: str, longest: int = 2**20) -> object:
    """The value of JSON text, without the NaN and infinity that Python's reader would accept."""
    try:
        return json.loads(text(value, place, longest), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Damaged(f"{place} is not JSON") from None


def named(value: object, place: str) -> Mapping[str, object]:
    """An object of JSON."""
    if not isinstance(value, dict):
        raise _wrong(value, place, "an object")
    return value


def json_object(value: object, place: str) -> Mapping[str, object]:
    """The value of JSON text that must be an object."""
    return named(from_json(value, place), place)


def tally(value: object, place: str) -> dict[str, int]:
    """JSON text of an object that counts something by name."""
    return {text(name, place): whole(n, place) for name, n in json_object(value, place).items()}


def switch(value: object, place: str) -> bool:
    """True or false, as 1 or 0."""
    return bool(whole(value, place, 0, 1))


def moment(value: object, place: str) -> float:
    """Seconds since the epoch."""
    return number(value, place, 0, LATEST)


def listed(value: object, place: str, decode: Callable[[object, str], T]) -> tuple[T, ...]:
    """A JSON list, with each element converted by ``decode``."""
    if not isinstance(value, list):
        raise _wrong(value, place, "a list")
    return tuple(decode(each, place) for each in value)


def numbers(
    value: object, place: str, dtype: type[np.generic], shape: tuple[int, ...], low: float, high: float
) -> NDArray[Any]:
    """An array from its bytes, its numbers from ``low`` to ``high``. -1 in a shape stands for the rest."""
    if not isinstance(value, bytes):
        raise _wrong(value, place, "a blob")
    one = math.prod(size for size in shape if size >= 0) * np.dtype(dtype).itemsize
    if len(value) % one if -1 in shape and one else len(value) != one:
        raise Damaged(f"{place} has the wrong length")
    found = np.frombuffer(value, dtype).reshape(shape)
    if found.size and not (low <= found.min() and found.max() <= high):
        raise Damaged(f"{place} holds numbers that are out of range")
    return found


def _wrong(value: object, place: str, wanted: str) -> Damaged:
    found = _KINDS.get(type(value), "a number")
    return Damaged(f"{place} is {found}" + ("" if value is None else f", not {wanted}"))


def _no_number(name: str) -> None:
    raise ValueError(name)


_OF_TYPE: Mapping[str, Check] = {
    "INTEGER": whole,
    "REAL": number,
    "TEXT": text,
    "BLOB": lambda value, place: value,
}
_OF_COLUMN: Mapping[str, Check] = {
    **dict.fromkeys(("blocks.first_seq", "blocks.articles", "progress.next_seq"), partial(whole, low=1)),
    **dict.fromkeys(("control.paused", "control.save", "control.stop", "progress.finished"), switch),
    **dict.fromkeys(("events.at", "flow.at", "heartbeat.at", "metrics.seconds", "runs.started_at"), moment),
    **dict.fromkeys(("runs.ended_at", "progress.elapsed_seconds", "progress.committed_at"), moment),
    "events.level": partial(one_of, choices=get_args(Event.__annotations__["level"])),
    "first_articles.position": json_object,
    "first_articles.skips": tally,
    "first_articles.words": partial(text, longest=MOST_WORD_BYTES),
    "given_names.name": partial(text, longest=LONGEST_NAME),
    "heartbeat.activity": json_object,
    "heartbeat.state": partial(one_of, choices=get_args(State)),
    "metrics.value": partial(number, low=-FINITE, high=FINITE),
    "progress.position": json_object,
    "progress.prequential": lambda value, place: listed(from_json(value, place), place, lambda one, _: one),
    "progress.skips": tally,
    "topic_events.event": partial(one_of, choices=get_args(TopicChange)),
    "topic_events.name": partial(text, longest=LONGEST_WORDS),
}
"""How columns are checked, if not merely by their types."""
_OPTIONAL = {
    "first_articles.lap",
    *("progress.position", "progress.lap", "progress.renew_from", "progress.prequential"),
    *("runs.ended_at", "runs.reason", "topic_events.other"),
}


@cache
def check_of(table: str, column: str) -> Callable[[object], Any]:
    """Checks a value of this column, and converts it; blobs are left to what unpacks them."""
    place = f"{table}.{column}"
    (kind,) = [kind for name, kind, *_ in tables()[table] if name == column]
    check = _OF_COLUMN.get(place, _OF_TYPE[kind])
    return lambda value: None if value is None and place in _OPTIONAL else check(value, place)
