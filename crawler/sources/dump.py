"""Articles out of `pages-articles` dumps: XML, plain or compressed, one or many files, or standard input.

A dump comes in order of age, so its first articles are no fair sample to measure on. Before the first lap it
is read once to the end, and the articles with the smallest hashes of their page id are put first in the
stream; from there on the files are read in order, without those. Standard input can be read only once, and
comes as it is.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from crawler.background import Background
from crawler.dump_files import STANDARD_INPUT, DumpFiles, Place, Scan, page_hash, scan
from crawler.errors import BadPosition, BadSource
from crawler.source import Activity, Page, PageBatch, Position, Skip, SourceInfo

T = TypeVar("T")

BATCH_PAGES = 50
BATCH_CHARACTERS = 4 << 20
DEFAULT_HELD_OUT = 1000
_SECONDS_A_BATCH = 1.0
"""A batch is not filled up for longer: standard input may come slowly."""


class DumpSource:
    """The articles of dump files: namespace 0, no redirects, no disambiguation pages.

    ``held_out``: how many articles the trainer will hold out; None: the default, 1000, or a tenth of a
    smaller dump. ``resuming``: do not read the dump a first time before it shows that this is needed.
    Raises :class:`~crawler.errors.BadSource` at once for files that are not there.
    """

    def __init__(self, paths: Sequence[str], *, held_out: int | None = None, resuming: bool = False) -> None:
        self.activity = Activity(batch_pages=BATCH_PAGES)
        self._held_out = held_out
        self._resuming = resuming
        self._closed = False
        self._files = DumpFiles(paths, self._tell, lambda: self._closed)
        self._background: Background[PageBatch] | None = None
        self._scan: Scan | None = None

    async def open(self) -> SourceInfo:
        """Look at the first page and, unless resuming, choose what comes first.

        Raises BadSource for what is no dump.
        """
        if self._files.is_repeatable:
            await _in_thread(self._look)
            if not self._resuming:
                self._scan = await _in_thread(lambda: self._choose(self._held_out))
        articles = self._scan.articles if self._scan else None
        return SourceInfo(self._name(), articles, self._files.file_names, self._files.category_names)

    def batches(self, position: Position | None) -> AsyncIterator[PageBatch]:
        """All batches behind ``position``, some 50 pages each, until the last file ends.

        Raises :class:`~crawler.errors.BadPosition`.
        """
        checked = _checked(position or {}, len(self._files.paths))
        self._background = Background(lambda: self._batches(checked))
        return self._background.run()

    async def close(self) -> None:
        """Let the reading thread end."""
        self._closed = True
        if self._background is not None:
            self._background.stop()

    def _name(self) -> str:
        paths = self._files.paths
        first = "standard input" if paths[0] == STANDARD_INPUT else Path(paths[0]).name
        return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"

    def _tell(self, message: str) -> None:
        if all(message != error.text for error in self.activity.errors):
            self.activity.note(time.time(), message)

    def _look(self) -> None:
        next(self._files.read(), None)

    def _choose(self, held_out: int | None, size: int | None = None) -> Scan:
        """The first reading. ``size``: how many articles were put first when this session began."""
        wanted = size if size is not None else _with_spare(DEFAULT_HELD_OUT if held_out is None else held_out)
        scanned = scan(self._files, wanted, self._progress)
        self.activity.waiting_for = None
        if size is None and held_out is None:
            wanted = _with_spare(min(DEFAULT_HELD_OUT, scanned.articles // 10))
        return Scan(scanned.articles, scanned.chosen[:wanted])

    def _progress(self) -> None:
        tenths = min(9, 10 * self._files.bytes_read // max(self._files.size, 1))
        self.activity.waiting_for = f"a first reading of the dump, to choose what is held out ({tenths}0 %)"

    def _batches(self, position: dict[str, Any]) -> Iterator[PageBatch]:
        if not self._files.is_repeatable:
            yield from self._lap(position)
            return
        size = self._files.size
        if position.get("size", size) != size:
            raise BadSource(f"{self._name()}: the dump has changed since this session began to read it")
        if "threshold" not in position:
            first = self._scan or self._choose(self._held_out, position.get("first"))
            self._scan = None
            position = {"size": size, "articles": first.articles, "first": len(first.chosen)} | position
            yield from self._first(first, position)
            last = first.chosen[-1].hash if first.chosen else -1
            position |= {"threshold": last, "read": len(first.chosen)}
        yield from self._lap(position)

    def _first(self, scan: Scan, position: dict[str, Any]) -> Iterator[PageBatch]:
        pages: list[Page] = []
        for done, chosen in enumerate(scan.chosen[position.get("done", 0) :], position.get("done", 0) + 1):
            pages.append(self._files.page(chosen))
            if _is_full(pages) or done == len(scan.chosen):
                yield PageBatch(tuple(pages), position | {"done": done}, lap=done / max(scan.articles, 1))
                pages = []

    def _lap(self, position: dict[str, Any]) -> Iterator[PageBatch]:
        threshold = position.get("threshold", -1)
        articles = position.get("articles")
        read = position.get("read", 0)
        pages: list[Page] = []
        skips: Counter[Skip] = Counter()
        began = time.monotonic()

        def batch(place: Place) -> PageBatch:
            self.activity.bytes_read = self._files.bytes_read
            here = position | asdict(place) | {"read": read}
            return PageBatch(tuple(pages), here, skips, min(1.0, read / articles) if articles else None)

        place = Place(*(position.get(key, 0) for key in ("file", "offset", "skip")))
        for found in self._files.read(place):
            place = found.place
            if not isinstance(found.page, Page):
                skips[found.page] += 1
            elif threshold < 0 or page_hash(found.page.page_id) > threshold:
                pages.append(found.page)
                read += 1
            is_full = _is_full(pages) or len(pages) + skips.total() >= BATCH_PAGES
            if is_full or time.monotonic() - began > _SECONDS_A_BATCH:
                yield batch(place)
                pages, skips, began = [], Counter(), time.monotonic()
        if (pages or skips) and not self._closed:
            yield batch(place)


def _is_full(pages: Sequence[Page]) -> bool:
    """Whether these are enough for one batch."""
    return len(pages) >= BATCH_PAGES or sum(len(page.text) for page in pages) >= BATCH_CHARACTERS


def _checked(position: Position, files: int) -> dict[str, int]:
    """A position in so many files: whole numbers. Raises :class:`~crawler.errors.BadPosition`."""
    for key, value in position.items():
        most = files - 1 if key == "file" else 2**63 - 1
        if type(value) is not int or not (-1 if key == "threshold" else 0) <= value <= most:
            raise BadPosition
    return dict(position)


def _with_spare(held_out: int) -> int:
    """A few more come first than are held out, as some may hold no word of the vocabulary."""
    return held_out + max(20, held_out // 20) if held_out else 0


async def _in_thread(work: Callable[[], T]) -> T:
    return await anext(Background(lambda: iter((work(),))).run())
