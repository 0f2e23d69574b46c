"""What the papers' experiments share: the articles, a pass over them, curves.

python -m benchmarks.papers    measures all of them, as `python -m benchmarks paper_f13 paper_h10 …` does
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from benchmarks.frame import Figures
from benchmarks.measuring import Curve, curve, minibatches, timed
from benchmarks.splits import Corpus, split
from wikitopics.model import CompletionSet, Minibatch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Curves = Mapping[str, Mapping[str, Any]]
"""By name, each a `Curve` as a dictionary."""


def train(corpus: Corpus = "short") -> Minibatch:
    return split(corpus).train


def held_out(corpus: Corpus = "short") -> CompletionSet:
    """The articles that were not used to choose anything."""
    return CompletionSet(split(corpus).report)


def words(corpus: Corpus = "short") -> int:
    return split(corpus).n_words


def cycled(documents: Minibatch, size: int, total: int) -> Iterator[Minibatch]:
    """Minibatches of the documents, over and over, until this many have been learnt."""
    seen = 0
    while seen < total:
        for batch in minibatches(documents, size):
            yield batch
            seen += batch.D
            if seen >= total:
                return


def drawn(name: str, model: Any, batches: Iterator[Minibatch], scored: CompletionSet) -> Figures:
    """A model's curve, and its last score."""
    found = curve(name, model, batches, scored)
    return {"log_likelihood": found.log_likelihood[-1], "seconds": found.seconds[-1], "curve": asdict(found)}


def in_sweeps(
    name: str, fit: Callable[[int], Any], documents: int, sweeps: Sequence[int], scored: CompletionSet
) -> Figures:
    """The curve of an algorithm that goes over all documents again and again.

    fit: a model after so many sweeps. It is fitted anew for each number, which gives the seconds of each.
    """
    found = Curve(name, [], [], [])
    for n in sweeps:
        seconds, model = timed(lambda n=n: fit(n))  # type: ignore[misc]
        found.documents.append(n * documents)
        found.seconds.append(seconds)
        found.log_likelihood.append(scored.score(model))
    return {"log_likelihood": found.log_likelihood[-1], "seconds": found.seconds[-1], "curve": asdict(found)}


def compile_kernels(*models: Any) -> None:
    """Compile first, so that no curve includes those seconds."""
    few = train()[:64]
    for model in models:
        model.learn(few)
        model.infer(few)


def plot(points: Mapping[str, Figures], names: Sequence[str], *, over: str, title: str) -> Figure:
    """Curves of some points in one picture; `over`: the x axis, `documents` or `seconds`."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for name in names:
        if name in points:
            found: Any = points[name]["curve"]
            axes.plot(found[over], found["log_likelihood"], marker=".", label=found["name"])
    label = {"documents": "documents analysed", "seconds": "CPU seconds"}[over]
    axes.set(xscale="log", xlabel=label, ylabel="log-likelihood, nats per held-out word", title=title)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    return figure


def score(points: Mapping[str, Figures], name: str) -> str:
    """A point's log-likelihood for a table; a dash where it was not measured."""
    return f"{points[name]['log_likelihood']:.3f}" if name in points else "-"


if __name__ == "__main__":
    from benchmarks.__main__ import main
    from benchmarks.frame.part import names

    sys.exit(main([*(name for name in names() if name.startswith("paper_")), *sys.argv[1:]]))
