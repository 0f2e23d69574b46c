"""Do topics come back: how often another run has them, and how well `found` tells which.

A model learns half of the articles for training, and three replicas (the default) with other seeds
learn the same minibatches. `found` is then compared with runs that have another seed and another
order: on the same articles, and on the other half. A topic comes back in such a run if it shares
seven of its ten most probable words with one of the run's topics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Corpus
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import (
    add_for_each,
    cpu_seconds,
    growing,
    held_out,
    learn_all,
    of_kinds,
    train,
    words,
)
from wikitopics.model import Minibatch, kinds
from wikitopics.model.replicas import MATCHED_WORDS, WORDS, found_in_replicas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment("replicas", "whether topics come back, and how well `found` tells which")
CORPORA: tuple[Corpus, ...] = ("full", "short")
MODELS = 2
"""Models whose `found` is compared, each with replicas of its own."""
REPLICAS = 3
RUNS = 3
"""Independent runs on the same articles, and as many on others."""
COMES_BACK = 7
"""The number of leading words that a topic and one of another run share if it has come back."""
FOUND = tuple(count / REPLICAS for count in range(REPLICAS + 1))
"""What `found` can be."""


def learnt(kind: str, corpus: Corpus, articles: Minibatch, order: int, seed: int) -> Any:
    """A model after one pass over these articles in a random order of this number."""
    rows = np.random.default_rng(order).permutation(articles.D)
    cls = kinds.load(kind)
    model: Any = cls.create(cls.default_topics, words(corpus), articles.D, seed=seed)
    return learn_all(model, growing(articles.take(rows), model.default_batch_size))


def comes_back(ids: NDArray[Any], of_run: NDArray[Any]) -> NDArray[np.bool_]:
    """(K,) whether each topic shares enough words with a topic of a run; both (K, WORDS)."""
    shared = [
        max(len(set(topic) & set(other)) for other in of_run.tolist()) for topic in ids.tolist()
    ]
    return np.array(shared) >= COMES_BACK


def measure(kind: str, corpus: Corpus) -> Figures:
    documents = train(corpus)
    half = documents.D // 2
    mine = documents[:half]
    others = documents[half:]
    seconds = cpu_seconds()
    runs = {
        "same": [learnt(kind, corpus, mine, 100 + run, 100 + run) for run in range(RUNS)],
        "others": [learnt(kind, corpus, others, 200 + run, 200 + run) for run in range(RUNS)],
    }
    seconds = (cpu_seconds() - seconds) / (2 * RUNS)
    score = np.mean([held_out(corpus).score(model) for model in runs["same"]])
    in_runs = {
        name: [model.top_words(WORDS)[0] for model in models] for name, models in runs.items()
    }
    of_topics: dict[str, list[float]] = {"found": [], "same": [], "others": []}
    for order in range(MODELS):
        model = learnt(kind, corpus, mine, order, 10 * order)
        in_use = model.topic_shares() > 1e-3
        replicas = [
            learnt(kind, corpus, mine, order, 10 * order + replica).top_words(MATCHED_WORDS)
            for replica in range(1, REPLICAS + 1)
        ]
        leading = model.top_words(MATCHED_WORDS)
        of_topics["found"] += found_in_replicas(leading, replicas)[in_use].tolist()
        ids = leading[0][:, :WORDS]
        for name, of_runs in in_runs.items():
            share_of_runs = np.mean([comes_back(ids, of_run) for of_run in of_runs], axis=0)
            of_topics[name] += share_of_runs[in_use].tolist()
    return {
        "seconds": seconds,
        "log_likelihood": float(score),
        "topics": len(of_topics["found"]) / MODELS,
        "reliability": reliability(of_topics),
        "same": float(np.mean(of_topics["same"])),
        "others": float(np.mean(of_topics["others"])),
    }


def reliability(of_topics: dict[str, list[float]]) -> list[list[float | None]]:
    """For each value of `FOUND`: topics of a model, their `found`, and how many of them come back
    on the same articles and on others."""
    columns = {name: np.array(values) for name, values in of_topics.items()}
    rows: list[list[float | None]] = []
    for value in FOUND:
        chosen = np.isclose(columns["found"], value)
        n = int(chosen.sum())
        means = [float(values[chosen].mean()) if n else None for values in columns.values()]
        rows.append([n / MODELS, *means])
    return rows


add_for_each(EXPERIMENT, CORPORA, measure)


def back(points: Points) -> str:
    """How many topics come back, by what `found` says."""
    rows = []
    for corpus in CORPORA:
        for label, of_point in of_kinds(points, corpus):
            cells = [
                f"{same:.2f}, {others:.2f} ({n:.0f})" if same is not None else "-"
                for n, _, same, others in of_point["reliability"]
            ]
            rows.append(
                (
                    f"{corpus} articles: {label}",
                    f"{of_point['same']:.2f}, {of_point['others']:.2f} ({of_point['topics']:.0f})",
                    *cells,
                )
            )
    head = ("", "all topics", *(f"{count} of {REPLICAS}" for count in range(REPLICAS + 1)))
    return table(head, rows)


def plot(points: Points) -> Figure:
    """How many topics come back against `found`; the area of a dot is the number of topics."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(CORPORA), figsize=(10, 4.6), layout="constrained")
    for axes, corpus in zip(panels, CORPORA, strict=True):
        axes.plot([0, 1], [0, 1], color="gray", linewidth=0.8)
        for label, of_point in of_kinds(points, corpus):
            measured = [row for row in of_point["reliability"] if row[1] is not None]
            sizes = [4 * row[0] for row in measured]
            said = [row[1] for row in measured]
            for column, style in ((2, "-"), (3, "--")):
                where = "the same articles" if column == 2 else "others"
                came_back = [row[column] for row in measured]
                (line,) = axes.plot(said, came_back, style, label=f"{label}, {where}")
                axes.scatter(said, came_back, sizes, color=line.get_color())
        axes.set(xlabel="found", ylabel="comes back", title=f"{corpus} articles")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small")
    return figure


EXPERIMENT.tables["back"] = back
EXPERIMENT.pictures["reliability"] = plot
