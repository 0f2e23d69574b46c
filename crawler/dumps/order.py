"""The order in which the parts of a dump are read: random, as stochastic inference requires of its documents.

A dump is ordered by age. So windows of neighbouring parts are taken in a random order, several at a time, and
a round reads one part of each and shuffles their articles. The state of a round follows from numbers alone;
nothing has to be read for it. The articles to hold out come first: a few from each of several places spread
evenly over the dump.

Wikimedia wants a second between two requests, so each should bring many megabytes. The windows that are read
side by side take 400 MB. So most windows come in two requests, and the first one is larger for each further
window: while some windows are nearly used up, others have just come, and half of the memory is enough.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import groupby

from wikitopics.crawler.dumps.parts import MOST_PARTS, DumpPart, parts_of
from wikitopics.crawler.dumps.ranges import RangedFile
from wikitopics.crawler.source import Round

ORDER = "order"
"""The key of the order in an identity."""
WINDOW = 25
"""The most parts in a window: about 25 MB, few enough places for a disk or a server to seek."""
_WINDOWS = 64
"""The fewest windows of a dump, if it has as many parts."""
LANES = 16
"""The most windows read side by side."""
_MOST = 1000
"""The most parts of a stored window, and the most lanes."""
BEHIND = 512 << 10
"""Bytes fetched after the end of a part: the block of its last page hardly ever ends later."""
FIRST = 512 << 10
"""Bytes of a part of which only the first articles are taken."""
FIRST_OF_ALL = 160 << 20
"""Bytes of the first requests for all windows that begin together. With 160 of 400 MB, hardly more are needed
later."""


@dataclass(frozen=True)
class Order:
    """The rounds of one dump; a session stores its ``vars``."""

    seed: int
    part: int
    """The bytes of a part."""
    sizes: list[int]
    """The bytes of each file."""
    places: int
    each: int
    """Articles held out from each place, if it has that many."""
    articles: int
    """The approximate number of articles in the whole dump."""
    window: int
    """The parts of a window."""
    lanes: int
    """The windows read side by side."""

    @staticmethod
    def fault(kept: object, files: int) -> str:
        """Why JSON values cannot be the ``vars`` of an order of this many files; "" if they can."""
        names = set(Order.__dataclass_fields__)
        if not isinstance(kept, dict) or kept.keys() != names:
            return f"order lacks {', '.join(sorted(names))}"
        sizes = kept["sizes"]
        if not isinstance(sizes, list) or len(sizes) != files:
            return "order.sizes is not a list of the sizes of the files"
        numbers = [*sizes, *(value for name, value in kept.items() if name != "sizes")]
        sound = all(type(number) is int and 0 <= number < 2**63 for number in numbers)
        sound = sound and kept["part"] >= 1 << 10 and sum(sizes) <= MOST_PARTS * kept["part"]
        sound = sound and all(0 < kept[name] <= _MOST for name in ("window", "lanes"))
        return "" if sound else "order has numbers that are out of range"


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive parts of a file, one of which is read in each of consecutive rounds."""

    round: int
    """The round of the first part."""
    parts: Sequence[DumpPart]

    def last_round(self, offset: int) -> int:
        """The last round that needs the byte at ``offset`` of the file."""
        first = self.parts[0]
        number = (offset - first.start) // max(1, first.stop - first.start)
        return self.round + max(0, min(number, len(self.parts) - 1))


def windows(order: Order, files: Sequence[RangedFile]) -> Iterator[Window]:
    """The dump in ``files`` in the order in which it is read: first the articles to hold out, a part each.

    A window also ends where its file does.
    """
    parts = parts_of(files, order.sizes, order.part)
    if order.each:
        for number in spread(len(parts), order.places):
            yield Window(0, [replace(parts[number], last=order.each)])
            parts[number] = replace(parts[number], first=order.each)
    shuffled = sorted(range(-(-len(parts) // order.window)), key=partial(_dice, order.seed))
    for place, number in enumerate(shuffled):
        begin = bool(order.each) + place // order.lanes * order.window
        window = parts[number * order.window : (number + 1) * order.window]
        for _, of_file in groupby(window, key=lambda part: part.file):
            found = list(of_file)
            yield Window(begin, found)
            begin += len(found)


def rounds(order: Order, files: Sequence[RangedFile]) -> list[Round[DumpPart]]:
    """What is read together, first to last, from the dump in ``files``."""
    together: dict[int, list[DumpPart]] = defaultdict(list)
    for window in windows(order, files):
        for number, part in enumerate(window.parts, window.round):
            together[number].append(part)
    parts = sum(-(-size // order.part) for size in order.sizes)
    shuffled = -(-parts // (order.window * order.lanes)) * order.window
    found = [Round(together[0], _in_turn)] if order.each else []
    mixed = partial(_mixed, order.seed)
    return found + [Round(together[n], mixed) for n in range(len(found), len(found) + shuffled)]


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


def windows_and_lanes(parts: int) -> tuple[int, int]:
    """How many of the ``parts`` make a window, and how many windows are read side by side.

    Hardly fewer are read at the end than before, since the last articles count as much.
    """
    window = max(1, min(WINDOW, parts // _WINDOWS))
    windows = -(-parts // window)
    return window, -(-windows // max(1, -(-windows // LANES)))


def spread(n: int, places: int) -> list[int]:
    """``places`` of ``n`` parts, evenly spread (all, if there are fewer)."""
    places = min(n, places)
    return [(2 * i + 1) * n // (2 * places) for i in range(places)]


def _dice(seed: int, n: int) -> bytes:
    """By these, numbers come into an order that looks random and is the same everywhere."""
    return blake2b(f"{seed} {n}".encode(), digest_size=8).digest()


def _mixed(seed: int, page_ids: Sequence[Sequence[int]]) -> list[int]:
    """The articles of all parts in random order."""
    flat = [page_id for part in page_ids for page_id in part]
    return sorted(range(len(flat)), key=lambda i: _dice(seed, flat[i]))


def _in_turn(page_ids: Sequence[Sequence[int]]) -> list[int]:
    """The first article of each part, then the second of each, and so on."""
    places = [(i, n) for n, part in enumerate(page_ids) for i in range(len(part))]
    return sorted(range(len(places)), key=lambda i: places[i])
