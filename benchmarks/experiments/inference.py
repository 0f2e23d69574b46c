"""A document's proportions after the passes over its words: N_theta of [F13], or the sum of what
the last pass gave each word.

N_theta is an average in which the words of each step count most until later ones come, and words
come in the order of their ids. So proportions depend on how words are numbered, the more the longer
a text is.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import CORPORA, Corpus, split
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.harness import compared as labelled
from benchmarks.measuring import KINDS, growing, learn_all
from wikitopics.model import SCVB0, Minibatch, OnlineHDP, OnlineLDA
from wikitopics.model.completion import CompletionSet
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.online import OnlineModel
from wikitopics.model.scvb0_e_step import ThetaPasses, inferred
from wikitopics.model.threads import ALONE

EXPERIMENT = Experiment("inference", "proportions of N_theta, or of all words in the last pass")
JOINED = {"article": 1, "ten": 10, "hundred": 100}
"""How many articles make a text."""
PASSES = 2
NUMBERED = 20_000
"""The articles that are learnt with words numbered in several ways."""
SEEDS = range(5)


class Reader:
    """Infers with topics, (K, W), and a prior, (K,), that stay as they are."""

    def __init__(self, topics: NDArray[Any], prior: NDArray[np.float64], *, sums: bool) -> None:
        self._topics = topics
        self._passes = ThetaPasses(prior, PASSES, sums_last_pass=sums)
        _, self.n_words = topics.shape
        words_of_topics = np.maximum(topics.T * 1e6, 1e-6)
        self._lambda = Lambda.of(np.ascontiguousarray(words_of_topics, np.float32), eta=0.0)

    def topics(self) -> NDArray[Any]:
        return self._topics

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        return inferred(batch, self._lambda, 0.0, self._passes, ALONE)


def joined(documents: Minibatch, number: int) -> Minibatch:
    """Texts of so many articles each."""
    indptr = documents.indptr[::number]
    end = indptr[-1]
    return Minibatch(indptr, documents.word_ids[:end], documents.counts[:end])


def renumbered(documents: Minibatch, n_words: int) -> Minibatch:
    """The documents with the last word of the vocabulary as the first."""
    return Minibatch(documents.indptr, n_words - 1 - documents.word_ids, documents.counts)


def compared(model: OnlineModel, documents: Minibatch) -> Figures:
    """By the articles of a text, and by whether the last pass is summed: the log-likelihood by
    document completion; and how far the proportions move if the vocabulary is turned round, as the
    mean total variation, and in which share of the texts the largest topic is another one then."""
    topics = model.topics()
    turned = np.ascontiguousarray(topics[:, ::-1])
    prior = model.document_prior()
    figures: dict[str, Figures] = {}
    for name, number in JOINED.items():
        texts = joined(documents, number)
        texts_turned = renumbered(texts, model.n_words)
        completed = CompletionSet(texts)
        for way, sums in {"last": False, "all": True}.items():
            reader = Reader(topics, prior, sums=sums)
            theta = reader.infer(texts)
            theta_turned = Reader(turned, prior, sums=sums).infer(texts_turned)
            moved = np.abs(theta - theta_turned).sum(axis=1) / 2
            is_other = theta.argmax(axis=1) != theta_turned.argmax(axis=1)
            figures[f"{name}_{way}"] = {
                "log_likelihood": completed.score(reader),
                "moved": float(moved.mean()),
                "other_topic": float(is_other.mean()),
            }
    return figures


def learnt(kind: str, K: int, W: int, documents: Minibatch, seed: int = 0) -> OnlineModel:
    """A model after one pass; the HDP has up to three times as many topics."""
    D = documents.D
    made: dict[str, OnlineModel] = {
        "lda": OnlineLDA(K, W, D, seed=seed),
        "scvb0": SCVB0(K, W, D, seed=seed),
        "hdp": OnlineHDP(W, D, max_topics=3 * K, seed=seed),
    }
    model = made[kind]
    learn_all(model, growing(documents, model.default_batch_size))
    return model


def after_a_pass(kind: str, corpus: Corpus) -> Figures:
    parts = split(corpus)
    return compared(learnt(kind, 100, parts.n_words, parts.train), parts.report)


for _kind in KINDS:
    for _corpus in CORPORA:
        EXPERIMENT.add(f"{_kind}_{_corpus}", partial(after_a_pass, _kind, _corpus))


def numberings(documents: Minibatch, W: int) -> dict[str, NDArray[np.int32]]:
    """Ways to number W words: (W,) the number of each in the order of the alphabet."""
    frequency = np.bincount(documents.word_ids, minlength=W)
    most_frequent_first = np.empty(W, np.int32)
    most_frequent_first[np.argsort(-frequency, kind="stable")] = np.arange(W)
    return {
        "alphabet": np.arange(W, dtype=np.int32),
        "random": np.random.default_rng(0).permutation(W).astype(np.int32),
        "frequent_first": most_frequent_first,
    }


def with_numbers(documents: Minibatch, numbers: NDArray[np.int32]) -> Minibatch:
    return Minibatch(documents.indptr, numbers[documents.word_ids], documents.counts)


def numbered(kind: str) -> Figures:
    """By the numbering of words in learning and in `infer`, the mean log-likelihood of models with
    other seeds."""
    parts = split("full")
    W = parts.n_words
    documents = parts.train[:NUMBERED]
    figures: dict[str, float] = {}
    for name, numbers in numberings(documents, W).items():
        completed = CompletionSet(parts.report)
        completed.seen = with_numbers(completed.seen, numbers)
        completed.hidden = with_numbers(completed.hidden, numbers)
        scores = []
        for seed in SEEDS:
            model = learnt(kind, 50, W, with_numbers(documents, numbers), seed)
            scores.append(completed.score(model))
        figures[name] = float(np.mean(scores))
        figures[f"{name}_deviation"] = float(np.std(scores, ddof=1))
    return figures


for _kind in KINDS:
    EXPERIMENT.add(f"numbered_{_kind}", partial(numbered, _kind))


def _both_ways(points: Points) -> str:
    """A row for each model and corpus, with both ways beside each other."""
    head = ["articles", "model"]
    for texts in ("one", "ten", "a hundred"):
        head.append(f"{texts}: log-likelihood")
    head += ["one: moved", "ten: moved", "a hundred: moved"]
    rows = []
    for corpus in CORPORA:
        for kind, called in KINDS.items():
            found = points.get(f"{kind}_{corpus}")
            if found is None:
                continue
            cells = [corpus, called]
            for form, figure in (("{:.3f}", "log_likelihood"), ("{:.2f}", "moved")):
                for name in JOINED:
                    last = form.format(found[f"{name}_last"][figure])
                    of_all = form.format(found[f"{name}_all"][figure])
                    cells.append(f"{last} → {of_all}")
            rows.append(cells)
    return table(head, rows)


EXPERIMENT.tables["both_ways"] = _both_ways
EXPERIMENT.tables["numbered"] = partial(
    labelled,
    {f"numbered_{kind}": called for kind, called in KINDS.items()},
    {
        "by the alphabet": "{alphabet:.3f} ± {alphabet_deviation:.3f}",
        "in random order": "{random:.3f} ± {random_deviation:.3f}",
        "the most frequent first": "{frequent_first:.3f} ± {frequent_first_deviation:.3f}",
    },
    what="words numbered",
)
