"""Numba as the models use it: kernels are compiled when first called, cached on disk, and release the GIL.

With NUMBA_DISABLE_JIT=1 every kernel runs as plain Python.
"""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import platformdirs
from numba.core import event

from wikitopics.model.compiling import compilation

F = TypeVar("F", bound=Callable[..., Any])


def _cache_folder() -> Path:
    """A folder for exactly these sources: numba does not notice a change in a kernel that another one
    calls."""
    sources = hashlib.sha256()
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        sources.update(source.read_bytes())
    return Path(platformdirs.user_cache_dir("wikitopics")) / "numba" / sources.hexdigest()[:12]


def _find_cache() -> str:
    """The folder for compiled kernels, made if need be; "" if none is writable."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    try:
        folder = Path(chosen) if chosen else _cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return ""
    return str(folder) if os.access(folder, os.W_OK | os.X_OK) else ""


CACHE = _find_cache()


class _Compilations(event.Listener):
    """Notices every compilation."""

    def on_start(self, event: object) -> None:
        compilation(1)

    def on_end(self, event: object) -> None:
        compilation(-1)


event.register("numba:compile", _Compilations())  # type: ignore[no-untyped-call]

# Sums may be reordered and multiplications fused with additions; NaN and infinity keep their meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: F) -> F:
    """Compile a function for the CPU; its callers may run it on several threads at once.

    Always inlined. Otherwise a kernel that others call would exist once by itself and once in each caller,
    with sums in different orders, and which one ran would depend on what was compiled and what was cached.
    """
    # Numba chooses the folder when it decorates. Other users of numba in this process keep their own.
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, CACHE  # type: ignore[attr-defined]
    try:
        compiled: Any = numba.njit(
            cache=bool(CACHE), nogil=True, error_model="numpy", fastmath=REORDER, forceinline=True
        )(function)
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]
    return cast(F, compiled)
