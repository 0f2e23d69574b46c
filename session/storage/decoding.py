"""Values from a session file, checked one by one and converted from what SQLite or JSON gave.

Every function takes a value and its place, such as "progress.articles", and raises `Damaged`, naming the
place, for a value that no session of ours can have. `check_of` knows which function fits which column.
"""

import contextlib
import io
import json
import math
import os
import struct
import sys
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import IO, Any, BinaryIO, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged, SessionError
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


# Arrays as bytes for the session file, .npz without pickle, and .npz files that somebody else made.
#
# Nothing is unpacked before its size is known. Large arrays of a file are read in place: half a gigabyte
# opens at once.

_LOCAL_HEADER = struct.Struct("<26xHH")  # of a zip member: ends with the lengths of its name and extra field
_END = struct.Struct("<4s8xL6x")
"""A zip's last record; among other things, the bytes of its directory."""
_WIDE_END = struct.Struct("<4s36xQ8x20x")
"""The same for a zip over 4 GB; it comes before that record, together with a pointer to it."""
LARGEST_DIRECTORY = 2**16
"""Bytes of a zip's directory: hundreds of arrays. A zip's reader makes an object of each entry."""
MOST_UNPACKED = 2**29
"""The most bytes of compressed arrays; uncompressed ones stay on disk, however large."""
_MOST_ARRAYS = 100
_MOST_AXES = 4


class TooLarge(ValueError):
    """An .npz that would take more memory than any real word counts; the message says why."""


@dataclass(frozen=True, slots=True)
class OnDisk:
    """Numbers stored uncompressed; their slices are read from the file."""

    file: BinaryIO
    dtype: np.dtype[Any]
    offset: int
    """Bytes from the file's start to the first number."""
    length: int
    ndim: int

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> NDArray[Any]:
        start, stop, _ = part.indices(self.length)
        size = max(0, stop - start)
        self.file.seek(self.offset + start * self.dtype.itemsize)
        found = np.fromfile(self.file, self.dtype, size)
        if len(found) < size:
            raise OSError(None, "it has shrunk since it was opened")
        return found


Column = OnDisk | NDArray[Any]


@dataclass(frozen=True, slots=True)
class NpzArrays:
    """Some arrays of an .npz file."""

    arrays: dict[str, Column]
    """The arrays by name, a single number as a row of one; compressed ones are in memory."""
    crc: str
    """Sizes and CRC-32 of these arrays, from the file's directory: they change when an array does."""


def open_npz(file: BinaryIO, names: Sequence[str]) -> NpzArrays:
    """The arrays ``names`` of an .npz, none of them unpickled; ``file`` has to stay open.

    Nothing is unpacked before its size is known. Raises KeyError with the missing name, `TooLarge`, OSError,
    and whatever zipfile, zlib and numpy raise on hostile bytes.
    """
    check_directory(file)
    with zipfile.ZipFile(file) as archive:
        stored = archive.namelist()
        if not any(name.endswith(".npy") for name in stored):
            raise ValueError("a zip without arrays")
        for name in names:
            if f"{name}.npy" not in stored:
                raise KeyError(name)
        members = [archive.getinfo(f"{name}.npy") for name in names]
        compressed = [member for member in archive.infolist() if member.compress_type != zipfile.ZIP_STORED]
        if any(member.compress_type != zipfile.ZIP_DEFLATED for member in compressed):
            raise ValueError("its compression is not that of an .npz")
        if sum(member.file_size for member in compressed) > MOST_UNPACKED:
            raise TooLarge(
                f"over {MOST_UNPACKED >> 20} MB of compressed arrays: write it with numpy.savez, uncompressed"
            )
        arrays = {name: _open(file, archive, member) for name, member in zip(names, members, strict=True)}
    return NpzArrays(arrays, " ".join(f"{member.file_size:x}:{member.CRC:08x}" for member in members))


def is_undamaged(file: BinaryIO) -> bool:
    """Whether an .npz accepted by `open_npz` is undamaged, by its CRCs."""
    with zipfile.ZipFile(file) as archive:
        return archive.testzip() is None


def check_directory(file: BinaryIO) -> None:
    """Check that the directory of a zip is small. Raises ValueError."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - _WIDE_END.size))
    end = file.read()
    if len(end) < _END.size or not end[-_END.size :].startswith(b"PK\5\6"):
        raise ValueError("it does not end as an .npz does")
    directory = _END.unpack(end[-_END.size :])[1]
    if end[-_END.size - 20 :].startswith(b"PK\6\7"):
        if not end.startswith(b"PK\6\6"):
            raise ValueError("it does not end as an .npz does")
        directory = _WIDE_END.unpack(end[: _WIDE_END.size])[1]
    if directory > LARGEST_DIRECTORY:
        raise TooLarge("it holds too many arrays")


def array_header(content: IO[bytes], size: int) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """The type and shape of the array in a .npy of ``size`` bytes, and whether columns come first.

    Leaves ``content`` at the first value. Raises ValueError, also if the size is not that of such an array,
    and whatever else numpy raises on hostile bytes.
    """
    if np.lib.format.read_magic(content) != (1, 0):  # a header of another version may have any length
        raise ValueError("not a plain array")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(content)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != size - content.tell():
        raise ValueError("an array in it differs in length from its header")
    return dtype, shape, fortran


def is_number(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of this type hold numbers of at most 64 bits."""
    return dtype.kind in "iuf" and dtype.itemsize <= 8


def _open(file: BinaryIO, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Column:
    with archive.open(member) as content:
        dtype, shape, _ = array_header(content, member.file_size)
        if member.compress_type == zipfile.ZIP_STORED:
            offset = _start(file, member) + content.tell()
            return OnDisk(file, dtype, offset, math.prod(shape), ndim=max(1, len(shape)))
    with archive.open(member) as content:
        return np.atleast_1d(np.lib.format.read_array(content, allow_pickle=False))


def _start(file: BinaryIO, member: zipfile.ZipInfo) -> int:
    """Where the member's content begins in the file."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    name, extra = _LOCAL_HEADER.unpack(header)
    return member.header_offset + len(header) + int(name) + int(extra)


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """An uncompressed .npz."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **dict(arrays))
    return buffer.getvalue()


def unpack_arrays(data: object, place: str) -> dict[str, NDArray[Any]]:
    """The inverse of `pack_arrays`. Raises `Damaged` for anything that it did not make.

    Takes no more memory than ``data`` does: data that unpacks to more was not packed by us.
    """
    if not isinstance(data, bytes):
        raise Damaged(f"{place} holds no arrays")
    try:
        file = io.BytesIO(data)
        check_directory(file)
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
            if not stored or sum(member.file_size for member in members) > len(data):
                raise ValueError("it unpacks to more than its own size")
            return {member.filename.removesuffix(".npy"): _array(archive.read(member)) for member in members}
    except Exception as error:  # noqa: BLE001 (of zipfile and numpy, by what the bytes have become)
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise Damaged(f"{place} cannot be read: {reason[:80]}") from None


def pack_state(state: Mapping[str, Any]) -> tuple[str, bytes]:
    """A model's ``state()`` as (JSON of the plain numbers, flags and strings, .npz of the arrays).

    Raises `SessionError` for values that `unpack_state` would not accept, which a model of another package
    may have.
    """
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    plain = {key: value for key, value in state.items() if key not in arrays}
    unfit = [key for key, value in arrays.items() if not is_number(value.dtype) or value.ndim > _MOST_AXES]
    unfit += [key for key, value in plain.items() if not _is_plain(value)]
    if len(arrays) > _MOST_ARRAYS:
        raise SessionError(
            f"a session stores at most {_MOST_ARRAYS} arrays of a model, and this one has {len(arrays)}"
        )
    if unfit:
        raise SessionError(
            f"a session stores finite numbers, flags, texts and arrays of numbers: {unfit[0]} of the model's "
            "state is something else"
        )
    return json.dumps(plain), pack_arrays(arrays)


def unpack_state(scalars: object, arrays: object) -> dict[str, Any]:
    """The inverse of `pack_state`. Raises `Damaged` for anything that it did not make."""
    plain = named(from_json(scalars, "models.scalars"), "models.scalars")
    return {**plain, **unpack_arrays(arrays, "models.arrays")}


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


def _array(content: bytes) -> NDArray[Any]:
    """The array of a .npy file. Raises ValueError."""
    file = io.BytesIO(content)
    dtype, shape, fortran = array_header(file, len(content))
    if not is_number(dtype) or len(shape) > _MOST_AXES:
        raise ValueError("an array in it is not one of ours")
    numbers = np.frombuffer(content, dtype, math.prod(shape), file.tell())
    return numbers.reshape(shape, order="F" if fortran else "C")
