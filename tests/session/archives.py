"""Arrays as the bytes of an .npz file."""

import io

import numpy as np


def npz(arrays, save=np.savez):
    buffer = io.BytesIO()
    save(buffer, **arrays)
    return buffer.getvalue()
