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
        # Each document's entries get ranks 0, 1, 2 … in random order. `shuffled` lists the entries
        # document by document, those of one document in random order. An entry's rank is its place
        # in that list, counted from the first place of its document.
        N = len(documents)
        random_numbers = np.random.default_rng(seed).random(N)
        shuffled = np.lexsort((random_numbers, documents))  # by document, then by random number
        first_place_of_document = np.repeat(batch.indptr[:-1], n_distinct)
        rank = np.empty(N, dtype=np.int64)
        rank[shuffled] = np.arange(N) - first_place_of_document
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
        return self.mean(self.nats(model))

    def mean(self, nats: NDArray[np.float64]) -> float:
        """The score with these `nats`."""
        # Not with @: the threads that a BLAS starts take longer than everything else here.
        n_tokens = self.hidden.n_tokens
        return float(np.sum(nats) / n_tokens) if n_tokens else float("nan")

    def nats(self, model: Predictor) -> NDArray[np.float64]:
        """(N,) the log-likelihood of each entry of `hidden`: of all uses of a word in a document.

        Raises ValueError for a word id outside the model's range.
        """
        from wikitopics.model.kernels import mixtures

        hidden = self.hidden
        if hidden.n_tokens == 0:
            return np.empty(0)
        words = hidden.words(model.n_words)
        theta = model.infer(self.seen)
        # (U, K) the words' probabilities in each topic.
        if isinstance(model, OnlineModel):
            rows = model.topic_rows(words.ids)
        else:
            rows = model.topics()[:, words.ids].T
        row_of_entry = words.entries.local
        probability = np.empty(len(hidden.word_ids), dtype=np.float32)
        mixtures(
            hidden.indptr,
            row_of_entry,
            np.ascontiguousarray(rows, np.float32),
            theta,
            probability,
        )
        return np.asarray(hidden.counts * np.log(probability, dtype=np.float64))

    def standard_error(self, nats: NDArray[np.float64], others: NDArray[np.float64]) -> float:
        """The standard error of the difference between the means of two models' `nats`, over
        documents; NaN for fewer than two.

        A difference is a ratio, of nats to words, and both vary between documents: its variance is
        D / (D - 1) sum_d (x_d - r n_d)^2 / (sum_d n_d)^2 for differences x_d in documents of n_d
        words with the ratio r (the linearised variance of a ratio estimator).
        """
        D = self.hidden.D
        if D < 2:
            return float("nan")
        document = self.hidden.documents()
        differences = np.bincount(document, nats - others, minlength=D)
        lengths = np.bincount(document, self.hidden.counts, minlength=D)
        ratio = differences.sum() / lengths.sum()
        residuals = differences - ratio * lengths
        variance = D / (D - 1) * np.sum(residuals**2) / lengths.sum() ** 2
        return float(np.sqrt(variance))


def document_completion(model: Predictor, batch: Minibatch, seed: int = 0) -> float:
    """The score of a model on documents, as `CompletionSet` measures it, in nats per hidden word.

    Higher is better; exp(-score) is the perplexity. Raises ValueError for a word id outside the
    model's range.
    """
    return CompletionSet(batch, seed).score(model)
