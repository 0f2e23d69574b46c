"""How far topics are decorrelated, and what it costs: likelihood, NPMI and the share of distinct
words.

Means of three seeds after one pass over the training articles, on articles that were used to choose
nothing. The same trained topics are read with each setting, since learning does not depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.data import CORPORA, Corpus
from benchmarks.harness import Experiment, Figures, Points, figures, table
from benchmarks.measuring import (
    add_for_each,
    common_score,
    growing,
    held_out,
    learn_all,
    of_kinds,
    quality,
    train,
    words,
)
from wikitopics.model import kinds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment("words", "topics that share fewer words, and what that costs in likelihood")
SEEDS = range(3)
TIMES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The default decorrelation is multiplied by each of these."""
PEERS = {
    "gibbs_lda": ("Gibbs sampling", "s"),
    "bigartm": ("BigARTM", "^"),
    "bigartm_decorrelated": ("BigARTM, decorrelated", "v"),
    "sklearn": ("scikit-learn", "x"),
}
"""Other programs in the picture: label and mark."""


class Reading(NamedTuple):
    """The figures of some topics, in the order of the results."""

    log_likelihood: float
    by_peers_scorer: float
    npmi: float
    distinct: float
    topics_in_use: float


def readings(kind: str, corpus: Corpus, times: tuple[float, ...], seed: int) -> list[list[float]]:
    """For each setting the figures of `Reading`."""
    cls = kinds.load(kind)
    model: Any = cls.create(cls.default_topics, words(corpus), train(corpus).D, seed=seed)
    learn_all(model, growing(train(corpus), model.default_batch_size))
    default = model.decorrelation
    found = []
    for factor in times:
        model.decorrelation = default * factor
        topics = model.topics()
        log_likelihood = held_out(corpus).score(model)
        by_peers_scorer = common_score(topics, corpus)
        npmi, distinct, in_use = quality(topics, model.topic_shares(), train(corpus))
        found.append([log_likelihood, by_peers_scorer, npmi, distinct, in_use])
    return found


def measure(kind: str, corpus: Corpus) -> Figures:
    times = TIMES if corpus == "full" else (0.0, 1.0)
    by_seed = [readings(kind, corpus, times, seed) for seed in SEEDS]
    means = np.mean(by_seed, axis=0).tolist()
    names = [f"times{factor:g}".replace(".", "_") for factor in times]
    return dict(zip(names, means, strict=True))


add_for_each(EXPERIMENT, CORPORA, measure)


def without_and_with(points: Points) -> str:
    rows = []
    for corpus in CORPORA:
        for label, of_point in of_kinds(points, corpus):
            for name, setting in (("times0", "without"), ("times1", "by default")):
                reading = Reading(*of_point[name])
                rows.append(
                    (
                        f"{corpus} articles: {label}, {setting}",
                        f"{reading.log_likelihood:.3f}",
                        f"{reading.by_peers_scorer:.3f}",
                        f"{reading.npmi:.3f}",
                        f"{reading.distinct:.2f}",
                        f"{reading.topics_in_use:.0f}",
                    )
                )
    head = ("", "log-likelihood", "by the peers' scorer", "NPMI", "distinct words", "topics in use")
    return table(head, rows)


def frontier(points: Points) -> Figure:
    """NPMI and distinct words against likelihood on full articles. Each curve goes from no
    decorrelation to eight times the default, which has a larger mark."""
    from matplotlib import pyplot

    peers = figures("peers")
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    titles = {"npmi": "NPMI of ten words", "distinct": "distinct words"}
    for axes, (measured, title) in zip(panels, titles.items(), strict=True):
        for label, of_point in of_kinds(points, "full"):
            curve = [Reading(*reading) for reading in of_point.values()]
            scores = [reading.by_peers_scorer for reading in curve]
            values = [getattr(reading, measured) for reading in curve]
            (line,) = axes.plot(scores, values, marker=".", label=label)
            default = TIMES.index(1.0)
            axes.plot(scores[default], values[default], marker="o", color=line.get_color())
        for name, (label, mark) in PEERS.items():
            of_peer = peers.get(f"full_{name}")
            if of_peer:
                axes.scatter(
                    of_peer["log_likelihood"],
                    of_peer[measured],
                    marker=mark,
                    label=label,
                    color="black",
                )
        axes.set(xlabel="log-likelihood, nats per held-out word", title=title)
        axes.grid(alpha=0.3)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, fontsize="small", loc="outside right center")
    return figure


EXPERIMENT.tables["without_and_with"] = without_and_with
EXPERIMENT.pictures["frontier"] = frontier
