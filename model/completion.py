"""Document completion, [SVI13] section 4: how well a model predicts words it has not seen."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import OnlineModel


class Model(Protocol):
    """What a model must offer to be measured."""

    @property
    def n_words(self) -> int: ...
    def infer(self, batch: Minibatch) -> NDArray[np.float32]: ...
    def topics(self) -> NDArray[Any]: ...


class CompletionSet:
    """Documents split once into words seen and words to predict, on which models are measured repeatedly.

    Each document's distinct words are split at random, by `seed`, into two halves that share no word; if
    their number is odd, the seen half has one more. Documents with fewer than two distinct words are left
    out.
    """

    seen: Minibatch
    hidden: Minibatch

    def __init__(self, batch: Minibatch, seed: int = 0) -> None:
        sizes = np.diff(batch.indptr)
        documents = batch.documents()
        key = np.random.default_rng(seed).random(len(documents))
        order = np.lexsort((key, documents))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(batch.indptr[:-1], sizes)
        hide = rank >= (sizes[documents] + 1) // 2
        use = sizes[documents] >= 2
        self.seen = _part(batch, documents, use & ~hide, sizes >= 2)
        self.hidden = _part(batch, documents, use & hide, sizes >= 2)

    def score(self, model: Model) -> float:
        """Nats per hidden word: the mean of log sum_k E[theta_k] E[beta_kw]; NaN if there are none.

        Raises ValueError for a word id outside the model's range.
        """
        from wikitopics.model.kernels import mixtures

        hidden = self.hidden
        if hidden.n_tokens == 0:
            return float("nan")
        ids, local = hidden.words(model.n_words)
        theta = model.infer(self.seen)
        rows = model.topic_rows(ids) if isinstance(model, OnlineModel) else model.topics()[:, ids].T
        probability = np.empty(len(hidden.word_ids), dtype=np.float32)
        mixtures(hidden.indptr, local, np.ascontiguousarray(rows, np.float32), theta, probability)
        # Not with @: a BLAS that starts threads takes longer than everything else here.
        return float(np.sum(hidden.counts * np.log(probability, dtype=np.float64)) / hidden.n_tokens)


def _part(
    batch: Minibatch, documents: NDArray[np.int64], entries: NDArray[np.bool_], kept: NDArray[np.bool_]
) -> Minibatch:
    sizes = np.bincount(documents[entries], minlength=batch.D)[kept]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return Minibatch(indptr, batch.word_ids[entries], batch.counts[entries])


def document_completion(model: Model, batch: Minibatch, seed: int = 0) -> float:
    """Score of a model in nats per held-out word, higher is better; exp(-score) is the perplexity. See
    `CompletionSet`.

    Raises ValueError for a word id outside the model's range.
    """
    return CompletionSet(batch, seed).score(model)
