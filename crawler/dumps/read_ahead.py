"""Which bytes of a dump are needed when, so that they can be requested ahead, in few requests.

Wikimedia wants a second between two requests, so each should bring many megabytes. The windows that are read
side by side take 400 MB. So most windows come in two requests, and the first one is larger for each further
window: while some windows are nearly used up, others have just come, and half of the memory is enough.
"""

from collections.abc import Iterable, Iterator, Sequence

from wikitopics.crawler.dumps.order import Window
from wikitopics.crawler.dumps.parts import DumpPart

BEHIND = 512 << 10
"""Bytes fetched after the end of a part: the block of its last page hardly ever ends later."""
FIRST = 512 << 10
"""Bytes of a part of which only the first articles are taken."""
FIRST_OF_ALL = 160 << 20
"""Bytes of the first requests for all windows that begin together. With 160 of 400 MB, hardly more are needed
later."""


def stop_of(part: DumpPart, behind: int | None = None) -> int:
    """The end of the bytes fetched with a part: ``behind`` bytes after the part's end (None: BEHIND).

    The file may end earlier.
    """
    stop = part.stop + (BEHIND if behind is None else behind)
    return stop if part.last is None else min(part.start + FIRST, stop)


def steps(windows: Iterable[Window], first: int) -> list[Window]:
    """What to request at once, in order, for the rounds from ``first`` on: windows or pieces of them.

    The windows that are read first bring one part each at first, so that training begins sooner.
    """
    together: dict[int, list[Window]] = {}
    for window in windows:
        done = max(0, first - window.round)
        if rest := window.parts[done:]:
            together.setdefault(window.round + done, []).append(Window(window.round + done, rest))
    soon = min((begin for begin, each in together.items() if any(w.parts[0].size for w in each)), default=0)
    found = [
        step
        for begin, each in together.items()
        for window, lengths in zip(each, _lengths(each), strict=True)
        for step in _cut(window, [1, *lengths] if begin == soon else lengths)
    ]
    return sorted(found, key=lambda step: step.round)


def _lengths(windows: Sequence[Window]) -> list[list[int]]:
    """How many parts of each of the windows that begin together are requested first; the rest follows.

    The numbers grow evenly from window to window, as far as a window has parts.
    """
    share = FIRST_OF_ALL / max(1, sum(part.size for window in windows for part in window.parts))
    if share >= 1:
        return [[] for _ in windows]
    most = 2 * share if share <= 0.5 else 0.5 / (1 - share)  # of the last window, had it that many
    return [
        [max(1, round(most * len(window.parts) * (i + 0.5) / len(windows)))]
        for i, window in enumerate(windows)
    ]


def _cut(window: Window, lengths: Sequence[int]) -> Iterator[Window]:
    """The window in pieces of so many parts, and the rest."""
    done = 0
    for length in (*lengths, len(window.parts)):
        if parts := window.parts[done : done + length]:
            yield Window(window.round + done, parts)
        done += length
