"""The first minutes of a stream: every model beside scikit-learn and plain [H10] at each doubling.

As somebody sees it live: a corpus of 7,000,000, minibatches that grow from 64 by the trainer's own schedule,
short and long articles, medians of three seeds, scored on the articles that only report. One scorer for all:
the best of a few symmetric priors for everybody's topics. Peers are slow, and their scores are kept beside
the splits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from benchmarks._measure import median
from benchmarks._peers import FixedTopics, SklearnLDA
from benchmarks._row import Row, row
from benchmarks.splits import FOLDER, Corpus, split
from model import SCVB0, CompletionSet, OnlineHDP, OnlineLDA
from session.training.schedule import minibatch_size

D = 7_000_000
DOUBLINGS = {"short": [500 * 2**i for i in range(7)], "long": [500, 1000, 2000, 4000]}
PRIORS = (0.01, 0.03, 0.1, 0.3)
SEEDS = range(3)
Scores = dict[str, float]
"""Articles of a doubling -> log-likelihood at the first minibatch end at or behind it."""


def score(held_out: CompletionSet, model: Any) -> float:
    """The log-likelihood of a model's topics under the best of the priors."""
    topics = model.topics()
    return max(held_out.score(FixedTopics(topics, alpha)) for alpha in PRIORS)


def scores(model: Any, corpus: Corpus, size: Callable[[int], int]) -> Scores:
    """Learn to the last doubling; `size` tells the next minibatch from the articles seen."""
    train, held_out = split(corpus).train, CompletionSet(split(corpus).report)
    found: Scores = {}
    seen = 0
    for due in DOUBLINGS[corpus]:
        before = seen
        while seen < due:
            batch = train[seen : seen + size(seen)]
            model.learn(batch)
            seen += batch.D
        # A large minibatch may reach behind two doublings.
        found[str(due)] = score(held_out, model) if seen > before else list(found.values())[-1]
    return found


def peers(corpus: Corpus) -> dict[str, list[Scores]]:
    """Each peer's scores by seed."""
    path = FOLDER / f"peers-{corpus}.json"
    if path.exists():
        found: dict[str, list[Scores]] = json.loads(path.read_text())
        return found
    W = split(corpus).n_words

    def sklearn(size: int, offset: float, seed: int) -> Scores:
        return scores(SklearnLDA(100, W, D, size, offset, seed), corpus, lambda _: size)

    def plain(size: int, tau0: float, kappa: float, seed: int) -> Scores:
        settings = {"alpha": 0.01, "eta": 0.01, "tau0": tau0, "kappa": kappa, "warm_start": False}
        return scores(OnlineLDA(100, W, D, seed=seed, **settings), corpus, lambda _: size)

    found = {
        "scikit-learn, S = 256": [sklearn(256, 64.0, seed) for seed in SEEDS],
        "scikit-learn, S = 1,024": [sklearn(1024, 10.0, seed) for seed in SEEDS],
        "[H10], S = 256": [plain(256, 64.0, 0.5, seed) for seed in SEEDS],
        "[H10], S = 1,024": [plain(1024, 10.0, 0.7, seed) for seed in SEEDS],
    }
    path.write_text(json.dumps(found, indent=1))
    return found


def ours(corpus: Corpus) -> dict[str, list[Scores]]:
    """Each model's scores by seed."""
    W = split(corpus).n_words
    made: dict[str, Callable[[int], Any]] = {
        "OnlineLDA": lambda seed: OnlineLDA(100, W, D, seed=seed),
        "SCVB0": lambda seed: SCVB0(100, W, D, seed=seed),
        "OnlineHDP": lambda seed: OnlineHDP(W, D, seed=seed),
    }
    return {
        name: [
            scores(model, corpus, lambda seen, most=model.default_batch_size: minibatch_size(seen, most))
            for model in map(make, SEEDS)
        ]
        for name, make in made.items()
    }


@row("sklearn")
def first_minutes() -> list[Row]:
    """The distance of each model to the best peer, where it is smallest; all figures behind it."""
    found = []
    for corpus in DOUBLINGS:
        others = peers(corpus).values()
        best = {
            str(n): max(median([seed[str(n)] for seed in other]) for other in others)
            for n in DOUBLINGS[corpus]
        }
        for name, by_seed in ours(corpus).items():
            here = {n: median([seed[n] for seed in by_seed]) for n in best}
            figures = ", ".join(f"{int(n):,}: {here[n]:.3f} / {best[n]:.3f}" for n in best)
            least = min(here[n] - best[n] for n in best)
            what = f"{corpus} articles: {name} above the best peer at every doubling, nats a word"
            found.append(Row(what, least, -0.01, 0.0, figures))
    return found
