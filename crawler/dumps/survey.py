"""A look at a dump before it is read: its approximate number of articles, and the places to hold some out."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from wikitopics.crawler.dumps.decompression import data_blocks
from wikitopics.crawler.dumps.order import Order, spread, stop_of, windows_and_lanes
from wikitopics.crawler.dumps.parts import DumpPart, part_size, parts_of
from wikitopics.crawler.dumps.ranges import RangedFile, reading
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.errors import BadSource, CutOff, Lacking
from wikitopics.crawler.source import Page, SourceInfo, default_held_out, with_spare

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
