"""A stream whose subjects change half way: what a half-life is good for, and what it costs.

    python -m benchmarks.forgetting              # all three models, and the plot
    python -m benchmarks.forgetting lda hdp      # some of them, renewed in the results

The short articles of `benchmarks.splits` (part `train`) are parted by subject: an LDA of 50 topics is cut in
two where its topics go together least, and an article belongs to the side with over 0.7 of its words; others
are left out. The stream has 60,000 articles of one side (people, sport, arts), then some of the other (places,
nature, war, technology). Everything is scored before it is trained, by document completion, over the last
1,000 articles or so, as sessions do. After the change stand side by side: the model with a half-life of 5,000
articles, the one without, and one that begins with the change and never sees the old subjects. The price is
what the half-life loses on a stream of the first side alone. The long articles are too few (5,600) for models
to be past their beginnings before the change.

Writes benchmarks/results/forgetting.json and .svg.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import growing, minibatches
from benchmarks.splits import in_order, split
from model import CompletionSet, Minibatch, OnlineLDA, OnlineModel, kinds

RESULTS = Path(__file__).parent / "results"
HALF_LIFE = 5_000
BEFORE, AFTER = 60_000, 20_000
DOCUMENTS = 7_000_000  # D, as a live session has it
SURE = 0.7
SCORED = 1_000
GOAL = 0.05

Points = list[tuple[int, float]]


def sides(seed: int = 0) -> tuple[int, Minibatch, Minibatch]:
    """The size of the vocabulary, and the articles of either side in random order."""
    corpus = split("short")
    order = np.random.default_rng(seed).permutation(corpus.train.D)
    documents = in_order(corpus.train, order)
    model = OnlineLDA(50, corpus.n_words, documents.D, seed=seed)
    for batch in minibatches(documents[:30_000], 1024):
        model.learn(batch)
    theta = np.concatenate([model.infer(batch) for batch in minibatches(documents, 4096)])
    first = theta[:, _together(theta)].sum(axis=1)
    return (
        corpus.n_words,
        in_order(documents, np.flatnonzero(first > SURE)),
        in_order(documents, np.flatnonzero(first < 1 - SURE)),
    )


def _together(theta: NDArray[np.float32]) -> NDArray[np.intp]:
    """Topics that go together, with half of all words: by the second eigenvector of a normalised cut."""
    both = theta.T.astype(float) @ theta
    degree = np.sqrt(both.sum(axis=1))
    place = np.linalg.eigh(both / np.outer(degree, degree))[1][:, -2] / degree
    order = np.argsort(place)
    return order[: np.searchsorted(np.cumsum(theta.mean(axis=0)[order]), 0.5)]


def followed(model: OnlineModel, documents: Minibatch, change: int) -> Points:
    """(articles since the change, nats a word of the last 1,000 articles before these were trained)."""
    points: Points = []
    scores: list[tuple[int, float, int]] = []
    seen = 0
    for batch in growing(documents, model.default_batch_size):
        seen += batch.D
        if seen > change - 2 * SCORED:
            some = CompletionSet(batch[:SCORED])
            words = int(some.hidden.n_tokens)
            scores.append((batch.D, some.score(model) * words, words))
            while sum(one[0] for one in scores[1:]) >= SCORED:
                scores = scores[1:]
            points.append((seen - change, sum(one[1] for one in scores) / sum(one[2] for one in scores)))
        model.learn(batch)
    return points


def at(points: Points, articles: int) -> float:
    """The last point by then."""
    return [value for place, value in points if place <= articles][-1]


def measure(kind: str, n_words: int, old: Minibatch, new: Minibatch) -> dict[str, object]:
    """Curves and figures of one kind of model."""

    def run(documents: Minibatch, change: int, half_life: int | None = None) -> Points:
        made = kinds.load(kind)
        options = {} if half_life is None else {"half_life": half_life}
        model = made.create(made.default_topics, n_words, DOCUMENTS, options)
        return followed(model, documents, change)

    stream = Minibatch.concatenate([old[:BEFORE], new[:AFTER]])
    curves = {
        "half-life": run(stream, BEFORE, HALF_LIFE),
        "without": run(stream, BEFORE),
        "new subjects alone": run(new[:AFTER], 0),
    }
    due = 2 * HALF_LIFE
    figures = {name: round(at(points, due), 3) for name, points in curves.items()}
    price = round(at(curves["without"], 0) - at(curves["half-life"], 0), 3)
    behind = {
        name: round(figures["new subjects alone"] - figures[name], 3) for name in ("half-life", "without")
    }
    print(kind, figures, "behind", behind, "price", price, flush=True)
    return {
        "kind": kind,
        "after_two_half_lives": figures,
        "behind": behind,
        "price_before_the_change": price,
        "verdict": "goal" if behind["half-life"] <= GOAL < behind["without"] else "BELOW",
        "curves": curves,
    }


def main(only: list[str]) -> None:
    """Measure, keep, draw."""
    path = RESULTS / "forgetting.json"
    kept = json.loads(path.read_text())["models"] if path.exists() else []
    n_words, old, new = sides()
    for kind in only or list(kinds.BUILT_IN):
        found = measure(kind, n_words, old, new)
        kept = [one for one in kept if one["kind"] != kind] + [found]
        about = {"python": platform.python_version(), "half_life": HALF_LIFE, "change_after": BEFORE}
        path.write_text(json.dumps({**about, "models": kept}, indent=1) + "\n")
    draw(kept)


def draw(models: list[dict[str, object]]) -> None:
    """A panel a model."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        1, len(models), figsize=(4 * len(models), 3.6), sharey=True, squeeze=False
    )
    for axes, model in zip(panels[0], models, strict=True):
        curves = model["curves"]
        assert isinstance(curves, dict)
        for name, points in curves.items():
            axes.plot(*zip(*points, strict=True), marker=".", markersize=3, label=name)
        axes.axvline(2 * HALF_LIFE, color="grey", linewidth=0.8, linestyle=":")
        axes.set(title=model["kind"], xlabel="articles since the change")
        axes.grid(alpha=0.3)
    panels[0][0].set(ylabel="log-likelihood before training, nats a word")
    panels[0][0].legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "forgetting.svg", metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1:])
