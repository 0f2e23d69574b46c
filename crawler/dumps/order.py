"""The order in which the parts of a dump are read: random, as stochastic inference requires of its documents.

A dump is ordered by age. So windows of neighbouring parts are taken in a random order, several at a time, and
a round reads one part of each and shuffles their articles. The state of a round follows from numbers alone;
nothing has to be read for it. The articles to hold out come first: a few from each of several places spread
evenly over the dump.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
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
