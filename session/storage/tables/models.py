"""The models and how well they do: the tables `models` and `metrics`."""

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.models import ModelSpec
from wikitopics.session.records import Curve, ModelStatus
from wikitopics.session.storage.decoding import number, optional, whole
from wikitopics.session.storage.npz import pack_state, unpack_state
from wikitopics.session.storage.opened import OpenedSession

if TYPE_CHECKING:
    from wikitopics.model import OnlineModel

MOST_SCORE = 700.0
"""No log-likelihood is further from 0, so that its exponential is a number."""
MOST_MEASUREMENTS = 500_000
_STORED = "metric <> 'perplexity'"
"""Leaves out the perplexity that 1.0.0 stored too: it follows from the log-likelihood."""


class ModelReader(OpenedSession):
    """Questions about models: how far they are, their states, and their curves."""

    _models: tuple[float, tuple[ModelStatus, ...]] | None = None
    """The commit that the models' statuses are from, and these statuses."""

    def model_statuses(self) -> tuple[ModelStatus, ...]:
        """The models at the last commit, in order.

        Read once per commit: in a file of 1.0.0 SQLite has to skip the models' states. Constant facts, such
        as a model's name and its number of topics, are in the settings.
        """
        with self.one_moment():
            commit = self.progress().committed_at
            if self._models is None or self._models[0] != commit:
                self._models = commit, self._read_models()
            return self._models[1]

    def _read_models(self) -> tuple[ModelStatus, ...]:
        score = (
            "SELECT value FROM metrics WHERE model = m.id AND metric = 'log_likelihood'"
            " ORDER BY articles DESC LIMIT 1"
        )
        at = score.replace("value", "articles", 1)
        rows = self._rows(
            f"SELECT id, topics_in_use, updates, rho, ({score}), ({at}) FROM models m ORDER BY id"
        )
        specs = self.settings().models
        if not rows and self.settings().building:  # they wait for the vocabulary
            return tuple(
                ModelStatus(spec.name, spec.kind, spec.topics, 0, 0, 0.0, None, None) for spec in specs
            )
        if [row[0] for row in rows] != list(range(len(specs))):
            raise Damaged("models and settings.models do not match")
        return tuple(_status(spec, *row[1:]) for spec, row in zip(specs, rows, strict=True))

    def model_status(self, name: str) -> ModelStatus:
        """The model of this name."""
        return self.model_statuses()[self._number(name)]

    def model_state(self, name: str) -> dict[str, Any]:
        """The model's ``state()`` at the last commit, as unpacked and not yet checked."""
        self._check_built()
        number = self._number(name)
        rows = self._rows(
            "SELECT scalars, arrays FROM models WHERE id = ?",
            [number],
            largest=state_room(self.spec(name).topics, len(self.vocabulary())),
        )
        if not rows:
            raise Damaged(f"models has no row {number}")
        return unpack_state(*rows[0])

    def curve(self, model: str, metric: str) -> Curve:
        """One metric of one model over the stream."""
        found = self._select(
            "metrics",
            "articles, tokens, seconds, value",
            "WHERE model = ? AND metric = ? ORDER BY articles",
            [self._number(model), "log_likelihood" if metric == "perplexity" else metric],
        )
        columns = zip(*found, strict=True) if found else ((), (), (), ())
        articles, tokens, seconds, values = (np.array(column, np.float64) for column in columns)
        return Curve(articles, tokens, seconds, _perplexity(values) if metric == "perplexity" else values)

    def newest(self) -> tuple[int, int]:
        """A number each for the measurements and the snapshots, which changes whenever one is added."""
        ((measurement, snapshot),) = self._rows(
            "SELECT (SELECT max(rowid) FROM metrics), (SELECT max(rowid) FROM snapshots)"
        )
        return whole(measurement or 0, "metrics.rowid"), whole(snapshot or 0, "snapshots.rowid")

    def all_metrics(self) -> list[tuple[str, int, int, float, str, float]]:
        """The measurements: (model, articles, tokens, seconds, metric, value), by model, then articles."""
        found = self._select(
            "metrics",
            "model, articles, metric, tokens, seconds, value",
            f"WHERE {_STORED}",
            most=MOST_MEASUREMENTS,
        )
        found += [
            (model, articles, "perplexity", tokens, seconds, float(_perplexity(value)))
            for model, articles, metric, tokens, seconds, value in found
            if metric == "log_likelihood"
        ]
        names = {model: self._spec_in("metrics", model).name for model in {row[0] for row in found}}
        return [
            (names[model], at, tokens, seconds, metric, value)
            for model, at, metric, tokens, seconds, value in sorted(found, key=lambda row: row[:3])
        ]

    def metric_names(self) -> list[str]:
        """The metrics measured for any model, in alphabetical order."""
        found = {
            metric for (metric,) in self._select("metrics", "metric", f"WHERE {_STORED} GROUP BY metric")
        }
        return sorted(found | ({"perplexity"} if "log_likelihood" in found else set()))


def _perplexity(log_likelihood: Any) -> Any:
    """As numpy computes it, in the last digit too: 1.0.0 stored these numbers."""
    return np.exp(-log_likelihood)


def _status(
    spec: ModelSpec, in_use: object, updates: object, rho: object, score: object, measured_at: object
) -> ModelStatus:
    log_likelihood = optional(score, "metrics.value", partial(number, low=-MOST_SCORE, high=MOST_SCORE))
    return ModelStatus(
        name=spec.name,
        kind=spec.kind,
        topics=spec.topics,
        topics_in_use=whole(in_use, "models.topics_in_use", 0, spec.topics),
        updates=whole(updates, "models.updates"),
        rho=number(rho, "models.rho", 0, 1),
        perplexity=None if log_likelihood is None else math.exp(-log_likelihood),
        log_likelihood=log_likelihood,
        measured_at=optional(measured_at, "metrics.articles", whole),
    )


def state_room(topics: int, n_words: int) -> int:
    """The most bytes of a model's state: four arrays as large as the topics in float64, and 128 MB."""
    return 4 * 8 * topics * n_words + 2**27


def check_size(state: Mapping[str, object], topics: int, n_words: int) -> None:
    """Raise `SessionError` for a model's state that would be refused when read."""
    size = sum(value.nbytes for value in state.values() if isinstance(value, np.ndarray))
    room = state_room(topics, n_words) - 2**20
    if size > room:
        raise SessionError(
            f"a session keeps at most {room >> 20:,} MB of such a model, not {size >> 20:,} MB"
        )


def model_row(model: "OnlineModel") -> dict[str, object]:
    """The columns of a model's row as of now. Raises `SessionError` for a model that no session can store."""
    state = model.state()
    check_size(state, model.n_topics, model.n_words)
    scalars, arrays = pack_state(state)
    return {
        "scalars": scalars,
        "arrays": arrays,
        "topics_in_use": model.topics_in_use(),
        "updates": model.updates,
        "rho": float(model.rho),
    }
