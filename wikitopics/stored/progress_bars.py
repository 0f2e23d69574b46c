"""Whether somebody can see a progress bar, and one that counts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from wikitopics.session.errors import Advance, unseen


def tqdm_if_seen(wanted: bool) -> Any:
    """tqdm's class of bars for a terminal or a notebook; None if no bar is wanted, if nobody can
    see it, or if tqdm is not installed."""
    can_be_seen = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not wanted or not can_be_seen:
        return None
    try:
        with warnings.catch_warnings():
            # In a notebook without widgets, tqdm warns, and shows a bar of text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


@contextmanager
def bar_of(unit: str, total: int, wanted: bool) -> Iterator[Callable[[], None]]:
    """Yield a function that counts one more of ``total``, on a bar if somebody can see it."""
    tqdm = tqdm_if_seen(wanted)
    if tqdm is None:
        yield lambda: None
        return
    with tqdm(total=total, unit=f" {unit}") as bar:

        def advance() -> None:
            bar.update()

        yield advance


@contextmanager
def following(delay: float = 2.0, *, wanted: bool = True) -> Iterator[Advance]:
    """Yield an `Advance` that shows a bar, if one is wanted, somebody can see it, and the work is
    not done within ``delay`` seconds."""
    tqdm = tqdm_if_seen(wanted)
    if tqdm is None:
        yield unseen
        return
    bar: Any = None
    shown = ""

    def advance(what: str, done: int, total: int) -> None:
        nonlocal bar, shown
        if what != shown:
            if bar is not None:
                bar.close()
            bar = tqdm(total=total or None, unit=f" {what}", delay=delay, unit_scale=True)
            shown = what
        bar.update(done - bar.n)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.close()
