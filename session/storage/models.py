"""The models, and what is measured of them: the tables `models` and `metrics`."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from msgspec import Meta

from wikitopics.model.meetings import Meetings
from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.metrics import NPMI_HELD_OUT
from wikitopics.session.records import (
    MOST_SCORE,
    Count,
    Curve,
    ModelStatus,
    Seconds,
    Text,
    perplexity,
)
from wikitopics.session.storage.database import WITH_REFERENCE
from wikitopics.session.storage.decoding import numbers, pack_state, unpack_state, whole
from wikitopics.session.storage.opened import OpenedSession
from wikitopics.session.storage.topics import LARGEST_SNAPSHOT

if TYPE_CHECKING:
    from wikitopics.model import OnlineModel
    from wikitopics.model.states import State

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
"""The condition that leaves out perplexities. 1.0.0 stored them beside the log-likelihoods from
which they follow."""
_SHARED = "shared arrays"
"""In a replica's scalars: the keys of the arrays that are stored with its model, one per line. No
entry of a state has this name."""
MOST_MEETING_TOPICS = 1000
"""The most topics for which a model's meetings are counted: every commit stores how often each pair
of topics meets."""


class ModelReader(OpenedSession):
    """Questions about models: where they stand, their stored states, and their metrics."""

    def model_statuses(self) -> tuple[ModelStatus, ...]:
        """The models at the last commit, in order.

        Constant facts, such as a model's name and its number of topics, are in the settings.
        """
        # In the query, "m" is the alias of the table "models".
        newest_score = (
            "FROM metrics WHERE model = m.id AND metric = 'log_likelihood'"
            " ORDER BY articles DESC LIMIT 1"
        )
        Score = Annotated[float, Meta(ge=-MOST_SCORE, le=MOST_SCORE)]
        columns = {
            "id": Any,
            "topics_in_use": Count,
            "updates": Count,
            "rho": Annotated[float, Meta(ge=0, le=1)],
            f"(SELECT value {newest_score}) AS log_likelihood": Score | None,
            f"(SELECT articles {newest_score}) AS measured_at": Count | None,
        }
        # Read first, since a trainer that has built the vocabulary writes settings and models at
        # once.
        settings = self.settings()
        specs = settings.models
        rows = self.select("models", columns, "m ORDER BY id")
        if not rows and settings.building:  # the models wait for the vocabulary
            rows = [(number, 0, 0, 0.0, None, None) for number in range(settings.n_all_models)]
        if [row[0] for row in rows] != list(range(settings.n_all_models)):
            raise Damaged("models and settings.models do not match")
        without_replicas = rows[: len(specs)]
        statuses = []
        for spec, row in zip(specs, without_replicas, strict=True):
            _, in_use, updates, rho, score, measured_at = row
            statuses.append(
                ModelStatus(
                    name=spec.name,
                    kind=spec.kind,
                    topics=spec.topics,
                    topics_in_use=whole(in_use, "models.topics_in_use", high=spec.topics),
                    updates=updates,
                    rho=rho,
                    perplexity=None if score is None else float(perplexity(score)),
                    log_likelihood=score,
                    measured_at=measured_at,
                )
            )
        return tuple(statuses)

    def model_status(self, name: str) -> ModelStatus:
        """The model of this name."""
        return self.model_statuses()[self._number(name)]

    def model_state(self, name: str, replica: int = 0) -> dict[str, Any]:
        """The ``state()`` of the model, or of one of its replicas, which count from 1, at the last
        commit, as unpacked and not yet checked."""
        self._check_built()
        number = replica * len(self.settings().models) + self._number(name)
        room = state_room(self.spec(name).topics, len(self.vocabulary()))
        rows = self._rows("SELECT scalars, arrays FROM models WHERE id = ?", [number], largest=room)
        if not rows:
            raise Damaged(f"models has no row {number}")
        state = unpack_state(*rows[0])
        if not replica:
            return state
        shared = str(state.pop(_SHARED, ""))
        of_model = self.model_state(name) if shared else {}
        for key in filter(None, shared.split("\n")):
            if key not in of_model:
                raise Damaged(f"models.scalars: a replica of {name} names an array that it lacks")
            state[key] = of_model[key]
        return state

    def meetings(self, name: str) -> Meetings | None:
        """How often the model's topics occur in the same documents; None if that is not counted."""
        K = self.spec(name).topics
        if K > MOST_MEETING_TOPICS:
            return None
        rows = self._rows(
            "SELECT meetings FROM models WHERE id = ?",
            [self._number(name)],
            largest=LARGEST_SNAPSHOT,
        )
        stored = rows[0][0] if rows else None
        if stored is None:  # a session that began before meetings were counted
            return Meetings.none(K)
        sums = numbers(stored, "models.meetings", np.float32, (K + 1, K), low=0, high=1e9)
        return Meetings(sums.copy())

    def curve(self, model: str, metric: str) -> Curve:
        """One metric of one model over the stream."""
        columns = {name: _MEASUREMENT[name] for name in ("articles", "tokens", "seconds", "value")}
        stored_metric = "log_likelihood" if metric == "perplexity" else metric
        rows = self.select(
            self._metrics_table(),
            columns,
            "WHERE model = ? AND metric = ? ORDER BY articles",
            [self._number(model), stored_metric],
        )
        articles, tokens, seconds, values = np.array(rows, np.float64).reshape(-1, 4).T
        if metric == "perplexity":
            values = perplexity(values)
        return Curve(articles, tokens, seconds, values)

    def _metrics_table(self) -> str:
        """SQL for the table of metrics, in which what versions before 1.3.0 called npmi has the
        name of what it is."""
        if self._format() >= WITH_REFERENCE:
            return "metrics"
        name = f"CASE metric WHEN 'npmi' THEN '{NPMI_HELD_OUT}' ELSE metric END AS metric"
        return f"(SELECT model, articles, tokens, seconds, {name}, value FROM metrics) metrics"

    def all_metrics(self) -> list[tuple[str, int, int, float, str, float]]:
        """The measurements: (model, articles, tokens, seconds, metric, value), by model, then
        articles."""
        rows = self.select(
            self._metrics_table(),
            _MEASUREMENT,
            f"WHERE {_STORED}",
            most=MOST_MEASUREMENTS,
        )
        perplexities = [
            (model, articles, "perplexity", tokens, seconds, float(perplexity(value)))
            for model, articles, metric, tokens, seconds, value in rows
            if metric == "log_likelihood"
        ]
        # By model, articles and metric.
        measurements = sorted(rows + perplexities, key=lambda row: row[:3])
        models = {model for model, *_ in measurements}
        names = {number: self._spec_in("metrics", number).name for number in models}
        return [
            (names[model], articles, tokens, seconds, metric, value)
            for model, articles, metric, tokens, seconds, value in measurements
        ]

    def metric_names(self) -> list[str]:
        """The metrics measured for any model, in alphabetical order."""
        table = self._metrics_table()
        rows = self.select(table, {"metric": Text}, f"WHERE {_STORED} GROUP BY metric")
        metrics = {metric for (metric,) in rows}
        if "log_likelihood" in metrics:
            metrics.add("perplexity")
        return sorted(metrics)


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


def model_row(
    model: "OnlineModel",
    state: "State",
    meetings: Meetings | None = None,
) -> dict[str, object]:
    """The columns of a model's row as of now; ``state``: its state, or a replica's `own_part`.
    Raises `SessionError` for a model that no session can store."""
    check_size(state, model.n_topics, model.n_words)
    scalars, arrays = pack_state(state)
    packed_meetings = None
    if meetings is not None:
        packed_meetings = meetings.sums.tobytes()
    return {
        "scalars": scalars,
        "arrays": arrays,
        "topics_in_use": model.topics_in_use(),
        "updates": model.updates,
        "rho": float(model.rho),
        "meetings": packed_meetings,
    }


def own_part(state: "State", of_model: "State") -> "State":
    """The state of a replica without the arrays that are equal to its model's, such as the first
    documents, which both keep until their topics start over."""

    def is_shared(key: str) -> bool:
        value = state[key]
        other = of_model.get(key)
        if not isinstance(value, np.ndarray) or not isinstance(other, np.ndarray):
            return False
        return value.dtype == other.dtype and np.array_equal(value, other)

    shared = [key for key in state if is_shared(key)]
    own = {key: value for key, value in state.items() if key not in shared}
    return {**own, _SHARED: "\n".join(shared)}
