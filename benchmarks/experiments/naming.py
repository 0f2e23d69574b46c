"""Which weight of probability against lift gives topics the names that best lead readers to their
articles.

A reader who knows only the names of the topics (three words each) guesses what an article is about:
the topic whose name's words it holds most often. The score is the share of articles for which that
is the topic that the model gives most of the article to, chosen on the part `tuning` of both
corpora, stated on `report`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import CORPORA, split
from benchmarks.harness import Experiment, Figures
from benchmarks.measuring import growing, learn_all
from wikitopics.model import SCVB0, Minibatch, OnlineHDP, OnlineLDA, OnlineModel
from wikitopics.model.naming import WORDS_IN_NAME
from wikitopics.model.relevance import most_relevant

EXPERIMENT = Experiment(
    "naming", "which words of a topic make the name that leads a reader to its articles"
)
WEIGHTS = [step / 10 for step in range(11)]
LEADING = 20
"""Words of a topic that a name is made of, as many as a session keeps."""


def models(n_words: int, documents: Minibatch) -> list[OnlineModel]:
    """A model of each kind after one pass."""
    made: list[OnlineModel] = [
        OnlineLDA(100, n_words, documents.D),
        SCVB0(100, n_words, documents.D),
        OnlineHDP(n_words, documents.D),
    ]
    return [learn_all(model, growing(documents, model.default_batch_size)) for model in made]


def led_to(names: NDArray[np.int32], documents: Minibatch, about: NDArray[np.int64]) -> float:
    """The share of documents that names lead to the right topic; several topics ahead share a
    guess.

    names: (K, n) word ids; about: (D,) each document's topic.
    """
    K = len(names)
    n_words = int(max(names.max(), documents.word_ids.max())) + 1
    named: list[list[int]] = [[] for _ in range(n_words)]
    for topic, ids in enumerate(names.tolist()):
        for word in ids:
            named[word].append(topic)
    right = 0.0
    for d in range(documents.D):
        entries = slice(documents.indptr[d], documents.indptr[d + 1])
        votes = np.zeros(K)
        for word, times in zip(documents.word_ids[entries], documents.counts[entries], strict=True):
            votes[named[word]] += times
        if votes.any():
            ahead = np.flatnonzero(votes == votes.max())
            right += float(about[d] in ahead) / len(ahead)
    return right / documents.D


@EXPERIMENT.point()
def weights() -> Figures:
    by_part: dict[str, list[list[float]]] = {"tuning": [], "report": []}
    for corpus in CORPORA:
        parts = split(corpus)
        for model in models(parts.n_words, parts.train):
            leading = model.top_words(LEADING)
            shares = model.topic_shares()
            for part in by_part:
                documents: Minibatch = getattr(parts, part)[:1000]
                about = model.infer(documents).argmax(axis=1)
                scores = [
                    led_to(
                        most_relevant(leading, shares, weight)[:, :WORDS_IN_NAME], documents, about
                    )
                    for weight in WEIGHTS
                ]
                by_part[part].append(scores)
    means = {part: np.mean(found, axis=0).tolist() for part, found in by_part.items()}
    percent = {
        part: {
            f"w{10 * weight:.0f}": 100 * mean for weight, mean in zip(WEIGHTS, scores, strict=True)
        }
        for part, scores in means.items()
    }
    return {"percent": percent}
