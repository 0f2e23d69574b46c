"""Which weight of probability against lift gives topics the names that best lead readers to their
articles.

A reader who knows only the names of the topics (three words each) guesses what an article is about:
the topic whose name's words it holds most often. The score is the share of articles for which that
is the topic that the model gives most of the article to. The weight is chosen on the part `tuning`
of all corpora; its score is stated on `report`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import CORPORA, split
from benchmarks.harness import Experiment, Figures
from benchmarks.measuring import growing, learn_all
from benchmarks.peers import words_of
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
    """The share of documents that names lead to the right topic. Where several topics have the most
    votes, one of them is guessed.

    names: (K, n) word ids; about: (D,) each document's topic.
    """
    n_words = int(max(names.max(), documents.word_ids.max())) + 1
    topics_named_by: list[list[int]] = [[] for _ in range(n_words)]
    for topic, ids in enumerate(names.tolist()):
        for word in ids:
            topics_named_by[word].append(topic)
    right = 0.0
    for d in range(documents.D):
        word_ids, counts = words_of(documents, d)
        votes = np.zeros(len(names))
        for word, count in zip(word_ids, counts, strict=True):
            votes[topics_named_by[word]] += count
        if votes.any():
            guesses = np.flatnonzero(votes == votes.max())
            if about[d] in guesses:
                right += 1 / len(guesses)
    return right / documents.D


@EXPERIMENT.point()
def weights() -> Figures:
    """By part and weight: the percentage of documents, the mean over corpora and models."""
    by_part: dict[str, list[list[float]]] = {"tuning": [], "report": []}
    for corpus in CORPORA:
        parts = split(corpus)
        for model in models(parts.n_words, parts.train):
            leading = model.top_words(LEADING)
            shares = model.topic_shares()
            for part, scores_of_part in by_part.items():
                documents: Minibatch = getattr(parts, part)[:1000]
                about = model.infer(documents).argmax(axis=1)
                scores = []
                for weight in WEIGHTS:
                    names = most_relevant(leading, shares, weight)[:, :WORDS_IN_NAME]
                    scores.append(led_to(names, documents, about))
                scores_of_part.append(scores)
    percent: dict[str, dict[str, float]] = {}
    for part, scores_of_part in by_part.items():
        means = np.mean(scores_of_part, axis=0).tolist()
        percent[part] = {
            f"w{10 * weight:.0f}": 100 * mean for weight, mean in zip(WEIGHTS, means, strict=True)
        }
    return {"percent": percent}
