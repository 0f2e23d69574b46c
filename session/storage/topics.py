"""The models and their topics.

The tables are `models`, `metrics`, `snapshots`, `topic_names`, `areas`, `given_names` and
`topic_events`, and of `settings` the row `hidden`.
"""

import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from wikitopics.model.areas import MOST_AREAS, NONE, Areas, Meetings
from wikitopics.model.relevance import distinctness, most_relevant
from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.naming import LONGEST_NAME, TopicNames, names, relevant_first
from wikitopics.session.records import (
    JSON,
    MOST_SCORE,
    Count,
    Curve,
    ModelStatus,
    Seconds,
    ShareHistory,
    Text,
    TopicEvent,
    TopicName,
    TopicRow,
    TopWords,
    perplexity,
)
from wikitopics.session.storage.database import connect, session_errors, writing
from wikitopics.session.storage.decoding import (
    columns_of,
    from_json,
    numbers,
    pack_state,
    unpack_state,
    whole,
)
from wikitopics.session.storage.opened import OpenedSession

if TYPE_CHECKING:
    from wikitopics.model import OnlineModel


# The topics of the models: all tables but `models` and `metrics`.

Words = tuple[tuple[str, float], ...]
"""A topic's most probable words, most probable first, each with its probability."""

TREND_POINTS = 12
LEADING = 10
"""The number of a topic's top words among which new ones are marked."""
MOST_SNAPSHOT_WORDS = 100
WITH_AREAS = 10
"""The first format with areas."""
FURTHEST = 60_000.0
"""The largest distance of topics, and of their places from the middle of the map."""
LARGEST_SNAPSHOT = 2**24
"""The most bytes of a snapshot's row."""
MOST_MEASUREMENTS = 1_000_000
_MEASUREMENT = {
    "model": Count,
    "articles": Count,
    "metric": Text,
    "tokens": Count,
    "seconds": Seconds,
    "value": Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)],
}
_STORED = "metric <> 'perplexity'"
"""Leaves out the perplexity that 1.0.0 stored too: it follows from the log-likelihood."""
_SNAPSHOT = {
    "model": Count,
    "articles": Count,
    "word_ids": Any,
    "probabilities": Any,
    "shares": Any,
}
_Number = Annotated[int, Meta(ge=0, lt=MOST_AREAS)]
_AREAS = {
    "of_topic": Any,
    "distances": Any,
    "places": Any,
    "names": Annotated[tuple[tuple[_Number, tuple[TopicName, ...]], ...], JSON],
}
MOST_MEETING_TOPICS = 1000
"""The most topics for which a model's meetings are counted: every commit stores those of all
pairs."""
_GIVEN_NAME = {
    "model": Count,
    "topic": Count,
    "name": Annotated[str, Meta(max_length=LONGEST_NAME)],
}


class TopicReader(OpenedSession):
    """Questions about models and their topics; a topic has at most its 20 most probable words."""

    def __init__(self, path: Path, connection: sqlite3.Connection | None = None) -> None:
        super().__init__(path, connection)
        self._shares: dict[int, dict[int, NDArray[np.float32]]] = {}
        """(2, K) the shares, and the topics' own parts of them, by model number and article count,
        as far as they have been read."""

    def model_statuses(self) -> tuple[ModelStatus, ...]:
        """The models at the last commit, in order.

        Constant facts, such as a model's name and its number of topics, are in the settings.
        """
        score = (
            "SELECT value FROM metrics WHERE model = m.id AND metric = 'log_likelihood'"
            " ORDER BY articles DESC LIMIT 1"
        )
        columns = {
            "id": Any,
            "topics_in_use": Count,
            "updates": Count,
            "rho": Annotated[float, Meta(ge=0, le=1)],
            f"({score}) AS log_likelihood": Annotated[float, Meta(ge=-MOST_SCORE, le=MOST_SCORE)]
            | None,
            f"({score.replace('value', 'articles', 1)}) AS measured_at": Count | None,
        }
        settings = (
            self.settings()
        )  # first, since a trainer that has built the vocabulary writes both at once
        rows, specs = self.select("models", columns, "m ORDER BY id"), settings.models
        if not rows and settings.building:  # they wait for the vocabulary
            rows = [(number, 0, 0, 0.0, None, None) for number in range(len(specs))]
        if [row[0] for row in rows] != list(range(len(specs))):
            raise Damaged("models and settings.models do not match")
        statuses = []
        for spec, (_, in_use, updates, rho, score, at) in zip(specs, rows, strict=True):
            model = (
                spec.name,
                spec.kind,
                spec.topics,
                whole(in_use, "models.topics_in_use", high=spec.topics),
            )
            exponential = None if score is None else float(perplexity(score))
            statuses.append(ModelStatus(*model, updates, rho, exponential, score, at))
        return tuple(statuses)

    def model_status(self, name: str) -> ModelStatus:
        """The model of this name."""
        return self.model_statuses()[self._number(name)]

    def model_state(self, name: str) -> dict[str, Any]:
        """The model's ``state()`` at the last commit, as unpacked and not yet checked."""
        self._check_built()
        number = self._number(name)
        room = state_room(self.spec(name).topics, len(self.vocabulary()))
        rows = self._rows("SELECT scalars, arrays FROM models WHERE id = ?", [number], largest=room)
        if not rows:
            raise Damaged(f"models has no row {number}")
        return unpack_state(*rows[0])

    def meetings(self, name: str) -> Meetings | None:
        """How often the model's topics occur in the same documents; None if that is not counted."""
        K, number = self.spec(name).topics, self._number(name)
        if K > MOST_MEETING_TOPICS:
            return None
        rows = self._rows(
            "SELECT meetings FROM models WHERE id = ?", [number], largest=LARGEST_SNAPSHOT
        )
        if not rows or rows[0][0] is None:  # a session that began before meetings were counted
            return Meetings.none(K)
        return Meetings(
            numbers(rows[0][0], "models.meetings", np.float32, (K + 1, K), 0, 1e9).copy()
        )

    def curve(self, model: str, metric: str) -> Curve:
        """One metric of one model over the stream."""
        columns = {name: _MEASUREMENT[name] for name in ("articles", "tokens", "seconds", "value")}
        stored = "log_likelihood" if metric == "perplexity" else metric
        ascending, key = (
            "WHERE model = ? AND metric = ? ORDER BY articles",
            [self._number(model), stored],
        )
        rows = self.select("metrics", columns, ascending, key)
        articles, tokens, seconds, values = np.array(rows, np.float64).reshape(-1, 4).T
        return Curve(
            articles,
            tokens,
            seconds,
            perplexity(values) if metric == "perplexity" else values,
        )

    def newest(self) -> tuple[int, int]:
        """A number for the measurements and one for the snapshots; each changes when an item is
        added."""
        ((measurement, snapshot),) = self._rows(
            "SELECT (SELECT max(rowid) FROM metrics), (SELECT max(rowid) FROM snapshots)"
        )
        return measurement or 0, snapshot or 0

    def all_metrics(self) -> list[tuple[str, int, int, float, str, float]]:
        """The measurements: (model, articles, tokens, seconds, metric, value), by model, then
        articles."""
        rows = self.select("metrics", _MEASUREMENT, f"WHERE {_STORED}", most=MOST_MEASUREMENTS)
        rows += [
            (model, articles, "perplexity", tokens, seconds, float(perplexity(value)))
            for model, articles, metric, tokens, seconds, value in rows
            if metric == "log_likelihood"
        ]
        names = {model: self._spec_in("metrics", model).name for model in {row[0] for row in rows}}
        return [
            (names[model], at, tokens, seconds, metric, value)
            for model, at, metric, tokens, seconds, value in sorted(rows, key=lambda row: row[:3])
        ]

    def metric_names(self) -> list[str]:
        """The metrics measured for any model, in alphabetical order."""
        rows = self.select("metrics", {"metric": Text}, f"WHERE {_STORED} GROUP BY metric")
        metrics = {metric for (metric,) in rows}
        return sorted(metrics | ({"perplexity"} if "log_likelihood" in metrics else set()))

    def snapshots(self, model: str, as_of: int | None = None) -> list[int]:
        """Article counts at which the model's topics were stored, ascending, up to ``as_of`` if
        given."""
        ascending, number = "WHERE model = ? ORDER BY articles", self._number(model)
        rows = self.select("snapshots", {"articles": Count}, ascending, [number])
        return [articles for (articles,) in rows if as_of is None or articles <= as_of]

    def each_snapshot(self, model: str) -> Iterator[tuple[int, list[Words]]]:
        """(articles, every topic's words) at every stored point, oldest first, with one point at a
        time in memory."""
        for snapshot in self.words_at(model, self.snapshots(model)):
            yield (
                snapshot.articles,
                [self._pairs(snapshot, topic) for topic in range(len(snapshot.shares))],
            )

    def words_at(self, model: str, points: Iterable[int]) -> Iterator[TopWords]:
        """The topics stored at these article counts, except snapshots that a trainer drops
        meanwhile."""
        number = self._number(model)
        for articles in points:
            yield from self._snapshots("WHERE model = ? AND articles = ?", [number, articles])

    def share_history(self, model: str) -> ShareHistory:
        """The shares of all topics at every stored point; nothing is read twice."""
        number, topics = self._number(model), self.spec(model).topics
        known = self._shares.get(number, {})
        points = self.snapshots(model)
        shares = {articles: known[articles] for articles in points if articles in known}
        for one in self.words_at(model, [articles for articles in points if articles not in known]):
            own = one.shares * distinctness(one.leading, one.shares)
            shares[one.articles] = np.stack([one.shares, own.astype(np.float32)])
        self._shares[number] = shares
        both = np.array([shares[articles] for articles in sorted(shares)], np.float32).reshape(
            -1, 2, topics
        )
        return ShareHistory(np.array(sorted(shares), np.int64), both[:, 0], both[:, 1])

    def topic_history(
        self,
        model: str,
        topic: int,
        top: int = 10,
        as_of: int | None = None,
        *,
        relevant: bool = False,
    ) -> list[tuple[int, float, Words]]:
        """(articles, share, top words) of one topic at every stored point, up to ``as_of`` articles
        if given; ``relevant``: the most relevant words first, not the most probable."""
        each = self.words_at(model, self.snapshots(model, as_of))
        return [
            (snapshot.articles, float(snapshot.shares[topic]), self._pairs(snapshot, topic)[:top])
            for snapshot in (map(relevant_first, each) if relevant else each)
        ]

    def topic_names(self, model: str) -> tuple[str, ...]:
        """The name of each topic: the given one, otherwise that made of its words; empty before the
        first snapshot."""
        begun = bool(self.snapshots(model))  # first, since a trainer writes both at once
        known = self.known_names(self._number(model))
        if known is None and begun:
            raise Damaged("topic_names has no row")
        return () if known is None else self._called(model, known.names)

    def known_names(self, model: int) -> TopicNames | None:
        """What is known about the topics of the model of this number; None before its first
        snapshot."""
        with self.one_moment():
            lasting = "name AS lasting" if self._is_of_1_0() else "ifnull(lasting, name)"
            columns = {"topic": Count, "name": TopicName, "alive": bool, lasting: TopicName}
            rows = self.select("topic_names", columns, "WHERE model = ? ORDER BY topic", [model])
        if not rows:
            return None
        topics, shown, alive, lasting_names = zip(*rows, strict=True)
        if list(topics) != list(range(self.settings().models[model].topics)):
            raise Damaged("topic_names are not those of all topics")
        return TopicNames(shown, frozenset(compress(topics, alive)), lasting_names)

    def areas(self, model: str) -> Areas | None:
        """The areas of a model's topics; None before its first snapshot, and in a session whose
        trainer did not compute any."""
        if self._format() < WITH_AREAS:
            return None
        number, K = self._number(model), self.spec(model).topics
        rows = self.select("areas", _AREAS, "WHERE model = ?", [number], largest=LARGEST_SNAPSHOT)
        for of_topic, distances, places, words in rows:
            areas = numbers(of_topic, "areas.of_topic", np.int16, (K,), NONE, MOST_AREAS - 1)
            U = int(np.count_nonzero(areas != NONE))
            far = numbers(
                distances,
                "areas.distances",
                np.float16,
                (U * (U - 1) // 2,),
                0,
                FURTHEST,
            )
            place = numbers(places, "areas.places", np.float32, (U, 2), -FURTHEST, FURTHEST)
            if sorted(area for area, _ in words) != np.unique(areas[areas != NONE]).tolist():
                raise Damaged("areas.names are not those of all areas")
            return Areas(areas, far, place, dict(words))
        return None

    def _called(self, model: str, by_words: Sequence[str]) -> tuple[str, ...]:
        """The names made of words, replaced by given names where there are some."""
        given = self.names_given(model)
        return tuple(given.get(topic, name) for topic, name in enumerate(by_words))

    def names_given(self, model: str) -> dict[int, str]:
        """The names given to topics of a model, by topic."""
        number = self._number(model)
        return {topic: name for of, topic, name in self.given_names() if of == number}

    def given_names(self) -> tuple[tuple[int, int, str], ...]:
        """(number of the model, topic, name) of every given name."""
        rows = self.select("given_names", _GIVEN_NAME, "ORDER BY model, topic")
        for model, topic, _ in rows:
            self._spec_in("given_names", model, topic=topic)
        return tuple(rows)

    def hidden_topics(self) -> frozenset[tuple[int, int]]:
        """(number of the model, topic) of every topic that lists leave out."""
        rows = self._rows("SELECT value FROM settings WHERE key = 'hidden'")
        hidden = (
            from_json(rows[0][0], tuple[tuple[Count, Count], ...], "settings.hidden")
            if rows
            else ()
        )
        for model, topic in hidden:
            self._spec_in("settings.hidden", model, topic=topic)
        return frozenset(hidden)

    def topic_events(self) -> list[TopicEvent]:
        """The topic events of all models, oldest first."""
        events = []
        columns = {**columns_of(TopicEvent), "model": Count}
        rows = self.select("topic_events", columns, "ORDER BY id")
        for model, articles, event, topic, other, name in rows:
            spec = self._spec_in("topic_events", model, topic=topic, other=other)
            if (event in ("split", "merged", "area_merged")) != (other is not None):
                raise Damaged("topic_events.event and topic_events.other do not match")
            events.append(TopicEvent(spec.name, articles, event, topic, other, name))
        return events

    def topics(
        self,
        model: str,
        top: int = 10,
        as_of: int | None = None,
        *,
        relevant: bool = False,
    ) -> list[TopicRow]:
        """All topics by number, as of the newest snapshot; empty before the first.

        ``as_of``: as the topics were after this many articles; ``relevant``: with their most
        relevant words first, not the most probable.
        """
        points = self.snapshots(model, as_of)
        # From half of the articles on: a trend covers the same part of the stream with few or many
        # snapshots.
        late = at_even_ratios(points, TREND_POINTS, points[-1] / 2 if points else 1)
        snapshots = list(self.words_at(model, late))
        if not snapshots:
            return []
        newest, then = (
            relevant_first(one) if relevant else one for one in (snapshots[-1], snapshots[0])
        )
        trend = np.stack([one.shares for one in snapshots], axis=1)
        rows, hidden = [], self.hidden_topics()
        if as_of is None:
            topic_names = self.topic_names(model)
        else:
            by_words = names(most_relevant(newest.leading, newest.shares), self.vocabulary())
            topic_names = self._called(model, by_words)
        for topic, name in enumerate(topic_names):
            words, before = self._pairs(newest, topic), self._pairs(then, topic)[:LEADING]
            leading = {word for word, _ in words[: min(top, LEADING)]}
            rows.append(
                TopicRow(
                    topic=topic,
                    name=name,
                    share=float(newest.shares[topic]),
                    words=words[:top],
                    newcomers=frozenset(leading.difference(word for word, _ in before)),
                    trend=tuple(trend[topic].tolist()),
                    articles=newest.articles,
                    since=then.articles,
                    hidden=(newest.model, topic) in hidden,
                )
            )
        return rows

    def newest_words(self, model: str) -> TopWords | None:
        """The newest snapshot, as stored; None before the first."""
        newest = "WHERE model = ? ORDER BY articles DESC LIMIT 1"
        return next(iter(self._snapshots(newest, [self._number(model)])), None)

    def snapshots_at(self, articles: int) -> dict[int, TopWords]:
        """The snapshots at this article count, by the model's number."""
        return {
            snapshot.model: snapshot
            for snapshot in self._snapshots("WHERE articles = ?", [articles])
        }

    def _snapshots(self, clause: str, parameters: Sequence[object]) -> list[TopWords]:
        rows = self.select("snapshots", _SNAPSHOT, clause, parameters, largest=LARGEST_SNAPSHOT)
        last, snapshots = len(self.vocabulary()) - 1, []
        for model, articles, word_ids, probabilities, shares in rows:
            K = self._spec_in("snapshots", model).topics
            ids = numbers(word_ids, "snapshots.word_ids", np.int32, (K, -1), 0, last)
            if not 1 <= ids.shape[1] <= MOST_SNAPSHOT_WORDS:
                raise Damaged("snapshots.word_ids has the wrong length")
            of_words = numbers(
                probabilities,
                "snapshots.probabilities",
                np.float32,
                ids.shape,
                0,
                1.001,
            )
            of_topics = numbers(shares, "snapshots.shares", np.float32, (K,), 0, 1.001)
            snapshots.append(TopWords(model, articles, ids, of_words, of_topics))
        return snapshots

    def _pairs(self, snapshot: TopWords, topic: int) -> Words:
        words = self.vocabulary()
        ids, probabilities = (
            snapshot.word_ids[topic].tolist(),
            snapshot.probabilities[topic].tolist(),
        )
        return tuple((words[i], p) for i, p in zip(ids, probabilities, strict=True))


def at_even_ratios(points: Sequence[int], most: int, first: float) -> list[int]:
    """At most ``most`` of these ascending numbers: those nearest to a geometric sequence from
    ``first`` to the last one."""
    if not points:
        return []
    positive = np.maximum(points, 1)  # a damaged file may say 0
    wanted = np.geomspace(max(first, 1), positive[-1], most)
    nearest = np.abs(np.log(positive[:, None] / wanted)).argmin(axis=0)
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
    with closing(connect(path)) as db, writing(db, path):
        before, these = TopicReader(path, db).hidden_topics(), {(model, topic) for topic in topics}
        after = json.dumps(sorted(before | these if hidden else before - these))
        db.execute("INSERT OR REPLACE INTO settings VALUES ('hidden', ?)", [after])


def insert_snapshots(db: sqlite3.Connection, snapshots: Iterable[TopWords]) -> None:
    """Add snapshots of the topics."""
    for one in snapshots:
        arrays = [array.tobytes() for array in (one.word_ids, one.probabilities, one.shares)]
        row = [one.model, one.articles, *arrays]
        db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", row)


def replace_names(db: sqlite3.Connection, model: int, known: TopicNames) -> None:
    """Store the names made of the words of a model's topics."""
    both = enumerate(zip(known.names, known.lasting, strict=True))
    rows = [(model, topic, name, topic in known.alive, last, name) for topic, (name, last) in both]
    db.executemany("INSERT OR REPLACE INTO topic_names VALUES (?, ?, ?, ?, nullif(?, ?))", rows)


def replace_areas(db: sqlite3.Connection, areas: Mapping[int, Areas]) -> None:
    """Store the areas of the topics, by the number of the model."""
    for model, one in areas.items():
        arrays = [array.tobytes() for array in (one.of_topic, one.distances, one.places)]
        row = [model, *arrays, json.dumps(list(one.names.items()))]
        db.execute("INSERT OR REPLACE INTO areas VALUES (?, ?, ?, ?, ?)", row)


# The models: the table `models`.


def state_room(topics: int, n_words: int) -> int:
    """The most bytes of a model's state: four arrays as large as the topics in float64, and 128
    MB."""
    return 4 * 8 * topics * n_words + 2**27


def check_size(state: Mapping[str, object], topics: int, n_words: int) -> None:
    """Raise `SessionError` for a model's state so large that reading it would be refused."""
    size = sum(value.nbytes for value in state.values() if isinstance(value, np.ndarray))
    room = state_room(topics, n_words) - 2**20
    if size > room:
        raise SessionError(
            f"a session keeps at most {room >> 20:,} MB of such a model, not {size >> 20:,} MB"
        )


def model_row(model: "OnlineModel", meetings: Meetings | None) -> dict[str, object]:
    """The columns of a model's row as of now. Raises `SessionError` for a model that no session can
    store."""
    state = model.state()
    check_size(state, model.n_topics, model.n_words)
    scalars, arrays = pack_state(state)
    return {
        "scalars": scalars,
        "arrays": arrays,
        "topics_in_use": model.topics_in_use(),
        "updates": model.updates,
        "rho": float(model.rho),
        "meetings": None if meetings is None else meetings.sums.tobytes(),
    }
