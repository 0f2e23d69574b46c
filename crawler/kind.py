"""What a kind of source says of itself, before anything of it is loaded or opened."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.options import Given, Option

if TYPE_CHECKING:
    from crawler.licences import Licence
    from crawler.source import PartedSource, Source

Identity = Mapping[str, Any]
"""What names a source, as plain JSON values. A session keeps it. Nothing of what acts outside is in it."""


def default_held_out(articles: int | None) -> int:
    """Articles that are held out of so many (None: unknown) where no number is given."""
    return 1000 if articles is None else min(1000, articles // 10)


def with_spare(held_out: int) -> int:
    """A few more come first than are held out, as some may hold no word of the vocabulary."""
    return held_out + max(20, held_out // 20) if held_out else 0


@dataclass(frozen=True)
class Asked(Given):
    """What a run asks of its source: the options that were given, and what else matters to it."""

    held_out: int | None = None
    articles: int | None = None
    """How many the session is to train on, where that is limited."""
    resuming: bool = False
    """Whether it goes on behind a position."""
    elsewhere: bool = False
    """Whether its pages are read on other machines."""
    seed: int = 0
    version: str = ""
    """Of the program, for the User-Agent."""
    budget_folder: Path | None = None
    """Where this user's trainers share what a server allows."""


class SourceKind(ABC):
    """One kind of source, described. Nothing heavy is loaded for that; what reads is imported when it opens.

    `identity` makes of what was asked what the session keeps of it. The source is opened from that, at first
    and whenever the session goes on. A kind that yields pages is a `PageKind`.
    """

    name: ClassVar[str]
    """The word for it in `--source` and in files."""
    label: ClassVar[str]
    """What a dialog and the help say of it."""
    options: ClassVar[tuple[Option[Any], ...]] = ()
    presets: ClassVar[Mapping[str, object]] = {}
    """Settings by name that a session of its own command has."""
    model_defaults: ClassVar[Mapping[str, object]] = {}
    """Options of models by name, for a new session that is not told them and models that have them."""
    command: ClassVar[str] = ""
    """Of the program, where this kind has one of its own for the screen and the trainer."""
    remark: ClassVar[str] = ""
    """What the screen says beside the source's name."""
    asks_server: ClassVar[bool] = False
    """Whether it asks a server for its articles. Only then is there anything to tell of requests, of how they
    are answered and of what was downloaded."""
    advice: ClassVar[tuple[int, str] | None] = None
    """So many articles, and what whoever has read more of them should know."""

    @abstractmethod
    def identity(self, asked: Asked) -> Identity:
        """What names the source asked for. Raises BadSource, naming the option, where something lacks."""

    def fault(self, identity: Identity) -> str:
        """What in a stored identity `identity` never returns; "" for nothing."""
        return ""

    def words(self, asked: Asked) -> Sequence[str] | None:
        """The vocabulary that comes with the source, for whoever names none; None: the usual one.

        The lines of a vocabulary file: a word each, before them ``# rule 2`` where that is their rule.
        Raises BadSource where one has to be named.
        """
        return None

    def builds_words(self, asked: Asked) -> bool:
        """Whether a new session can build its vocabulary from the first articles of this source.

        Asked only where `language` names one whose vocabulary does not come with the program.
        """
        return False

    def language(self, asked: Asked) -> str | None:
        """The code of the language that is asked for; None: none is, and the usual vocabulary will do."""
        return None

    def vocabulary_name(self, asked: Asked) -> str:
        """What a vocabulary is called that is built from the articles of this source."""
        return self.name

    def needs_contact(self, identity: Identity) -> bool:
        """Whether its server asks who runs a crawler."""
        return False

    def download(self, identity: Identity) -> str:
        """What whoever begins with it should know of how much it downloads; "" for nothing."""
        return ""

    def wiki(self, identity: Identity) -> str | None:
        """The wiki whose page ids its articles have, "" where it is not known which; None: of no wiki."""
        return None

    def address(self, identity: Identity, title: str, revision_id: int) -> str | None:
        """Where the article can be read as it was, http or https; None where it has no address.

        The identity is a sound one: `fault` has nothing to say of it.
        """
        return None

    def licence(self, identity: Identity) -> Licence | None:
        """Under which licence its articles are; None where they are the user's own affair.

        The identity is a sound one, as for `address`.
        """
        return None

    def shown(self, source_name: str) -> str:
        """What to call an opened source on the screen."""
        return source_name


class PageKind(SourceKind):
    """A source of pages, whose words are still to be counted."""

    @abstractmethod
    def open(self, identity: Identity, asked: Asked) -> Source | PartedSource[Any]:
        """The source, before its own `open`. Raises a CrawlerError for what cannot be."""
