"""One lap through all articles of a wiki in its random order: its state, and checks that it is a lap."""

from collections.abc import Iterable, Mapping

from wikitopics.crawler.errors import BadPosition, TransientError
from wikitopics.crawler.mediawiki.cursor import generator, read_cursor
from wikitopics.crawler.mediawiki.seen import Seen
from wikitopics.crawler.source import Position

_MOST_LEFT = 100
"""Articles that may be missing at the end, beyond two listings: the sizes of wikis are estimates."""
_MOST_DELETED = 20


class Lap:
    """The lap from ``position`` on. Raises `BadPosition` for an invalid position.

    ``articles``: the wiki's own count.
    """

    def __init__(self, position: Position | None, articles: int | None = None) -> None:
        position = {"cursor": {}, "listed": 0} if position is None else position
        self.articles = articles
        self.is_over = position.get("finished") is True
        stored = position.get("cursor", {} if self.is_over else None)
        if not isinstance(stored, Mapping):
            raise BadPosition
        self._cursor = read_cursor(stored)
        if stored and self._cursor is None:
            raise BadPosition
        listed, seen = position.get("listed"), position.get("seen")
        self._listed = listed if type(listed) is int else None
        self._seen = Seen(seen if isinstance(seen, Mapping) else None)

    @property
    def share(self) -> float:
        """The share of the lap completed, 0 to 1."""
        return 1.0 if self.is_over else self._cursor.share if self._cursor else 0.0

    @property
    def repeats(self) -> bool:
        """Whether the wiki repeats earlier pages; the lap is then over."""
        return self._seen.repeats

    @property
    def position(self) -> dict[str, object]:
        """The values to save in order to continue from here."""
        if self.is_over:
            return {"finished": True}
        cursor = self._cursor.parameters if self._cursor else {}
        return {"cursor": cursor, "listed": self._listed, "seen": self._seen.stored()}

    def query(self, limit: int) -> dict[str, str]:
        """The parameters that list the next ``limit`` articles."""
        return {**generator(limit), **(self._cursor.parameters if self._cursor else {})}

    def check(self, going_on: Mapping[str, str] | None, *, complete: bool, listed: int, limit: int) -> None:
        """Check the wiki's continuation after a listing of ``listed`` articles; None: the lap is over.

        ``complete``: the listing has all its texts. ``limit``: the number of articles requested. Raises
        `TransientError` for an impossible place or an impossible end of this lap.
        """
        if going_on is None:
            self._check_end(listed, limit)
            return
        there = read_cursor(going_on)
        if there is None and (complete or "grncontinue" in going_on):
            raise TransientError("the wiki's cursor is not valid")
        if complete and there and self._cursor and not there.follows(self._cursor):
            raise TransientError("the wiki's cursor does not advance")

    def step(self, going_on: Mapping[str, str] | None, page_ids: Iterable[int]) -> set[int]:
        """Continue after a listing that has been checked; returns those of its pages that are new."""
        page_ids = list(page_ids)
        new = self._seen.add(page_ids)
        self._listed = None if self._listed is None else self._listed + len(page_ids)
        self._cursor = None if going_on is None else read_cursor(going_on)
        self.is_over = self._cursor is None or self.repeats
        return new

    def _check_end(self, listed: int, limit: int) -> None:
        left = (1 - self.share) * self._size() - listed
        # A lap ends with a listing. Without one, its last few articles may have been deleted meanwhile.
        most = _MOST_LEFT + 2 * limit if listed else _MOST_DELETED if self._cursor else 0
        if left > most:
            raise TransientError(
                f"the wiki's list ends at {self.share:.0%}, about {left:,.0f} articles too early"
            )

    def _size(self) -> float:
        """The estimated number of articles, extrapolated from the share of the lap completed."""
        if self.share > 0 and self._listed is not None:
            return self._listed / self.share
        return float(self.articles or 0)
