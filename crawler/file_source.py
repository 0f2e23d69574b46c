"""The lap through files of pages, whatever their format.

Files have an order of their own, so their first articles are not a fair sample for evaluation. Before the lap
they are read once to the end, and the articles with the smallest hashes of their page ids come first in the
stream. After that the files are read in order, without those articles. Input that can be read only once comes
as it is.
"""

import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TypeVar

from wikitopics.crawler.background import Background
from wikitopics.crawler.errors import BadPosition
from wikitopics.crawler.page_files import Found, PageFiles, Place, Scan, page_hash, scan
from wikitopics.crawler.source import (
    Activity,
    Page,
    PageBatch,
    Position,
    Skip,
    SourceInfo,
    default_held_out,
    with_spare,
)

T = TypeVar("T")

BATCH_PAGES = 50
BATCH_CHARACTERS = 4 << 20
_SECONDS_A_BATCH = 1.0
"""Seconds after which a partial batch is handed out: standard input may be slow."""


class FileSource:
    """The articles of ``files``, an attribute that a subclass sets.

    ``what`` names the files to people while they are read a first time. ``held_out``: how many articles the
    trainer will hold out; None: the default, 1000, or a tenth of fewer articles. ``resuming``: skip the first
    reading of the files until it turns out to be needed.
    """

    files: PageFiles

    def __init__(self, what: str, *, held_out: int | None, resuming: bool) -> None:
        self.activity = Activity(batch_pages=BATCH_PAGES)
        self._what = what
        self._held_out = held_out
        self._resuming = resuming
        self.closed = False
        self._background: Background[PageBatch] | None = None
        self._scan: Scan | None = None

    async def open(self) -> SourceInfo:
        """Look at the first page and, unless resuming, choose what comes first.

        Raises BadSource for files without pages of this kind.
        """
        if self.files.is_repeatable:
            await _in_thread(self.look)
            if not self._resuming:
                self._scan = await _in_thread(lambda: self._choose(self._held_out))
        return self.info(self._scan.articles if self._scan else None)

    def look(self) -> None:
        """Raise BadSource if the files cannot be of this kind."""
        next(self.files.read(), None)

    def info(self, articles: int | None) -> SourceInfo:
        """The facts known about the files once they have been looked at."""
        return SourceInfo(self.files.name, articles)

    def batches(self, position: Position | None) -> AsyncIterator[PageBatch]:
        """All batches after ``position``, about 50 pages each, until the last file ends.

        Raises `BadPosition`.
        """
        place = dict(position or {})
        self._background = Background(lambda: self._batches(place))
        return self._background.run()

    async def close(self) -> None:
        """Have the reading thread end."""
        self.closed = True
        if self._background is not None:
            self._background.stop()

    def tell(self, message: str) -> None:
        """Show a line to people, once."""
        if all(message != error.text for error in self.activity.errors):
            self.activity.note(time.time(), message)

    def _choose(self, held_out: int | None, size: int | None = None) -> Scan:
        """The first reading. ``size``: how many articles came first when this session began."""
        most = default_held_out(None) if held_out is None else held_out
        wanted = size if size is not None else with_spare(most)
        scanned = scan(self.files, wanted, self._progress)
        self.activity.waiting_for = None
        if size is None and held_out is None:
            wanted = with_spare(default_held_out(scanned.articles))
        return Scan(scanned.articles, scanned.chosen[:wanted])

    def _progress(self) -> None:
        percent = 10 * min(9, 10 * self.files.bytes_read // max(self.files.size, 1))
        self.activity.waiting_for = (
            f"a first pass over the {self._what}, to choose the held-out articles ({percent} %)"
        )

    def _batches(self, position: dict[str, int]) -> Iterator[PageBatch]:
        _check(position, self.files.count)
        if not self.files.is_repeatable:
            yield from self._lap(position)
            return
        if position:
            position |= self.files.check(position)
        if "threshold" not in position:
            first = self._scan or self._choose(self._held_out, position.get("first"))
            self._scan = None
            sizes = {"articles": first.articles, "first": len(first.chosen)}
            position = self.files.mark() | sizes | position
            yield from self._first(first, position)
            last = first.chosen[-1].hash if first.chosen else -1
            position |= {"threshold": last, "read": len(first.chosen)}
        yield from self._lap(position)

    def _first(self, scan: Scan, position: dict[str, int]) -> Iterator[PageBatch]:
        pages: list[Page] = []
        for done, chosen in enumerate(scan.chosen[position.get("done", 0) :], position.get("done", 0) + 1):
            pages.append(chosen.whole(self.files))
            if _is_full(pages) or done == len(scan.chosen):
                yield PageBatch(tuple(pages), position | {"done": done}, lap=done / max(scan.articles, 1))
                pages = []

    def _lap(self, position: dict[str, int]) -> Iterator[PageBatch]:
        threshold = position.get("threshold", -1)
        articles = position.get("articles")
        read = position.get("read", 0)
        pages: list[Page] = []
        skips: Counter[Skip] = Counter()
        began = time.monotonic()

        def batch(place: Place) -> PageBatch:
            self.activity.bytes_read = self.files.bytes_read
            here = {**position, **place, "read": read}
            return PageBatch(tuple(pages), here, skips, min(1.0, read / articles) if articles else None)

        found: Found | None = None
        for found in self.files.read(position):
            if not isinstance(found.page, Page):
                skips[found.page] += 1
            elif threshold < 0 or page_hash(found.page.page_id) > threshold:
                pages.append(found.page)
                read += 1
            is_full = _is_full(pages) or len(pages) + skips.total() >= BATCH_PAGES
            if is_full or time.monotonic() - began > _SECONDS_A_BATCH:
                yield batch(found.place)
                pages, skips, began = [], Counter(), time.monotonic()
        if found is not None and (pages or skips) and not self.closed:
            yield batch(found.place)


def _is_full(pages: Sequence[Page]) -> bool:
    """Whether these pages are enough for one batch."""
    return len(pages) >= BATCH_PAGES or sum(len(page.text) for page in pages) >= BATCH_CHARACTERS


def _check(position: Position, files: int) -> None:
    """Raise `BadPosition` unless it has whole numbers that fit this many files."""
    for key, value in position.items():
        most = files - 1 if key == "file" else 2**63 - 1
        if type(value) is not int or not (-1 if key == "threshold" else 0) <= value <= most:
            raise BadPosition


async def _in_thread(work: Callable[[], T]) -> T:
    return await anext(Background(lambda: iter((work(),))).run())
