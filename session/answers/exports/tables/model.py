"""A whole model: every word of every topic."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from session.answers.exports.subject import Asked, Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from model import OnlineModel


def _arrays(asked: Asked) -> "Mapping[str, NDArray[Any]]":
    from model.exported import arrays_of

    return arrays_of(_model(asked), asked.reader.vocabulary())


def _model(asked: Asked) -> "OnlineModel":
    from session.answers.inference import saved_model

    return saved_model(asked.reader, asked.models[0])


MODEL = Subject(
    name="model",
    label="Model: all topics and words as arrays, or as other programs load it",
    arrays=_arrays,
    model=_model,
    one_model=True,
)
