"""A source of articles: how it is declared, and how it is read once it is open.

An open source yields stretches of jobs. Each job holds some articles to be counted; a stretch also
gives the positions after its articles.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeGuard

from wikitopics.crawler.licence import Licence
from wikitopics.crawler.page import Page, Skip, Skips, SourceInfo
from wikitopics.option import Option, OptionValues

Position = Mapping[str, Any]
"""The state of a source, as plain JSON values; opaque to everything but the source that made it."""
MOST_ERRORS = 20
Lack = Literal["more", "again"]
"""What is missing where a job cannot be read to its end. "more": bytes after those that it holds;
"again": an undamaged copy of the bytes that it holds."""


@dataclass(frozen=True, slots=True)
class RecentError:
    """An error that the source has overcome or is trying to overcome."""

    at: float
    """Seconds since the epoch."""
    text: str
    """One line."""


@dataclass(slots=True)
class Activity:
    """What a source is doing at the moment; the source writes it, and the trainer copies it."""

    waiting_for: str | None = None
    """What it is waiting for, in plain words, such as "the wiki" or "429: told to wait"; or what it
    does before its first article, beginning with "reading"; None if nothing."""
    waiting_until: float | None = None
    """Seconds since the epoch, if the wait has a known end."""
    trouble: str | None = None
    """Why nothing comes in, in plain words, from an error until the next valid reply."""
    trying_until: float | None = None
    """Seconds since the epoch at which it gives up if no valid reply has come."""
    requests: int = 0
    retries: int = 0
    throttled: int = 0
    """The number of replies such as 429, 503 and maxlag."""
    throttled_at: float | None = None
    """When the last such reply came, in seconds since the epoch."""
    failed_at: float | None = None
    """When something other than such a reply last made a retry necessary."""
    own_wait: bool = False
    """Whether the wait before the next retry is our own choice, not a server's request; the trainer
    ends such a wait by setting this to False."""
    bytes_read: int = 0
    """Bytes of reply bodies as transferred (compressed)."""
    allowed_per_minute: int | None = None
    """None: no cap."""
    latency_seconds: float | None = None
    batch_pages: int | None = None
    """The number of pages currently requested at a time."""
    errors: list[RecentError] = field(default_factory=list)
    """The last few, newest last."""
    pace: float = 0.0
    """The seconds over which the source spreads all its articles so that people can follow; 0: they
    come as fast as possible. It can be set to 0 at any time."""

    def note(self, at: float, text: str) -> None:
        """Add one line to the list of errors."""
        self.errors = [*self.errors, RecentError(at, text)][-MOST_ERRORS:]

    def note_once(self, at: float, text: str) -> None:
        """Add one line, unless the list has it."""
        if all(text != error.text for error in self.errors):
            self.note(at, text)


class Job(Protocol):
    """Articles that any process can read; a job can be pickled."""

    @property
    def articles(self) -> int:
        """How many articles it holds, as far as is known."""

    @property
    def size(self) -> int:
        """The bytes of memory that it takes."""

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in order, and why others were skipped.

        Raises `CutOff` or `Lacking` if it ends early, after everything readable, and `BadSource`.
        """

    async def renewed(self, lack: Lack) -> Job | None:
        """The same job with what it lacked; None if that cannot be had. Called in the process in
        which the source is open."""

    def __str__(self) -> str:
        """The name for people."""


class Piece(NamedTuple):
    """Articles of a stretch that are handed out together."""

    start: int
    stop: int
    position: Position
    """The position after them."""
    lap: float | None
    """The share of the whole source read by then, 0 to 1, if it is known."""


class Stretch(Protocol):
    """Consecutive articles of the stream, in jobs that are read independently."""

    @property
    def rereadable(self) -> bool:
        """Whether a trainer that is told to stop may drop it before all of it is counted, since it
        is easily read again."""

    @property
    def skips(self) -> Skips:
        """The number of pages that the source listed but no job holds, by reason."""

    @property
    def jobs(self) -> Sequence[Callable[[], Awaitable[Job]]]:
        """Functions that make its jobs, to be called in this order; each job takes memory once it
        is made."""

    def order(self, page_ids: Sequence[Sequence[int]]) -> Sequence[int] | None:
        """The order of all articles, from the page ids of each job; None: one job after another."""

    def pieces(self, articles: int) -> Iterator[Piece]:
        """How to hand out its articles: at least one piece. ``articles``: how many it turned out to
        have.

        Pieces that were handed out before the trainer was stopped are left out.
        """


@dataclass(frozen=True, slots=True)
class PageBatch:
    """Consecutive pages of the stream: a stretch that is handed out as a whole.

    ``position`` is the position after the last page: a source resumed from it continues with the
    next page, so that nothing is lost or repeated if it is saved together with these pages.
    ``skips`` counts the pages that the source listed but that give no article, by reason.
    """

    pages: tuple[Page, ...]
    position: Position
    skips: Skips = field(default_factory=dict)
    lap: float | None = None
    """The share of the whole source read so far, 0 to 1, if it is known."""
    rereadable: ClassVar = False

    @property
    def jobs(self) -> Sequence[Callable[[], Awaitable[Job]]]:
        return (self._job,)

    async def _job(self) -> Job:
        return FetchedPages(self.pages)

    def order(self, page_ids: Sequence[Sequence[int]]) -> None:
        """Returns None: the articles stay in the order of the pages."""

    def pieces(self, articles: int) -> Iterator[Piece]:
        yield Piece(0, articles, self.position, self.lap)


@dataclass(frozen=True, slots=True)
class FetchedPages:
    """A job of pages that are in memory."""

    fetched: tuple[Page, ...]

    @property
    def articles(self) -> int:
        return len(self.fetched)

    @property
    def size(self) -> int:
        return sum(sys.getsizeof(page.text) for page in self.fetched)  # 1 to 4 bytes a character

    def pages(self, info: SourceInfo) -> Iterator[Page]:
        return iter(self.fetched)

    async def renewed(self, lack: Lack) -> None:
        """Returns None: such a job never lacks anything."""

    def __str__(self) -> str:
        return f"{len(self.fetched)} pages"


class Source(Protocol):
    """A source of articles that is open, or can be opened."""

    activity: Activity

    async def open(self) -> SourceInfo:
        """Contact the source. Raises a `CrawlerError`."""

    def batches(self, position: Position | None) -> AsyncGenerator[Stretch]:
        """All stretches after ``position`` (None: from the start), until the source ends. The
        generator is closed before the source, whose resources it may still need.

        A source of pages yields `PageBatch`.
        """

    async def close(self) -> None:
        """Close connections and files; safe to call twice."""


Identity = Mapping[str, Any]
"""What identifies a source, as plain JSON values that a session stores. Sessions may come from
strangers, so a value in one must not have an effect outside the program by itself."""


def are_names(value: object) -> TypeGuard[list[str]]:
    """Whether a value of an identity is a list of texts, at least one."""
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) for name in value)


def default_held_out(articles: int | None) -> int:
    """The default number of held-out articles for a source of this many (None: unknown)."""
    if articles is None:
        return 1000
    return min(1000, articles // 10)


def with_spare(held_out: int) -> int:
    """A few more articles than are held out, since some may have no word of the vocabulary."""
    if held_out == 0:
        return 0
    return held_out + max(20, held_out // 20)


@dataclass(frozen=True)
class Asked(OptionValues):
    """A run's parameters for its source: the options given, and other values that matter to it."""

    held_out: int | None = None
    articles: int | None = None
    """The number of articles that the session will train on, if that is limited."""
    resuming: bool = False
    """Whether it continues after a position."""
    seed: int = 0
    version: str = ""
    """The program's version, for the User-Agent."""
    budget_folder: Path | None = None
    """The folder in which this user's trainers share a server's request budget."""


class SourceKind(ABC):
    """Describes one kind of source. It loads nothing heavy; the reading code is imported on
    opening.

    `identity` turns the options given into the values that the session stores. The source is opened
    from these, at first and whenever the session continues. A kind that yields pages is a
    `PageKind`.
    """

    name: ClassVar[str]
    """Its name in `--source` and in files."""
    label: ClassVar[str]
    """Its description in a dialog and the help."""
    options: ClassVar[tuple[Option[Any], ...]] = ()
    model_defaults: ClassVar[Mapping[str, object]] = {}
    """Default options of models, by name, for a new session whose models have these options."""
    has_replicas: ClassVar[bool] = False
    """Whether a new session has replicas of its models, unless their number is given."""
    command: ClassVar[str] = ""
    """Its own command for the screen and the trainer, if it has one."""
    on_screen: ClassVar[Sequence[str]] = ()
    """Further arguments for the command when a screen starts the trainer with it."""
    remark: ClassVar[str] = ""
    """The screen's remark beside the source's name."""
    has_links: ClassVar[bool] = False
    """Whether its pages are articles of a wiki, whose links can be counted instead of words."""
    own: ClassVar[bool] = False
    """Whether it yields the user's own documents. They are called documents, not articles, held-out
    ones get topics when training ends, and a vocabulary built from them is not kept for other
    sessions."""
    asks_server: ClassVar[bool] = False
    """Whether it asks a server for its articles. Only then are there requests, replies and
    downloads to report; and as people watch the crawl, models are measured more often."""
    advice: ClassVar[tuple[int, str] | None] = None
    """A number of articles, and advice for anyone who reads more than that."""

    @abstractmethod
    def identity(self, asked: Asked) -> Identity:
        """The identity of the requested source. Raises BadSource, naming the option, if something
        is missing."""

    def fault(self, identity: Identity) -> str:
        """What is wrong with an ``identity`` read from a session file; "" if the method `identity`
        may have returned it."""
        return ""

    def words(self, asked: Asked) -> Sequence[str] | None:
        """The vocabulary that comes with the source, used if none is named; None: the default one.

        The lines of a vocabulary file: one word each, preceded by ``# rule 2`` if that is their
        rule. Raises BadSource if one has to be named.
        """
        return None

    def builds_words(self, asked: Asked) -> bool:
        """Whether a new session can build its vocabulary from the first articles of this source.

        Called only if `language` names one whose vocabulary does not come with the program.
        """
        return False

    def language(self, asked: Asked) -> str | None:
        """The code of the requested language; None: none is given, and the default vocabulary will
        do."""
        return None

    def vocabulary_name(self, asked: Asked) -> str:
        """The name of a vocabulary built from the articles of this source.

        "" if the name depends on what the source states once it is open: then the vocabulary is
        built even if another session has kept one.
        """
        return self.name

    def kept_vocabulary(self, identity: Identity, name: str) -> str:
        """The name under which other sessions find the vocabulary that was built from this source;
        "" if only its own session keeps it.

        ``name``: what `vocabulary_name` returned. The source is open by now, and the identity is
        valid, as for `address`.
        """
        return name

    def needs_contact(self, identity: Identity) -> bool:
        """Whether its server is one of Wikimedia's, which require a contact that they recognise."""
        return False

    def download(self, identity: Identity) -> str:
        """A message on how much it will download; "" for nothing."""
        return ""

    def repeatable(self, identity: Identity) -> bool:
        """Whether it can be read in several passes, since its documents stay the same. Later passes
        read the word counts that the session keeps, not the source."""
        return False

    def division(self, identity: Identity) -> str:
        """How its documents are separated, for users whose files have too few documents; "" if that
        is clear."""
        return ""

    def wiki(self, identity: Identity) -> str | None:
        """The wiki to which its articles' page ids belong: "" if they belong to one that is not
        known, None if they belong to no wiki."""
        return None

    def address(self, identity: Identity, title: str, revision_id: int) -> str | None:
        """The http or https address of the article as it was read; None if it has none.

        The identity is valid: `fault` has found nothing wrong.
        """
        return None

    def licence(self, identity: Identity) -> Licence | None:
        """The licence of its articles; None if they are the user's own.

        The identity is valid, as for `address`.
        """
        return None

    def shown(self, source_name: str) -> str:
        """The name of an opened source on the screen."""
        return source_name


class PageKind(SourceKind):
    """A source of pages, whose words are still to be counted."""

    @abstractmethod
    def open(self, identity: Identity, asked: Asked) -> Source:
        """A source whose own `open` is still to be called. Raises a CrawlerError for an impossible
        one."""
