"""Whether kernels are being compiled at this moment, for whoever wonders why nothing else goes on.

Loads nothing: what compiles says so to :func:`compilation`.
"""

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
