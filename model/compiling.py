"""Whether the models' kernels are being compiled at the moment, and where compiled kernels are kept.

The first start after an installation compiles for a while; the screen asks here so that it can say so.
Nothing is loaded on import: the compiler reports to `compilation`.
"""

import threading

_lock = threading.Lock()
_under_way = 0


def compilation(by: int) -> None:
    """Note that a compilation has begun (1) or ended (-1)."""
    global _under_way
    with _lock:
        _under_way += by


def is_compiling() -> bool:
    """Whether any thread is compiling. Loading a kernel from its cache does not count."""
    return _under_way > 0


def cache_folder() -> str | None:
    """The folder where compiled kernels are kept for the next start; None if none is writable."""
    from wikitopics.model._jit import CACHE

    return CACHE or None
