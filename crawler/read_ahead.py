"""Which bytes of a dump are needed when, so that they can be requested ahead, in few requests."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from crawler.dump_parts import DumpPart
from crawler.source import Round

BEHIND = 512 << 10
"""Bytes fetched after the end of a part: the block of its last page hardly ever ends later."""
FIRST = 512 << 10
"""Bytes of a part of which only the first articles are taken."""
STEP = 2 << 20
"""Bytes of a window requested at once, fewer at its beginning, so that work can begin.

For sixteen windows side by side, they fit into the cache, together with the bytes being read.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes needed by parts of one round and of the rounds after it."""

    round: int
    part: DumpPart
    """The first of these parts."""
    stop: int


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
    """The requests, in order, for the rounds from ``first`` on."""
    found = [
        Step(window.round + done, group[0], stop_of(group[-1]))
        for window in _windows(rounds, first)
        for done, group in _groups(window.parts)
    ]
    return sorted(found, key=lambda step: step.round)


def _windows(rounds: Sequence[Round[DumpPart]], first: int) -> list[_Window]:
    """Consecutive parts that are read in consecutive rounds."""
    found: list[_Window] = []
    before: dict[Hashable, _Window] = {}
    for number in range(first, len(rounds)):
        now: dict[Hashable, _Window] = {}
        for part in rounds[number].parts:
            window = before.get((part.file, part.start)) if part.last is None else None
            if window is None:
                window = _Window(number)
                found.append(window)
            window.parts.append(part)
            if part.last is None:
                now[part.file, part.stop] = window
        before = now
    return found


def _groups(parts: Sequence[DumpPart]) -> list[tuple[int, Sequence[DumpPart]]]:
    """(how many came before, some parts): one, then two, and so on up to a whole step."""
    found = []
    done, length = 0, 1
    while done < len(parts):
        found.append((done, parts[done : done + length]))
        done += length
        length = min(2 * length, max(1, STEP // max(1, parts[0].stop - parts[0].start)))
    return found
