"""Arrays as bytes for the store: .npz without pickle, and a model's state split into arrays and JSON."""

import io
import json
import math
import re
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from session.errors import Damaged, SessionError
from session.storage.decoding import from_json, named

_END = struct.Struct("<4s4H2LH")
"""A zip's last record, as np.savez writes it; among other things, the number of directory entries and
their bytes."""
_MOST_ARRAYS = 100
_LONGEST_ENTRY = 256
_ARRAY = re.compile("[<>|][iuf][1248]")
"""The types of numbers that an array may have, as numpy writes them."""
_HEADER = re.compile(
    rb"\x93NUMPY\x01\0..\{'descr': '(" + _ARRAY.pattern.encode() + rb")', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,12},? ?){0,4})\), \} *\n",
    re.DOTALL,
)
"""The header of an array of numbers, as np.savez writes it."""


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """An uncompressed .npz."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **dict(arrays))
    return buffer.getvalue()


def unpack_arrays(data: object, place: str) -> dict[str, NDArray[Any]]:
    """The inverse of :func:`pack_arrays`. Raises :class:`Damaged` for anything that it did not make.

    Takes no more memory than ``data`` does: data that unpacks to more was not packed by us.
    """
    if not isinstance(data, bytes):
        raise Damaged(f"{place} holds no arrays")
    try:
        _check_directory(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
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

    Raises :class:`SessionError` for values that :func:`unpack_state` would not accept, which a model of
    another package may have.
    """
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    plain = {key: value for key, value in state.items() if key not in arrays}
    unfit = [key for key, value in arrays.items() if not _ARRAY.fullmatch(value.dtype.str) or value.ndim > 4]
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
    """The inverse of :func:`pack_state`. Raises :class:`Damaged` for anything that it did not make."""
    plain = named(from_json(scalars, "models.scalars"), "models.scalars")
    return {**plain, **unpack_arrays(arrays, "models.arrays")}


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


def _check_directory(data: bytes) -> None:
    """Check that the directory has few entries, since a zip's reader makes an object of each."""
    if len(data) < _END.size:
        raise ValueError("it is truncated")
    signature, _, _, _, entries, size, _, _ = _END.unpack(data[-_END.size :])
    wide = data[-_END.size - 20 : -_END.size].startswith(b"PK\6\7")  # there is a record with larger numbers
    if signature != b"PK\5\6" or entries > _MOST_ARRAYS or size > entries * _LONGEST_ENTRY or wide:
        raise ValueError("it does not end as an .npz does")


def _array(content: bytes) -> NDArray[Any]:
    """The array of a .npy file. Raises ValueError."""
    header = _HEADER.match(content)
    if header is None:
        raise ValueError("an array in it has no header")
    dtype, fortran, sizes = header.groups()
    shape = tuple(int(size) for size in re.findall(rb"\d+", sizes))
    kind = np.dtype(dtype.decode())
    if math.prod(shape) * kind.itemsize != len(content) - header.end():
        raise ValueError("an array in it differs in length from its header")
    if 0 in shape:
        return np.empty(shape, kind)
    return np.frombuffer(content, kind, offset=header.end()).reshape(
        shape, order="F" if fortran == b"True" else "C"
    )
