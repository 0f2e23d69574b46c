"""Document completion, [SVI13] section 4: how well a model predicts words it has not seen."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch
from wikitopics.model.online import OnlineModel


class Predictor(Protocol):
    """What a model must have to be measured."""

    @property
    def n_words(self) -> int: ...
    def infer(self, batch: Minibatch) -> NDArray[np.float32]: ...
    def topics(self) -> NDArray[Any]: ...


class CompletionSet:
    """Documents split once into words seen and words to predict, on which models are measured
    repeatedly.

    Each document's distinct words are split at random, by `seed`, into two halves that share no
    word; if their number is odd, the half that is seen has one more. Documents with fewer than two
    distinct words are left out.
    """

    def __init__(self, batch: Minibatch, seed: int = 0) -> None:
        n_distinct = np.diff(batch.indptr)  # words of each document
        documents = batch.documents()  # the document of each entry
        # A document's entries are ranked at random: sorted by document, and within a document by
        # random numbers, each entry's rank is its place behind the document's first place.
        N = len(documents)
        shuffled = np.lexsort((np.random.default_rng(seed).random(N), documents))
        first_places = np.repeat(batch.indptr[:-1], n_distinct)
        rank = np.empty(N, dtype=np.int64)
        rank[shuffled] = np.arange(N) - first_places
        n_seen = (n_distinct + 1) // 2
        is_hidden = rank >= n_seen[documents]
        has_two_words = n_distinct >= 2
        is_used = has_two_words[documents]

        def half(entries: NDArray[np.bool_]) -> Minibatch:
            """These entries of the documents that have two words."""
            n_entries = np.bincount(documents[entries], minlength=batch.D)
            indptr = np.append(0, np.cumsum(n_entries[has_two_words]))
            return Minibatch(indptr, batch.word_ids[entries], batch.counts[entries])

        self.seen = half(is_used & ~is_hidden)
        self.hidden = half(is_used & is_hidden)

    def score(self, model: Predictor) -> float:
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


def document_completion(model: Predictor, batch: Minibatch, seed: int = 0) -> float:
    """The score of a model on documents, as `CompletionSet` measures it, in nats per hidden word.

    Higher is better; exp(-score) is the perplexity. Raises ValueError for a word id outside the
    model's range.
    """
    return CompletionSet(batch, seed).score(model)
