"""Numba as the models use it: kernels are compiled when first called, cached on disk, and release the GIL.

The first start after an installation compiles for a while; the screen asks `is_compiling`, so that it can say
so. numba is loaded when the first kernel is defined, not with this module. With NUMBA_DISABLE_JIT=1 every
kernel runs as plain Python.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered and multiplications fused with additions; NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}

_lock = threading.Lock()
_under_way = 0


def is_compiling() -> bool:
    """Whether any thread is compiling. Loading a kernel from its cache does not count."""
    return _under_way > 0


@cache
def cache_folder() -> str | None:
    """The folder where compiled kernels are kept for the next start, made if need be; None if none is
    writable."""
    import platformdirs

    folder = os.environ.get("NUMBA_CACHE_DIR")
    try:
        if not folder:
            # A folder for exactly these sources: numba does not notice a change in a kernel that another one
            # calls.
            sources = hashlib.sha256()
            for source in sorted(Path(__file__).parent.rglob("*.py")):
                sources.update(source.read_bytes())
            folder = f"{platformdirs.user_cache_dir('wikitopics')}/numba/{sources.hexdigest()[:12]}"
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def nothing_kept() -> bool:
    """Whether the next start would find no kernel in `cache_folder`, as right after an installation."""
    folder = cache_folder()
    return folder is not None and not any(Path(folder).rglob("*.nbi"))


@cache
def _numba() -> Any:
    """numba, which from now on tells when it compiles."""
    import numba
    from numba.core import event

    class Compilations(event.Listener):
        def on_start(self, event: object) -> None:
            _count(1)

        def on_end(self, event: object) -> None:
            _count(-1)

    event.register("numba:compile", Compilations())  # type: ignore[no-untyped-call]
    return numba


def _count(by: int) -> None:
    global _under_way
    with _lock:
        _under_way += by


def kernel(function: F) -> F:
    """Compile a function for the CPU; its callers may run it on several threads at once.

    Always inlined. Otherwise a kernel that others call would exist once by itself and once in each caller,
    with sums in different orders, and which one ran would depend on what was compiled and what was cached.
    """
    return _compiled(function, forceinline=True)


def part(function: F) -> F:
    """A step of one kernel, written apart for its readers; it is compiled as if it stood there.

    Like this it takes less time to compile than as a kernel. Give no number that starts as a literal to a
    kernel, as in ``n = 0``: that kernel would be compiled twice, for 0 and for all numbers.
    """
    return _compiled(function, inline="always")


def _compiled(function: F, **inlining: Any) -> F:
    numba, folder = _numba(), cache_folder()
    # Numba chooses the folder when it decorates. Other users of numba in this process keep their own.
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder or ""
    try:
        compiled = numba.njit(
            cache=bool(folder),
            nogil=True,
            error_model="numpy",
            fastmath=REORDER,
            no_cfunc_wrapper=True,
            **inlining,
        )(function)
    finally:
        numba.config.CACHE_DIR = before
    return cast(F, compiled)
