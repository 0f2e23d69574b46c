"""The description of a kind of source, available before anything of it is loaded or opened."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wikitopics.crawler.options import Given, Option

if TYPE_CHECKING:
    from wikitopics.crawler.licences import Licence
    from wikitopics.crawler.source import PartedSource, Source

Identity = Mapping[str, Any]
"""The identity of a source, as plain JSON values that a session stores. It contains nothing that acts
outside the program."""


def default_held_out(articles: int | None) -> int:
    """The number of articles held out from this many (None: unknown) if no number is given."""
    return 1000 if articles is None else min(1000, articles // 10)


def with_spare(held_out: int) -> int:
    """A few more articles come first than are held out, since some may have no word of the vocabulary."""
    return held_out + max(20, held_out // 20) if held_out else 0


@dataclass(frozen=True)
class Asked(Given):
    """A run's parameters for its source: the options given, and other values that matter to it."""

    held_out: int | None = None
    articles: int | None = None
    """The number of articles that the session will train on, if that is limited."""
    resuming: bool = False
    """Whether it continues after a position."""
    elsewhere: bool = False
    """Whether its pages are read on other machines."""
    seed: int = 0
    version: str = ""
    """The program's version, for the User-Agent."""
    budget_folder: Path | None = None
    """The folder in which this user's trainers share a server's request budget."""


class SourceKind(ABC):
    """The description of one kind of source. It loads nothing heavy; the reading code is imported on opening.

    `identity` turns the options given into the values that the session stores. The source is opened from
    these, at first and whenever the session continues. A kind that yields pages is a `PageKind`.
    """

    name: ClassVar[str]
    """Its name in `--source` and in files."""
    label: ClassVar[str]
    """Its description in a dialog and the help."""
    options: ClassVar[tuple[Option[Any], ...]] = ()
    presets: ClassVar[Mapping[str, object]] = {}
    """Settings, by name, of a session made by its own command."""
    model_defaults: ClassVar[Mapping[str, object]] = {}
    """Options of models, by name, for a new session that is not given them and whose models have them."""
    command: ClassVar[str] = ""
    """Its own command of the program, if it has one for the screen and the trainer."""
    remark: ClassVar[str] = ""
    """The screen's remark beside the source's name."""
    asks_server: ClassVar[bool] = False
    """Whether it asks a server for its articles. Only then are there requests, replies and downloads to
    report."""
    advice: ClassVar[tuple[int, str] | None] = None
    """A number of articles, and advice for a reader of more."""

    @abstractmethod
    def identity(self, asked: Asked) -> Identity:
        """The identity of the requested source. Raises BadSource, naming the option, if something is
        missing."""

    def fault(self, identity: Identity) -> str:
        """Why `identity` cannot have returned a stored identity; "" if it can."""
        return ""

    def words(self, asked: Asked) -> Sequence[str] | None:
        """The vocabulary that comes with the source, used if none is named; None: the default one.

        The lines of a vocabulary file: one word each, preceded by ``# rule 2`` if that is their rule. Raises
        BadSource if one has to be named.
        """
        return None

    def builds_words(self, asked: Asked) -> bool:
        """Whether a new session can build its vocabulary from the first articles of this source.

        Called only if `language` names one whose vocabulary does not come with the program.
        """
        return False

    def language(self, asked: Asked) -> str | None:
        """The code of the requested language; None: none is given, and the default vocabulary will do."""
        return None

    def vocabulary_name(self, asked: Asked) -> str:
        """The name of a vocabulary built from the articles of this source."""
        return self.name

    def needs_contact(self, identity: Identity) -> bool:
        """Whether its server is one of Wikimedia's, which require a contact that they recognise."""
        return False

    def download(self, identity: Identity) -> str:
        """A message on how much it will download; "" for nothing."""
        return ""

    def wiki(self, identity: Identity) -> str | None:
        """The wiki to which its articles' page ids belong, "" if it is not known which; None: no wiki."""
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
    def open(self, identity: Identity, asked: Asked) -> Source | PartedSource[Any]:
        """The source, before its own `open`. Raises a CrawlerError for an impossible one."""
