"""Arrays as bytes for the store: .npz without pickle, and a model's state split into arrays and JSON."""

import io
import json
import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.storage.decoding import from_json, named
from wikitopics.session.storage.npz import array_header, check_directory, is_number

_MOST_ARRAYS = 100
_MOST_AXES = 4


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
