"""Stretches of dump files that can be read independently, in any process and in any order.

A part is a range of bytes of a file as stored on disk. Its pages are those whose first byte is in data whose
unpacking begins there: a block, a frame, or for a plain file the byte itself. So each page is in exactly one
part, wherever files are divided.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import groupby
from pathlib import Path

from wikitopics.crawler.dumps.containers import (
    HEAD,
    HeldFile,
    RangedFile,
    Read,
    bzip2_blocks,
    data_blocks,
    frames,
    has_blocks,
    has_frames,
    magic_of,
    reading,
)
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.source import (
    BadSource,
    CutOff,
    Lacking,
    Page,
    Round,
    Skip,
    SourceInfo,
    default_held_out,
    with_spare,
)

SMALLEST, LARGEST = 1 << 10, 1 << 20
"""The bytes of a part. Its last page may end in a further block of 900 kB, which is unpacked only for
that."""
MOST_PARTS = 1_000_000
"""The most parts of a dump; larger dumps have larger parts."""
_PARTS = 64
"""The fewest parts of a small dump, so that its articles too can be held out in many places and shuffled."""
_READ = 1 << 20
_LITTLE = 32 << 10
_MOST_UNPACKED = 256 << 20
"""The most bytes of a part's data; a dump unpacks to five or twenty times its size."""
_MOST_ARTICLES = 50_000
"""The most articles of a part; the shortest ones of a real dump, in large numbers, take a hundred bytes
each."""
_PAGE = re.compile(rb"<page[\s>]")


@dataclass(frozen=True, slots=True)
class DumpPart:
    """The pages that begin in bytes ``start`` to before ``stop`` of a file.

    Only its articles from ``first`` to before ``last`` are taken (None: all that follow).
    """

    file: RangedFile
    start: int
    stop: int
    first: int = 0
    last: int | None = None

    @property
    def size(self) -> int:
        """The stored bytes; 0 for a part whose rest is read another time."""
        return self.stop - self.start if self.last is None else 0

    def __str__(self) -> str:
        return f"{Path(self.file.name).name}, bytes {self.start:,} to {self.stop:,}"

    def held(self, stop: int) -> "DumpPart":
        """The same part, holding the bytes of the file up to ``stop``. Raises a CrawlerError."""
        file, start = self.file, self.start
        held = HeldFile(file.name, file.size, file.read(0, HEAD), start, file.read(start, stop))
        return replace(self, file=held)

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in their order, and, unless it ends at ``last``, why others were skipped.

        Raises CutOff after the last page that can be read, Lacking, BadSource.
        """
        if self.file.size < self.stop:
            raise BadSource(f"{self.file.name}: the file became smaller while it was read")
        articles = 0
        for page in _pages(self, info):
            if isinstance(page, Page):
                articles += 1
                if articles > _MOST_ARTICLES:
                    raise CutOff(f"it holds over {_MOST_ARTICLES:,} articles")
                if articles > self.first:
                    yield page
                if articles == self.last:
                    return
            elif self.last is None:
                yield page


def can_be_parted(file: RangedFile, most: int | None = None) -> bool:
    """Whether reading can begin within the file; ``most`` as for `has_frames`. Raises BadSource."""
    head = file.read(0, HEAD)
    if head.startswith(b"BZh"):
        return has_blocks(reading(file, 0))
    magic = magic_of(head)
    return magic is None or has_frames(file, magic, most)


def part_size(sizes: Sequence[int]) -> int:
    """The bytes of each part of a dump whose files have these ``sizes``."""
    size = sum(sizes)
    return max(min(LARGEST, max(SMALLEST, size // _PARTS)), -(-size // MOST_PARTS))


def parts_of(files: Sequence[RangedFile], sizes: Sequence[int], size: int) -> list[DumpPart]:
    """All parts of ``size`` bytes, in the order of the files."""
    return [
        DumpPart(file, start, min(start + size, whole))
        for file, whole in zip(files, sizes, strict=True)
        for start in range(0, whole, size)
    ]


def _pages(part: DumpPart, info: SourceInfo) -> Iterator[Page | Skip]:
    is_first = part.start == 0
    reader = DumpReader(part.file.name, info, continued=not is_first)
    has_begun, before, unpacked = is_first, b"", 0
    fed, inside = 0, 1  # bytes given to the reader, and how many of them are the part's own
    with reader:
        for start, pieces in _blocks(part):
            is_behind = start >= part.stop
            if is_behind and (not before if not has_begun else reader.between_pages or reader.has_ended):
                return
            for data in _small(pieces) if is_behind else pieces:
                unpacked += len(data)
                if unpacked > _MOST_UNPACKED:
                    raise CutOff(f"it unpacks to over {_MOST_UNPACKED >> 20} MB")
                if not has_begun:
                    first = _PAGE.search(before + data)
                    if is_behind and (first is None or first.start() >= len(before)):
                        return
                    data = before + data
                    if first is None:
                        before = data[-5:]  # a tag may be divided
                        continue
                    has_begun, data = True, data[first.start() :]
                fed += len(data)
                if not is_behind:
                    inside = fed
                for entry in reader.feed(data):
                    if entry.start >= inside:
                        return
                    if entry.page is not None:
                        yield entry.page
                    if entry.end > inside:
                        return
        if has_begun:
            reader.close()


def _small(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The same data in smaller pieces: after a part, only the end of a page has to be found."""
    return (piece[i : i + _LITTLE] for piece in pieces for i in range(0, len(piece), _LITTLE))


def _blocks(part: DumpPart) -> Iterator[tuple[int, Iterator[bytes]]]:
    """(byte at which reading can begin, the data from there), from the part's first byte to the file's
    end."""
    head = part.file.read(0, HEAD)
    magic = magic_of(head)
    if magic is not None:
        return frames(part.file, magic, part.start, part.stop - part.start)
    read = reading(part.file, part.start)
    return bzip2_blocks(read, part.start) if head.startswith(b"BZh") else _plain(read, part)


def _plain(read: Read, part: DumpPart) -> Iterator[tuple[int, Iterator[bytes]]]:
    at = part.start
    while data := read(min(_READ, part.stop - at) if at < part.stop else _LITTLE):
        yield at, iter((data,))
        at += len(data)


# The order in which the parts of a dump are read: random, as stochastic inference requires of its documents.
#
# A dump is ordered by age. So windows of neighbouring parts are taken in a random order, several at a time,
# and a round reads one part of each and shuffles their articles. The state of a round follows from numbers
# alone; nothing has to be read for it. The articles to hold out come first: a few from each of several places
# spread evenly over the dump.
#
# Wikimedia wants a second between two requests, so each should bring many megabytes. The windows that are
# read side by side take 400 MB. So most windows come in two requests, and the first one is larger for each
# further window: while some windows are nearly used up, others have just come, and half of the memory is
# enough.

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
    """Keys of a pseudo-random permutation, the same on every machine."""
    return blake2b(f"{seed} {n}".encode(), digest_size=8).digest()


def _mixed(seed: int, page_ids: Sequence[Sequence[int]]) -> list[int]:
    """The articles of all parts in random order."""
    flat = [page_id for part in page_ids for page_id in part]
    return sorted(range(len(flat)), key=lambda i: _dice(seed, flat[i]))


def _in_turn(page_ids: Sequence[Sequence[int]]) -> list[int]:
    """The first article of each part, then the second of each, and so on."""
    places = [(i, n) for n, part in enumerate(page_ids) for i in range(len(part))]
    return sorted(range(len(places)), key=lambda i: places[i])


# A look at a dump before it is read: its approximate number of articles, and the places to hold some out.

PLACES = 50
"""The number of places where articles are held out, if a dump has as many parts with articles."""
_SAMPLED = 5
"""The fewest parts that are counted."""
_ENOUGH = 200
"""Articles: if fewer are found, more parts are counted."""
_MOST_SAMPLED = 160
"""The most parts counted. A small dump has no more; a large one with hardly any articles is not read to
its end."""
_HEAD = 1 << 20
"""Bytes that contain everything before the first page."""
_MOST_READ = 64 << 20
"""Bytes of a part and what follows it, if its last article ends late."""
_THREADS = 4
"""Unpacking releases the GIL."""


def look(file: RangedFile, name: str) -> SourceInfo:
    """The facts that a dump beginning with ``file`` states before its first page; ``name`` is for people.

    Raises BadSource if it is not a dump.
    """
    reader = DumpReader(file.name, SourceInfo(name, None))
    try:
        with reader:
            for block in data_blocks(reading(file, 0), file.name):
                for _ in reader.feed(block.data):
                    pass
                if reader.seen_pages:
                    break
            else:
                reader.close()
    except CutOff as error:
        if file.renewed(0, _HEAD):
            return look(file, name)
        if not reader.seen_pages:
            raise BadSource(f"{file.name}: {error} before its first page; download it again") from None
    return reader.info


def survey(
    files: Sequence[RangedFile], sizes: list[int], info: SourceInfo, seed: int, held_out: int | None
) -> Order:
    """The order in which to read the dump in ``files``, of ``sizes`` bytes.

    ``held_out``: how many articles will be held out; None: the default. If the places give fewer, the next
    ones of the stream, which are in random order, are held out too. Raises BadSource.
    """
    size = part_size(sizes)
    parts = parts_of(files, sizes, size)
    counts = _count_some(parts, info)
    articles = round(sum(counts) * len(parts) / max(1, len(counts)))
    wanted = default_held_out(articles or None) if held_out is None else held_out
    # Parts may lack articles: a block or a frame may be larger than a part, or hold other pages.
    share = max(1, sum(map(bool, counts))) / max(1, len(counts))
    places = len(parts) if share < 1 and len(parts) <= 2 * PLACES else min(len(parts), round(PLACES / share))
    places = min(places, max(1, round(wanted / share)))  # so that each place gives at least one
    each = -(-with_spare(wanted) // max(1, round(places * share)))
    return Order(seed, size, sizes, places, each, articles, *windows_and_lanes(len(parts)))


def _count_some(parts: Sequence[DumpPart], info: SourceInfo) -> list[int]:
    """The numbers of articles in some of the parts, spread evenly."""
    known: dict[int, int] = {}
    sampled = _SAMPLED
    while True:
        numbers = spread(len(parts), sampled)
        new = [number for number in numbers if number not in known]
        with ThreadPoolExecutor(_THREADS) as threads:
            known |= zip(new, threads.map(lambda number: _articles(parts[number], info), new), strict=True)
        if sampled >= min(len(parts), _MOST_SAMPLED) or sum(known[number] for number in numbers) >= _ENOUGH:
            return [known[number] for number in numbers]
        sampled *= 2


def _articles(part: DumpPart, info: SourceInfo) -> int:
    """The number of articles of a part. Its bytes are read at once: nearly always in one request."""
    before, stop, found = None, stop_of(part), 0
    while (held := part.held(stop)) != before and stop - part.start < _MOST_READ:
        found = 0
        try:
            for page in held.pages(info):
                found += isinstance(page, Page)
        except Lacking:
            stop += stop - part.start
        except CutOff:  # reported when it is read, unless the bytes were damaged on their way
            part.file.renewed(part.start, stop)
            before = held
        else:
            break
    return found
