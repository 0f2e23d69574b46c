"""[W11]: online HDP against online LDA and batch HDP (figures 3 and 5), S and kappa (4 and 6).

Theirs: 352,549 articles of Nature and 82,519 long ones of PNAS, six hours a run, the last tenth of
each
article predicted. Here: one pass over 145,549 short articles of Wikipedia and three over 5,565 long
ones, document completion; the grid over 20,000 short articles.
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
    options: dict[str, Any] = {
        "max_topics": 150,
        "max_topics_per_document": 15,
        "eta": ETA,
        "tau0": 64.0,
    }
    return OnlineHDP(words(corpus), n_documents, kappa=kappa, warm_start=False, **options)


def lda(topics: int, corpus: Corpus, n_documents: int, kappa: float = 0.6) -> OnlineLDA:
    options: dict[str, Any] = {"alpha": 1 / topics, "eta": ETA, "tau0": 64.0, "warm_start": False}
    return OnlineLDA(topics, words(corpus), n_documents, kappa=kappa, **options)


def online(make: Callable[[Corpus, int], OnlineModel], label: str, corpus: Corpus) -> Figures:
    """``make``: from the corpus and the number of documents."""
    compile_kernels(make("short", 1))
    documents = train(corpus)
    batches = cycled(documents, S, PASSES[corpus] * documents.D)
    return drawn_with_topics(label, make(corpus, documents.D), batches, corpus)


def drawn_with_topics(
    label: str,
    model: Any,
    batches: Iterator[Minibatch],
    corpus: Corpus,
) -> Figures:
    found = followed(label, model, batches, held_out(corpus))
    return {**found, "topics_in_use": model.topics_in_use()}


def batch_hdp(corpus: Corpus) -> Figures:
    few = train(corpus)[:SUBSET]
    options: dict[str, Any] = {"max_topics": 150, "max_topics_per_document": 15, "eta": ETA}

    def fit(sweeps: int) -> BatchHDP:
        model = BatchHDP(words(corpus), warm_start=False, **options)
        return model.fit(few, max_sweeps=sweeps, tolerance=0.0)

    return in_sweeps(
        f"batch HDP, {few.D:,} articles",
        fit,
        few.D,
        (1, 2, 4, 8, 16),
        held_out(corpus),
    )


def ours(make: Callable[[int, int], OnlineModel], label: str, corpus: Corpus) -> Figures:
    """``make``: from the number of words and that of documents to a model with our defaults."""
    compile_kernels(make(words(), 1))
    documents = train(corpus)
    model = make(words(corpus), documents.D)
    size = model.default_batch_size
    again = cycled(documents, size, (PASSES[corpus] - 1) * documents.D)
    batches = itertools.chain(growing(documents, size), again)
    return drawn_with_topics(f"{label}, our defaults", model, batches, corpus)


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
        found[f"{kappa}"] = held_out().score(learn_all(model, minibatches(first, size)))
    return found


for _kind, _make in (("hdp", hdp), ("lda", partial(lda, 100))):
    for _size in GRID_SIZES:
        EXPERIMENT.add(f"{_kind}_size_{_size}", partial(grid, _make, _size))


def scores(points: Points) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for name in MODELS:
            label = name
            cells = []
            for corpus in ("short", "long"):
                found: Any = points.get(f"{corpus}_{name}")
                if not found:
                    cells.append("-")
                    continue
                label = found["curve"]["name"]
                in_use = found.get("topics_in_use", "-")
                cells.append(f"{found['log_likelihood']:.3f} ({in_use})")
            yield label, *cells

    return table(("log-likelihood (topics in use)", "short articles", "long articles"), rows())


def sizes_and_kappas(points: Points) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for size in GRID_SIZES:
            found = [points.get(f"{kind}_size_{size}", {}) for kind in ("hdp", "lda")]
            figures = [one.get(f"{kappa}", float("nan")) for one in found for kappa in KAPPAS]
            yield f"{size:,}", *(f"{figure:.3f}" for figure in figures)

    head = [f"{kind}, kappa = {kappa}" for kind in ("HDP", "LDA 100") for kappa in KAPPAS]
    return table(("S", *head), rows())


for _name, _corpus, _title in (
    ("figure_3", "short", "[W11] figure 3: online HDP and LDA, short articles"),
    ("figure_5", "long", "[W11] figure 5: the same, long articles"),
):
    _curves = [f"{_corpus}_{name}" for name in MODELS if name != "our_lda"]
    EXPERIMENT.pictures[_name] = partial(plot, _curves, over="seconds", title=_title)
EXPERIMENT.tables |= {"scores": scores, "sizes_and_kappas": sizes_and_kappas}
