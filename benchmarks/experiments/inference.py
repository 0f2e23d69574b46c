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
from benchmarks.measuring import KINDS, growing, learn_all
from wikitopics.model import SCVB0, Minibatch, OnlineHDP, OnlineLDA
from wikitopics.model.completion import CompletionSet
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.minibatch import ALONE
from wikitopics.model.online import OnlineModel
from wikitopics.model.scvb0_e_step import ThetaPasses, inferred

EXPERIMENT = Experiment("inference", "proportions of N_theta, or of all words in the last pass")
JOINED = {"article": 1, "ten": 10, "hundred": 100}
"""How many articles make a text."""
PASSES = 2


class Reader:
    """Infers with topics, (K, W), and a prior, (K,), that stay as they are."""

    def __init__(self, topics: NDArray[Any], prior: NDArray[np.float64], *, sums: bool) -> None:
        self._topics = topics
        self._passes = ThetaPasses(prior, PASSES, sums=sums)
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


def after_a_pass(kind: str, corpus: Corpus) -> Figures:
    parts = split(corpus)
    W = parts.n_words
    D = parts.train.D
    made: dict[str, OnlineModel] = {
        "lda": OnlineLDA(100, W, D),
        "scvb0": SCVB0(100, W, D),
        "hdp": OnlineHDP(W, D, max_topics=300),
    }
    model = made[kind]
    learn_all(model, growing(parts.train, model.default_batch_size))
    return compared(model, parts.report)


for _kind in KINDS:
    for _corpus in CORPORA:
        EXPERIMENT.add(f"{_kind}_{_corpus}", partial(after_a_pass, _kind, _corpus))


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
