"""Which bytes of a dump are needed when, so that they can be requested ahead, in few requests.

Wikimedia wants a second between two requests, so each should bring many megabytes. The windows that are read
side by side take 400 MB. So most windows come in two requests, and the first one is larger for each further
window: while some windows are nearly used up, others have just come, and half of the memory is enough.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.source import Round

BEHIND = 512 << 10
"""Bytes fetched after the end of a part: the block of its last page hardly ever ends later."""
FIRST = 512 << 10
"""Bytes of a part of which only the first articles are taken."""
FIRST_OF_ALL = 160 << 20
"""Bytes of the first requests for all windows that begin together. With 160 of 400 MB, hardly more are needed
later."""


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes requested at once: those of parts of one window, one for each of consecutive rounds."""

    round: int
    """The round of the first part."""
    parts: Sequence[DumpPart]

    @property
    def size(self) -> int:
        """The bytes to request."""
        return self.stop - self.parts[0].start

    @property
    def stop(self) -> int:
        """The end of the bytes to request; the file may end earlier."""
        return stop_of(self.parts[-1])

    def last_round(self, offset: int) -> int:
        """The last round that needs the byte at ``offset`` of the file."""
        first = self.parts[0]
        number = (offset - first.start) // max(1, first.stop - first.start)
        return self.round + max(0, min(number, len(self.parts) - 1))


@dataclass(slots=True)
class _Window:
    round: int
    parts: list[DumpPart] = field(default_factory=list)


def stop_of(part: DumpPart, behind: int | None = None) -> int:
    """The end of the bytes fetched with a part: ``behind`` bytes after the part's end (None: BEHIND).

    The file may end earlier.
    """
    stop = part.stop + (BEHIND if behind is None else behind)
    return stop if part.last is None else min(part.start + FIRST, stop)


def steps(rounds: Sequence[Round[DumpPart]], first: int) -> list[Step]:
    """The requests, in order, for the rounds from ``first`` on.

    The windows that are read first bring one part each at first, so that training begins sooner.
    """
    together: dict[int, list[_Window]] = {}
    for window in _windows(rounds, first):
        together.setdefault(window.round, []).append(window)
    soon = min((w.round for each in together.values() for w in each if w.parts[0].size), default=first)
    found = [
        Step(begin + done, parts)
        for begin, windows in together.items()
        for window, lengths in zip(windows, _lengths(windows), strict=True)
        for done, parts in _groups(window.parts, [1, *lengths] if begin == soon else lengths)
    ]
    return sorted(found, key=lambda step: step.round)


def _windows(rounds: Sequence[Round[DumpPart]], first: int) -> list[_Window]:
    """Consecutive parts that are read in consecutive rounds.

    They end together, though one may by chance go on where another has ended.
    """
    found: list[_Window] = []
    before: dict[Hashable, _Window] = {}
    for number in range(first, len(rounds)):
        now: dict[Hashable, _Window] = {}
        parts = rounds[number].parts
        if 2 * sum((part.file, part.start) in before for part in parts) < len(parts):
            before = {}
        for part in parts:
            window = before.get((part.file, part.start)) if part.last is None else None
            if window is None:
                window = _Window(number)
                found.append(window)
            window.parts.append(part)
            if part.last is None:
                now[part.file, part.stop] = window
        before = now
    return found


def _lengths(windows: Sequence[_Window]) -> list[list[int]]:
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


def _groups(parts: Sequence[DumpPart], lengths: Sequence[int]) -> Iterator[tuple[int, Sequence[DumpPart]]]:
    """(how many came before, some parts): so many of them, and then the rest."""
    done = 0
    for length in (*lengths, len(parts)):
        if group := parts[done : done + length]:
            yield done, group
        done += length
