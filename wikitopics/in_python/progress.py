"""The progress bar of `train`, in a terminal or a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wikitopics.in_python.parameters import in_python
from wikitopics.session.errors import SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.paths import session_name
from wikitopics.session.records import Status
from wikitopics.session.settings import Settings
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.training.defaults import chosen_by_size
from wikitopics.stored.progress_bars import tqdm_if_seen

BAR = "{l_bar}{bar}| [{elapsed}{postfix}]"
"""The share of the work that is done; how many texts are learnt and the time left are the
session's."""
AT_FIRST = "{desc}: [{elapsed}]"
"""Before anything is known of the session."""
DONE = 1_000
"""What the bar counts up to."""


@contextmanager
def progress_bar(
    path: Path,
    wanted: bool,
    requested: Settings | None,
) -> Iterator[Callable[[], None]]:
    """Yield a function that reads the session and shows its progress, if somebody can see it.

    ``wanted``: whether the caller wants a bar; ``requested``: the settings of a new session before
    its size is known.
    """
    tqdm = tqdm_if_seen(wanted)
    if tqdm is None:
        yield lambda: None
        return
    name = visible(session_name(path))
    began = time.time()
    with tqdm(desc=name, bar_format=AT_FIRST) as bar:

        def show() -> None:
            with suppress(SessionError), SessionReader(path) as reader:
                now = reader.status()
                if now.committed_at < began:  # nothing has been saved since this training began
                    return
                is_first_time = bar.total is None
                if is_first_time:
                    bar.bar_format = BAR
                    chosen = ""
                    if requested:  # the session is new, and tells what it has chosen by its size
                        chosen = chosen_by_size(requested, reader.settings())
                    if chosen:
                        # Notebooks show what is on standard error as if it were an error.
                        bar.write(in_python(chosen), file=sys.stdout)
                    bar.reset(DONE)
                bar.set_description(_label(name, now), refresh=False)
                bar.set_postfix_str(", ".join(_facts(now)), refresh=False)
                bar.n = round((now.lap or 0) * DONE)
                bar.refresh()

        yield show


def _label(name: str, now: Status) -> str:
    """What stands before the bar of the session of this name: which reading goes on, of several."""
    if now.in_last_reading:
        return f"{name}, last reading"
    passes = 1 if now.added else now.passes  # added texts are read once
    if passes > 1:
        return f"{name}, pass {now.pass_} of {passes}"
    return name


def _facts(now: Status) -> Iterator[str]:
    """What stands after the bar."""
    yield f"{now.documents:,} texts learnt"
    for model in now.models:
        if model.perplexity:
            yield f"{model.name}={model.perplexity:,.0f}"
    if now.time_left:
        yield now.time_left
