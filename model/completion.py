"""Document completion, [SVI13] section 4: how well a model predicts words it has not seen."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import OnlineModel


class Model(Protocol):
    """What a model must have to be measured."""

    @property
    def n_words(self) -> int: ...
    def infer(self, batch: Minibatch) -> NDArray[np.float32]: ...
    def topics(self) -> NDArray[Any]: ...


class CompletionSet:
    """Documents split once into words seen and words to predict, on which models are measured
    repeatedly.

    Each document's distinct words are split at random, by `seed`, into two halves that share no
    word; if their number is odd, the seen half has one more. Documents with fewer than two distinct
    words are left out.
    """

    def __init__(self, batch: Minibatch, seed: int = 0) -> None:
        sizes = np.diff(batch.indptr)
        documents = batch.documents()
        key = np.random.default_rng(seed).random(len(documents))
        order = np.lexsort((key, documents))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(batch.indptr[:-1], sizes)
        hide = rank >= (sizes[documents] + 1) // 2
        used = sizes >= 2

        def half(entries: NDArray[np.bool_]) -> Minibatch:
            """The documents used, with these entries."""
            words = np.bincount(documents[entries], minlength=batch.D)
            indptr = np.append(0, np.cumsum(words[used]))
            return Minibatch(indptr, batch.word_ids[entries], batch.counts[entries])

        self.seen = half(used[documents] & ~hide)
        self.hidden = half(used[documents] & hide)

    def score(self, model: Model) -> float:
        """Nats per hidden word: the mean of log sum_k E[theta_k] E[beta_kw]; NaN if there are none.

        Raises ValueError for a word id outside the model's range.
        """
        from wikitopics.model.kernels import mixtures

        hidden = self.hidden
        if hidden.n_tokens == 0:
            return float("nan")
        _, ids, entries = hidden.words(model.n_words)
        theta = model.infer(self.seen)
        rows = model.topic_rows(ids) if isinstance(model, OnlineModel) else model.topics()[:, ids].T
        probability = np.empty(len(hidden.word_ids), dtype=np.float32)
        mixtures(
            entries.indptr,
            entries.local,
            np.ascontiguousarray(rows, np.float32),
            theta,
            probability,
        )
        # Not with @: the threads that a BLAS starts take longer than everything else here.
        nats = np.sum(hidden.counts * np.log(probability, dtype=np.float64))
        return float(nats / hidden.n_tokens)


def document_completion(model: Model, batch: Minibatch, seed: int = 0) -> float:
    """Score of a model in nats per held-out word, higher is better; exp(-score) is the perplexity.
    See `CompletionSet`.

    Raises ValueError for a word id outside the model's range.
    """
    return CompletionSet(batch, seed).score(model)
