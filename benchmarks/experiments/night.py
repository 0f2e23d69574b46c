"""A night's crawl: every model over the same articles again and again, to a million of full length.

As a user has it live: a corpus of 7,000,000, minibatches that grow from 64 by a quarter each. The
articles come in a new random order each time, the same for every model of a seed. At every doubling
the topics are scored on the `report` articles, by the common scorer (the best of a few symmetric
priors) and by the model's own proportions. NPMI and distinct words are those of the ten leading
words of topics in use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks import peers
from benchmarks.data import Corpus
from benchmarks.harness import Experiment, Figures, Points, figures, table
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
"""Articles after which models are measured first."""
SEEDS = range(3)
SETTLED = 1_000
"""Articles after which no model may fall."""


class Measured(NamedTuple):
    """A model after some number of articles. The results keep these figures in this order."""

    articles: float
    log_likelihood: float
    """By the common scorer."""
    own: float
    """By the model's own proportions."""
    npmi: float
    distinct: float
    topics: float
    """How many are in use."""


def shuffled(corpus: Corpus, seed: int) -> Iterator[Minibatch]:
    """The training articles in one random order after another."""
    random = np.random.default_rng(seed)
    while True:
        yield train(corpus).take(random.permutation(train(corpus).D))


def measured(model: Any, corpus: Corpus, articles: int) -> Measured:
    topics = model.topics()
    shares = model.topic_shares() if hasattr(model, "topic_shares") else None
    coherence, distinctness, in_use = quality(topics, shares, train(corpus))
    return Measured(
        articles=articles,
        log_likelihood=common_score(topics, corpus),
        own=held_out(corpus).score(model),
        npmi=coherence,
        distinct=distinctness,
        topics=in_use,
    )


def followed(name: str, corpus: Corpus, seed: int) -> list[Measured]:
    """A model at each doubling of the articles, or at the first end of a minibatch behind it."""
    _, make = MODELS[name]
    model, size = make(words(corpus), seed, corpus)
    curve: list[Measured] = []
    seen = 0
    due = FIRST
    for documents in shuffled(corpus, seed):
        start = 0
        while start < documents.D:
            left = ARTICLES[corpus] - seen
            batch = documents[start : start + min(size(seen), left)]
            model.learn(batch)
            start += batch.D
            seen += batch.D
            if seen >= min(due, ARTICLES[corpus]):
                curve.append(measured(model, corpus, seen))
                while due <= seen:
                    due *= 2
            if seen == ARTICLES[corpus]:
                return curve
    raise AssertionError("articles come without end")


Made = tuple[Any, Callable[[int], int]]
"""A model, and what tells the size of its next minibatch from the number of articles seen."""


def ours(kind: str, topics: int, n_words: int, seed: int, corpus: Corpus) -> Made:
    model = kinds.load(kind).create(topics, n_words, D, seed=seed)
    return model, lambda seen: min(model.default_batch_size, max(64, seen // 4))


def papers(n_words: int, seed: int, corpus: Corpus) -> Made:
    model = OnlineLDA(
        100,
        n_words,
        D,
        seed=seed,
        alpha=0.01,
        eta=0.01,
        tau0=64.0,
        kappa=0.5,
    )
    return model, lambda _: BEST_SIZE[corpus]


def sklearn(n_words: int, seed: int, corpus: Corpus) -> Made:
    size = BEST_SIZE[corpus]
    return peers.SklearnLDA(100, n_words, D, size, random_state=seed), lambda _: size


MODELS: Mapping[str, tuple[str, Callable[[int, int, Corpus], Made]]] = {
    "lda": ("online LDA", partial(ours, "lda", 100)),
    "lda_300": ("online LDA, K = 300", partial(ours, "lda", 300)),
    "scvb0": ("SCVB0", partial(ours, "scvb0", 100)),
    "scvb0_300": ("SCVB0, K = 300", partial(ours, "scvb0", 300)),
    "hdp": ("online HDP", partial(ours, "hdp", 300)),
    "papers": ("online LDA, settings of [H10]", papers),
    "sklearn": ("scikit-learn (one seed)", sklearn),
}
"""By point: the label in table and picture, and what makes the model from the number of words, the
seed and the corpus."""
GIBBS = "Gibbs sampling, {passes:.0f} sweeps over the articles"
"""As `benchmarks/experiments/peers.py` has measured it, by the same scorer on the same articles."""


def by_seed(name: str, corpus: Corpus) -> Figures:
    """The curve of each seed; the seeds are measured at the same time."""
    seeds = SEEDS[:1] if name == "sklearn" else SEEDS
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        return {"seeds": list(pool.map(partial(followed, name, corpus), seeds))}


for _corpus in ARTICLES:
    for _name in MODELS:
        needs = ("sklearn",) if _name == "sklearn" else ()
        EXPERIMENT.add(f"{_corpus}_{_name}", partial(by_seed, _name, _corpus), *needs)


def curves_of(figures: Figures) -> list[list[Measured]]:
    """The curve of each seed, from the figures of a point."""
    return [[Measured(*values) for values in curve] for curve in figures["seeds"]]


def means(figures: Figures) -> list[Measured]:
    """The means of the seeds at each doubling."""
    found = []
    for of_seeds in zip(*curves_of(figures), strict=True):
        by_figure = zip(*of_seeds, strict=True)
        found.append(Measured(*[mean(values) for values in by_figure]))
    return found


def worst_fall(curve: list[Measured]) -> float:
    """The most that is lost from one doubling to the next once the model has settled."""
    settled = [point for point in curve if point.articles >= SETTLED]
    return max(before.log_likelihood - after.log_likelihood for before, after in pairwise(settled))


def _after(curve: list[Measured], articles: float) -> str:
    """The log-likelihood after so many articles; nothing where a large minibatch extends far past
    them."""
    nearest = min(curve, key=lambda point: abs(point.articles - articles))
    if abs(nearest.articles - articles) < articles / 8:
        return f"{nearest.log_likelihood:.3f}"
    return ""


def doublings(corpus: Corpus, points: Points) -> str:
    """The means of the seeds at every second doubling, with NPMI and distinct words at the end."""
    doublings_of_lda = [point.articles for point in means(points[f"{corpus}_lda"])]
    # Every second one, so that the last is among them.
    skipped = (len(doublings_of_lda) - 1) % 2
    shown = doublings_of_lda[skipped::2]
    rows = []
    for name, (label, _) in MODELS.items():
        found = points.get(f"{corpus}_{name}")
        if not found:
            continue
        curve = means(found)
        end = curve[-1]
        ends = [of_seed[-1].log_likelihood for of_seed in curves_of(found)]
        rows.append(
            (
                label,
                *(_after(curve, articles) for articles in shown),
                f"{max(ends) - min(ends):.3f}",
                f"{worst_fall(curve):+.3f}",
                f"{end.npmi:.3f}, {end.distinct:.2f}",
                f"{end.topics:.0f}",
            )
        )
    sampled = figures("peers").get(f"{corpus}_gibbs_lda")
    if sampled:
        before_the_last = [""] * (len(shown) - 1)
        score = f"{sampled['log_likelihood']:.3f}"
        rows.append((GIBBS.format(**sampled), *before_the_last, score, "", "", "", ""))
    head = ["after", *(f"{articles:,.0f}" for articles in shown)]
    head += ["spread", "worst fall", "NPMI, distinct", "in use"]
    return table(head, rows)


def _drawn(curve: list[Measured]) -> tuple[list[float], list[float]]:
    """What matplotlib draws of a curve: x and y."""
    articles = [point.articles for point in curve]
    log_likelihoods = [point.log_likelihood for point in curve]
    return articles, log_likelihoods


def curves(corpus: Corpus, points: Points) -> Figure:
    """The means of the seeds, and each seed as a pale line."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.6), layout="constrained")
    for name, (label, _) in MODELS.items():
        found = points.get(f"{corpus}_{name}")
        if not found:
            continue
        (line,) = axes.plot(*_drawn(means(found)), label=label)
        for curve in curves_of(found):
            axes.plot(*_drawn(curve), color=line.get_color(), alpha=0.25, linewidth=1)
    sampled = figures("peers").get(f"{corpus}_gibbs_lda")
    if sampled:
        score = sampled["log_likelihood"]
        axes.axhline(score, color="grey", linestyle="--", label=GIBBS.format(**sampled))
    axes.set(
        xscale="log", xlabel="articles learnt", ylabel="log-likelihood, nats per held-out word"
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


EXPERIMENT.tables |= {corpus: partial(doublings, corpus) for corpus in ARTICLES}
EXPERIMENT.pictures |= {corpus: partial(curves, corpus) for corpus in ARTICLES}
