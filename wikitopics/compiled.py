"""Numba: kernels are compiled when first called, cached on disk, and release the GIL.

The first start after an installation takes a while to compile; the screen asks `is_compiling`, so
that it can say so. numba is loaded when the first kernel is defined, not with this module. With
NUMBA_DISABLE_JIT=1 every kernel runs as plain Python.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
SOURCES = ("compiled.py", "model/*.py", "vocab/*.py", "session/analysis/*kernels.py")
"""The files that kernels depend on."""

# LLVM's flags by which sums may be reordered and multiplications fused with additions; NaN and
# infinity keep their meaning.
FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}
SETTINGS = {"nogil": True, "error_model": "numpy", "fastmath": FAST_MATH, "no_cfunc_wrapper": True}

_compilations: list[object] = []  # under way
_decorating = Lock()


def is_compiling() -> bool:
    """Whether any thread is compiling. Loading a kernel from its cache does not count."""
    return bool(_compilations)


@contextmanager
def compiling() -> Iterator[None]:
    """Count as compiling meanwhile, as when another process compiles what this one waits for."""
    _compilations.append(None)
    try:
        yield
    finally:
        _compilations.pop()


@cache
def cache_folder() -> str | None:
    """The folder where compiled kernels are kept for the next start, created if necessary; None if
    none is writable."""
    import platformdirs

    folder = os.environ.get("NUMBA_CACHE_DIR")
    try:
        if not folder:
            # A folder for exactly these sources: numba does not notice changes in a kernel that is
            # called by another.
            sources = hashlib.sha256()
            package = Path(__file__).parent
            for pattern in SOURCES:
                for source in sorted(package.glob(pattern)):
                    sources.update(source.read_bytes())
            name = sources.hexdigest()[:12]
            folder = f"{platformdirs.user_cache_dir('wikitopics')}/numba/{name}"
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def nothing_kept() -> bool:
    """Whether the next start would find no kernels in `cache_folder`, as after an installation."""
    folder = cache_folder()
    return folder is not None and not any(Path(folder).rglob("*.nbi"))


@cache
def _kept() -> Any:
    """numba's cache of a kernel, but no error of it ends a start: a kernel whose files are damaged,
    as by a full disk or a power cut, is compiled again, and the files are replaced."""
    from numba.core.caching import FunctionCache
    from numba.core.runtime.nrt import rtsys

    class Kept(FunctionCache):
        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                # What numba's own method loads first, a third of a second of CPU time, is needed
                # to compile, which loads it itself. To run, a kernel needs numba's runtime.
                rtsys.initialize(target_context)
                return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            except Exception:  # noqa: BLE001 (whatever a damaged file makes pickle raise)
                with suppress(OSError):
                    self.flush()  # type: ignore[no-untyped-call]
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            with suppress(Exception):  # a full disk, or damaged files that cannot be replaced
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    return Kept


@cache
def _numba() -> Any:
    """numba, which from now on reports when it compiles."""
    import numba
    from numba.core import event

    class Compilations(event.Listener):
        def on_start(self, event: object) -> None:
            _compilations.append(event)

        def on_end(self, event: object) -> None:
            _compilations.pop()

    event.register("numba:compile", Compilations())  # type: ignore[no-untyped-call]
    return numba


def kernel(function: F) -> F:
    """Compile a function for the CPU; its callers may run it on several threads at once.

    It is always inlined. Otherwise a kernel called by others would exist on its own and in each
    caller, with sums in different orders, and which version ran would depend on what was compiled
    and what was cached.
    """
    return _compiled(function, forceinline=True)


def part(function: F) -> F:
    """A step of one kernel, written separately for readability and compiled as part of that kernel.

    It takes less time to compile than a kernel of its own. Never pass a kernel a number that starts
    as a literal, as in ``n = 0``: the kernel would be compiled twice, for 0 and for all numbers.
    """
    return _compiled(function, inline="always")


def _compiled(function: F, **inlining: Any) -> F:
    """The function as numba compiles it when it is first called, with our settings and our cache;
    ``inlining``: further arguments of `numba.njit`."""
    numba = _numba()
    folder = cache_folder()
    # Numba chooses the folder when it decorates; other users of numba in this process keep theirs.
    # One thread at a time: otherwise a kernel could get the folder that another thread restores.
    with _decorating:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = folder or ""
        try:
            compiled = numba.njit(**SETTINGS, **inlining)(function)
            if folder and compiled is not function:
                compiled._cache = _kept()(function)  # as cache=True would set numba's
        finally:
            numba.config.CACHE_DIR = before
    return cast(F, compiled)
