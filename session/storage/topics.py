"""The topics of the models: their words and shares over the stream, their names, areas and events.

The tables are `snapshots`, `told_topics`, `areas`, `given_names` and `topic_events`, and the row
`hidden` of `settings`.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from wikitopics.model.areas import MOST_AREAS, NONE, OTHER, Areas
from wikitopics.model.relevance import by_relevance, distinctness
from wikitopics.session.errors import Damaged
from wikitopics.session.naming import LONGEST_NAME, ToldTopics, forms_last, names_of
from wikitopics.session.records import (
    JSON,
    Count,
    ShareHistory,
    TopicEvent,
    TopicName,
    TopicRow,
    TopWords,
)
from wikitopics.session.storage.database import (
    WITH_AREAS,
    WITH_REFERENCE,
    connect,
    session_errors,
    writing,
)
from wikitopics.session.storage.decoding import columns_of, from_json, numbers
from wikitopics.session.storage.opened import OpenedSession

if TYPE_CHECKING:
    from wikitopics.model.online import Leading


Words = tuple[tuple[str, float], ...]
"""Words of a topic, each with its probability."""

TREND_POINTS = 12
"""The most snapshots from which the trend of a topic's share is drawn."""
LEADING = 10
"""The number of a topic's top words among which new ones are marked."""
MOST_SNAPSHOT_WORDS = 100
FURTHEST = 60_000.0
"""The largest distance of topics, and of their places from the middle of the map."""
MOST_EVENTS = 1_000_000
"""The most events that are read: those of models that forget never end."""
LARGEST_SNAPSHOT = 2**24
"""The most bytes of a snapshot's row."""
_SNAPSHOT = {
    "model": Count,
    "articles": Count,
    "word_ids": Any,
    "probabilities": Any,
    "shares": Any,
}
_SINCE_REFERENCE = {"shown_ids": Any, "shown_probabilities": Any, "found": Any}
"""The columns that came with the table `reference`."""
_AreaNumber = Annotated[int, Meta(ge=0, lt=MOST_AREAS)]
_AREAS = {
    "of_topic": Any,
    "distances": Any,
    "places": Any,
    "names": Annotated[tuple[tuple[_AreaNumber, tuple[TopicName, ...]], ...], JSON],
}
_GIVEN_NAME = {
    "model": Count,
    "topic": Count,
    "name": Annotated[str, Meta(max_length=LONGEST_NAME)],
}


class TopicReader(OpenedSession):
    """Questions about topics; of a topic's words, at most the 20 most probable ones and the 20
    shown first are stored."""

    def __init__(self, path: Path, connection: sqlite3.Connection | None = None) -> None:
        super().__init__(path, connection)
        self._shares: dict[int, dict[int, NDArray[np.float32]]] = {}
        """Of each snapshot that has been read, by the model's number and then by the snapshot's
        article count: (2, K) the topics' shares, and the part of each share that is the topic's
        own."""

    def snapshots(self, model: str, as_of: int | None = None) -> list[int]:
        """Article counts at which the model's topics were stored, ascending, up to ``as_of`` if
        given."""
        rows = self.select(
            "snapshots",
            {"articles": Count},
            "WHERE model = ? ORDER BY articles",
            [self._number(model)],
        )
        return [articles for (articles,) in rows if as_of is None or articles <= as_of]

    def each_snapshot(self, model: str) -> Iterator[tuple[int, list[Words]]]:
        """(articles, every topic's words) at every stored point, oldest first, with one point at a
        time in memory."""
        for snapshot in self.words_at(model, self.snapshots(model)):
            yield snapshot.articles, self._in_words(snapshot.leading)

    def words_at(self, model: str, points: Iterable[int]) -> Iterator[TopWords]:
        """The topics stored at these article counts, except snapshots that a trainer drops
        meanwhile."""
        number = self._number(model)
        for articles in points:
            yield from self._snapshots("WHERE model = ? AND articles = ?", [number, articles])

    def share_history(self, model: str) -> ShareHistory:
        """The shares of all topics at every stored point; nothing is read twice."""
        number = self._number(model)
        K = self.spec(model).topics
        read_before = self._shares.get(number, {})
        points = self.snapshots(model)
        shares = {point: read_before[point] for point in points if point in read_before}
        unread = [point for point in points if point not in read_before]
        for snapshot in self.words_at(model, unread):
            own = snapshot.shares * distinctness(snapshot.leading, snapshot.shares)
            shares[snapshot.articles] = np.stack([snapshot.shares, own.astype(np.float32)])
        self._shares[number] = shares
        read = sorted(shares)
        stacked = np.array([shares[articles] for articles in read], np.float32).reshape(-1, 2, K)
        return ShareHistory(np.array(read, np.int64), stacked[:, 0], stacked[:, 1])

    def topic_history(
        self,
        model: str,
        topic: int,
        top: int = 10,
        as_of: int | None = None,
        *,
        shown: bool = False,
    ) -> list[tuple[int, float, Words]]:
        """(articles, share, words) of one topic at every stored point, up to ``as_of`` articles if
        given; its ``top`` most probable words, or with ``shown`` those that are shown first."""
        history = []
        for snapshot in self.words_at(model, self.snapshots(model, as_of)):
            ids, probabilities = snapshot.shown if shown else snapshot.leading
            of_topic = (ids[topic : topic + 1, :top], probabilities[topic : topic + 1, :top])
            (words,) = self._in_words(of_topic)
            history.append((snapshot.articles, float(snapshot.shares[topic]), words))
        return history

    def topic_names(self, model: str) -> tuple[str, ...]:
        """The name of each topic: the given one, otherwise that made of its words; empty before the
        first snapshot."""
        newest = self.newest_words(model)
        return () if newest is None else self._names_at(model, newest)

    def _names_at(self, model: str, snapshot: TopWords) -> tuple[str, ...]:
        """As `topic_names`, as of a snapshot."""
        ids, _ = snapshot.shown
        made_of_words = names_of(ids, self.vocabulary())
        given = self.names_given(model)
        return tuple(given.get(topic, name) for topic, name in enumerate(made_of_words))

    def told_topics(self, model: int) -> ToldTopics | None:
        """See `ToldTopics`, of the model of this number; None before its first snapshot."""
        columns = {"topic": Count, "name": TopicName, "alive": bool}
        rows = self.select("told_topics", columns, "WHERE model = ? ORDER BY topic", [model])
        if not rows:
            return None
        topics, names, alive = zip(*rows, strict=True)
        if list(topics) != list(range(self.settings().models[model].topics)):
            raise Damaged("told_topics are not all topics")
        return ToldTopics(names, frozenset(compress(topics, alive)))

    def areas(self, model: str) -> Areas | None:
        """The areas of a model's topics; None before its first snapshot, and in a session whose
        trainer did not compute any."""
        if self._format() < WITH_AREAS:
            return None
        number = self._number(model)
        K = self.spec(model).topics
        rows = self.select("areas", _AREAS, "WHERE model = ?", [number], largest=LARGEST_SNAPSHOT)
        if not rows:
            return None
        packed_areas, packed_distances, packed_places, names = rows[0]
        area_of = numbers(packed_areas, "areas.of_topic", np.int16, (K,), NONE, OTHER)
        has_area = area_of != NONE
        U = int(np.count_nonzero(has_area))  # topics in use
        n_pairs = U * (U - 1) // 2
        distances = numbers(
            packed_distances,
            "areas.distances",
            np.float16,
            (n_pairs,),
            low=0,
            high=FURTHEST,
        )
        places = numbers(
            packed_places,
            "areas.places",
            np.float32,
            (U, 2),
            low=-FURTHEST,
            high=FURTHEST,
        )
        named = has_area & (area_of != OTHER)
        if sorted(area for area, _ in names) != np.unique(area_of[named]).tolist():
            raise Damaged("areas.names are not those of all areas")
        return Areas(area_of, distances, places, dict(names))

    def names_given(self, model: str) -> dict[int, str]:
        """The names given to topics of a model, by topic."""
        number = self._number(model)
        return {
            topic: name
            for model_number, topic, name in self.given_names()
            if model_number == number
        }

    def given_names(self) -> tuple[tuple[int, int, str], ...]:
        """(number of the model, topic, name) of every given name."""
        rows = self.select("given_names", _GIVEN_NAME, "ORDER BY model, topic")
        for model, topic, _ in rows:
            self._spec_in("given_names", model, topic=topic)
        return tuple(rows)

    def hidden_topics(self) -> frozenset[tuple[int, int]]:
        """(number of the model, topic) of every topic that lists leave out."""
        rows = self._rows("SELECT value FROM settings WHERE key = 'hidden'")
        if not rows:
            return frozenset()
        hidden = from_json(rows[0][0], tuple[tuple[Count, Count], ...], "settings.hidden")
        for model, topic in hidden:
            self._spec_in("settings.hidden", model, topic=topic)
        return frozenset(hidden)

    def topic_events(self, after: int = 0) -> list[TopicEvent]:
        """The topic events of all models, oldest first; without the first ``after``, which somebody
        who has read them need not read again."""
        events = []
        columns = {**columns_of(TopicEvent), "model": Count}
        rows = self.select(
            "topic_events", columns, "ORDER BY id LIMIT -1 OFFSET ?", [after], most=MOST_EVENTS
        )
        for model, articles, event, topic, other, name in rows:
            spec = self._spec_in("topic_events", model, topic=topic, other=other)
            needs_other = event in ("split", "merged", "area_merged")
            has_other = other is not None
            if needs_other != has_other:
                raise Damaged("topic_events.event and topic_events.other do not match")
            events.append(TopicEvent(spec.name, articles, event, topic, other, name))
        return events

    def started_over_at(self, model: str, as_of: int | None = None) -> int:
        """After how many articles a model's topics last started over, up to ``as_of`` if given; 0
        if they did not."""
        starts = self.select(
            "topic_events",
            {"articles": Count},
            "WHERE model = ? AND event = 'started_over' ORDER BY id",
            [self._number(model)],
        )
        return max((at for (at,) in starts if as_of is None or at <= as_of), default=0)

    def snapshots_since_start(self, model: str, as_of: int | None) -> list[int]:
        """`snapshots` since a model's topics last started over, which changes all at once: only
        these show how topics grew."""
        start = self.started_over_at(model, as_of)
        return [articles for articles in self.snapshots(model, as_of) if articles >= start]

    def topics(
        self,
        model: str,
        top: int = 10,
        as_of: int | None = None,
    ) -> list[TopicRow]:
        """All topics by number, as of the newest snapshot; empty before the first.

        ``as_of``: as the topics were after this many articles.
        """
        points = self.snapshots_since_start(model, as_of)
        if not points:
            return []
        # Every trend begins at half of the articles, so it covers the same part of the stream
        # whether there are few snapshots or many.
        half = points[-1] / 2
        snapshots = list(self.words_at(model, at_even_ratios(points, TREND_POINTS, half)))
        if not snapshots:
            return []
        oldest = snapshots[0]
        newest = snapshots[-1]
        trend = np.stack([snapshot.shares for snapshot in snapshots], axis=1)
        words = self._in_words(newest.leading)
        shown = self._in_words(newest.shown)
        words_before = self._in_words(oldest.leading)
        shown_before = self._in_words(oldest.shown)
        hidden = self.hidden_topics()
        rows = []
        for topic, name in enumerate(self._names_at(model, newest)):
            first = words[topic][:LEADING] + shown[topic][:LEADING]
            first_before = words_before[topic][:LEADING] + shown_before[topic][:LEADING]
            newcomers = {word for word, _ in first} - {word for word, _ in first_before}
            found = None
            if newest.found is not None:
                found = round(float(newest.found[topic]), 6)
            rows.append(
                TopicRow(
                    topic=topic,
                    name=name,
                    share=float(newest.shares[topic]),
                    words=words[topic][:top],
                    shown=shown[topic][:top],
                    newcomers=frozenset(newcomers),
                    trend=tuple(trend[topic].tolist()),
                    articles=newest.articles,
                    since=oldest.articles,
                    hidden=(newest.model, topic) in hidden,
                    found=found,
                )
            )
        return rows

    def newest_words(self, model: str) -> TopWords | None:
        """The newest snapshot, as stored; None before the first."""
        newest = "WHERE model = ? ORDER BY articles DESC LIMIT 1"
        snapshots = self._snapshots(newest, [self._number(model)])
        return snapshots[0] if snapshots else None

    def snapshots_at(self, articles: int) -> dict[int, TopWords]:
        """The snapshots at this article count, by the model's number."""
        return {
            snapshot.model: snapshot
            for snapshot in self._snapshots("WHERE articles = ?", [articles])
        }

    def _snapshots(self, clause: str, parameters: Sequence[object]) -> list[TopWords]:
        """The snapshots that an SQL clause chooses, in its order. Raises `Damaged`."""
        columns = dict(_SNAPSHOT)
        if self._format() >= WITH_REFERENCE:
            columns |= _SINCE_REFERENCE
        rows = self.select("snapshots", columns, clause, parameters, largest=LARGEST_SNAPSHOT)
        snapshots = []
        for model, articles, packed_ids, packed_probabilities, packed_shares, *more in rows:
            K = self._spec_in("snapshots", model).topics
            leading = self._unpacked_words(
                K,
                ("snapshots.word_ids", packed_ids),
                ("snapshots.probabilities", packed_probabilities),
            )
            shares = numbers(
                packed_shares,
                "snapshots.shares",
                np.float32,
                (K,),
                low=0,
                high=1.001,
            )
            shown_ids, shown_probabilities, packed_found = more or (None, None, None)
            if shown_ids is None and shown_probabilities is None:  # of an earlier version
                shown = forms_last(by_relevance(leading, shares), self.vocabulary())
            else:
                shown = self._unpacked_words(
                    K,
                    ("snapshots.shown_ids", shown_ids),
                    ("snapshots.shown_probabilities", shown_probabilities),
                )
            found = None
            if packed_found is not None:
                found = numbers(packed_found, "snapshots.found", np.float32, (K,), low=0, high=1)
            snapshots.append(TopWords(model, articles, leading, shown, shares, found))
        return snapshots

    def _unpacked_words(
        self,
        topics: int,
        packed_ids: tuple[str, object],
        packed_probabilities: tuple[str, object],
    ) -> "Leading":
        """Words and their probabilities of so many topics; each column with its name."""
        ids_name, ids_data = packed_ids
        name, data = packed_probabilities
        last_id = len(self.vocabulary()) - 1
        ids = numbers(ids_data, ids_name, np.int32, (topics, -1), 0, last_id)
        if not 1 <= ids.shape[1] <= MOST_SNAPSHOT_WORDS:
            raise Damaged(f"{ids_name} has the wrong length")
        return ids, numbers(data, name, np.float32, ids.shape, low=0, high=1.001)

    def _in_words(self, leading: "Leading") -> list[Words]:
        """The words of each topic, each with its probability."""
        ids, probabilities = leading
        vocabulary = self.vocabulary()
        words_of_topics = []
        for ids_of_topic, of_topic in zip(ids.tolist(), probabilities.tolist(), strict=True):
            words = [vocabulary[i] for i in ids_of_topic]
            words_of_topics.append(tuple(zip(words, of_topic, strict=True)))
        return words_of_topics


def at_even_ratios(points: Sequence[int], most: int, first: float) -> list[int]:
    """At most ``most`` of these ascending numbers: those nearest to a geometric sequence from
    ``first`` to the last one."""
    if not points:
        return []
    positive = np.maximum(points, 1)  # a damaged file may say 0
    wanted = np.geomspace(max(first, 1), positive[-1], most)
    # For each number wanted, the place of the point whose ratio to it is nearest to 1.
    ratios = positive[:, None] / wanted
    nearest = np.abs(np.log(ratios)).argmin(axis=0)
    return [points[place] for place in np.unique(nearest).tolist()]


def give_name(path: Path, model: int, topic: int, name: str | None) -> None:
    """Set the name of a topic; topic and model are given by number. None restores the automatic
    name. Works while a trainer runs. Raises `SessionError`."""
    with closing(connect(path)) as db, session_errors(path):
        if name is None:
            db.execute("DELETE FROM given_names WHERE model = ? AND topic = ?", [model, topic])
        else:
            db.execute("INSERT OR REPLACE INTO given_names VALUES (?, ?, ?)", [model, topic, name])


def hide(path: Path, model: int, topics: Iterable[int], hidden: bool) -> None:
    """Have lists leave out topics of a model, or list them again; all are given by number. Works
    while a trainer runs. Raises `SessionError`."""
    chosen = {(model, topic) for topic in topics}
    with closing(connect(path)) as db, writing(db, path):
        before = TopicReader(path, db).hidden_topics()
        after = before | chosen if hidden else before - chosen
        stored = json.dumps(sorted(after))
        db.execute("INSERT OR REPLACE INTO settings VALUES ('hidden', ?)", [stored])


def insert_snapshots(db: sqlite3.Connection, snapshots: Iterable[TopWords]) -> None:
    """Add snapshots of the topics."""
    for snapshot in snapshots:
        ids, probabilities = snapshot.leading
        shown_ids, shown_probabilities = snapshot.shown
        found = None
        if snapshot.found is not None:
            found = snapshot.found.tobytes()
        row = [
            snapshot.model,
            snapshot.articles,
            ids.tobytes(),
            probabilities.tobytes(),
            snapshot.shares.tobytes(),
            shown_ids.tobytes(),
            shown_probabilities.tobytes(),
            found,
        ]
        db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def replace_told(db: sqlite3.Connection, model: int, told: ToldTopics) -> None:
    """Store what events have told of a model's topics."""
    rows = [(model, topic, name, topic in told.alive) for topic, name in enumerate(told.names)]
    db.executemany("INSERT OR REPLACE INTO told_topics VALUES (?, ?, ?, ?)", rows)


def replace_areas(db: sqlite3.Connection, areas: Mapping[int, Areas]) -> None:
    """Store the areas of the topics, by the number of the model."""
    for model, areas_of_model in areas.items():
        row = [
            model,
            areas_of_model.of_topic.tobytes(),
            areas_of_model.distances.tobytes(),
            areas_of_model.places.tobytes(),
            json.dumps(list(areas_of_model.names.items())),
        ]
        db.execute("INSERT OR REPLACE INTO areas VALUES (?, ?, ?, ?, ?)", row)
