"""Whether somebody can see a progress bar, and one that counts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wikitopics.session.advance import Advance, unseen

DELAY = 2.0
"""Seconds of work before there is a bar."""


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
def following(*, wanted: bool = True) -> Iterator[Advance]:
    """Yield an `Advance` that shows a bar, if one is wanted, somebody can see it, and the work is
    not done within `DELAY` seconds."""
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
            is_few = 0 < total < 1000  # 3/50, not 3.00/50.0
            bar = tqdm(total=total or None, unit=f" {what}", delay=DELAY, unit_scale=not is_few)
            shown = what
        bar.update(done - bar.n)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.close()
