"""The models at the last commit: `models`, without their states."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from session.errors import Damaged, SessionError
from session.records import ModelStatus
from session.specs import MOST_TOPICS, ModelSpec
from session.storage.codec.settings import model_name
from session.storage.decoding import number, optional, whole

MOST_SCORE = 700.0
"""No log-likelihood is further from 0, so that its exponential is a number."""


def decode_models(rows: Sequence[tuple[Any, ...]], specs: Sequence[ModelSpec]) -> tuple[ModelStatus, ...]:
    """`models`: (id, name, kind, topics, topics_in_use, updates, rho, log_likelihood) rows, by id.

    ``specs``: the models of the settings, in the same order.
    """
    found = tuple(_model(*row[1:]) for row in rows)
    if [row[0] for row in rows] != list(range(len(rows))):
        raise Damaged("models are not numbered from 0")
    if [(m.name, m.kind, m.topics) for m in found] != [(s.name, s.kind, s.topics) for s in specs]:
        raise Damaged("models and settings.models do not match")
    return found


def not_begun(spec: ModelSpec) -> ModelStatus:
    """The status of a model that waits for the vocabulary."""
    return ModelStatus(spec.name, spec.kind, spec.topics, 0, 0, 0.0, None, None)


def _model(
    name: object, kind: object, topics: object, in_use: object, updates: object, rho: object, score: object
) -> ModelStatus:
    K = whole(topics, "models.topics", 1, MOST_TOPICS)
    log_likelihood = optional(
        score, "models.log_likelihood", lambda value, place: number(value, place, -MOST_SCORE, MOST_SCORE)
    )
    return ModelStatus(
        name=model_name(name, "models.name"),
        kind=model_name(kind, "models.kind"),
        topics=K,
        topics_in_use=whole(in_use, "models.topics_in_use", 0, K),
        updates=whole(updates, "models.updates"),
        rho=number(rho, "models.rho", 0, 1),
        perplexity=None if log_likelihood is None else math.exp(-log_likelihood),
        log_likelihood=log_likelihood,
    )


def state_room(topics: int, n_words: int) -> int:
    """The most bytes of a model's state: four arrays as large as the topics in float64, and 128 MB."""
    return 4 * 8 * topics * n_words + 2**27


def check_size(state: Mapping[str, object], topics: int, n_words: int) -> None:
    """Raise :class:`SessionError` for a model's state that would be refused when read."""
    size = sum(value.nbytes for value in state.values() if isinstance(value, np.ndarray))
    room = state_room(topics, n_words) - 2**20
    if size > room:
        raise SessionError(
            f"a session keeps at most {room >> 20:,} MB of such a model, not {size >> 20:,} MB"
        )
