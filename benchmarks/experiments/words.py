"""How far topics are decorrelated, and what it costs: likelihood, NPMI and the share of distinct
words.

Means of three seeds after one pass over the training articles, on articles that were used to choose
nothing. The same trained topics are read with each setting, since learning does not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import CORPORA, Corpus
from benchmarks.harness import Experiment, Figures, Points, figures, table
from benchmarks.measuring import common_score, growing, held_out, learn_all, quality, train, words
from wikitopics.model import kinds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment("words", "topics that share fewer words, and what that costs in likelihood")
SEEDS = range(3)
TIMES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Decorrelations, as multiples of the default."""
KINDS = {"lda": "online LDA", "scvb0": "SCVB0", "hdp": "online HDP"}


def readings(kind: str, corpus: Corpus, times: tuple[float, ...], seed: int) -> list[list[float]]:
    """For each setting: log-likelihood, the same by the peers' scorer, NPMI, distinct share, topics
    used."""
    load = kinds.load(kind)
    model: Any = load.create(load.default_topics, words(corpus), train(corpus).D, seed=seed)
    learn_all(model, growing(train(corpus), model.default_batch_size))
    default = model.decorrelation
    found = []
    for factor in times:
        model.decorrelation = default * factor
        topics = model.topics()
        found.append(
            [
                held_out(corpus).score(model),
                common_score(topics, corpus),
                *quality(topics, model.topic_shares(), train(corpus)),
            ]
        )
    return found


def measure(kind: str, corpus: Corpus) -> Figures:
    times = TIMES if corpus == "full" else (0.0, 1.0)
    means = np.mean([readings(kind, corpus, times, seed) for seed in SEEDS], axis=0).tolist()
    return {
        f"times{factor:g}".replace(".", "_"): row for factor, row in zip(times, means, strict=True)
    }


for _corpus in CORPORA:
    for _kind in KINDS:
        EXPERIMENT.add(f"{_corpus}_{_kind}", partial(measure, _kind, _corpus))


def without_and_with(points: Points) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for corpus in CORPORA:
            for kind, label in KINDS.items():
                found = points.get(f"{corpus}_{kind}")
                if not found:
                    continue
                for name, setting in (("times0", "without"), ("times1", "by default")):
                    own_score, common, coherence, distinct, in_use = found[name]
                    yield (
                        f"{corpus} articles: {label}, {setting}",
                        f"{own_score:.3f}",
                        f"{common:.3f}",
                        f"{coherence:.3f}",
                        f"{distinct:.2f}",
                        f"{in_use:.0f}",
                    )

    head = ("", "log-likelihood", "by the peers' scorer", "NPMI", "distinct words", "topics in use")
    return table(head, rows())


def frontier(points: Points) -> Figure:
    """Words against likelihood on full articles; each curve goes from none to eight times the
    default."""
    from matplotlib import pyplot

    peers = figures("peers")
    figure, places = pyplot.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for axes, column, figure_of_peers, title in (
        (places[0], 2, "npmi", "NPMI of ten words"),
        (places[1], 3, "distinct", "distinct words"),
    ):
        for kind, label in KINDS.items():
            found = points.get(f"full_{kind}")
            if found:
                rows = np.array(list(found.values()))  # of `readings`, one for each of TIMES
                common = rows[:, 1]
                values = rows[:, column]
                (line,) = axes.plot(common, values, marker=".", label=label)
                default = TIMES.index(1.0)
                axes.plot(common[default], values[default], marker="o", color=line.get_color())
        for name, label, mark in (
            ("gibbs_lda", "100 Gibbs sweeps", "s"),
            ("bigartm", "BigARTM", "^"),
            ("bigartm_decorrelated", "BigARTM, decorrelated", "v"),
            ("sklearn", "scikit-learn", "x"),
        ):
            found = peers.get(f"full_{name}")
            if found:
                axes.scatter(
                    found["log_likelihood"],
                    found[figure_of_peers],
                    marker=mark,
                    label=label,
                    color="black",
                )
        axes.set(xlabel="log-likelihood, nats per held-out word", title=title)
        axes.grid(alpha=0.3)
    figure.legend(
        *places[0].get_legend_handles_labels(), fontsize="small", loc="outside right center"
    )
    return figure


EXPERIMENT.tables["without_and_with"] = without_and_with
EXPERIMENT.pictures["frontier"] = frontier
