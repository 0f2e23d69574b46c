"""Arrays as bytes for the store: .npz without pickle, and a model's state split into arrays and JSON."""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def pack_state(state: Mapping[str, Any]) -> tuple[str, bytes]:
    """A model's ``state()`` as (JSON of the plain numbers, flags and strings, .npz of the arrays)."""
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    plain = {key: value for key, value in state.items() if key not in arrays}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return json.dumps(plain), buffer.getvalue()


def unpack_state(scalars: str, arrays: bytes) -> dict[str, Any]:
    """The inverse of :func:`pack_state`."""
    state: dict[str, Any] = json.loads(scalars)
    with np.load(io.BytesIO(arrays), allow_pickle=False) as data:
        state.update({key: data[key] for key in data.files})
    return state
