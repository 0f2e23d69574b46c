"""Values from a session file, checked by their types, and arrays from bytes.

Everything here raises `Damaged`, naming the place, such as "progress.articles", for a value that no
session of ours can have.
"""

import io
import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import IO, Annotated, Any, BinaryIO, Literal, get_args, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.records import JSON

MOST_WORD_BYTES = 64 * 2**20
"""The most bytes of a vocabulary."""
_FLAGS: dict[object, bool] = {0: False, 1: True}
Types = Mapping[str, Any]
"""The type of each column of a table."""
Rows = list[tuple[Any, ...]]
_CELL = re.compile(r"^\[\d+\]\[(\d+)\]")
"""The row and the column in a path as msgspec writes it."""


def convert(value: object, kind: Any, place: str, columns: Sequence[str] = ()) -> Any:
    """A plain value as this type; ``columns``: the columns' names, if the value is rows of a
    table."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise _damaged(error, place, columns) from None


def from_json(value: object, kind: Any, place: str, longest: int = 2**20) -> Any:
    """The value of JSON text of at most ``longest`` characters, as this type."""
    try:
        return msgspec.json.decode(
            convert(value, Annotated[str, Meta(max_length=longest)], place), type=kind
        )
    except msgspec.ValidationError as error:
        raise _damaged(error, place) from None
    except (msgspec.DecodeError, RecursionError):
        raise Damaged(f"{place} is not JSON") from None


def convert_rows(rows: Sequence[Sequence[object]], table: str, columns: Types) -> Rows:
    """Rows of a table, each value as the type of its column; a flag is stored as 0 or 1."""
    names = [column.rpartition(" AS ")[2] for column in columns]
    kinds = tuple(columns.values())
    flags = [place for place, kind in enumerate(kinds) if kind is bool]
    packed = [place for place, kind in enumerate(kinds) if JSON in get_args(kind)]
    unpacked: Any = rows
    if flags or packed:
        unpacked = [list(row) for row in rows]
        for row in unpacked:
            for place in flags:
                row[place] = _FLAGS.get(row[place], row[place])
            for place in packed:
                if row[place] is not None:
                    row[place] = from_json(row[place], Any, f"{table}.{names[place]}")
    values: Rows = convert(unpacked, list[tuple[kinds]], table, names)  # type: ignore[valid-type]
    return values


@cache
def columns_of(record: type) -> Types:
    """The type of each column of a table whose rows are records of this type."""
    return get_type_hints(record, include_extras=True)


def row_of(record: Any) -> dict[str, object]:
    """The columns of a record; the inverse of `convert_rows`."""
    row = {}
    for name, kind in columns_of(record.__class__).items():
        value = getattr(record, name)
        if JSON in get_args(kind) and value is not None:
            value = json.dumps(value)
        row[name] = value
    return row


def whole(value: object, place: str, low: int = 0, high: int = 10**15) -> int:
    """A whole number from ``low`` to ``high``."""
    number: int = convert(value, Annotated[int, Meta(ge=low, le=high)], place)
    return number


def numbers(
    value: object,
    place: str,
    dtype: type[np.generic],
    shape: tuple[int, ...],
    low: float,
    high: float,
) -> NDArray[Any]:
    """An array from its bytes, with numbers from ``low`` to ``high``. -1 in a shape stands for the
    rest."""
    try:
        array: NDArray[Any] = np.frombuffer(value, dtype).reshape(shape)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise Damaged(f"{place} has the wrong length") from None
    if array.size and not (low <= array.min() and array.max() <= high):
        raise Damaged(f"{place} holds numbers that are out of range")
    return array


def _damaged(error: Exception, place: str, columns: Sequence[str] = ()) -> Damaged:
    """An error of msgspec, which ends with a path within the value."""
    reason, _, path = str(error).partition(" - at `$")
    path = path.rstrip("`")
    if columns:
        path = _CELL.sub(lambda cell: f".{columns[int(cell[1])]}", path)
    return Damaged(f"{place}{path}: {visible(reason):.200}")


# Arrays as bytes for the session file, .npz without pickle, and .npz files that somebody else made.
#
# Nothing is unpacked before its size is known. Large arrays are read from the file as they are
# needed: half a gigabyte opens at once.

_LOCAL_HEADER = struct.Struct("<26xHH")
"""What precedes a member of a zip; of its fields, the lengths of the name and of the extra field
that follow."""
_END = struct.Struct("<4s8xL6x")
"""A zip's last record; of its fields, the size of the directory in bytes."""
_WIDE_END = struct.Struct("<4s36xQ8x20x")
"""The same for a zip over 4 GB; it comes before that record, together with a pointer to it."""
LARGEST_DIRECTORY = 2**16
"""The most bytes of a zip's directory: hundreds of arrays. `zipfile` makes an object of each
entry."""
MOST_UNPACKED = 2**29
"""The most bytes of compressed arrays; uncompressed ones stay on disk, however large."""
_MOST_ARRAYS = 100
"""The most arrays of a model's state."""
_MOST_AXES = 4
"""The most axes of one of these."""


class TooLarge(ValueError):
    """An .npz that would take more memory than any real word counts need; the message says why."""


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
        numbers = np.fromfile(self.file, self.dtype, size)
        if len(numbers) < size:
            raise OSError(None, "it has shrunk since it was opened")
        return numbers


Column = OnDisk | NDArray[Any]


def open_npz(file: BinaryIO, names: Sequence[str]) -> tuple[dict[str, Column], str]:
    """(the arrays ``names`` of an .npz, a text that changes when an array does: their sizes and
    CRC-32 from the file's directory). Nothing is unpickled, and a single number becomes an array of
    one.

    ``file`` has to stay open; compressed arrays are loaded into memory.

    Nothing is unpacked before its size is known. Raises KeyError with the missing name, `TooLarge`,
    OSError, and whatever zipfile, zlib and numpy raise on hostile bytes.
    """
    check_directory(file)
    with zipfile.ZipFile(file) as archive:
        stored = archive.namelist()
        for name in names:
            if f"{name}.npy" not in stored:
                raise KeyError(name)
        members = [archive.getinfo(f"{name}.npy") for name in names]
        compressed = [
            member for member in archive.infolist() if member.compress_type != zipfile.ZIP_STORED
        ]
        if any(member.compress_type != zipfile.ZIP_DEFLATED for member in compressed):
            raise ValueError("its compression is not that of an .npz")
        if sum(member.file_size for member in compressed) > MOST_UNPACKED:
            raise TooLarge(
                f"over {MOST_UNPACKED >> 20} MB of compressed arrays: write it with numpy.savez, "
                "uncompressed"
            )
        arrays = {
            name: _open(file, archive, member) for name, member in zip(names, members, strict=True)
        }
    fingerprint = " ".join(f"{member.file_size:x}:{member.CRC:08x}" for member in members)
    return arrays, fingerprint


def check_directory(file: BinaryIO) -> None:
    """Check that the directory of a zip is small. Raises ValueError."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END.size - _WIDE_END.size))
    last_bytes = file.read()
    last_record = last_bytes[-_END.size :]
    if len(last_record) < _END.size or not last_record.startswith(b"PK\5\6"):
        raise ValueError("it does not end as an .npz does")
    _, directory_size = _END.unpack(last_record)
    pointer_to_wide_end = last_bytes[: -_END.size][-20:]
    if pointer_to_wide_end.startswith(b"PK\6\7"):
        if not last_bytes.startswith(b"PK\6\6"):
            raise ValueError("it does not end as an .npz does")
        _, directory_size = _WIDE_END.unpack(last_bytes[: _WIDE_END.size])
    if directory_size > LARGEST_DIRECTORY:
        raise TooLarge("it holds too many arrays")


def array_header(content: IO[bytes], size: int) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    """The type and shape of the array in a .npy of ``size`` bytes, and whether it is in
    column-major order.

    Leaves ``content`` at the first value. Raises ValueError, also if the size does not fit the
    array, and whatever else numpy raises on hostile bytes.
    """
    version = np.lib.format.read_magic(content)
    if version != (1, 0):  # a header of another version may have any length
        raise ValueError("not a plain array")
    length = content.read(2)
    header = content.read(int.from_bytes(length, "little"))
    shape, fortran, dtype = _parsed_header(length + header)
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != size - content.tell():
        raise ValueError("an array in it differs in length from its header")
    return dtype, shape, fortran


@lru_cache(256)
def _parsed_header(header: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether it is in column-major order, and the type; most headers of a session are
    alike."""
    return np.lib.format.read_array_header_1_0(io.BytesIO(header))


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
    name_length, extra_length = _LOCAL_HEADER.unpack(header)
    return member.header_offset + len(header) + int(name_length) + int(extra_length)


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
            return {
                member.filename.removesuffix(".npy"): _array(archive.read(member))
                for member in members
            }
    except Exception as error:  # noqa: BLE001 (zipfile and numpy raise anything on damaged bytes)
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise Damaged(f"{place} cannot be read: {reason[:80]}") from None


def pack_state(state: Mapping[str, Any]) -> tuple[str, bytes]:
    """A model's ``state()`` as (JSON of the plain numbers, flags and strings, .npz of the arrays).

    Raises `SessionError` for values that `unpack_state` would not accept, which a model of another
    package may have.
    """
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    plain = {key: value for key, value in state.items() if key not in arrays}
    unfit = [key for key, value in arrays.items() if not _is_array_of_numbers(value)]
    unfit += [key for key, value in plain.items() if not _is_plain(value)]
    if len(arrays) > _MOST_ARRAYS:
        raise SessionError(
            f"a session stores at most {_MOST_ARRAYS} arrays of a model, and this one has "
            f"{len(arrays)}"
        )
    if unfit:
        raise SessionError(
            f"a session stores finite numbers, flags, texts and arrays of numbers: {unfit[0]} of "
            "the model's state is something else"
        )
    return json.dumps(plain), pack_arrays(arrays)


def unpack_state(scalars: object, arrays: object) -> dict[str, Any]:
    """The inverse of `pack_state`. Raises `Damaged` for anything that it did not make."""
    return {
        **from_json(scalars, dict[str, Any], "models.scalars"),
        **unpack_arrays(arrays, "models.arrays"),
    }


def _is_array_of_numbers(array: NDArray[Any]) -> bool:
    return is_number(array.dtype) and array.ndim <= _MOST_AXES


def _is_plain(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int | str)


def _array(content: bytes) -> NDArray[Any]:
    """The array of a .npy file. Raises ValueError."""
    file = io.BytesIO(content)
    dtype, shape, fortran = array_header(file, len(content))
    if not is_number(dtype) or len(shape) > _MOST_AXES:
        raise ValueError("an array in it is not one of ours")
    numbers = np.frombuffer(content, dtype, math.prod(shape), file.tell())
    order: Literal["F", "C"] = "F" if fortran else "C"
    return numbers.reshape(shape, order=order)
