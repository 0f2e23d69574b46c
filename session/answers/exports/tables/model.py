"""A whole model: every word of every topic."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from session.answers.exports.subject import Asked, Subject

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _arrays(asked: Asked) -> "Mapping[str, NDArray[Any]]":
    """topic_word (K, W), alpha (K,), vocabulary (W,), topic_share (K,)."""
    import numpy as np

    from session.answers.inference import saved_model

    model = saved_model(asked.reader, asked.models[0])
    return {
        "topic_word": model.topics(),
        "alpha": model.document_prior(),
        "vocabulary": np.array(asked.reader.vocabulary(), dtype=np.str_),
        "topic_share": model.topic_shares(),
    }


MODEL = Subject(name="model", label="Model: all topics and words as arrays", arrays=_arrays, one_model=True)
