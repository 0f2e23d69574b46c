"""The spotlight: one noteworthy article after another, found among those that a session stores.

What it shows depends only on the session as it is and on the number of the turn, so that two
screens show the same. It looks at the newest articles, however many there are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.areas import Atlas
from wikitopics.session.naming import parts
from wikitopics.session.records import ArticleRow
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.typical import typicality

TURN = 10.0
"""For how many seconds each article is shown."""
NEWEST = 2_048
"""About how many of the newest articles are compared with one another."""
ON_MAP = 8_192
"""The same for their places on the map, which are smaller."""
FEWEST = 100
"""Fewer articles do not show what is usual."""
IN_TURN = 8
"""Of each kind, so many articles take turns: the best of the newest."""
AS_IF_READ = 5
"""What is usual for a topic is its mean over its articles and over this many average ones, as a
topic may have few."""
HALF = 0.2
"""The least proportion of an article that is on either side of a bridge."""
TOLD = 4
"""The most topics that are told of an article."""
PURE = 0.4
"""The least proportion of an article that shows a topic at its purest."""
LEAST_TOLD = 0.08
"""The least proportion that is told."""
COMPANY = 10
"""An article is alone only if so many others have its largest topic."""
TINY = 1e-30
"""Keeps a division by zero away where the result does not matter."""

Kind = Literal["strange", "bridge", "pure", "edge"]
MEANINGS: Mapping[Kind, str] = {
    "strange": "a strange mixture: unlike the other new articles with the same largest topic",
    "bridge": "a bridge: about two topics that are far apart; typical titles of both",
    "pure": "a topic at its purest: its most typical article",
    "edge": "at the edge: on the map, far from the new articles about its topic; what it is beside",
}
Floats = NDArray[np.floating]
Numbers = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Spot:
    """An article in the spotlight."""

    kind: Kind
    heading: str
    """Why it is shown, in a few words."""
    article: ArticleRow
    words: str
    """What is noteworthy about it: follows its title and a colon."""


def strangeness(theta: Floats) -> NDArray[np.float64]:
    """(n,) how unlike the other articles with the same largest topic each one is: the
    Kullback-Leibler divergence of its proportions from their mean, without the term of that topic,
    which alone makes no mixture.

    theta: (n, K) proportions, rows sum to 1
    """
    _, K = theta.shape
    largest = theta.argmax(axis=1)
    counts = np.bincount(largest, minlength=K)[:, None]
    by_topic = np.argsort(largest, kind="stable")
    present = np.flatnonzero(counts)
    starts = (np.cumsum(counts) - counts[:, 0])[present]
    together = np.zeros((K, K))
    together[present] = np.add.reduceat(theta[by_topic], starts, axis=0)
    usual = (together + AS_IF_READ * theta.mean(axis=0)) / (counts + AS_IF_READ)
    # Where a proportion is 0, so is its term.
    ratios = np.where(theta > 0, theta / np.maximum(usual[largest], TINY), 1.0)
    terms = theta * np.log(ratios)
    terms[np.arange(len(theta)), largest] = 0
    return np.asarray(terms.sum(axis=1), np.float64)


def bridging(
    theta: Floats, far: Floats, area_of: Numbers
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(n,) how far apart the two largest topics of each article are, times the smaller one's
    proportion, or 0 if that is under `HALF` or both are of one area; and (n, 2) these topics.

    theta: (n, K) proportions. far: (K, K) distances of topics. area_of: (K,)
    """
    by_size = np.argsort(-theta, axis=1, kind="stable")
    first = by_size[:, 0]
    second = by_size[:, 1]
    smaller = theta[np.arange(len(theta)), second]
    links = (smaller >= HALF) & (area_of[first] != area_of[second])
    return np.where(links, smaller * far[first, second], 0.0), by_size[:, :2].astype(np.int64)


def aloneness(places: NDArray[np.uint16], topics: Numbers) -> NDArray[np.float64]:
    """(n,) the distance of each article from the nearest one with the same largest topic; 0 where
    fewer than `COMPANY` others have it.

    places: (n, 2). topics: (n,)
    """
    from scipy.spatial import KDTree

    alone = np.zeros(len(places))
    by_topic = np.argsort(topics, kind="stable")
    ends = np.cumsum(np.bincount(topics)) if len(topics) else np.empty(0, np.int64)
    for own in np.split(by_topic, ends[:-1]):
        if len(own) > COMPANY:
            distances, _ = KDTree(places[own].astype(np.float64)).query(places[own], k=2)
            alone[own] = distances[:, 1]  # the first is the distance from itself
    return alone


def spotlight(reader: SessionReader, model: str, turn: int, atlas: Atlas | None) -> Spot | None:
    """The article that is shown in this turn; None if nothing is noteworthy.

    Kinds take turns; one that has nothing to show gives its turn to the next. ``atlas``: the
    model's, None before its first snapshot.
    """
    if atlas is None:
        return None
    looking = _Looking(reader, model, atlas)
    finders = (looking.strange, looking.bridge, looking.pure, looking.edge)
    cycle, place = divmod(turn, len(finders))
    with reader.one_moment():
        for find in finders[place:] + finders[:place]:
            spot = find(cycle)
            if spot is not None:
                return spot
    return None


class _Looking:
    """Finds articles of each kind, in one session's model."""

    def __init__(self, reader: SessionReader, model: str, atlas: Atlas) -> None:
        self._reader = reader
        self._model = model
        self._atlas = atlas
        self._names = reader.topic_names(model)

    def strange(self, cycle: int) -> Spot | None:
        """A mixture of topics that is unlike those of other articles."""
        seqs, theta = self._newest()
        if len(seqs) < FEWEST:
            return None
        found = self._chosen(seqs, strangeness(theta), theta.argmax(axis=1), cycle)
        if found is None:
            return None
        article, row = found
        largest = np.argsort(-theta[row], kind="stable")[:TOLD].tolist()
        told = [self._part(k, theta[row, k]) for k in largest if theta[row, k] >= LEAST_TOLD]
        return Spot("strange", "a strange mixture", article, ", ".join(told))

    def bridge(self, cycle: int) -> Spot | None:
        """An article about two topics that are far apart."""
        seqs, theta = self._newest()
        _, K = theta.shape
        if len(seqs) < FEWEST or K < 2:
            return None
        grouping = self._atlas.grouping
        far = np.zeros((K, K))
        far[np.ix_(grouping.topics, grouping.topics)] = grouping.far
        scores, ends = bridging(theta, far, grouping.of_topic)
        found = self._chosen(seqs, scores, ends.min(axis=1) * K + ends.max(axis=1), cycle)
        if found is None:
            return None
        article, row = found
        topics = ends[row].tolist()
        titles = self._reader.titles_about(self._model, topics)
        told = []
        for topic in topics:
            words = self._part(topic, theta[row, topic])
            others = [title for title in titles[topic] if title != article.called]
            told.append(f"{words}, like {others[0]}" if others else words)
        return Spot("bridge", "a bridge", article, "; ".join(told))

    def pure(self, cycle: int) -> Spot | None:
        """The article that is most about one topic: of each topic in turn."""
        topics = self._atlas.grouping.topics.tolist()
        if not topics:
            return None
        topic = topics[cycle % len(topics)]
        articles = self._reader.articles_about(self._model, topic, 1)
        for article in articles:
            for model, _, proportion in article.topics:
                if model == self._model and proportion >= PURE:
                    words = f"{self._part(topic, proportion)}, the most typical article about it"
                    return Spot("pure", f"{self._name(topic)} at its purest", article, words)
        return None

    def edge(self, cycle: int) -> Spot | None:
        """An article that lies far from all others about its topic on the map of articles."""
        layout = self._reader.layout_in_force(self._model)
        blocks = _newest_of(self._reader.blocks(), ON_MAP)
        if not layout or not blocks:
            return None
        stored = self._reader.stored(self._model, blocks)
        lengths = [articles for _, articles in blocks]
        has_place = np.repeat(stored.layouts == layout, lengths)
        places = stored.places[has_place][-ON_MAP:]
        largest, _ = stored.proportions.two_largest(1)
        topics = largest[has_place][-ON_MAP:]
        seqs = _seqs(blocks)[has_place][-ON_MAP:]
        found = self._chosen(seqs, aloneness(places, topics), topics, cycle)
        if found is None:
            return None
        article, row = found
        name = self._name(int(topics[row]))
        words = "far from others about it"
        elsewhere = np.flatnonzero(topics != topics[row])
        if elsewhere.size:
            away = np.abs(places[elsewhere].astype(np.int64) - places[row]).max(axis=1)
            nearest = int(seqs[elsewhere[away.argmin()]])
            for neighbour in self._reader.numbered([nearest]).values():
                words += f", beside {neighbour.called}"
        return Spot("edge", f"at the edge of {name}", article, words)

    def _newest(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The numbers of the newest recorded articles, and their proportions (n, K), scaled to sum
        to 1."""
        blocks = _newest_of(self._reader.blocks(), NEWEST)
        if not blocks:
            return np.empty(0, np.int64), np.empty((0, len(self._names)), np.float32)
        of_blocks = [
            self._reader.proportions_of(self._model, first, articles) for first, articles in blocks
        ]
        newest = Proportions.concatenate(of_blocks)[-NEWEST:]
        theta = newest.dense(len(self._names))
        theta /= theta.sum(axis=1, keepdims=True)
        return _seqs(blocks)[-NEWEST:], theta

    def _chosen(
        self,
        seqs: NDArray[np.int64],
        scores: NDArray[np.float64],
        subjects: Numbers,
        cycle: int,
    ) -> tuple[ArticleRow, int] | None:
        """One of the `IN_TURN` best articles, and its row; None if no score is positive.

        Of articles with the same subject only the best counts, and short ones count less, whose
        proportions may be chance (`typicality`).
        """
        best = np.argsort(-scores, kind="stable")[: 8 * IN_TURN].tolist()
        articles = self._reader.numbered(seqs[best].tolist())
        ranked = []
        for row in best:
            article = articles.get(int(seqs[row]))
            if article is not None and scores[row] > 0:
                ranked.append((typicality(float(scores[row]), article.words), article, row))
        ranked.sort(key=lambda one: (-one[0], one[2]))
        by_subject: dict[int, tuple[ArticleRow, int]] = {}
        for _, article, row in ranked:
            by_subject.setdefault(int(subjects[row]), (article, row))
        in_turn = list(by_subject.values())[:IN_TURN]
        return in_turn[cycle % len(in_turn)] if in_turn else None

    def _name(self, topic: int) -> str:
        return parts(self._names[topic])[0]

    def _part(self, topic: int, proportion: float) -> str:
        """A topic and its proportion: "41% navy"."""
        return f"{proportion:.0%} {self._name(topic)}"


def _newest_of(blocks: Sequence[tuple[int, int]], least: int) -> Sequence[tuple[int, int]]:
    """The newest blocks that have this many articles together, in the order of the stream."""
    articles = 0
    for place in range(len(blocks) - 1, -1, -1):
        articles += blocks[place][1]
        if articles >= least:
            return blocks[place:]
    return blocks


def _seqs(blocks: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    """The numbers of all articles of some blocks."""
    numbers = [np.arange(first, first + articles) for first, articles in blocks]
    return np.concatenate([np.empty(0, np.int64), *numbers])
