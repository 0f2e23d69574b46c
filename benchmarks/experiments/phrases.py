"""Phrases in an English vocabulary: do topics gain by them?

The first half of the articles chooses words and phrases. Models learn from most of the second half,
once with the words alone and once with the phrases too, and are scored on the rest of it: its
pieces of 20 words are seen and hidden in turn, so that both vocabularies complete the same texts.
Topics' words are judged by the first half.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks import data
from benchmarks.harness import Experiment, Figures, compared
from benchmarks.measuring import growing, in_turn, learn_all, minibatches, timed
from wikitopics.model import Minibatch, kinds
from wikitopics.model.coherence import Cooccurrences, npmi_of_words
from wikitopics.model.kernels import mixtures
from wikitopics.model.online import top_words
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.building import VocabularyRecipe, build_vocabulary
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS

EXPERIMENT = Experiment(
    "phrases", "phrases in an English vocabulary: scores, topics, speed", data="articles-60k"
)
CHOSEN_FROM = 30_000
"""The articles that choose the words."""
LEARNT = 25_000
"""Of the others, those that models learn from."""
K = 100
PASSES = 2
BATCH = 512
SEEDS = range(4)
PIECE = 20
"""The words that are seen, or hidden, at a time."""
STEPS = 10
"""Of EM, for the rows of topics over the same tokens."""
SHOWN = 10
REPEATS = 5
KINDS = {"lda": "online LDA", "scvb0": "SCVB0"}


class Texts(NamedTuple):
    chosen_from: Sequence[str]
    learnt: Sequence[str]
    seen: Sequence[str]
    hidden: Sequence[str]
    words: Vocabulary
    both: Vocabulary
    """The words and the phrases."""


@cache
def texts() -> Texts:
    """The texts of both halves, and the two vocabularies. A text is scored if both its parts have
    one of the words."""
    articles = [article["text"] for article in data.articles()]
    first = articles[:CHOSEN_FROM]
    words = build_vocabulary(first, VocabularyRecipe(Rule(), ENGLISH_STOP_WORDS)).vocabulary
    with_phrases = VocabularyRecipe(Rule(), ENGLISH_STOP_WORDS, phrases=True)
    phrases = build_vocabulary(first, with_phrases).vocabulary.phrases
    both = Vocabulary.from_words(sorted([*words.words, *phrases]))
    seen = []
    hidden = []
    for text in articles[CHOSEN_FROM + LEARNT :]:
        parts = _parts(words.rule.split(text))
        if all(len(words.count(part)[0]) for part in parts):
            seen.append(parts[0])
            hidden.append(parts[1])
    learnt = articles[CHOSEN_FROM : CHOSEN_FROM + LEARNT]
    learnt = [text for text in learnt if len(words.count(text)[0])]
    return Texts(first, learnt, seen, hidden, words, both)


def _parts(words: Sequence[str]) -> tuple[str, str]:
    """Every other piece, and the others. A word that no vocabulary has separates pieces, so that no
    phrase is found across them."""
    pieces = [" ".join(words[start : start + PIECE]) for start in range(0, len(words), PIECE)]
    return " x ".join(pieces[::2]), " x ".join(pieces[1::2])


def counted(vocabulary: Vocabulary, of: Sequence[str]) -> Minibatch:
    return data.batch_of([vocabulary.count(text) for text in of])


def probabilities(
    theta: NDArray[Any], topics: NDArray[Any], documents: Minibatch
) -> NDArray[np.float32]:
    """The probability of each entry's word in its document."""
    found = np.empty(len(documents.word_ids), np.float32)
    rows = np.ascontiguousarray(topics.T, np.float32)
    weights = np.ascontiguousarray(theta, np.float32)
    mixtures(documents.indptr, documents.word_ids, rows, weights, found)
    return found


def log_likelihood(theta: NDArray[Any], topics: NDArray[Any], documents: Minibatch) -> float:
    """In nats, of all documents together."""
    found = probabilities(theta, topics, documents)
    return float(np.log(found) @ documents.counts)


def rows_of(theta: NDArray[Any], documents: Minibatch, n_words: int) -> NDArray[Any]:
    """(K, W) the topics that give these documents with these proportions, by a few steps of EM."""
    shape = (documents.D, n_words)
    topics: NDArray[Any] = np.full((theta.shape[1], n_words), 1 / n_words)
    for _ in range(STEPS):
        weights = documents.counts / probabilities(theta, topics, documents)
        of_words = csr_array((weights, documents.word_ids, documents.indptr), shape=shape)
        topics = topics * (of_words.T @ theta).T + 0.05
        topics /= topics.sum(axis=1, keepdims=True)
    return topics


def without_topics(learnt: Minibatch, hidden: Minibatch, n_words: int) -> float:
    """The log-likelihood of words drawn as often as they were learnt."""
    frequency = np.bincount(learnt.word_ids, learnt.counts, n_words) + 0.1
    frequency /= frequency.sum()
    return float(np.log(frequency[hidden.word_ids]) @ hidden.counts)


def scored(kind: str) -> Figures:
    """Means over the seeds. Scores are nats per hidden word of the vocabulary without phrases, also
    where a phrase stands for two of them; `same` are those of the tokens with phrases, nats per
    token, by the proportions of each model and topics that are estimated in one way for both."""
    found = texts()
    n_hidden = counted(found.words, found.hidden).n_tokens
    tokens_learnt = counted(found.both, found.learnt)
    tokens_hidden = counted(found.both, found.hidden)
    figures: dict[str, Any] = {"phrases": len(found.both.phrases)}
    for name, vocabulary in (("words", found.words), ("both", found.both)):
        W = len(vocabulary)
        learnt = counted(vocabulary, found.learnt)
        seen = counted(vocabulary, found.seen)
        hidden = counted(vocabulary, found.hidden)
        reference = Cooccurrences(counted(vocabulary, found.chosen_from))
        is_phrase = np.array([" " in word for word in vocabulary.words])
        values = []
        for seed in SEEDS:
            model = kinds.load(kind).create(K, W, learnt.D, seed=seed)
            learn_all(model, growing(learnt, BATCH))
            for _ in range(PASSES - 1):
                learn_all(model, minibatches(learnt, BATCH))
            theta = model.infer(seen)
            score = log_likelihood(theta, model.topics(), hidden) / n_hidden
            rows = rows_of(model.infer(learnt), tokens_learnt, len(found.both))
            same = log_likelihood(theta, rows, tokens_hidden) / tokens_hidden.n_tokens
            leading = top_words(model.topics(), SHOWN)
            coherence = npmi_of_words(leading, reference).mean()
            distinct = len(np.unique(leading)) / leading.size
            with_phrase = is_phrase[leading].any(axis=1).sum()
            values.append((score, same, coherence, distinct, with_phrase))
        labels = ("score", "same", "npmi", "distinct", "with_phrase")
        for label, of_seeds in zip(labels, zip(*values, strict=True), strict=True):
            figures[f"{name}_{label}"] = float(np.mean(of_seeds))
            figures[f"{name}_{label}_spread"] = float(np.std(of_seeds))
        figures[f"{name}_without_topics"] = without_topics(learnt, hidden, W) / n_hidden
    return figures


for _kind in KINDS:
    EXPERIMENT.add(_kind, partial(scored, _kind))


@EXPERIMENT.point()
def counting() -> Figures:
    """Megabytes of UTF-8 counted in a CPU second."""
    found = texts()
    some = found.learnt[:10_000]
    megabytes = sum(len(text.encode()) for text in some) / 1e6

    def seconds(vocabulary: Vocabulary) -> float:
        taken, _ = timed(lambda: [vocabulary.count(text) for text in some])
        return taken

    words, both = in_turn(REPEATS, partial(seconds, found.words), partial(seconds, found.both))
    return {"words": megabytes / words, "both": megabytes / both}


COLUMNS = {
    "log-likelihood": "{words_score:.3f}, {both_score:.3f}",
    "without topics": "{words_without_topics:.3f}, {both_without_topics:.3f}",
    "same tokens": "{words_same:.3f}, {both_same:.3f}",
    "NPMI": "{words_npmi:.3f}, {both_npmi:.3f}",
    "distinct": "{words_distinct:.2f}, {both_distinct:.2f}",
}
"""Each with the figure of words alone first."""
EXPERIMENT.tables["topics"] = partial(compared, KINDS, COLUMNS)
