"""The topics of a stored session, now and at every stored snapshot."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.topics.names import distinctness, most_relevant
from wikitopics.session.errors import Damaged
from wikitopics.session.naming import names
from wikitopics.session.records import ShareHistory, Snapshot, TopicEvent, TopicRow, TopWords
from wikitopics.session.storage.codec.snapshots import LARGEST_SNAPSHOT, decode_snapshot
from wikitopics.session.storage.codec.topics import decode_given_names, decode_topic_event, decode_topic_names
from wikitopics.session.storage.decoding import whole
from wikitopics.session.storage.reader.opened import OpenedSession

TREND_POINTS = 12
LEADING = 10
"""The top words of a topic among which a new one is marked."""


class TopicReader(OpenedSession):
    """Questions about topics; each has at most its 20 most probable words."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._shares: dict[int, dict[int, NDArray[np.float32]]] = {}
        """(2, K): shares and the topics' own parts of them, by model number and articles, as far as they
        were read."""

    def snapshots(self, model: str) -> list[int]:
        """Article counts at which the model's topics were stored, ascending."""
        rows = self._rows(
            "SELECT articles FROM snapshots WHERE model = ? ORDER BY articles", [self._number(model)]
        )
        return [whole(articles, "snapshots.articles") for (articles,) in rows]

    def each_snapshot(self, model: str) -> Iterator[Snapshot]:
        """The topics of one model at every stored point, oldest first, with one point at a time in memory."""
        for kept in self.words_at(model, self.snapshots(model)):
            yield self._as_snapshot(model, kept)

    def words_at(self, model: str, points: Iterable[int]) -> Iterator[TopWords]:
        """The topics stored at these article counts, except those that a trainer thins out meanwhile."""
        for articles in points:
            yield from self._top_words(model, "AND articles = ?", [articles])

    def share_history(self, model: str) -> ShareHistory:
        """The shares of all topics at every stored point; nothing is read twice."""
        number, topics = self._number(model), self.spec(model).topics
        known = self._shares.get(number, {})
        found = {}
        for articles in self.snapshots(model):
            if articles in known:
                found[articles] = known[articles]
                continue
            for one in self.words_at(model, [articles]):
                own = one.shares * distinctness(one.leading, one.shares)
                found[articles] = np.stack([one.shares, own.astype(np.float32)])
        self._shares[number] = found
        both = np.array(list(found.values()), np.float32).reshape(-1, 2, topics)
        return ShareHistory(np.array(list(found), np.int64), both[:, 0], both[:, 1])

    def topic_history(
        self, model: str, topic: int, top: int = 10, as_of: int | None = None
    ) -> list[tuple[int, float, tuple[tuple[str, float], ...]]]:
        """(articles, share, top words with probabilities) of one topic at every stored point, up to
        ``as_of`` articles if given."""
        words = self.vocabulary()
        history = []
        for kept in self.words_at(model, self.snapshots(model)):
            if as_of is not None and kept.articles > as_of:
                break
            ids, probabilities = kept.word_ids[topic, :top], kept.probabilities[topic, :top]
            pairs = zip(ids.tolist(), probabilities.tolist(), strict=True)
            history.append((kept.articles, float(kept.shares[topic]), tuple((words[i], p) for i, p in pairs)))
        return history

    def topic_names(self, model: str) -> tuple[str, ...]:
        """The name of each topic: the given one, otherwise that made of its words; empty before the first
        snapshot."""
        number, topics = self._number(model), self.spec(model).topics
        begun = bool(self.snapshots(model))  # first, since a trainer writes both at once
        rows = self._rows(
            "SELECT topic, name, alive FROM topic_names WHERE model = ? ORDER BY topic", [number]
        )
        known = decode_topic_names(rows, topics)
        if known is None and begun:
            raise Damaged("topic_names has no row")
        return () if known is None else self._called(model, known.names)

    def _names_by_words(self, model: str, kept: TopWords) -> tuple[str, ...]:
        """The names made of one snapshot's words, replaced by given names."""
        return self._called(model, names(most_relevant(kept.leading, kept.shares), self.vocabulary()))

    def _called(self, model: str, by_words: Sequence[str]) -> tuple[str, ...]:
        """The names, with given names in their places."""
        number, topics = self._number(model), self.spec(model).topics
        rows = self._rows("SELECT topic, name FROM given_names WHERE model = ?", [number])
        called = decode_given_names(rows, topics)
        return tuple(called.get(topic, name) for topic, name in enumerate(by_words))

    def given_names(self) -> tuple[tuple[int, int, str], ...]:
        """(number of the model, topic, name) of every given name."""
        models = self.settings().models
        found = []
        for model, *row in self._rows("SELECT model, topic, name FROM given_names ORDER BY model, topic"):
            number = whole(model, "given_names.model", 0, len(models) - 1)
            ((topic, name),) = decode_given_names([tuple(row)], models[number].topics).items()
            found.append((number, topic, name))
        return tuple(found)

    def topic_events(self) -> list[TopicEvent]:
        """The topic events of all models, oldest first."""
        models = self.settings().models
        rows = self._rows("SELECT model, articles, event, topic, other, name FROM topic_events ORDER BY id")
        return [decode_topic_event(row, models) for row in rows]

    def topics(self, model: str, top: int = 10, as_of: int | None = None) -> list[TopicRow]:
        """All topics by number, as of the newest snapshot; empty before the first.

        ``as_of``: as they were after this many articles.
        """
        there = [articles for articles in self.snapshots(model) if as_of is None or articles <= as_of]
        kept = list(self.words_at(model, _late(there)))
        if not kept:
            return []
        newest, then = self._as_snapshot(model, kept[-1]), self._as_snapshot(model, kept[0])
        trend = np.stack([one.shares for one in kept], axis=1)
        rows = []
        called = self.topic_names(model) if as_of is None else self._names_by_words(model, kept[-1])
        for topic, words in enumerate(newest.words):
            rows.append(
                TopicRow(
                    topic=topic,
                    name=called[topic],
                    share=float(newest.shares[topic]),
                    words=tuple(zip(words[:top], newest.probabilities[topic].tolist(), strict=False)),
                    newcomers=frozenset(words[: min(top, LEADING)]).difference(then.words[topic][:LEADING]),
                    trend=tuple(trend[topic].tolist()),
                    articles=newest.articles,
                    since=then.articles,
                )
            )
        return rows

    def newest_words(self, model: str) -> TopWords | None:
        """The newest snapshot as it is stored; None before the first."""
        return next(iter(self._top_words(model, "ORDER BY articles DESC LIMIT 1", [])), None)

    def _top_words(self, model: str, clause: str, parameters: Sequence[object]) -> list[TopWords]:
        rows = self._rows(
            "SELECT model, articles, word_ids, probabilities, shares FROM snapshots"
            f" WHERE model = ? {clause}",
            [self._number(model), *parameters],
            largest=LARGEST_SNAPSHOT,
        )
        models, n_words = self.settings().models, len(self.vocabulary())
        return [decode_snapshot(row, models, n_words) for row in rows]

    def _as_snapshot(self, model: str, kept: TopWords) -> Snapshot:
        words = self.vocabulary()
        return Snapshot(
            model=model,
            articles=kept.articles,
            words=tuple(tuple(words[i] for i in line) for line in kept.word_ids.tolist()),
            probabilities=kept.probabilities,
            shares=kept.shares,
        )


def _late(snapshots: Sequence[int]) -> list[int]:
    """A few of these article counts, ascending: the newest, the one nearest to half of it, and some
    between at even ratios. So a trend covers the same part of the stream however dense snapshots are."""
    if not snapshots:
        return []
    kept = np.array(snapshots)
    wanted = snapshots[-1] * 0.5 ** np.linspace(1, 0, TREND_POINTS)
    nearest = np.abs(np.log(kept[:, None] / wanted)).argmin(axis=0)
    return [snapshots[place] for place in np.unique(nearest).tolist()]
