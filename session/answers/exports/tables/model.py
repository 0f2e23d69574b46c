"""A whole model: every word of every topic."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from session.answers.exports.subject import Asked, Subject
from session.errors import SessionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model import OnlineModel


def _arrays(asked: Asked) -> "Mapping[str, NDArray[Any]]":
    import numpy as np

    from model.exported import arrays_of

    rule = {"word_rule": np.array(asked.reader.settings().rule)}
    return {**arrays_of(_model(asked), asked.reader.vocabulary()), **rule}


def _model(asked: Asked) -> "OnlineModel":
    from session.answers.inference import saved_model

    return saved_model(asked.reader, asked.models[0])


def _trained(asked: Asked) -> "OnlineModel":
    """For programs that know no model without topics. Raises :class:`SessionError` where it has none yet."""
    if not asked.reader.committed().progress.articles:
        raise SessionError("no topics yet: the first come after the first minibatch")
    return _model(asked)


MODEL = Subject(
    name="model",
    label="Model: all topics and words as arrays, or as other programs load it",
    arrays=_arrays,
    model=_trained,
    one_model=True,
)
