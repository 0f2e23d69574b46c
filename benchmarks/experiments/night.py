"""A night's crawl: every model over the same articles again and again, to a million of full length.

As a user has it live: a corpus of 7,000,000, minibatches that grow from 64 by a quarter each. The
articles come in a new random order each time, the same for every model of a seed. At every doubling
the topics are scored on the `report` articles, by the common scorer (the best of a few symmetric
priors) and by the model's own proportions. NPMI and distinct words are those of the ten leading
words of topics in use.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import peers
from benchmarks.data import Corpus, in_order
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import common_score, held_out, quality, train, words
from benchmarks.peers import BEST_SIZE
from wikitopics.model import Minibatch, OnlineLDA, kinds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    "night", "a million articles of full length: no model gets worse by reading more"
)
D = 7_000_000
ARTICLES: Mapping[Corpus, int] = {"full": 1_024_000, "short": 3_072_000}
FIRST = 500
SEEDS = range(3)
SETTLED = 1_000
"""Articles after which no model may fall."""


class Look(NamedTuple):
    """A model after some number of articles."""

    articles: int
    log_likelihood: float
    own: float
    npmi: float
    distinct: float
    topics: int


def shuffled(corpus: Corpus, seed: int) -> Iterator[Minibatch]:
    """The training articles in one random order after another."""
    random = np.random.default_rng(seed)
    while True:
        yield in_order(train(corpus), random.permutation(train(corpus).D))


def look(model: Any, corpus: Corpus, articles: int) -> Look:
    scored = held_out(corpus)
    topics = model.topics()
    common = common_score(topics, corpus)
    shares = model.topic_shares() if hasattr(model, "topic_shares") else None
    return Look(articles, common, scored.score(model), *quality(topics, shares, train(corpus)))


def followed(name: str, corpus: Corpus, seed: int) -> list[Look]:
    """A model at each doubling of the articles, or at the first end of a minibatch behind it."""
    model, size = MODELS[name][1](words(corpus), seed, corpus)
    looks: list[Look] = []
    seen = 0
    due = FIRST
    for documents in shuffled(corpus, seed):
        start = 0
        while start < documents.D:
            batch = documents[start : start + min(size(seen), ARTICLES[corpus] - seen)]
            model.learn(batch)
            start += batch.D
            seen += batch.D
            if seen >= min(due, ARTICLES[corpus]):
                looks.append(look(model, corpus, seen))
                while due <= seen:
                    due *= 2
            if seen == ARTICLES[corpus]:
                return looks
    raise AssertionError("articles come without end")


def ours(kind: str, topics: int, n_words: int, seed: int, corpus: Corpus) -> Any:
    model = kinds.load(kind).create(topics, n_words, D, seed=seed)
    return model, lambda seen: min(model.default_batch_size, max(64, seen // 4))


def papers(n_words: int, seed: int, corpus: Corpus) -> Any:
    options: dict[str, Any] = {"alpha": 0.01, "eta": 0.01, "tau0": 64.0, "kappa": 0.5}
    return OnlineLDA(100, n_words, D, seed=seed, **options), lambda _: BEST_SIZE[corpus]


def sklearn(n_words: int, seed: int, corpus: Corpus) -> Any:
    size = BEST_SIZE[corpus]
    return peers.SklearnLDA(100, n_words, D, size, random_state=seed), lambda _: size


MODELS: Mapping[str, tuple[str, Any]] = {
    "lda": ("online LDA", partial(ours, "lda", 100)),
    "lda_300": ("online LDA, K = 300", partial(ours, "lda", 300)),
    "scvb0": ("SCVB0", partial(ours, "scvb0", 100)),
    "scvb0_300": ("SCVB0, K = 300", partial(ours, "scvb0", 300)),
    "hdp": ("online HDP", partial(ours, "hdp", 300)),
    "papers": ("online LDA, settings of [H10]", papers),
    "sklearn": ("scikit-learn (one seed)", sklearn),
}
NAMES = {name: label for name, (label, _) in MODELS.items()}
NAMES["gibbs"] = "Gibbs, 100 sweeps over the articles"


def measured(name: str, corpus: Corpus) -> Figures:
    """The curve of each seed, as `Look`s; the seeds side by side."""
    seeds = SEEDS[:1] if name == "sklearn" else SEEDS
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        return {"seeds": list(pool.map(partial(followed, name, corpus), seeds))}


def gibbs(corpus: Corpus) -> Figures:
    """tomotopy with alpha optimised: 100 sweeps over the training articles, two seeds."""
    import tomotopy

    def sampled(seed: int) -> float:
        empty = tomotopy.LDAModel(k=100, alpha=0.1, eta=0.01, seed=seed + 1)
        model = peers.with_all(empty, train(corpus))
        model.train(100, workers=1)
        topics = peers.sampled_topics(model, range(100), words(corpus))
        return common_score(topics, corpus)

    return {"log_likelihood": [sampled(seed) for seed in range(2)]}


for _corpus in ARTICLES:
    for _name in MODELS:
        needs = ("sklearn",) if _name == "sklearn" else ()
        EXPERIMENT.add(f"{_corpus}_{_name}", partial(measured, _name, _corpus), *needs)
    EXPERIMENT.add(f"{_corpus}_gibbs", partial(gibbs, _corpus), "tomotopy")


def means(figures: Figures) -> list[Look]:
    """The means of the seeds at each doubling."""
    at_each = zip(*figures["seeds"], strict=True)
    return [Look(*(mean(column) for column in zip(*looks, strict=True))) for looks in at_each]


def worst_fall(looks: list[Look]) -> float:
    """The most that is lost from one doubling to the next once the model has settled."""
    settled = [each for each in looks if each.articles >= SETTLED]
    return max(before.log_likelihood - after.log_likelihood for before, after in pairwise(settled))


def doublings(corpus: Corpus, points: Points) -> str:
    """The means of the seeds at every second doubling, with NPMI and distinct words at the end."""

    def after(looks: list[Look], articles: float) -> str:
        """The score near this number of articles; "" if a large minibatch went past it."""
        nearest = min(looks, key=lambda each: abs(each.articles - articles))
        is_near = abs(nearest.articles - articles) < articles / 8
        return f"{nearest.log_likelihood:.3f}" if is_near else ""

    def rows() -> Iterator[tuple[str, ...]]:
        for name, label in NAMES.items():
            found = points.get(f"{corpus}_{name}")
            if not found:
                continue
            if name == "gibbs":
                sampled = mean(found["log_likelihood"])
                yield label, *[""] * (len(shown) - 1), f"{sampled:.3f}", "", "", "", ""
                continue
            looks = means(found)
            ends = [seed[-1][1] for seed in found["seeds"]]
            spread = max(ends) - min(ends)
            last = looks[-1]
            yield (
                label,
                *(after(looks, articles) for articles in shown),
                f"{spread:.3f}",
                f"{worst_fall(looks):+.3f}",
                f"{last.npmi:.3f}, {last.distinct:.2f}",
                f"{last.topics:.0f}",
            )

    doublings = [look.articles for look in means(points[f"{corpus}_lda"])]
    shown = doublings[(len(doublings) - 1) % 2 :: 2]  # every second one, and the last
    head = ("after", *(f"{articles:,.0f}" for articles in shown))
    return table((*head, "spread", "worst fall", "NPMI, distinct", "in use"), rows())


def curves(corpus: Corpus, points: Points) -> Figure:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.6), layout="constrained")
    for name, label in NAMES.items():
        found = points.get(f"{corpus}_{name}")
        if not found:
            continue
        if name == "gibbs":
            axes.axhline(mean(found["log_likelihood"]), color="grey", linestyle="--", label=label)
            continue
        looks = means(found)
        (line,) = axes.plot(
            [look.articles for look in looks],
            [look.log_likelihood for look in looks],
            label=label,
        )
        color = line.get_color()
        for seed in found["seeds"]:
            articles, scores = zip(*(look[:2] for look in seed), strict=True)
            axes.plot(articles, scores, color=color, alpha=0.25, linewidth=1)
    axes.set(
        xscale="log", xlabel="articles learnt", ylabel="log-likelihood, nats per held-out word"
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


EXPERIMENT.tables |= {corpus: partial(doublings, corpus) for corpus in ARTICLES}
EXPERIMENT.pictures |= {corpus: partial(curves, corpus) for corpus in ARTICLES}
