"""A stream whose subjects change half-way: what a half-life gains, and what it costs.

A corpus is divided by subject: an LDA of 50 topics is cut in two where its topics go together least
(or second least), and an article belongs to the side with over 0.7 of its words; others are left
out. A stream has articles of one side, then of the other. After the change three models are
compared on the same 1,000 articles, each scored by document completion before it is trained: one
with a half-life of 5,000 articles, one without, and one that begins at the change and never sees
the old subjects. The price is what the half-life has lost by then on the old subjects. The numbers
of `model/allocation.py` were chosen on the first two streams, which are short articles of
`benchmarks.data`; the others are of another corpus, over another vocabulary, and chose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import articles, batch_of, in_order, split
from benchmarks.harness import Experiment, Figures, Points, Unavailable, table
from benchmarks.measuring import growing, minibatches
from wikitopics.model import CompletionSet, Minibatch, OnlineLDA, OnlineModel, kinds
from wikitopics.vocab import Vocabulary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXPERIMENT = Experiment(
    "forgetting",
    "what a half-life is good for on a stream whose subjects change",
    data="word counts; articles-60k for three of five streams",
)
HALF_LIFE = 5_000
AFTER = 12_000
DOCUMENTS = 7_000_000  # D, as a live session has it
SURE = 0.7
SCORED = 1_000
PIECE = 250
LEAST_WORDS = 10

Curve = list[tuple[int, float]]


class Stream(NamedTuple):
    """corpus; cut: 1 where topics go together least; back: the sides change places; before:
    articles."""

    name: str
    corpus: str
    cut: int
    back: bool
    before: int


STREAMS: Mapping[str, Stream] = {
    "short": Stream("short articles (chosen on)", "short", 1, False, 60_000),
    "short_back": Stream("the same, back (chosen on)", "short", 1, True, 60_000),
    "articles": Stream("articles", "articles", 1, False, 20_000),
    "articles_back": Stream("the same, back", "articles", 1, True, 20_000),
    "others": Stream("other subjects", "articles", 2, False, 20_000),
}


def parted(stream: Stream) -> tuple[int, Minibatch, Minibatch]:
    """The size of the vocabulary, and the articles before and after the change, each in random
    order."""
    if stream.corpus == "short":
        n_words = split("short").n_words
        documents = split("short").train
    else:
        vocabulary = Vocabulary.load("english")
        counted = (vocabulary.count(article["text"]) for article in articles())
        n_words = len(vocabulary)
        documents = batch_of(
            [(ids, counts) for ids, counts in counted if counts.sum() >= LEAST_WORDS]
        )
    documents = in_order(documents, np.random.default_rng(stream.cut).permutation(documents.D))
    model = OnlineLDA(50, n_words, documents.D, seed=stream.cut)
    for batch in minibatches(documents[:30_000], 1024):
        model.learn(batch)
    theta = np.concatenate([model.infer(batch) for batch in minibatches(documents, 4096)])
    first = theta[:, _together(theta, stream.cut)].sum(axis=1)
    sides = (
        in_order(documents, np.flatnonzero(first > SURE)),
        in_order(documents, np.flatnonzero(first < 1 - SURE)),
    )
    old, new = sides[::-1] if stream.back else sides
    return n_words, old[: stream.before], new[:AFTER]


def _together(theta: NDArray[np.float32], cut: int) -> NDArray[np.intp]:
    """Topics that go together and hold half of all words, by an eigenvector of the normalised
    cut."""
    both = theta.T.astype(float) @ theta
    degree = np.sqrt(both.sum(axis=1))
    place = np.linalg.eigh(both / np.outer(degree, degree))[1][:, -1 - cut] / degree
    order = np.argsort(place)
    return order[: np.searchsorted(np.cumsum(theta.mean(axis=0)[order]), 0.5)]


def followed(model: OnlineModel, documents: Minibatch, change: int) -> Curve:
    """(articles since the change, nats a word of the last 1,000 articles before these were
    trained).

    At every 250 articles, wherever the minibatches end, so that models are compared on the same
    ones.
    """
    points: Curve = []
    nats: dict[int, float] = {}
    words: dict[int, int] = {}
    seen = 0
    for batch in growing(documents, model.default_batch_size):
        to_next_piece = (change - seen) % PIECE
        cuts = np.arange(to_next_piece, batch.D, PIECE)
        ends = [*cuts, batch.D]
        is_near_change = seen + batch.D > change - SCORED - PIECE
        if is_near_change:
            for start, stop in zip([0, *cuts], ends, strict=True):
                some = CompletionSet(batch[start:stop])
                hidden = int(some.hidden.n_tokens)
                if hidden:
                    piece = (seen + start - change) // PIECE
                    nats[piece] = nats.get(piece, 0.0) + some.score(model) * hidden
                    words[piece] = words.get(piece, 0) + hidden
        model.learn(batch)
        seen += batch.D
    size = SCORED // PIECE
    first_end = min(nats) + size if change else size
    last_end = (seen - change) // PIECE
    for end in range(first_end, last_end + 1):
        window = range(end - size, end)
        if all(piece in nats for piece in window):
            total = sum(words[piece] for piece in window)
            points.append((end * PIECE, sum(nats[piece] for piece in window) / total))
    return points


def measure(kind: str, stream: Stream) -> Figures:
    """Curves and figures of one kind of model on one stream."""
    n_words, old, new = parted(stream)
    half_life = min(HALF_LIFE, new.D // (2 * PIECE) * PIECE)
    if min(2 * half_life, old.D) < SCORED:
        raise Unavailable("too few articles of one subject")

    def run(documents: Minibatch, change: int, half_life: int | None = None) -> Curve:
        made = kinds.load(kind)
        options = {} if half_life is None else {"half_life": half_life}
        model = made.create(made.default_topics, n_words, DOCUMENTS, options)
        return followed(model, documents, change)

    both = Minibatch.concatenate([old, new])
    curves = {
        "half-life": run(both, old.D, half_life),
        "without": run(both, old.D),
        "new subjects alone": run(new, 0),
    }
    figures = {name: round(dict(points)[2 * half_life], 3) for name, points in curves.items()}
    behind = {
        name: round(figures["new subjects alone"] - figures[name], 3)
        for name in ("half-life", "without")
    }
    price = round(dict(curves["without"])[0] - dict(curves["half-life"])[0], 3)
    return {
        "half_life": half_life,
        "after_two_half_lives": figures,
        "behind": behind,
        "price_before_the_change": price,
        "curves": {
            name: [(at, round(value, 4)) for at, value in points] for name, points in curves.items()
        },
    }


for _kind in kinds.built_in:
    for _name, _stream in STREAMS.items():
        EXPERIMENT.add(f"{_kind}_{_name}", partial(measure, _kind, _stream))


def behind(points: Points) -> str:
    """How far each is behind a model of the new subjects alone, with a half-life and without."""

    def rows() -> Iterator[tuple[str, ...]]:
        for name, stream in STREAMS.items():
            cells = []
            for kind in kinds.built_in:
                found = points.get(f"{kind}_{name}")
                if not found:
                    cells += ["-", "-"]
                    continue
                scores = found["after_two_half_lives"]
                behind = found["behind"]
                for how in ("half-life", "without"):
                    cells.append(f"{scores[how]:.3f} ({behind[how]:.3f})")
            yield stream.name, *cells

    head = [f"{kind}, {how}" for kind in kinds.built_in for how in ("half-life", "without")]
    return table(("", *head), rows())


def curves(points: Points) -> Figure:
    """One panel for each model."""
    from matplotlib import pyplot

    shown: dict[str, Any] = {
        kind: points[f"{kind}_articles"] for kind in kinds.built_in if f"{kind}_articles" in points
    }
    n_panels = max(1, len(shown))
    figure, panels = pyplot.subplots(
        1,
        n_panels,
        figsize=(4 * n_panels, 3.6),
        sharey=True,
        squeeze=False,
    )
    for axes, (kind, found) in zip(panels[0], shown.items(), strict=False):
        for name, curve in found["curves"].items():
            articles, values = zip(*curve, strict=True)
            axes.plot(articles, values, marker=".", markersize=3, label=name)
        axes.axvline(2 * HALF_LIFE, color="grey", linewidth=0.8, linestyle=":")
        axes.set(title=kind, xlabel="articles since the change")
        axes.grid(alpha=0.3)
        axes.legend()
    panels[0][0].set(ylabel="log-likelihood before training, nats a word")
    figure.tight_layout()
    return figure


EXPERIMENT.tables["behind"] = behind
EXPERIMENT.pictures["curves"] = curves
