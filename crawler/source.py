"""What every source hands on: pages in batches, each batch with the position behind it."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

LARGEST_TEXT = 2 << 20
"""Bytes of UTF-8: MediaWiki's own bound on a page; a larger one is no article."""
LONGEST_TITLE = 255
"""Bytes, as in MediaWiki."""
LARGEST_ID = (1 << 63) - 1
Markup = Literal["wikitext", "html", "text"]
Position = Mapping[str, Any]
"""Where a source stands, as plain JSON values; opaque to everyone but the source that made it."""
MOST_ERRORS = 20
Lack = Literal["more", "again"]
"""What a part may be read better with: more bytes behind those that it brought along, or the same ones once
more, as these are damaged."""
Skip = Literal[
    "disambiguation",
    "redirect",
    "deleted or hidden",
    "no text",
    "no wikitext",
    "not UTF-8",
    "not JSON",
    "too large",
    "repeated",
    "damaged",
    "forbidden by robots.txt",
]
"""Why a page that the source lists gives no article; "no text": the wiki never delivers it."""
Skips = Mapping[Skip, int] | Mapping[str, int]
"""Pages by such a reason; sources of other packages have reasons of their own."""


def is_id(value: object) -> TypeGuard[int]:
    """Whether ``value`` can be the id of a page or revision."""
    return type(value) is int and 0 < value <= LARGEST_ID


def utf8_size(text: str) -> int:
    """Bytes of ``text`` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def sound_text(text: str) -> str:
    """``text`` without the lone surrogates that JSON can smuggle in and UTF-8 cannot carry."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


@dataclass(frozen=True, slots=True)
class Page:
    """One article as the source delivered it, markup not yet removed.

    Of the title, what UTF-8 cannot write is replaced, as in the name of a file that is no text, and what is
    beyond 255 bytes is cut off.
    """

    page_id: int
    title: str
    revision_id: int
    text: str
    markup: Markup
    id: str | None = None
    """What its own collection calls it, "" where it has no such name; None: the source has none at all."""

    def __post_init__(self) -> None:
        title = sound_text(self.title)
        if utf8_size(title) > LONGEST_TITLE:
            title = title.encode()[:LONGEST_TITLE].decode("utf-8", "ignore")
        object.__setattr__(self, "title", title)


@dataclass(frozen=True, slots=True)
class PageBatch:
    """Consecutive pages of the stream.

    ``position`` is the position behind the last page: a source resumed from it goes on with the
    next page, so that nothing is lost or repeated if it is saved together with these pages.
    ``skips`` counts the pages that the source listed but that give no article, by reason.
    """

    pages: tuple[Page, ...]
    position: Position
    skips: Skips = field(default_factory=dict)
    lap: float | None = None
    """Share of the whole source behind us, 0 to 1, where it can be known."""

    @property
    def skipped(self) -> int:
        """Pages that give no article, for whatever reason."""
        return sum(self.skips.values())


@dataclass(frozen=True, slots=True)
class Mishap:
    """An error that the source got over, or tries to."""

    at: float
    """Seconds since the epoch."""
    text: str
    """One line."""


@dataclass(slots=True)
class Activity:
    """What a source is doing at this moment; the source writes it, the trainer copies it out."""

    waiting_for: str | None = None
    """In plain words, e.g. "the wiki" or "429: told to wait"; None while it works."""
    waiting_until: float | None = None
    """Seconds since the epoch, where the wait has a known end."""
    trying_until: float | None = None
    """Seconds since the epoch at which it gives up, as long as nothing valid has been heard."""
    requests: int = 0
    retries: int = 0
    throttled: int = 0
    """Replies of the kind 429, 503 and maxlag."""
    bytes_read: int = 0
    """Bytes of reply bodies as they came over the wire (compressed)."""
    requests_last_minute: int = 0
    allowed_per_minute: int | None = None
    """None: no cap."""
    latency_seconds: float | None = None
    batch_pages: int | None = None
    """Pages asked for in one request at the moment."""
    errors: list[Mishap] = field(default_factory=list)
    """The last few, newest last."""

    def note(self, at: float, text: str) -> None:
        """Put one line into the list of errors."""
        self.errors = [*self.errors, Mishap(at, text)][-MOST_ERRORS:]


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What a source knows of itself once it has been opened."""

    name: str
    """For people: "en.wikipedia.org", "demo", "pages-articles.xml.bz2"."""
    articles: int | None
    """How many articles it holds, where that can be known."""
    file_names: tuple[str, ...] = ()
    """What its File namespace is called, for taking files out of wikitext."""
    category_names: tuple[str, ...] = ()
    language: str = ""
    """The code of its language, where it says so."""
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What names its content beside what was asked for, such as a checksum: kept by a new session."""


class Part(Protocol):
    """A piece of a source that another process can read for itself; it travels pickled."""

    @property
    def size(self) -> int:
        """Bytes, as they are stored, that are behind us once it is read."""

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in their order, and why others were skipped.

        Raises :class:`~crawler.errors.CutOff` or :class:`~crawler.errors.Lacking` where it ends early,
        behind what can be read, and :class:`~crawler.errors.BadSource`.
        """

    def __str__(self) -> str:
        """For people."""


PartT = TypeVar("PartT", bound=Part)


@dataclass(frozen=True, slots=True)
class Round(Generic[PartT]):
    """Parts that are read together, and how the articles of all of them are ordered."""

    parts: Sequence[PartT]
    order: Callable[[Sequence[Sequence[int]]], Sequence[int]]
    """From the page ids of each part to the order: indices into all articles, part behind part."""


@runtime_checkable
class PartedSource(Protocol[PartT]):
    """One way in for articles that lie still, so that they can be read by many at once and in any order."""

    activity: Activity

    async def open(self) -> SourceInfo:
        """Look at it. Raises a :class:`crawler.errors.CrawlerError`."""

    def rounds(self) -> Sequence[Round[PartT]]:
        """What to read, in the order in which it is trained on; the same whenever it is opened again."""

    async def bring(self, part: PartT) -> PartT:
        """The part as any process can read it, with its bytes where these are not at hand everywhere.

        Parts are asked for in the order of the rounds, from any of these on. Raises a CrawlerError.
        """

    async def bring_better(self, part: PartT, lack: Lack) -> PartT | None:
        """One of those brought, with what it lacks; None where that cannot be had."""

    async def close(self) -> None:
        """Safe to call twice."""


class Source(Protocol):
    """One way in for articles. Adding a source is adding one file."""

    activity: Activity

    async def open(self) -> SourceInfo:
        """Make contact. Raises a :class:`crawler.errors.CrawlerError`."""

    def batches(self, position: Position | None) -> AsyncIterator[PageBatch]:
        """All batches behind ``position`` (None: from the start), until the source ends."""

    async def close(self) -> None:
        """Let go of connections and files; safe to call twice."""


async def close_batches(batches: AsyncIterator[PageBatch]) -> None:
    """Close the generator of a source before the source: it may still need what the source closes."""
    if isinstance(batches, AsyncGenerator):
        await batches.aclose()
