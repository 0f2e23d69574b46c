"""Arrays as bytes for the store: .npz without pickle, and a model's state split into arrays and JSON."""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from session.errors import NotASession


def pack_state(state: Mapping[str, Any]) -> tuple[str, bytes]:
    """A model's ``state()`` as (JSON of the plain numbers, flags and strings, .npz of the arrays)."""
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    plain = {key: value for key, value in state.items() if key not in arrays}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return json.dumps(plain), buffer.getvalue()


def unpack_state(scalars: str, arrays: bytes) -> dict[str, Any]:
    """The inverse of :func:`pack_state`. Raises :class:`NotASession` for bytes that are none of its."""
    with damaged_told("a model"), np.load(io.BytesIO(arrays), allow_pickle=False) as data:
        return {**json.loads(scalars), **{key: data[key] for key in data.files}}


@contextlib.contextmanager
def damaged_told(what: str) -> Iterator[None]:
    """Have what reads ``what`` out of a session raise :class:`NotASession` where its bytes are damaged.

    SQLite sees no damage within a value; its checksums are those of the .npz.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 (of zipfile, numpy and json, by what the bytes have become)
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise NotASession(f"the session is damaged, {what} in it cannot be read: {reason[:80]}") from None
