"""One pass through all articles of a wiki in random order, without replacement, and its position.

`generator=random` lists consecutive pages in the wiki's fixed random order from a random start; its
cursor, ``rand|start|id|flag``, continues from there, wraps around and ends where it began. The
position consists of the cursor and a small memory of earlier pages.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from wikitopics.crawler.errors import BadPosition, CrawlerError, TransientError
from wikitopics.crawler.http.wire import Reply
from wikitopics.crawler.mediawiki.gathering import Gathering
from wikitopics.crawler.mediawiki.replies import QueryAnswer, read_answer
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.page import LARGEST_ID
from wikitopics.crawler.source import Position

# Pages seen before: a small memory for a source that should return each page once.

PageId = Annotated[int, Meta(gt=0, le=LARGEST_ID)]
_RECENT = 1000
_SAMPLE = 1024
_MOST_AGAIN = 200
"""The number of known pages in a row after which the source counts as repeating itself."""
_FEWEST_HITS = 3
"""The fewest pages that must have been recognised for that."""
_SCATTER = 0x9E3779B97F4A7C15
"""2**64 over the golden ratio: multiples of it are spread evenly (Knuth, volume 3, section 6.4)."""
_ALL_BITS = (1 << 64) - 1


class Seen(msgspec.Struct):
    """Remembers the last 1,000 pages, and a sample of all pages before them, chosen by a hash of
    the id.

    Of 7 million pages, the sample holds one in several thousand, which is enough to notice that a
    pass has restarted; the last pages reveal a wiki that repeats a few batches. It takes 20 kB of a
    position, however many pages it has seen.
    """

    recent: list[PageId] = []
    """Oldest first."""
    sample: set[PageId] = set()
    bits: Annotated[int, Meta(ge=0, le=64)] = 0
    """A page is in the sample if this many leading bits of its hash are zero."""
    hits: int = 0
    """Known pages since the last one that was certainly new."""
    again: int = 0
    """How many pages these represent."""

    @classmethod
    def of(cls, stored: object) -> Self:
        """What `stored` gave. Anything unusable is ignored, such as what wikitopics 1.1 stored."""
        try:
            return msgspec.convert(stored, cls)
        except msgspec.ValidationError:
            return cls()

    @property
    def repeats(self) -> bool:
        """Whether all recent pages had been seen before."""
        return self.hits >= _FEWEST_HITS and self.again >= _MOST_AGAIN

    def add(self, page_ids: Iterable[int]) -> set[int]:
        """Record these pages; returns those that are new, as far as can be told."""
        return {page_id for page_id in page_ids if self._is_new(page_id)}

    def stored(self) -> dict[str, object]:
        """Everything as JSON values, to be stored with the position."""
        fields: dict[str, object] = msgspec.to_builtins(self)
        return fields

    def _is_new(self, page_id: int) -> bool:
        is_sampled = self._samples(page_id)
        if page_id in self.sample or page_id in self.recent:
            self.hits += 1
            # A page of the sample represents all the pages around it.
            self.again += 1 << self.bits if is_sampled else 1
            return False
        if is_sampled:
            # This page is certainly new.
            self.hits = 0
            self.again = 0
            self.sample.add(page_id)
            while len(self.sample) > _SAMPLE:
                self.bits += 1
                self.sample = set(filter(self._samples, self.sample))
        self.recent.append(page_id)
        del self.recent[:-_RECENT]
        return True

    def _samples(self, page_id: int) -> bool:
        hashed = (page_id * _SCATTER) & _ALL_BITS
        leading_bits = hashed >> (64 - self.bits)
        return leading_bits == 0


_NUMBER = r"\d(?:\.\d{1,30})?(?:[eE]-\d{1,3})?"
_TOKEN = re.compile(rf"({_NUMBER})\|({_NUMBER})\|(\d{{1,19}})\|([01])")
_MOST_LEFT = 100
"""How many articles may be missing at the end, beyond two listings: wikis' sizes are estimates."""
_MOST_DELETED = 20
"""The same if the wiki lists nothing more: its last articles may have been deleted meanwhile."""
_MOST_EMPTY = 100
"""The most consecutive listings without a page."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The state of a pass, as the wiki reported it."""

    token: str
    begin: float
    """The place in the wiki's order where the pass began, 0 to 1."""
    share: float
    """The share of the pass completed, 0 to 1."""
    page_id: int
    """The next page."""

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters with which to continue from here."""
        return {"grncontinue": self.token, "continue": "grncontinue||"}

    def follows(self, before: "Cursor") -> bool:
        """Whether this is further on the same pass than ``before``."""
        if self.begin != before.begin:
            return False
        if self.share == before.share:
            return self.page_id != before.page_id
        return self.share > before.share


def read_cursor(parameters: Mapping[str, object]) -> Cursor | None:
    """The cursor in ``parameters``; None if there is none, or none of this form."""
    token = parameters.get("grncontinue")
    if not isinstance(token, str):
        return None
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    begin, here, page_id, has_wrapped = match.groups()
    share = float(here) - float(begin)
    if has_wrapped == "1":
        share += 1
    if not 0 <= share <= 1:
        return None
    return Cursor(token, float(begin), share, int(page_id))


def generator(limit: int) -> dict[str, str]:
    """The parameters that list ``limit`` articles in the wiki's random order, without redirects."""
    return {"generator": "random", "grnnamespace": "0", "grnlimit": str(limit)}


class CrawlPass:
    """The pass from ``position`` on. Raises `BadPosition` for an invalid position."""

    def __init__(self, position: Position | None) -> None:
        position = {"cursor": {}, "listed": 0} if position is None else position
        self.articles: int | None = None
        """The wiki's own count, once it is known."""
        self.is_over = position.get("finished") is True
        stored = position.get("cursor")
        if self.is_over and "cursor" not in position:
            stored = {}
        if not isinstance(stored, Mapping):
            raise BadPosition
        self._cursor = read_cursor(stored)
        if stored and self._cursor is None:
            raise BadPosition
        listed = position.get("listed")
        self._listed = listed if type(listed) is int else None
        self._seen = Seen.of(position.get("seen"))
        self._limit = 0
        self._empty = 0
        """Listings without a page since the last one with a page."""

    @property
    def share(self) -> float:
        """The share of the pass completed, 0 to 1."""
        if self.is_over:
            return 1.0
        return self._cursor.share if self._cursor else 0.0

    @property
    def position(self) -> dict[str, object]:
        """The values to save in order to continue from here."""
        if self.is_over:
            return {"finished": True}
        cursor = self._cursor.parameters if self._cursor else {}
        return {"cursor": cursor, "listed": self._listed, "seen": self._seen.stored()}

    def query(self, limit: int) -> dict[str, str]:
        """The parameters that list the next ``limit`` articles."""
        self._limit = limit
        query = generator(limit)
        if self._cursor:
            query |= self._cursor.parameters
        return query

    def read(self, reply: Reply) -> QueryAnswer:
        """One piece of the listing that `query` requested. Raises the errors of `read_answer` and
        `check`."""
        answer = read_answer(reply)
        self.check(answer)
        return answer

    def check(self, answer: QueryAnswer) -> None:
        """Raise `TransientError` if the wiki continues after ``answer`` at an impossible place, or
        ends too early."""
        if answer.continuation is None:
            self._check_end(len(answer.pages))
            return
        cursor = read_cursor(answer.continuation)
        if cursor is None:
            # The rest of an incomplete answer may be asked for without a cursor.
            if answer.complete or "grncontinue" in answer.continuation:
                raise TransientError("the wiki's cursor is not valid")
            return
        if answer.complete and self._cursor and not cursor.follows(self._cursor):
            raise TransientError("the wiki's cursor does not advance")

    def step(self, continuation: Mapping[str, str] | None, page_ids: Iterable[int]) -> set[int]:
        """Continue after a listing that has been checked; returns those of its pages that are
        new."""
        page_ids = list(page_ids)
        new = self._seen.add(page_ids)
        if self._listed is not None:
            self._listed += len(page_ids)
        self._cursor = None if continuation is None else read_cursor(continuation)
        self.is_over = self._cursor is None or self._seen.repeats
        return new

    def take(
        self,
        gathering: Gathering,
        continuation: Mapping[str, str] | None,
        wiki: Wiki,
    ) -> None:
        """Continue after a listing, and leave out pages that the wiki returned before.

        Raises CrawlerError if the wiki goes on listing nothing.
        """
        self._empty = 0 if len(gathering) else self._empty + 1
        if self._empty > _MOST_EMPTY:
            raise CrawlerError("the wiki keeps continuing without listing a page")
        page_ids = gathering.ids()
        new = self.step(continuation, page_ids)
        gathering.leave_out(set(page_ids) - new, "repeated")
        if self._seen.repeats:
            wiki.client.note("the wiki keeps returning the same articles: the lap ends here")

    def _check_end(self, listed: int) -> None:
        """Raise `TransientError` if a pass that ends with so many articles ends too early."""
        if self._listed is not None and self.share > 0:
            size = self._listed / self.share
        else:
            size = float(self.articles or 0)
        left = (1 - self.share) * size - listed
        if listed:
            most = _MOST_LEFT + 2 * self._limit
        elif self._cursor:
            most = _MOST_DELETED
        else:
            most = 0
        if left > most:
            raise TransientError(
                f"the wiki's list ends at {self.share:.0%}, about {left:,.0f} articles too early"
            )
