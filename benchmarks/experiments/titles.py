"""Which articles are typical of a topic: in which order the first three are most about it, judged
by words that did not count for the order.

Four articles in ten are cut to stubs of 10 to 50 words. Each is divided into two random halves: one
gives the topic's share and the number of words, by which the articles with that largest topic are
ordered, the other says how much of the first three is really about it. How soon a share counts is
chosen on the part `tuning` of all corpora; its score is stated on `report`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import CORPORA, batch_of_words, split
from benchmarks.harness import Experiment, Figures
from benchmarks.measuring import growing, learn_all
from benchmarks.peers import words_of
from wikitopics.model import SCVB0, Minibatch, OnlineHDP, OnlineLDA, OnlineModel
from wikitopics.session.wording import TITLES

EXPERIMENT = Experiment("titles", "which articles are typical of a topic, by share and length")
Order = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
"""From the shares of a topic in articles, and their words."""
TOPICS = 20
"""Few enough that each has dozens of the articles of a part."""
FEWEST = 10
"""Topics with fewer articles are left out."""
STUBS = 0.4
STUB = 25
"""Half an article of fewer words is a stub."""


def halved_at(words: int) -> Order:
    """The share times n / (n + words), for n words."""
    return lambda share, n: share * n / (n + words)


ORDERS: dict[str, Order] = {
    "share": lambda share, n: share,
    "root": lambda share, n: share * np.sqrt(n),
    **{f"at{words}": halved_at(words) for words in (5, 10, 20, 30, 50, 100)},
}


def models(n_words: int, documents: Minibatch) -> list[OnlineModel]:
    """A model of each kind after one pass."""
    made: list[OnlineModel] = [
        OnlineLDA(TOPICS, n_words, documents.D),
        SCVB0(TOPICS, n_words, documents.D),
        OnlineHDP(n_words, documents.D, max_topics=3 * TOPICS),
    ]
    return [learn_all(model, growing(documents, model.default_batch_size)) for model in made]


def halves(documents: Minibatch) -> tuple[Minibatch, Minibatch]:
    """Each document's words in two random halves, of a stub in four cases out of ten."""
    random = np.random.default_rng(0)
    both: tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]] = ([], [])
    for d in range(documents.D):
        words = np.repeat(*words_of(documents, d))
        random.shuffle(words)
        if random.random() < STUBS:
            words = words[: random.integers(10, 51)]
        middle = len(words) // 2
        both[0].append(words[:middle])
        both[1].append(words[middle:])
    first, second = map(batch_of_words, both)
    return first, second


def first_ones(
    theta: NDArray[np.float64], n: NDArray[np.float64], order: Order
) -> list[tuple[int, int]]:
    """(topic, article) of the first three articles of each topic in this order."""
    about = theta.argmax(axis=1)
    score = order(theta.max(axis=1), n)
    found = []
    for topic in range(theta.shape[1]):
        articles = np.flatnonzero(about == topic)
        if len(articles) >= FEWEST:
            best = articles[np.argsort(-score[articles], kind="stable")][:TITLES]
            found += [(topic, article) for article in best.tolist()]
    return found


@EXPERIMENT.point()
def orders() -> Figures:
    """By part and order, the means over corpora and models: the topic's share of the other half of
    the first three articles, and the share of stubs among these; in percent."""
    figures: dict[str, dict[str, dict[str, list[float]]]] = {}
    for corpus in CORPORA:
        parts = split(corpus)
        for model in models(parts.n_words, parts.train):
            for part in ("tuning", "report"):
                one, other = halves(getattr(parts, part))
                theta = model.infer(one).astype(np.float64)
                unseen = model.infer(other)
                n = np.add.reduceat(one.counts, one.indptr[:-1]).astype(np.float64)
                of_part = figures.setdefault(part, {})
                for name, order in ORDERS.items():
                    found = first_ones(theta, n, order)
                    of_order = of_part.setdefault(name, {"unseen": [], "stubs": []})
                    shares = [unseen[article, topic] for topic, article in found]
                    of_order["unseen"].append(100 * float(np.mean(shares)))
                    stubs = [n[article] < STUB for _, article in found]
                    of_order["stubs"].append(100 * float(np.mean(stubs)))
    return {
        part: {
            order: {figure: float(np.mean(values)) for figure, values in of_order.items()}
            for order, of_order in of_part.items()
        }
        for part, of_part in figures.items()
    }
