"""Models made from a session's settings, and from their stored states."""

from collections.abc import Mapping
from typing import Any

from wikitopics.model import KindError, Metric, OnlineModel, kinds
from wikitopics.session.errors import BadUsage, Damaged, MissingKind, SessionError
from wikitopics.session.records import ModelStatus
from wikitopics.session.specs import ModelSpec


def default_batch_size(spec: ModelSpec) -> int:
    """The batch size of a model: its kind's, if the spec sets none."""
    return spec.batch_size or _kind(spec.kind).default_batch_size


def new_model(spec: ModelSpec, n_words: int, n_documents: int, seed: int) -> OnlineModel:
    """A model made from its spec, before its first article. Raises `BadUsage` if its kind refuses."""
    try:
        return _kind(spec.kind).create(spec.topics, n_words, n_documents, spec.options, seed)
    except ValueError as error:
        raise BadUsage(f"model {spec.name}: {error}") from None


def own_metrics(kind: str) -> tuple[Metric, ...]:
    """The metrics that only this kind of model can measure; none if it is not installed."""
    try:
        return kinds.load(kind).metrics
    except KindError:
        return ()


def load_model(state: Mapping[str, Any], stored: ModelStatus, n_words: int) -> OnlineModel:
    """The model with this state. Raises `Damaged` if it is not the model stored there."""
    kind = _kind(stored.kind)
    try:
        model = kind.from_state(state)
    except ValueError as error:
        raise Damaged(f"model {stored.name}: {error}") from None
    if (model.n_topics, model.n_words) != (stored.topics, n_words):
        raise Damaged(f"model {stored.name} has {model.n_topics:,} topics over {model.n_words:,} words")
    return model


def _kind(name: str) -> type[OnlineModel]:
    if name not in kinds:
        raise MissingKind("kind of model", name)
    try:
        return kinds.load(name)
    except KindError as error:
        raise SessionError(str(error)) from None
