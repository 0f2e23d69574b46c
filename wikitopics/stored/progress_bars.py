"""Whether somebody can see a progress bar, and one that counts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


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
