"""What a session's model knows: topic proportions of any text, and every word of its topics."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model import Minibatch
from model.coherence import top_words
from session.errors import Damaged
from session.models import load_model
from session.storage.reader import SessionReader
from vocab import Vocabulary


def saved_model(reader: SessionReader, name: str) -> Any:
    """The model of this name at the last commit."""
    return load_model(reader.model_state(name), reader.model_status(name), len(reader.vocabulary()))


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
    learnt: Any = saved_model(reader, model)
    theta = learnt.infer(batch)
    if not np.isfinite(
        theta
    ).all():  # each number of the model may be in range, and one over its square is not
        raise Damaged(f"model {model} gives no proportions")
    return [(int(counts.sum()), theta[d]) for d, (_, counts) in enumerate(counted)]


def topics(
    reader: SessionReader, model: str, top: int
) -> list[tuple[int, float, tuple[tuple[str, float], ...]]]:
    """(topic, share, ``top`` most probable words) of every topic of this model at the last commit.

    Where snapshots keep enough words, :meth:`SessionReader.topics` answers without loading the model.
    """
    learnt: Any = saved_model(reader, model)
    beta, words = learnt.topics(), reader.vocabulary()
    return [
        (topic, share, tuple((words[i], float(beta[topic, i])) for i in ids))
        for topic, (share, ids) in enumerate(
            zip(learnt.topic_shares().tolist(), top_words(beta, top).tolist(), strict=True)
        )
    ]
