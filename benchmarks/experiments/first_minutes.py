"""The first minutes of a stream: every model beside scikit-learn and plain [H10] at each doubling.

As a user sees it live: a corpus of 7,000,000, minibatches that grow from 64 by the trainer's own
schedule, articles of all three corpora, medians of three seeds, scored on the `report` articles.
One scorer for all: the best of a few symmetric priors for each model's topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from benchmarks.data import CORPORA, Corpus
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import common_score, plain_lda, train, words
from benchmarks.peers import SklearnLDA
from wikitopics.model import kinds
from wikitopics.session.training.schedule import minibatch_size

EXPERIMENT = Experiment(
    "first_minutes", "the first minutes of a stream, beside scikit-learn and plain [H10]"
)
D = 7_000_000
K = 100
DOUBLINGS: Mapping[Corpus, Sequence[int]] = {
    "short": [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000],
    "long": [500, 1_000, 2_000, 4_000],
    "full": [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000],
}
"""The numbers of articles after which models are scored."""
SEEDS = range(3)
Made = tuple[Any, Callable[[int, int], int]]
"""A model, and what tells the size of its next minibatch from two numbers: the articles seen, and
those of the next doubling."""


def scores(made: Made, corpus: Corpus) -> Iterator[float]:
    """The score at each doubling, or at the first end of a minibatch after it, as long as there are
    articles."""
    model, size = made
    documents = train(corpus)
    seen = 0
    score = float("nan")
    for due in DOUBLINGS[corpus]:
        if due > documents.D:
            return
        before = seen
        while seen < due:
            batch = documents[seen : seen + size(seen, due)]
            model.learn(batch)
            seen += batch.D
        if seen > before:  # a large minibatch may extend past two doublings
            score = common_score(model.topics(), corpus)
        yield score


def ours(name: str, corpus: Corpus, seed: int) -> Made:
    kind = kinds.load(name)
    model = kind.create(kind.default_topics, words(corpus), D, seed=seed)
    return model, lambda seen, _: minibatch_size(seen, model.default_batch_size)


def up_to(size: int) -> Callable[[int, int], int]:
    """Peers have minibatches of one size, except that each doubling ends one."""
    return lambda seen, due: min(size, due - seen)


def sklearn(size: int, offset: float, corpus: Corpus, seed: int) -> Made:
    steps = {"learning_offset": offset, "learning_decay": 0.7}
    model = SklearnLDA(K, words(corpus), D, size, random_state=seed, **steps)
    return model, up_to(size)


def plain(size: int, tau0: float, kappa: float, corpus: Corpus, seed: int) -> Made:
    return plain_lda(words(corpus), D, seed=seed, tau0=tau0, kappa=kappa), up_to(size)


OURS: Mapping[str, Callable[[Corpus, int], Made]] = {
    "online LDA": partial(ours, "lda"),
    "SCVB0": partial(ours, "scvb0"),
    "online HDP": partial(ours, "hdp"),
}
PEERS: Mapping[str, Callable[[Corpus, int], Made]] = {
    "scikit-learn, S = 256": partial(sklearn, 256, 64.0),
    "scikit-learn, S = 1,024": partial(sklearn, 1024, 10.0),
    "[H10], S = 256": partial(plain, 256, 64.0, 0.5),
    "[H10], S = 1,024": partial(plain, 1024, 10.0, 0.7),
}


def measured(models: Mapping[str, Callable[[Corpus, int], Made]], corpus: Corpus) -> Figures:
    """The median score of each model at each doubling."""
    found = {}
    for name, make in models.items():
        by_seed = [list(scores(make(corpus, seed), corpus)) for seed in SEEDS]
        by_doubling = zip(*by_seed, strict=True)
        found[name] = [median(of_seeds) for of_seeds in by_doubling]
    return found


for _corpus in CORPORA:
    EXPERIMENT.add(f"{_corpus}_ours", partial(measured, OURS, _corpus))
    EXPERIMENT.add(f"{_corpus}_peers", partial(measured, PEERS, _corpus), "sklearn")


def doublings(corpus: Corpus, points: Points) -> str:
    """Our models, and how far each is ahead of the best peer."""
    our_scores = points.get(f"{corpus}_ours", {})
    peers_scores = points.get(f"{corpus}_peers", {})
    best = [max(of_peers) for of_peers in zip(*peers_scores.values(), strict=True)]
    rows = []
    for name, at_doublings in our_scores.items():
        cells = [f"{score:.3f}" for score in at_doublings]
        if best:
            cells = [
                f"{score:.3f} ({score - best_of_peers:+.3f})"
                for score, best_of_peers in zip(at_doublings, best, strict=False)
            ]
        rows.append((name, *cells))
    if best:
        rows.append(("the best of scikit-learn and [H10]", *(f"{score:.3f}" for score in best)))
    measured_doublings = max((len(scores) for scores in our_scores.values()), default=0)
    dues = DOUBLINGS[corpus][:measured_doublings]
    return table(("after", *(f"{due:,}" for due in dues)), rows)


EXPERIMENT.tables |= {corpus: partial(doublings, corpus) for corpus in CORPORA}
