"""Models made from a session's settings, and from what the store kept of them."""

from collections.abc import Mapping
from typing import Any

from model import KINDS
from session.errors import NotASession
from session.spec import ModelSpec
from session.store import ModelRow


def default_batch_size(spec: ModelSpec) -> int:
    """The batch size of a model, its kind's where the spec sets none."""
    return spec.batch_size or int(KINDS[spec.kind].default_batch_size)


def new_model(spec: ModelSpec, n_words: int, n_documents: int, seed: int) -> Any:
    """A model as its spec says, before its first article."""
    return KINDS[spec.kind](n_words=n_words, n_documents=n_documents, seed=seed, **spec.parameters())


def load_model(state: Mapping[str, Any]) -> Any:
    """The model that had this state. Raises :class:`NotASession` for a state that no model here has."""
    try:
        return KINDS[state["kind"]].from_state(state)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise NotASession(f"the session's model was kept by another wikitopics ({error})") from None


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
