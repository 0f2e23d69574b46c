"""The topics at some points of the stream: `snapshots`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wikitopics.session.errors import Damaged
from wikitopics.session.models import ModelSpec
from wikitopics.session.records import TopWords
from wikitopics.session.storage.decoding import numbers, whole

MOST_SNAPSHOT_WORDS = 100
LARGEST_SNAPSHOT = 2**24
"""The most bytes of a snapshot's row."""


def decode_snapshot(row: tuple[Any, ...], models: Sequence[ModelSpec], n_words: int) -> TopWords:
    """`snapshots`: (model, articles, word_ids, probabilities, shares)."""
    model, articles, word_ids, probabilities, shares = row
    K = models[whole(model, "snapshots.model", 0, len(models) - 1)].topics
    ids = numbers(word_ids, "snapshots.word_ids", np.int32, (K, -1), 0, n_words - 1)
    if not 1 <= ids.shape[1] <= MOST_SNAPSHOT_WORDS:
        raise Damaged("snapshots.word_ids has the wrong length")
    return TopWords(
        model=model,
        articles=whole(articles, "snapshots.articles"),
        word_ids=ids,
        probabilities=numbers(probabilities, "snapshots.probabilities", np.float32, ids.shape, 0, 1.001),
        shares=numbers(shares, "snapshots.shares", np.float32, (K,), 0, 1.001),
    )
