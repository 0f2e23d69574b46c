"""The models at the last commit: the rows of `models`, read without their states."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.models import ModelSpec
from wikitopics.session.records import ModelStatus
from wikitopics.session.storage.blobs import pack_state
from wikitopics.session.storage.decoding import number, optional, whole

if TYPE_CHECKING:
    from wikitopics.model import OnlineModel

MOST_SCORE = 700.0
"""No log-likelihood is further from 0, so that its exponential is a number."""


def decode_models(rows: Sequence[tuple[Any, ...]], specs: Sequence[ModelSpec]) -> tuple[ModelStatus, ...]:
    """`models`: (id, topics_in_use, updates, rho) rows by id, each with its last log-likelihood.

    ``specs``: the models of the settings, in the same order.
    """
    if [row[0] for row in rows] != list(range(len(specs))):
        raise Damaged("models and settings.models do not match")
    return tuple(_model(spec, *row[1:]) for spec, row in zip(specs, rows, strict=True))


def not_begun(spec: ModelSpec) -> ModelStatus:
    """The status of a model that waits for the vocabulary."""
    return ModelStatus(spec.name, spec.kind, spec.topics, 0, 0, 0.0, None, None)


def _model(spec: ModelSpec, in_use: object, updates: object, rho: object, score: object) -> ModelStatus:
    log_likelihood = optional(
        score, "metrics.value", lambda value, place: number(value, place, -MOST_SCORE, MOST_SCORE)
    )
    return ModelStatus(
        name=spec.name,
        kind=spec.kind,
        topics=spec.topics,
        topics_in_use=whole(in_use, "models.topics_in_use", 0, spec.topics),
        updates=whole(updates, "models.updates"),
        rho=number(rho, "models.rho", 0, 1),
        perplexity=None if log_likelihood is None else math.exp(-log_likelihood),
        log_likelihood=log_likelihood,
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
