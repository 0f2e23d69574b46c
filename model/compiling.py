"""Whether kernels are being compiled at this moment, for whoever wonders why nothing else goes on, and where
they are kept.

Loads nothing at first: what compiles says so to :func:`compilation`.
"""

import os
import threading

_lock = threading.Lock()
_under_way = 0


def compilation(by: int) -> None:
    """A compilation has begun (1) or has ended (-1)."""
    global _under_way
    with _lock:
        _under_way += by


def is_compiling() -> bool:
    """Whether one is under way in any thread. Reading a kernel from its cache is none."""
    return _under_way > 0


def cache_folder() -> str | None:
    """Where compiled kernels are kept for the next start; None where no folder can be written."""
    from model._jit import CACHED

    return os.environ["NUMBA_CACHE_DIR"] if CACHED else None
