"""A stream whose subjects change half-way: what a half-life gains, and what it costs.

A corpus is divided by subject: the topics of an LDA of 50 are cut in two where they go together
least (or second least), and an article belongs to the side with over 0.7 of its words; others are
left out. A stream has articles of one side, then of the other. After the change three models are
compared on the same 1,000 articles, each article scored by document completion before it is
trained: one with a half-life of 5,000 articles, one without, and one that begins at the change and
never sees the old subjects. The price is what the model with a half-life has lost on the old
subjects by the time of the change. The numbers of `model/allocation.py` were chosen on the first
two streams, which are short articles of `benchmarks.data`; the other streams are of another corpus,
over another vocabulary, and chose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import articles, batch_of, split
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
"""Articles after the change."""
DOCUMENTS = 7_000_000
"""D, as a live session has it."""
SURE = 0.7
SCORED = 1_000
"""The last articles, over which a model's score is averaged."""
PIECE = 250
"""A score is taken whenever so many articles have come."""
LEAST_WORDS = 10

Curve = list[tuple[int, float]]
"""(articles since the change, nats a word of the articles before)."""


class Stream(NamedTuple):
    name: str
    corpus: str
    cut: int
    """1: where topics go together least, 2: where they do second least."""
    back: bool
    """The sides change places."""
    before: int
    """Articles before the change."""


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
        n_words = len(vocabulary)
        counted = []
        for article in articles():
            ids, counts = vocabulary.count(article["text"])
            if counts.sum() >= LEAST_WORDS:
                counted.append((ids, counts))
        documents = batch_of(counted)
    documents = documents.take(np.random.default_rng(stream.cut).permutation(documents.D))
    model = OnlineLDA(50, n_words, documents.D, seed=stream.cut)
    for batch in minibatches(documents[:30_000], 1024):
        model.learn(batch)
    theta = np.concatenate([model.infer(batch) for batch in minibatches(documents, 4096)])
    of_one_side = theta[:, _together(theta, stream.cut)].sum(axis=1)
    old = documents.take(np.flatnonzero(of_one_side > SURE))
    new = documents.take(np.flatnonzero(of_one_side < 1 - SURE))
    if stream.back:
        old, new = new, old
    return n_words, old[: stream.before], new[:AFTER]


def _together(theta: NDArray[np.float32], cut: int) -> NDArray[np.intp]:
    """Topics that go together and hold half of all words, by an eigenvector of the normalised
    cut."""
    shared = theta.T.astype(float) @ theta
    degree = np.sqrt(shared.sum(axis=1))
    _, vectors = np.linalg.eigh(shared / np.outer(degree, degree))
    # The last eigenvector is constant but for the degrees, those before it are the cuts.
    place = vectors[:, -1 - cut] / degree
    order = np.argsort(place)
    share_so_far = np.cumsum(theta.mean(axis=0)[order])
    return order[: np.searchsorted(share_so_far, 0.5)]


def followed(model: OnlineModel, documents: Minibatch, change: int) -> Curve:
    """The curve of a model: the score of the last 1,000 articles, each before it was trained.

    A score is taken at every 250 articles, wherever the minibatches end, so that models are
    compared on the same articles. The articles between two scores are a piece; pieces are numbered
    from the change on, those before it below 0.
    """
    nats: dict[int, float] = {}
    words: dict[int, int] = {}
    seen = 0
    for batch in growing(documents, model.default_batch_size):
        since_change = seen - change
        if since_change + batch.D > -(SCORED + PIECE):
            # The batch is cut where pieces begin.
            to_next_piece = (-since_change) % PIECE
            cuts = list(range(to_next_piece, batch.D, PIECE))
            for start, stop in zip([0, *cuts], [*cuts, batch.D], strict=True):
                part = CompletionSet(batch[start:stop])
                hidden = int(part.hidden.n_tokens)
                if hidden > 0:
                    piece = (since_change + start) // PIECE
                    nats[piece] = nats.get(piece, 0.0) + part.score(model) * hidden
                    words[piece] = words.get(piece, 0) + hidden
        model.learn(batch)
        seen += batch.D
    points: Curve = []
    pieces_scored = SCORED // PIECE
    first_piece = min(nats) if change else 0
    pieces_after_change = (seen - change) // PIECE
    for end in range(first_piece + pieces_scored, pieces_after_change + 1):
        window = range(end - pieces_scored, end)
        if all(piece in nats for piece in window):
            total_words = sum(words[piece] for piece in window)
            total_nats = sum(nats[piece] for piece in window)
            points.append((end * PIECE, total_nats / total_words))
    return points


def measure(kind: str, stream: Stream) -> Figures:
    """Curves and figures of one kind of model on one stream."""
    n_words, old, new = parted(stream)
    half_life = min(HALF_LIFE, new.D // (2 * PIECE) * PIECE)
    if min(2 * half_life, old.D) < SCORED:
        raise Unavailable("too few articles of one subject")

    def run(documents: Minibatch, change: int, half_life: int | None = None) -> Curve:
        cls = kinds.load(kind)
        options = {} if half_life is None else {"half_life": half_life}
        model = cls.create(cls.default_topics, n_words, DOCUMENTS, options)
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
    price = dict(curves["without"])[0] - dict(curves["half-life"])[0]
    rounded_curves = {}
    for name, points in curves.items():
        rounded_curves[name] = [(articles, round(nats, 4)) for articles, nats in points]
    return {
        "half_life": half_life,
        "after_two_half_lives": figures,
        "behind": behind,
        "price_before_the_change": round(price, 3),
        "curves": rounded_curves,
    }


for _kind in kinds.built_in:
    for _name, _stream in STREAMS.items():
        EXPERIMENT.add(f"{_kind}_{_name}", partial(measure, _kind, _stream))


def behind(points: Points) -> str:
    """How far each is behind a model of the new subjects alone, with a half-life and without."""
    head = [""]
    for kind in kinds.built_in:
        head += [f"{kind}, half-life", f"{kind}, without"]
    rows = []
    for name, stream in STREAMS.items():
        cells = [stream.name]
        for kind in kinds.built_in:
            found = points.get(f"{kind}_{name}")
            for how in ("half-life", "without"):
                if found is None:
                    cells.append("-")
                else:
                    score = found["after_two_half_lives"][how]
                    cells.append(f"{score:.3f} ({found['behind'][how]:.3f})")
        rows.append(cells)
    return table(head, rows)


def curves(points: Points) -> Figure:
    """The curves of the stream `articles`, one panel for each model."""
    from matplotlib import pyplot

    shown = [kind for kind in kinds.built_in if f"{kind}_articles" in points]
    n_panels = max(1, len(shown))
    figure, panels = pyplot.subplots(
        1,
        n_panels,
        figsize=(4 * n_panels, 3.6),
        sharey=True,
        squeeze=False,
    )
    for axes, kind in zip(panels[0], shown, strict=False):
        for name, curve in points[f"{kind}_articles"]["curves"].items():
            since_change, nats = zip(*curve, strict=True)
            axes.plot(since_change, nats, marker=".", markersize=3, label=name)
        axes.axvline(2 * HALF_LIFE, color="grey", linewidth=0.8, linestyle=":")
        axes.set(title=kind, xlabel="articles since the change")
        axes.grid(alpha=0.3)
        axes.legend()
    panels[0][0].set(ylabel="log-likelihood before training, nats a word")
    figure.tight_layout()
    return figure


EXPERIMENT.tables["behind"] = behind
EXPERIMENT.pictures["curves"] = curves
