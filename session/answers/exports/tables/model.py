"""A whole model: every word of every topic."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from session.answers.exports.subject import Asked, Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _arrays(asked: Asked) -> "Mapping[str, NDArray[Any]]":
    from model.exported import arrays_of
    from session.answers.inference import saved_model

    return arrays_of(saved_model(asked.reader, asked.models[0]), asked.reader.vocabulary())


MODEL = Subject(name="model", label="Model: all topics and words as arrays", arrays=_arrays, one_model=True)
