"""A whole model: every word of every topic."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wikitopics.session.analysis.exports.subject import ExportRequest, Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wikitopics.model import OnlineModel


def _arrays(asked: ExportRequest) -> "Mapping[str, NDArray[Any]]":
    import numpy as np

    from wikitopics.model.exported import arrays_of

    rule = {"word_rule": np.array(asked.reader.settings().rule)}
    return {**arrays_of(_model(asked), asked.reader.vocabulary()), **rule}


def _model(asked: ExportRequest) -> "OnlineModel":
    """The model. Raises `SessionError` if it has no topics yet."""
    from wikitopics.session.analysis.inference import saved_model

    asked.reader.check_trained()
    return saved_model(asked.reader, asked.models[0])


MODEL = Subject(
    name="model",
    label="Model: all topics and words as arrays, or in formats that other programs load",
    arrays=_arrays,
    model=_model,
    one_model=True,
)
