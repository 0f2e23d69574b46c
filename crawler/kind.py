"""What a kind of source says of itself, before anything of it is loaded or opened."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.options import Option, Value

if TYPE_CHECKING:
    from crawler.source import Source

Identity = Mapping[str, Any]
"""What names a source, as plain JSON values. A session keeps it. Nothing of what acts outside is in it."""
DEFAULT_HELD_OUT = 1000


def default_held_out(articles: int | None) -> int:
    """Articles that are held out of so many (None: unknown) where no number is given."""
    return DEFAULT_HELD_OUT if articles is None else min(DEFAULT_HELD_OUT, articles // 10)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run asks of its source."""

    options: Mapping[str, Value] = field(default_factory=dict)
    """Those of the source that were given."""
    held_out: int | None = None
    articles: int | None = None
    """How many the session is to train on, where that is limited."""
    resuming: bool = False
    """Whether it goes on behind a position."""
    version: str = ""
    """Of the program, for the User-Agent."""
    budget_folder: Path | None = None
    """Where this user's trainers share what a server allows."""

    def text(self, name: str) -> str | None:
        """An option that is a text."""
        value = self.options.get(name)
        return None if value is None else str(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """An option that may be repeated."""
        value = self.options.get(name, ())
        return value if isinstance(value, tuple) else (str(value),)

    def whole(self, name: str) -> int | None:
        """An option that is a whole number."""
        value = self.options.get(name)
        return int(value) if isinstance(value, int) else None


class SourceKind(ABC):
    """One kind of source, described. Nothing heavy is loaded for that; what reads is imported when it opens.

    `identity` makes of what was asked what the session keeps of it. The source is opened from that, at first
    and whenever the session goes on. A kind that yields pages is a `PageKind`.
    """

    name: ClassVar[str]
    """The word for it in `--source` and in files."""
    label: ClassVar[str]
    """What a dialog and the help say of it."""
    options: ClassVar[tuple[Option, ...]] = ()
    command: ClassVar[str] = ""
    """Of the program, where this kind has one of its own for the screen and the trainer."""
    remark: ClassVar[str] = ""
    """What the screen says beside the source's name."""
    advice: ClassVar[tuple[int, str] | None] = None
    """So many articles, and what whoever has read more of them should know."""

    @abstractmethod
    def identity(self, asked: Asked) -> Identity:
        """What names the source asked for. Raises BadSource, naming the option, where something lacks."""

    def fault(self, identity: Identity) -> str:
        """What in a stored identity `identity` never returns; "" for nothing."""
        return ""

    def words(self, asked: Asked) -> Sequence[str] | None:
        """The vocabulary that comes with the source, for whoever names none."""
        return None

    def needs_contact(self, identity: Identity) -> bool:
        """Whether its server asks who runs a crawler."""
        return False

    def shown(self, source_name: str) -> str:
        """What to call an opened source on the screen."""
        return source_name


class PageKind(SourceKind):
    """A source of pages, whose words are still to be counted."""

    @abstractmethod
    def open(self, identity: Identity, asked: Asked) -> Source:
        """The source, before its own `open`. Raises a CrawlerError for what cannot be."""
