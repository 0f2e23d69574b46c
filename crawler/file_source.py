"""Files of pages, whatever their format, and the *lap*: reading all of them once.

Files have their own order, so their first articles are not a fair sample for evaluation. Before the
lap, the files are read once to the end, and the articles with the smallest hashes of their page ids
come first in the stream. After that, the files are read in order, without those articles, and texts
are mixed: people sort their tables, and neighbours that are alike mislead a model that learns from
some documents at a time. Input that can be read only once is read in its own order.
"""

import heapq
import time
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import MappingProxyType

from wikitopics.crawler.background import Background, in_thread
from wikitopics.crawler.errors import BadPosition
from wikitopics.crawler.page import Page, Skip, SourceInfo
from wikitopics.crawler.source import Activity, PageBatch, Position, default_held_out, with_spare

Say = Callable[[str], None]
"""Shows one line to the user."""
Place = Mapping[str, int]
"""Where to continue: part of a source's position, with keys that depend on the kind of file."""
PageAndPlace = tuple[Page | Skip, Place]
"""An article, or the reason for skipping one, and the place after it."""

START: Place = MappingProxyType({})
BATCH_PAGES = 50
BATCH_CHARACTERS = 4 << 20
MIXED_PAGES = 1 << 16
MIXED_CHARACTERS = 32 << 20
"""The most texts, and about the most characters, that are mixed: all of most collections."""
TAKEN = "taken"
"""The key, in a position, of how many of the texts that are mixed have been handed out. Positions
of versions up to 1.2.0 lack it: their texts are read in order."""
_SECONDS_A_BATCH = 1.0
"""Seconds after which a partial batch is handed out: standard input may be slow."""
_MOST_KEPT = 64 << 20
"""The most bytes of compressed texts in a scan; those of 1000 typical articles take 3 MB."""


def silently(message: str) -> None:
    """Ignore a message."""


def first_and_more(names: Sequence[str]) -> str:
    """The name for people of several files: the first one's, and how many more there are."""
    more = len(names) - 1
    return f"{names[0]} and {more} more" if more else names[0]


class PageFiles(ABC):
    """Files of pages, one after another. ``names``: the names of the files, or of their folders."""

    is_repeatable = True
    """Whether the files can be read more than once."""

    def __init__(self, names: Sequence[str], say: Say) -> None:
        self.name = first_and_more(names)
        """The name for people."""
        self.bytes_read = 0
        """The bytes read from all files, as stored on disk, in all readings together."""
        self.say = say
        self.closed = False
        """Whether readings must end early."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of files; `file` in a place is less than this."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Bytes of all files together, as stored on disk."""

    @property
    def info(self) -> SourceInfo:
        """The facts known about the files; most once the first page has been read."""
        return SourceInfo(self.name, None)

    @abstractmethod
    def check(self) -> None:
        """Raise BadSource if the files cannot be of this kind."""

    def first_reading(self) -> Iterator[PageAndPlace]:
        """All pages from the start, for a reader that does not know the files yet."""
        return self.read()

    @abstractmethod
    def read(self, place: Place = START) -> Iterator[PageAndPlace]:
        """The pages after ``place``. Raises BadSource."""

    @abstractmethod
    def mark(self, before: Place = START) -> dict[str, int]:
        """A mark that shows later whether the files are still the same.

        Raises BadSource if they have changed since the mark ``before``, if there is one.
        """


def page_hash(page_id: int) -> int:
    """A pseudo-random number below 2**63, the same everywhere; it decides which articles are held
    out."""
    return int.from_bytes(blake2b(str(page_id).encode(), digest_size=8).digest(), "big") >> 1


@dataclass(frozen=True, slots=True)
class Chosen:
    """An article that a scan puts first."""

    hash: int
    page: Page
    """The page without its text."""
    text: bytes | None
    """The compressed text; None if there were too many large texts to keep: then it is read
    again."""
    place: Place
    """A place from which reading begins with this article."""

    def __lt__(self, other: "Chosen") -> bool:
        return self.hash > other.hash  # so that a heap gives the largest hash first

    def whole(self, files: PageFiles) -> Page:
        """The article with its text."""
        if self.text is not None:
            return replace(self.page, text=zlib.decompress(self.text).decode())
        for page, _ in files.read(self.place):
            if isinstance(page, Page):
                return page
        raise AssertionError("the article was there when it was chosen")


def scan(
    files: PageFiles, wanted: int, progress: Callable[[], None] = lambda: None
) -> tuple[int, Sequence[Chosen]]:
    """Count the articles; choose as many as are ``wanted``, those with the smallest hashes of the
    page id, the smallest first.

    Empty articles are neither counted nor chosen. ``progress`` is called every 1000 articles.
    """
    largest_first: list[Chosen] = []  # a heap
    articles = 0
    bytes_kept = 0
    behind = START
    for page, place in files.first_reading():
        before = behind
        behind = place
        if not isinstance(page, Page) or not page.text:
            continue
        articles += 1
        if articles % 1000 == 0:
            progress()
        if wanted == 0:
            continue
        key = page_hash(page.page_id)
        if len(largest_first) == wanted:
            if key >= largest_first[0].hash:
                continue
            dropped = heapq.heappop(largest_first)
            bytes_kept -= len(dropped.text or b"")
        packed = zlib.compress(page.text.encode("utf-8"), 1)
        text: bytes | None = None
        if bytes_kept + len(packed) <= _MOST_KEPT:
            bytes_kept += len(packed)
            text = packed
        heapq.heappush(largest_first, Chosen(key, replace(page, text=""), text, before))
    return articles, sorted(largest_first, reverse=True)


class FileSource:
    """The articles of ``files``.

    what: the name of the files for people, while they are read a first time
    held_out: how many articles the trainer will hold out; None: the default, 1000, or a tenth of
        fewer articles
    seed: how a new session mixes the articles; None: it does not
    resuming: whether to skip the first reading of the files until it turns out to be needed
    """

    def __init__(
        self,
        what: str,
        files: PageFiles,
        *,
        held_out: int | None = None,
        seed: int | None = None,
        resuming: bool = False,
    ) -> None:
        self.activity = Activity(batch_pages=BATCH_PAGES)
        self.files = files
        files.say = self._tell
        self._what = what
        self._held_out = held_out
        self._seed = seed
        self._resuming = resuming
        self._background: Background[PageBatch] | None = None
        self._scan: tuple[int, Sequence[Chosen]] | None = None

    async def open(self) -> SourceInfo:
        """Look at the first page and, unless resuming, choose what comes first.

        Raises BadSource for files without pages of this kind.
        """
        if not self.files.is_repeatable:
            return replace(self.files.info, articles=None)
        await in_thread(self.files.check).result()
        if self._resuming:
            return replace(self.files.info, articles=None)
        self._scan = await in_thread(self._choose).result()
        articles, chosen = self._scan
        start = self._start(articles, chosen)
        return replace(self.files.info, articles=articles, files=self.files.count, start=start)

    def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """All batches after ``position``, about 50 pages each, until the last file ends.

        Raises `BadPosition`.
        """
        place = dict(position or {})
        self._background = Background(lambda: self._batches(place))
        return self._background.run()

    async def close(self) -> None:
        """Ask the reading thread to end."""
        self.files.closed = True
        if self._background is not None:
            self._background.stop()

    def _tell(self, message: str) -> None:
        """Show a line to the user, once."""
        self.activity.note_once(time.time(), message)

    def _choose(self, size: int | None = None) -> tuple[int, Sequence[Chosen]]:
        """The first reading. ``size``: how many articles came first when this session began."""
        if size is not None:
            wanted = size
        elif self._held_out is not None:
            wanted = with_spare(self._held_out)
        else:
            wanted = with_spare(default_held_out(None))  # perhaps too many
        articles, chosen = scan(self.files, wanted, self._progress)
        self.activity.waiting_for = None
        if size is None and self._held_out is None:
            wanted = with_spare(default_held_out(articles))
        return articles, chosen[:wanted]

    def _progress(self) -> None:
        tenths = 10 * self.files.bytes_read // max(self.files.size, 1)
        percent = 10 * min(tenths, 9)
        self.activity.waiting_for = (
            f"reading the {self._what}, to choose what is held out ({percent}%)"
        )

    def _batches(self, position: dict[str, int]) -> Iterator[PageBatch]:
        """What `batches` yields. Raises BadPosition."""
        for key, value in position.items():
            least = -1 if key == "threshold" else 0
            most = self.files.count - 1 if key == "file" else 2**63 - 1
            if type(value) is not int or not least <= value <= most:
                raise BadPosition
        if not self.files.is_repeatable:
            yield from self._lap(position)
            return
        if position:
            position |= self.files.mark(position)
        if "threshold" not in position:
            articles, chosen = self._scan or self._choose(position.get("first"))
            self._scan = None
            position = self._start(articles, chosen) | position
            yield from self._first(articles, chosen, position)
            last = chosen[-1].hash if chosen else -1
            position |= {"threshold": last, "read": len(chosen)}
        yield from self._lap(position)

    def _start(self, articles: int, chosen: Sequence[Chosen]) -> dict[str, int]:
        """The position before the first article."""
        start = self.files.mark() | {"articles": articles, "first": len(chosen)}
        return start if self._seed is None else start | {TAKEN: 0}

    def _first(
        self,
        articles: int,
        chosen: Sequence[Chosen],
        position: dict[str, int],
    ) -> Iterator[PageBatch]:
        """Batches of the articles that come first."""
        pages: list[Page] = []
        done_before = position.get("done", 0)
        for done, article in enumerate(chosen[done_before:], done_before + 1):
            pages.append(article.whole(self.files))
            if _is_full(pages) or done == len(chosen):
                here = position | {"done": done}
                yield PageBatch(tuple(pages), here, lap=done / max(articles, 1))
                pages = []

    def _lap(self, position: dict[str, int]) -> Iterator[PageBatch]:
        """Batches of all articles but those that came first."""
        threshold = position.get("threshold", -1)
        articles = position.get("articles")
        read = position.get("read", 0)
        pages: list[Page] = []
        skips: Counter[Skip] = Counter()
        began = time.monotonic()

        def batch(place: Place) -> PageBatch:
            self.activity.bytes_read = self.files.bytes_read
            here = {**position, **place, "read": read}
            lap = min(1.0, read / articles) if articles else None
            return PageBatch(tuple(pages), here, skips, lap)

        place: Place | None = None
        found = self._mixed(position) if TAKEN in position else self.files.read(position)
        for page, place in found:
            if not isinstance(page, Page):
                skips[page] += 1
            elif not page.text or threshold < 0 or page_hash(page.page_id) > threshold:
                pages.append(page)
                if page.text:
                    read += 1
            is_full = _is_full(pages) or len(pages) + skips.total() >= BATCH_PAGES
            if is_full or time.monotonic() - began > _SECONDS_A_BATCH:
                yield batch(place)
                pages = []
                skips = Counter()
                began = time.monotonic()
        if place is not None and (pages or skips) and not self.files.closed:
            yield batch(place)

    def _mixed(self, position: Place) -> Iterator[PageAndPlace]:
        """What is found after ``position``, in random order: all that is read until there is enough
        to mix, then what is read after it, and so on."""
        taken = position[TAKEN]
        start: Place = position
        together: list[Page | Skip] = []
        characters = 0
        for page, behind in self.files.read(position):
            together.append(page)
            characters += len(page.text) if isinstance(page, Page) else 0
            if len(together) == MIXED_PAGES or characters >= MIXED_CHARACTERS:
                yield from self._in_random_order(together, taken, start, behind)
                taken = 0
                start = behind
                together = []
                characters = 0
        if together and not self.files.closed:
            yield from self._in_random_order(together, taken, start, behind)

    def _in_random_order(
        self, together: Sequence[Page | Skip], taken: int, start: Place, behind: Place
    ) -> Iterator[PageAndPlace]:
        """What lies between two places, without the first ``taken``; the place after one of these
        says how many of them have been taken."""
        first = start.get("number", 0)

        def key(number: int) -> bytes:
            return blake2b(f"{self._seed} {first + number}".encode(), digest_size=8).digest()

        order = sorted(range(len(together)), key=key)
        for done, number in enumerate(order[taken:], taken + 1):
            is_last = done == len(order)
            here = {**behind, TAKEN: 0} if is_last else {**start, TAKEN: done}
            yield together[number], here


def _is_full(pages: Sequence[Page]) -> bool:
    """Whether these pages are enough for one batch."""
    return len(pages) >= BATCH_PAGES or sum(len(page.text) for page in pages) >= BATCH_CHARACTERS
