"""Topic proportions of texts that were never in the stream."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model import Minibatch
from session.models import load_model
from session.reader import SessionReader
from vocab import Vocabulary


def proportions(
    reader: SessionReader, model: str, texts: Sequence[str]
) -> list[tuple[int, NDArray[np.float32]]]:
    """(words known, (K,) proportions) of each text by the model of this name at the last commit."""
    vocabulary = Vocabulary.from_words(reader.vocabulary())
    counted = [vocabulary.count(text) for text in texts]
    batch = Minibatch(
        np.concatenate(([0], np.cumsum([len(ids) for ids, _ in counted]))),
        np.concatenate([ids for ids, _ in counted]),
        np.concatenate([counts for _, counts in counted]),
    )
    state = reader.model_state(model)
    learnt: Any = load_model(state)
    theta = learnt.infer(batch)
    return [(int(counts.sum()), theta[d]) for d, (_, counts) in enumerate(counted)]
