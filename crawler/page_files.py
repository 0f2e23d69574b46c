"""The interface of files of pages, whatever their format, and which of their pages a first reading puts
first."""

import heapq
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import Protocol

from wikitopics.crawler.source import Page, Skip

_MOST_KEPT = 64 << 20
"""The most bytes of compressed texts in a scan; those of 1000 typical articles take 3 MB."""

Place = Mapping[str, int]
"""Where to continue: a part of a source's position, with the keys of that kind of files."""
START: Place = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Found:
    """One article, or the reason for skipping one, and the place after it."""

    page: Page | Skip
    place: Place


class PageFiles(Protocol):
    """Files of pages, one after another."""

    bytes_read: int
    """Bytes read from all files, as stored on disk, in all readings together."""

    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def count(self) -> int:
        """How many files there are; a place's `file` is below it."""

    @property
    def is_repeatable(self) -> bool:
        """Whether the files can be read more than once."""

    @property
    def size(self) -> int:
        """Bytes of all files together, as stored on disk."""

    def first_reading(self) -> Iterator[Found]:
        """All pages from the start, for a reader that does not know the files yet."""

    def read(self, place: Place = START) -> Iterator[Found]:
        """The pages after ``place``. Raises BadSource."""

    def mark(self) -> dict[str, int]:
        """A mark that shows later whether the files, once read, are still the same."""

    def check(self, mark: Mapping[str, int]) -> dict[str, int]:
        """The mark of the files as they are now. Raises BadSource if they have changed since ``mark``."""


def page_hash(page_id: int) -> int:
    """A number below 2**63 that looks random and is the same everywhere; it decides which articles are
    held out."""
    return int.from_bytes(blake2b(str(page_id).encode(), digest_size=8).digest(), "big") >> 1


@dataclass(frozen=True, slots=True)
class Chosen:
    """An article that a scan puts first."""

    hash: int
    page: Page
    """The page without its text."""
    text: bytes | None
    """The compressed text; None if there were too many large texts to keep them all: it is read again."""
    place: Place
    """The place from which it is the first article."""

    def __lt__(self, other: "Chosen") -> bool:
        return self.hash > other.hash  # so that a heap gives the largest hash first

    def whole(self, files: PageFiles) -> Page:
        """The article with its text."""
        if self.text is not None:
            return replace(self.page, text=zlib.decompress(self.text).decode())
        return next(found.page for found in files.read(self.place) if isinstance(found.page, Page))


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of a first reading."""

    articles: int
    chosen: tuple[Chosen, ...]
    """The chosen articles, smallest hash first."""


def scan(files: PageFiles, n: int, progress: Callable[[], None] = lambda: None) -> Scan:
    """Count the articles, and choose those with the ``n`` smallest hashes of the page id.

    ``progress`` is called every 1000 articles.
    """
    heap: list[Chosen] = []
    articles = kept = 0
    place = START
    for found in files.first_reading():
        before, place = place, found.place
        if not isinstance(page := found.page, Page):
            continue
        articles += 1
        if articles % 1000 == 0:
            progress()
        key = page_hash(page.page_id)
        if len(heap) == n and (not n or key >= heap[0].hash):
            continue
        if len(heap) == n:
            kept -= len(heapq.heappop(heap).text or b"")
        text = zlib.compress(page.text.encode("utf-8"), 1)
        is_kept = kept + len(text) <= _MOST_KEPT
        kept += len(text) if is_kept else 0
        heapq.heappush(heap, Chosen(key, replace(page, text=""), text if is_kept else None, before))
    return Scan(articles, tuple(sorted(heap, reverse=True)))
