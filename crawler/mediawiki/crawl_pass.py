"""One pass through all articles of a wiki in its random order: its state, and checks that it is one.

Its cursor is that of the random generator, ``rand|start|id|flag``.
"""

import re
from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wikitopics.crawler.http.wire import Reply
from wikitopics.crawler.mediawiki.replies import Answer, read_answer
from wikitopics.crawler.source import BadPosition, Position, TransientError

# Pages that came before: a small memory for a source that should return each page once.

_RECENT = 1000
_SAMPLE = 1024
_MOST_AGAIN = 200
"""After this many known pages in a row, the source is repeating itself."""
_FEWEST_HITS = 3
_SCATTER = 0x9E3779B97F4A7C15
"""2**64 over the golden ratio: multiples of it are spread evenly (Knuth, volume 3, section 6.4)."""
_ALL_BITS = (1 << 64) - 1


class Seen:
    """Remembers the last 1,000 pages, and a sample of all pages before them, chosen by a hash of the id.

    Of 7 million pages the sample holds one in several thousand, which is enough to notice that a pass
    restarts; a wiki that repeats a few batches is noticed by the last pages. It takes 16 kB, whatever it has
    seen.
    """

    def __init__(self, stored: Mapping[str, object] | None = None) -> None:
        """``stored``: the result of `stored`; something unusable counts as nothing."""
        fields = stored or {}
        recent, oldest = _ids(fields.get("recent"))[:_RECENT], _number(fields.get("next")) % _RECENT
        self._recent = dict.fromkeys(recent[oldest:] + recent[:oldest])
        """As an ordered set, oldest first. (In positions of earlier versions the oldest may be elsewhere.)"""
        self._sample = set(_ids(fields.get("sample"))[:_SAMPLE])
        self._bits = min(_number(fields.get("bits")), 64)
        """A page is in the sample if this many leading bits of its hash are zero."""
        self._hits = _number(fields.get("hits"))
        """Known pages since the last one that was certainly new."""
        self._again = _number(fields.get("again"))
        """How many pages those represent."""
        self._sample_text: str | None = None

    @property
    def repeats(self) -> bool:
        """Whether all recent pages came before."""
        return self._hits >= _FEWEST_HITS and self._again >= _MOST_AGAIN

    def add(self, page_ids: Iterable[int]) -> set[int]:
        """Record these pages; returns those that are new, as far as is known."""
        return {page_id for page_id in page_ids if self._is_new(page_id)}

    def stored(self) -> dict[str, object]:
        """Everything as JSON values, to be stored with the position."""
        if self._sample_text is None:
            self._sample_text = _text(array("q", self._sample))
        numbers = {"bits": self._bits, "hits": self._hits, "again": self._again}
        return {"recent": _text(array("q", self._recent)), "sample": self._sample_text, **numbers}

    def _is_new(self, page_id: int) -> bool:
        is_sampled = self._samples(page_id)
        if page_id in self._sample or page_id in self._recent:
            self._hits += 1
            # A page of the sample represents all those that came with it.
            self._again += 1 << self._bits if is_sampled else 1
            return False
        if is_sampled:
            self._hits = self._again = 0  # certainly new
            self._sample.add(page_id)
            self._sample_text = None
            while len(self._sample) > _SAMPLE:
                self._bits += 1
                self._sample = set(filter(self._samples, self._sample))
        self._recent[page_id] = None
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        return True

    def _samples(self, page_id: int) -> bool:
        return (page_id * _SCATTER & _ALL_BITS) >> (64 - self._bits) == 0


def _number(value: object) -> int:
    return value if type(value) is int and value > 0 else 0


def _text(page_ids: "array[int]") -> str:
    return b64encode(page_ids).decode("ascii")


def _ids(text: object) -> "array[int]":
    ids = array("q")
    try:
        ids.frombytes(b64decode(text) if isinstance(text, str) else b"")
    except ValueError:
        return array("q")
    return ids


_NUMBER = r"\d(?:\.\d{1,30})?(?:[eE]-\d{1,3})?"
_TOKEN = re.compile(rf"({_NUMBER})\|({_NUMBER})\|(\d{{1,19}})\|([01])")
_MOST_LEFT = 100
"""Articles that may be missing at the end, beyond two listings: the sizes of wikis are estimates."""
_MOST_DELETED = 20


@dataclass(frozen=True, slots=True)
class Cursor:
    """The state of a pass, as the wiki reported it."""

    token: str
    begin: float
    """Where the pass began in the wiki's order, 0 to 1."""
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
        moved = self.share > before.share or (self.share == before.share and self.page_id != before.page_id)
        return self.begin == before.begin and moved


def read_cursor(parameters: Mapping[str, object]) -> Cursor | None:
    """The cursor in ``parameters``; None if there is none, or none of this form."""
    token = parameters.get("grncontinue")
    found = _TOKEN.fullmatch(token) if isinstance(token, str) else None
    if found is None or not isinstance(token, str):
        return None
    begin, here, wrapped = float(found[1]), float(found[2]), found[4] == "1"
    share = here - begin + wrapped
    return Cursor(token, begin, share, int(found[3])) if 0 <= share <= 1 else None


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
        stored = position.get("cursor", {} if self.is_over else None)
        if not isinstance(stored, Mapping):
            raise BadPosition
        self._cursor = read_cursor(stored)
        if stored and self._cursor is None:
            raise BadPosition
        listed, seen = position.get("listed"), position.get("seen")
        self._listed = listed if type(listed) is int else None
        self._seen = Seen(seen if isinstance(seen, Mapping) else None)
        self._limit = 0

    @property
    def share(self) -> float:
        """The share of the pass completed, 0 to 1."""
        return 1.0 if self.is_over else self._cursor.share if self._cursor else 0.0

    @property
    def repeats(self) -> bool:
        """Whether the wiki repeats earlier pages; the pass is then over."""
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
        self._limit = limit
        return {**generator(limit), **(self._cursor.parameters if self._cursor else {})}

    def read(self, reply: Reply) -> Answer:
        """One piece of the listing that `query` requested.

        Raises the errors of `read_answer`, and `TransientError` for an impossible place or an impossible end
        of this pass.
        """
        answer = read_answer(reply)
        self.check(answer)
        return answer

    def check(self, answer: Answer) -> None:
        """Check how the wiki continues after ``answer``, as `read` does."""
        if answer.continuation is None:
            self._check_end(len(answer.pages))
            return
        there = read_cursor(answer.continuation)
        if there is None and (answer.complete or "grncontinue" in answer.continuation):
            raise TransientError("the wiki's cursor is not valid")
        if answer.complete and there and self._cursor and not there.follows(self._cursor):
            raise TransientError("the wiki's cursor does not advance")

    def step(self, continuation: Mapping[str, str] | None, page_ids: Iterable[int]) -> set[int]:
        """Continue after a listing that has been checked; returns those of its pages that are new."""
        page_ids = list(page_ids)
        new = self._seen.add(page_ids)
        self._listed = None if self._listed is None else self._listed + len(page_ids)
        self._cursor = None if continuation is None else read_cursor(continuation)
        self.is_over = self._cursor is None or self.repeats
        return new

    def _check_end(self, listed: int) -> None:
        known = self._listed is not None and self.share > 0
        size = (self._listed or 0) / self.share if known else float(self.articles or 0)
        left = (1 - self.share) * size - listed
        # A pass ends with a listing. Without one, its last few articles may have been deleted meanwhile.
        most = _MOST_LEFT + 2 * self._limit if listed else _MOST_DELETED if self._cursor else 0
        if left > most:
            raise TransientError(
                f"the wiki's list ends at {self.share:.0%}, about {left:,.0f} articles too early"
            )
