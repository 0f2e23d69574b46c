"""The articles that are drawn on the sky, and what moves there: an article that has just been read
flies to its place, and all articles drift when the map is laid out anew. Pure: times are arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.article_map import ArticleMap
from wikitopics.session.storage.places import Places
from wikitopics.tui.sky import Counts
from wikitopics.tui.sky_index import UNITS, Articles, LargestTopics, Window

DRIFT_SECONDS = 2.5
"""How long it takes all articles to move to where another layout has them."""
DRIFTING = 16_000
"""About so many of them are drawn meanwhile."""
FLIGHT_SECONDS = 1.3
"""How long an article that has just been read flies to its place."""
GLOW_SECONDS = 2.5
"""How long it stays bright there."""
APART_SECONDS = 0.3
"""How long after another one it sets out."""
MOST_FLIGHTS = 6
"""The most articles that fly or are bright at once; others appear at their places."""
AWAY = 0.22
"""How far away a flight begins, as a part of the window."""
TAIL = (0.02, 0.04, 0.06)
"""How far behind it the dots of its tail are, as parts of its flight."""


def flown(start: Places, end: Places, part: float) -> Places:
    """Where articles are at this part, from 0 to 1, of their flight, which slows down."""
    eased = 1 - (1 - part) ** 3
    way = end.astype(np.float64) - start
    return np.rint(start + eased * way).astype(np.uint16)


@dataclass(frozen=True, eq=False)
class Sky:
    """The articles that are drawn: those of a map, or in a replay the first of them."""

    map: ArticleMap
    articles: Articles
    topic_count: int
    """The number of topics, as far as they are the largest of an article."""

    @classmethod
    def of(cls, found: ArticleMap, last: int | None = None, before: Sky | None = None) -> Sky:
        """The articles of a map up to the one with the number (`seq`) ``last``; None: all. It takes
        less time if most of them were there before, at the same places."""
        n = len(found.seqs)
        if last is not None:
            n = int(np.searchsorted(found.seqs, last, side="right"))
        if before is not None and before._begins(found, n):
            new = slice(len(before), n)
            articles = before.articles.with_more(found.places[new], found.topics[new])
        else:
            articles = Articles(found.places[:n], found.topics[:n])
        return cls(found, articles, int(found.topics[:n].max(initial=-1)) + 1)

    def __len__(self) -> int:
        return len(self.articles)

    @property
    def seqs(self) -> NDArray[np.int64]:
        """(n,) the numbers (`seq`) of the articles, ascending."""
        return self.map.seqs[: len(self)]

    @property
    def places(self) -> Places:
        return self.map.places[: len(self)]

    @property
    def topics(self) -> LargestTopics:
        return self.map.topics[: len(self)]

    def find(self, seqs: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Where in the arrays these articles are; those that are not on the map are left out."""
        wanted = np.asarray(seqs, np.int64)
        if not len(self):
            return wanted[:0]
        at = np.minimum(np.searchsorted(self.seqs, wanted), len(self) - 1)
        found: NDArray[np.int64] = at[self.seqs[at] == wanted]
        return found

    def _begins(self, found: ArticleMap, n: int) -> bool:
        """Whether the first ``n`` articles of a map begin with these, at the same places."""
        known = len(self)
        return (
            known <= n
            and np.array_equal(self.seqs, found.seqs[:known])
            and np.array_equal(self.places, found.places[:known])
            and np.array_equal(self.topics, found.topics[:known])
        )


@dataclass(frozen=True, eq=False)
class Drift:
    """The movement of articles, each of which stands for ``every`` of them."""

    before: Places
    now: Places
    topics: LargestTopics
    every: int
    begins: float

    @classmethod
    def between(cls, before: Sky, now: Sky, begins: float) -> Drift:
        every = max(-(-len(before) // DRIFTING), 1)
        at = now.find(before.seqs[::every])
        at_before = before.find(now.seqs[at])
        return cls(before.places[at_before], now.places[at], now.topics[at], every, begins)

    def ended(self, time: float) -> bool:
        return time >= self.begins + DRIFT_SECONDS

    def articles(self, time: float) -> Articles:
        """Where they are at this time."""
        part = min(max((time - self.begins) / DRIFT_SECONDS, 0.0), 1.0)
        return Articles(flown(self.before, self.now, part), self.topics)

    def counts(
        self,
        time: float,
        area_of: NDArray[np.integer],
        area_count: int,
        window: Window,
        size: tuple[int, int],
    ) -> Counts:
        """The same, counted as all articles."""
        counts = Counts.of(self.articles(time), area_of, area_count, window, size)
        counts.dots *= self.every
        counts.areas *= self.every
        return counts


class Flight(NamedTuple):
    """An article that has just been read, on its way to its place."""

    seq: int
    begins: float
    start: tuple[int, int]
    end: tuple[int, int]

    def landed(self, time: float) -> bool:
        return time >= self.begins + FLIGHT_SECONDS

    def ended(self, time: float) -> bool:
        """Whether it is not bright any more."""
        return time >= self.begins + FLIGHT_SECONDS + GLOW_SECONDS

    def at(self, time: float, behind: float = 0.0) -> tuple[int, int]:
        """Where it is at this time, or what is so far behind it, as a part of the flight."""
        part = min(max((time - self.begins) / FLIGHT_SECONDS - behind, 0.0), 1.0)
        way = flown(np.array([self.start], np.uint16), np.array([self.end], np.uint16), part)
        ((x, y),) = way.tolist()
        return x, y

    def places(self, time: float) -> list[tuple[int, int]]:
        """Where it and its tail are at this time; nowhere before it has set out."""
        if time < self.begins:
            return []
        if self.landed(time):
            return [self.end]
        return [self.at(time, behind) for behind in (0.0, *TAIL)]


def set_out(
    flights: Sequence[Flight], sky: Sky, known: int, window: Window, time: float
) -> list[Flight]:
    """The flights that have not ended, and new ones: of the newest articles after the first
    ``known``, as far as not too many are bright at once; they come from outside."""
    going = [flight for flight in flights if not flight.ended(time)]
    room = MOST_FLIGHTS - len(going)
    left, bottom = window.corner
    places = sky.places[known:].astype(np.float64)
    inside = (places >= (left, bottom)) & (places < (left + window.side, bottom + window.side))
    in_sight = known + np.flatnonzero(inside.all(axis=1))
    begins = max([time, *(flight.begins + APART_SECONDS for flight in going)])
    middle = np.array([window.x, window.y]) * UNITS
    for number in in_sight[max(len(in_sight) - room, 0) :].tolist():
        end = sky.places[number]
        outwards = end - middle
        outwards /= max(float(np.hypot(*outwards)), 1.0)
        start = np.clip(end + AWAY * window.side * outwards, 0, UNITS - 1).astype(int)
        x, y = start.tolist()
        to_x, to_y = end.tolist()
        going.append(Flight(int(sky.seqs[number]), begins, (x, y), (to_x, to_y)))
        begins += APART_SECONDS
    return going


def bright(flights: Sequence[Flight], time: float) -> Places:
    """(m, 2) what is bright at this time."""
    places = [place for flight in flights for place in flight.places(time)]
    return np.array(places, np.uint16).reshape(-1, 2)
