"""[W11]: online HDP against online LDA and batch HDP (figures 3 and 5), S and kappa (4 and 6).

Theirs: 352,549 articles of Nature and 82,519 long ones of PNAS, six hours a run, the last tenth of
each article predicted. Here: one pass over 145,549 short articles of Wikipedia and three over 5,565
long ones, document completion; the grid of S and kappa over 20,000 short articles.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from benchmarks.data import Corpus
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import (
    compile_kernels,
    cycled,
    followed,
    growing,
    held_out,
    in_sweeps,
    learn_all,
    minibatches,
    plot,
    train,
    words,
)
from wikitopics.model import BatchHDP, Minibatch, OnlineHDP, OnlineLDA, OnlineModel

EXPERIMENT = Experiment(
    "paper_w11", "[W11]: online HDP against online LDA and batch HDP, S and kappa"
)
TOPICS = (20, 40, 60, 80, 100, 150)
ETA = 0.01
PASSES = {"short": 1, "long": 3}
S = 256
SUBSET = 2_000
GRID = 20_000
GRID_SIZES = (16, 64, 256, 1024, 2048)
KAPPAS = (0.6, 0.8, 1.0)


def hdp(corpus: Corpus, n_documents: int, kappa: float = 0.6) -> OnlineHDP:
    """[W11] section 4.2: K = 150, T = 15, gamma = alpha0 = 1, tau0 = 64."""
    return OnlineHDP(
        words(corpus),
        n_documents,
        max_topics=150,
        max_topics_per_document=15,
        eta=ETA,
        tau0=64.0,
        kappa=kappa,
        warm_start=False,
    )


def lda(topics: int, corpus: Corpus, n_documents: int, kappa: float = 0.6) -> OnlineLDA:
    return OnlineLDA(
        topics,
        words(corpus),
        n_documents,
        alpha=1 / topics,
        eta=ETA,
        tau0=64.0,
        kappa=kappa,
        warm_start=False,
    )


def online(make: Callable[[Corpus, int], OnlineModel], label: str, corpus: Corpus) -> Figures:
    """make: makes the model, given the corpus and the number of documents"""
    compile_kernels(make("short", 1))
    documents = train(corpus)
    batches = cycled(documents, S, PASSES[corpus] * documents.D)
    return followed_with_topics(label, make(corpus, documents.D), batches, corpus)


def followed_with_topics(
    label: str,
    model: Any,
    batches: Iterator[Minibatch],
    corpus: Corpus,
) -> Figures:
    """The curve of a model that learns, and the topics that are in use at its end."""
    found = followed(label, model, batches, held_out(corpus))
    return {**found, "topics_in_use": model.topics_in_use()}


def batch_hdp(corpus: Corpus) -> Figures:
    few = train(corpus)[:SUBSET]

    def fit(sweeps: int) -> BatchHDP:
        model = BatchHDP(
            words(corpus),
            max_topics=150,
            max_topics_per_document=15,
            eta=ETA,
            warm_start=False,
        )
        return model.fit(few, max_sweeps=sweeps, tolerance=0.0)

    return in_sweeps(
        f"batch HDP, {few.D:,} articles",
        fit,
        few.D,
        (1, 2, 4, 8, 16),
        held_out(corpus),
    )


def ours(make: Callable[[int, int], OnlineModel], label: str, corpus: Corpus) -> Figures:
    """A model with our defaults.

    make: makes the model, given the number of words and that of documents
    """
    compile_kernels(make(words(), 1))
    documents = train(corpus)
    model = make(words(corpus), documents.D)
    size = model.default_batch_size
    first_pass = growing(documents, size)
    other_passes = cycled(documents, size, (PASSES[corpus] - 1) * documents.D)
    batches = itertools.chain(first_pass, other_passes)
    return followed_with_topics(f"{label}, our defaults", model, batches, corpus)


MODELS: Mapping[str, Callable[[Corpus], Figures]] = {
    "our_hdp": partial(ours, OnlineHDP, "online HDP"),
    "our_lda": partial(ours, partial(OnlineLDA, 100), "online LDA 100"),
    "hdp": partial(online, hdp, "online HDP"),
    "batch_hdp": batch_hdp,
    **{f"lda_{K}": partial(online, partial(lda, K), f"online LDA {K}") for K in TOPICS},
}
for _corpus in ("short", "long"):
    for _name, _measure in MODELS.items():
        EXPERIMENT.add(f"{_corpus}_{_name}", partial(_measure, _corpus))


def grid(make: Callable[[Corpus, int, float], OnlineModel], size: int) -> Figures:
    """The log-likelihood of every kappa after GRID short articles."""
    first = train()[:GRID]
    found = {}
    for kappa in KAPPAS:
        model = make("short", first.D, kappa)
        learn_all(model, minibatches(first, size))
        found[f"{kappa}"] = held_out().score(model)
    return found


for _kind, _make in (("hdp", hdp), ("lda", partial(lda, 100))):
    for _size in GRID_SIZES:
        EXPERIMENT.add(f"{_kind}_size_{_size}", partial(grid, _make, _size))


def scores(points: Points) -> str:
    rows = []
    for name in MODELS:
        of_short = points.get(f"short_{name}")
        of_long = points.get(f"long_{name}")
        measured = of_short or of_long
        label = measured["curve"]["name"] if measured else name
        rows.append((label, _score_and_topics(of_short), _score_and_topics(of_long)))
    return table(("log-likelihood (topics in use)", "short articles", "long articles"), rows)


def _score_and_topics(figures: Figures | None) -> str:
    if not figures:
        return "-"
    return f"{figures['log_likelihood']:.3f} ({figures.get('topics_in_use', '-')})"


def sizes_and_kappas(points: Points) -> str:
    head = ["S"]
    for kind in ("HDP", "LDA 100"):
        head += [f"{kind}, kappa = {kappa}" for kappa in KAPPAS]
    rows = []
    for size in GRID_SIZES:
        cells = [f"{size:,}"]
        for kind in ("hdp", "lda"):
            found = points.get(f"{kind}_size_{size}", {})
            cells += [f"{found.get(f'{kappa}', float('nan')):.3f}" for kappa in KAPPAS]
        rows.append(cells)
    return table(head, rows)


for _name, _corpus, _title in (
    ("figure_3", "short", "[W11] figure 3: online HDP and LDA, short articles"),
    ("figure_5", "long", "[W11] figure 5: the same, long articles"),
):
    _curves = [f"{_corpus}_{name}" for name in MODELS if name != "our_lda"]
    EXPERIMENT.pictures[_name] = partial(plot, _curves, over="seconds", title=_title)
EXPERIMENT.tables |= {"scores": scores, "sizes_and_kappas": sizes_and_kappas}
