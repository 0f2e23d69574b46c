"""Which order of a topic's words gives it the name that best leads readers to its articles, and ten
words that go together: the weight of probability against lift, and that of the association of words
with one another.

A reader who knows only the names of the topics (three words each) guesses what an article is about:
the topic whose name's words it holds most often. The score is the share of articles for which that
is the topic that the model gives most of the article to. Words go together if their NPMI is high in
articles of the same corpus that nobody has learnt. Weights are chosen on the part `tuning` of all
corpora; their scores are stated on `report`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import CORPORA, split
from benchmarks.harness import Experiment, Figures
from benchmarks.measuring import growing, learn_all
from benchmarks.peers import words_of
from wikitopics.model import SCVB0, Minibatch, OnlineHDP, OnlineLDA, OnlineModel, shown
from wikitopics.model.coherence import Cooccurrences, npmi_of_words
from wikitopics.model.naming import WORDS_IN_NAME
from wikitopics.model.online import IN_USE
from wikitopics.model.relevance import RELEVANCE
from wikitopics.session.records import COHERENT_WORDS
from wikitopics.session.storage.counts import REFERENCE_ARTICLES

EXPERIMENT = Experiment(
    "naming", "which words of a topic make the name that leads a reader to its articles"
)
WEIGHTS = [step / 10 for step in range(11)]
ASSOCIATIONS = (0.0, 2.0, 4.0, 8.0, 16.0)
JUDGED = 3000
"""Articles of each part."""


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
            for part, scores_of_part in by_part.items():
                documents: Minibatch = getattr(parts, part)[:JUDGED]
                about = model.infer(documents).argmax(axis=1)
                scores = []
                for weight in WEIGHTS:
                    names = model.relevant_words(WORDS_IN_NAME, weight)
                    scores.append(led_to(names.ids, documents, about))
                scores_of_part.append(scores)
    percent: dict[str, dict[str, float]] = {}
    for part, scores_of_part in by_part.items():
        means = np.mean(scores_of_part, axis=0).tolist()
        percent[part] = {
            f"w{10 * weight:.0f}": 100 * mean for weight, mean in zip(WEIGHTS, means, strict=True)
        }
    return {"percent": percent}


@EXPERIMENT.point()
def associations() -> Figures:
    """By corpus, part and weight of the association of words, means over models: the percentage of
    documents that three words lead to, and the NPMI and the distinct part of ten words."""
    found: dict[str, dict[str, float]] = {}
    for corpus in CORPORA:
        parts = split(corpus)
        reference = Cooccurrences(parts.train[:REFERENCE_ARTICLES])
        made = models(parts.n_words, parts.train)
        for part in ("tuning", "report"):
            documents: Minibatch = getattr(parts, part)[:JUDGED]
            for weight in ASSOCIATIONS:
                scores = []
                for model in made:
                    candidates = model.relevant_words(shown.CANDIDATES, RELEVANCE)
                    ids, _ = shown.in_shown_order(candidates, reference, weight)
                    in_use = ids[model.topic_shares() > IN_USE, :COHERENT_WORDS]
                    about = model.infer(documents).argmax(axis=1)
                    percent = 100 * led_to(ids[:, :WORDS_IN_NAME], documents, about)
                    npmi = float(npmi_of_words(in_use, Cooccurrences(documents)).mean())
                    scores.append((percent, npmi, len(np.unique(in_use)) / in_use.size))
                percent, npmi, distinct = np.mean(scores, axis=0).tolist()
                found[f"{corpus}_{part}_{weight:g}"] = {
                    "percent": percent,
                    "npmi": npmi,
                    "distinct": distinct,
                }
    return {"scores": found}
