"""Models made from a session's settings, and from what the store kept of them."""

from collections.abc import Mapping
from typing import Any

from model import KINDS
from session.errors import Damaged
from session.reader import SessionReader
from session.reading import ModelStatus
from session.spec import ModelSpec
from session.store import ModelRow


def default_batch_size(spec: ModelSpec) -> int:
    """The batch size of a model, its kind's where the spec sets none."""
    return spec.batch_size or int(KINDS[spec.kind].default_batch_size)


def new_model(spec: ModelSpec, n_words: int, n_documents: int, seed: int) -> Any:
    """A model as its spec says, before its first article."""
    return KINDS[spec.kind](n_words=n_words, n_documents=n_documents, seed=seed, **spec.parameters())


def load_model(state: Mapping[str, Any], stored: ModelStatus, n_words: int) -> Any:
    """The model that had this state. Raises :class:`Damaged` where that is not the model stored there."""
    try:
        model = KINDS[stored.kind].from_state(state)
    except ValueError as error:
        raise Damaged(f"model {stored.name}: {error}") from None
    if (model.n_topics, model.n_words) != (stored.topics, n_words):
        raise Damaged(f"model {stored.name} has {model.n_topics:,} topics over {model.n_words:,} words")
    return model


def saved_model(reader: SessionReader, name: str) -> Any:
    """The model of this name at the last commit."""
    return load_model(reader.model_state(name), reader.model_status(name), len(reader.vocabulary()))


def model_row(model: Any, log_likelihood: float | None) -> ModelRow:
    """What the store keeps of ``model`` now."""
    return ModelRow(
        state=model.state(),
        topics=model.n_topics,
        topics_in_use=model.topics_in_use(),
        updates=model.updates,
        rho=float(model.rho),
        log_likelihood=log_likelihood,
    )
