"""[H10]: online against batch LDA (figure 1), a topic as it evolves (below it), S, kappa and tau0
(table 1).

Theirs: 3.3 million Wikipedia articles and 98,000 of them, bound perplexity, hours. Here: one pass
over 145,549 short articles and many over 20,000 of them; log-likelihood by document completion;
minutes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numpy.typing import NDArray

from benchmarks.data import split
from benchmarks.harness import Experiment, Figures, Points, Unavailable, table
from benchmarks.measuring import (
    compile_kernels,
    cycled,
    followed,
    held_out,
    in_sweeps,
    learn_all,
    minibatches,
    plain_lda,
    plot,
    score,
    train,
    words,
)
from wikitopics.model import BatchLDA, OnlineLDA

EXPERIMENT = Experiment(
    "paper_h10", "[H10]: online against batch LDA, a topic as it evolves, S, kappa and tau0"
)
K = 100
S = 1024
SUBSET = 20_000
ABOUT = ("company", "companies", "business", "market", "industry")
"""The subject of the topic that is shown, as in the paper."""


def online(n_documents: int) -> OnlineLDA:
    """The model of figure 1."""
    return plain_lda(words(), n_documents, tau0=1024.0)


@EXPERIMENT.point()
def online_all() -> Figures:
    compile_kernels(online(1))
    batches = minibatches(train(), S)
    return followed(f"online, {train().D:,} articles once", online(train().D), batches, held_out())


@EXPERIMENT.point()
def online_subset() -> Figures:
    compile_kernels(online(1))
    few = train()[:SUBSET]
    batches = cycled(few, S, 20 * few.D)
    return followed(f"online, {few.D:,} articles 20 times", online(few.D), batches, held_out())


@EXPERIMENT.point()
def batch_subset() -> Figures:
    few = train()[:SUBSET]
    BatchLDA(K, words(), max_sweeps=1).fit(few[:64])  # compiles the kernels

    def fit(sweeps: int) -> BatchLDA:
        return BatchLDA(K, words(), max_sweeps=sweeps, improvement=0.0).fit(few)

    return in_sweeps(f"batch, {few.D:,} articles", fit, few.D, (1, 2, 4, 8, 16, 32), held_out())


@EXPERIMENT.point()
def a_topic() -> Figures:
    """The leading words of one topic after so many articles, as online LDA learns."""
    model = online(train().D)
    vocabulary = split("short").words
    if not set(ABOUT) <= set(vocabulary):
        raise Unavailable("the articles are not in English")
    due = S
    seen = 0
    leading: list[tuple[int, NDArray[Any]]] = []
    for batch in minibatches(train(), S):
        model.learn(batch)
        seen += batch.D
        if seen >= due or seen == train().D:
            ids, _ = model.top_words(8)
            leading.append((seen, ids))
            due *= 4
    # The topic that is most about the subject in the end.
    about = [vocabulary.index(word) for word in ABOUT]
    topic = int(model.topics()[:, about].sum(axis=1).argmax())
    looks = []
    for articles, ids_by_topic in leading:
        looks.append([articles, [vocabulary[word] for word in ids_by_topic[topic]]])
    return {"looks": looks}


SIZES = (16, 64, 256, 1024, 4096, 16384)
KAPPAS = (0.5, 0.7, 0.9)
DELAYS = (1, 64, 1024)
ARTICLES = 98_304


def grid(size: int) -> Figures:
    """The log-likelihood of every kappa and tau0 after one pass over ARTICLES."""
    first = train()[:ARTICLES]
    found = {}
    for kappa in KAPPAS:
        for tau0 in DELAYS:
            model = plain_lda(words(), first.D, kappa=kappa, tau0=float(tau0))
            learn_all(model, minibatches(first, size))
            found[f"{kappa} {tau0}"] = held_out().score(model)
    best = max(found, key=found.__getitem__)
    return {"log_likelihood": found[best], "best": best, "grid": found}


for _size in SIZES:
    EXPERIMENT.add(f"size_{_size}", partial(grid, _size))


def topic(points: Points) -> str:
    rows = [
        (f"{articles:,}", ", ".join(leading)) for articles, leading in points["a_topic"]["looks"]
    ]
    return table(("articles", "leading words"), rows)


def table_1(points: Points) -> str:
    rows = []
    for size in SIZES:
        name = f"size_{size}"
        if name in points:
            kappa, tau0 = points[name]["best"].split()
            rows.append((f"{size:,}", kappa, tau0, score(points, name)))
    return table(("S", "best kappa", "best tau0", "log-likelihood"), rows)


_curves = ("online_all", "online_subset", "batch_subset")
EXPERIMENT.pictures |= {
    "figure_1": partial(
        plot,
        _curves,
        over="documents",
        title="[H10] figure 1: online and batch LDA",
    ),
    "by_time": partial(plot, _curves, over="seconds", title="The same by CPU time"),
}
EXPERIMENT.tables |= {"topic": topic, "table_1": table_1}
