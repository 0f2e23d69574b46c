"""Models over real articles: minibatches, CPU seconds, scores, curves, and plots of them."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Corpus, split
from benchmarks.harness import Experiment, Figures, Points
from wikitopics.model import CompletionSet, Minibatch, OnlineLDA, OnlineModel
from wikitopics.model.coherence import Cooccurrences, npmi_of_words
from wikitopics.model.online import IN_USE, top_words
from wikitopics.model.relevance import by_relevance
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.training.defaults import default_batch_size
from wikitopics.session.training.schedule import minibatch_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
KINDS = {"lda": "online LDA", "scvb0": "SCVB0", "hdp": "online HDP"}
"""Our kinds of models, and how docs call them."""
PRIORS = (0.01, 0.03, 0.1, 0.3)
"""Each is tried as the alpha of `best_score`."""


# -- experiments -----------------------------------------------------------------


def add_for_each(
    experiment: Experiment,
    corpora: Sequence[Corpus],
    measure: Callable[[str, Corpus], Figures],
) -> None:
    """Add a point for each of these corpora and each of `KINDS`."""
    for corpus in corpora:
        for kind in KINDS:
            experiment.add(f"{corpus}_{kind}", partial(measure, kind, corpus))


def of_kinds(points: Points, corpus: Corpus) -> Iterator[tuple[str, Figures]]:
    """(label, figures) of each of `KINDS` that was measured on this corpus, as `add_for_each` has
    named the points."""
    for kind, label in KINDS.items():
        figures = points.get(f"{corpus}_{kind}")
        if figures:
            yield label, figures


# -- articles --------------------------------------------------------------------


def train(corpus: Corpus = "short") -> Minibatch:
    return split(corpus).train


def held_out(corpus: Corpus = "short") -> CompletionSet:
    """The articles that were not used to choose anything."""
    return CompletionSet(split(corpus).report)


def words(corpus: Corpus = "short") -> int:
    return split(corpus).n_words


def minibatches(documents: Minibatch, size: int) -> Iterator[Minibatch]:
    for start in range(0, documents.D, size):
        yield documents[start : start + size]


def growing(documents: Minibatch, largest: int) -> Iterator[Minibatch]:
    """Minibatches as a session makes them: 64 documents, then a quarter of those seen, up to the
    largest."""
    start = 0
    while start < documents.D:
        stop = start + min(largest, max(64, start // 4))
        yield documents[start:stop]
        start = stop


def readings(
    model: OnlineModel, documents: Minibatch, passes: int, seed: int
) -> Iterator[Minibatch]:
    """The minibatches of several passes, as a session gives them to this model: it is told whether
    they are new and how often they will still be read."""
    D = documents.D
    random = np.random.default_rng(seed)
    orders = [np.arange(D)]
    for _ in range(passes - 1):
        orders.append(random.permutation(D))
    order = np.concatenate(orders)
    largest = model.default_batch_size
    if passes > 1:
        largest = default_batch_size(largest, D)
    start = 0
    while start < len(order):
        is_new = start < D
        model.passes_left = None if is_new else passes - start / D
        model.rereads_later = is_new and passes > 1
        stop = start + minibatch_size(start, largest)
        yield documents.take(order[start:stop])
        start = stop


def cycled(documents: Minibatch, size: int, total: int) -> Iterator[Minibatch]:
    """Minibatches of the documents, over and over, until this many have been learnt."""
    seen = 0
    while seen < total:
        for batch in minibatches(documents, size):
            yield batch
            seen += batch.D
            if seen >= total:
                return


# -- time ------------------------------------------------------------------------


def cpu_seconds() -> float:
    """User and system time so far, including children that have ended."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(work: Callable[[], T], clock: Callable[[], float] = cpu_seconds) -> tuple[float, T]:
    """The seconds that `work` takes, and its result."""
    start = clock()
    result = work()
    return clock() - start, result


def in_turn(repeats: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each measure. They take turns, so that a slow minute of the machine affects
    all."""
    values: list[list[float]] = [[] for _ in measures]
    for _ in range(repeats):
        for of_measure, measure in zip(values, measures, strict=True):
            of_measure.append(measure())
    return [median(of_measure) for of_measure in values]


# -- learning --------------------------------------------------------------------


def learn_all(model: Any, batches: Iterator[Minibatch]) -> Any:
    for batch in batches:
        model.learn(batch)
    return model


def learning_seconds(model: Any, batches: Iterator[Minibatch]) -> float:
    """The CPU seconds in which the model learns these minibatches, without those of making them."""
    seconds = 0.0
    for batch in batches:
        begun = cpu_seconds()
        model.learn(batch)
        seconds += cpu_seconds() - begun
    return seconds


def compile_kernels(model: Any) -> None:
    """Compile first, so that no curve includes those seconds."""
    few = train()[:64]
    model.learn(few)
    model.infer(few)


FIRST_MEASURED = 500
"""Documents after which a curve begins."""
MEASURED_AGAIN = 300 ** (1 / 24)
"""The factor by which the documents grow from one point of a curve to the next: 24 such steps lead
from 500 documents to 300 times as many, 150,000."""


class CurvePoint(NamedTuple):
    documents: int
    seconds: float
    """CPU seconds of learning, without those of measuring."""
    log_likelihood: float


def followed(name: str, model: Any, batches: Iterator[Minibatch], scored: CompletionSet) -> Figures:
    """The curve of a model that learns, measured at document counts that grow geometrically."""
    points: list[CurvePoint] = []
    seen = 0
    measured = 0
    seconds = 0.0
    due: float = FIRST_MEASURED
    for batch in batches:
        start = cpu_seconds()
        model.learn(batch)
        seconds += cpu_seconds() - start
        seen += batch.D
        if seen >= due:
            points.append(CurvePoint(seen, seconds, scored.score(model)))
            measured = seen
            due = seen * MEASURED_AGAIN
    # The end of the curve is a point, too.
    if measured != seen or not points:
        points.append(CurvePoint(seen, seconds, scored.score(model)))
    return _curve(name, points)


def by_default(name: str, make: Callable[[int, int], Any]) -> Figures:
    """The curve of a model with our defaults over the short articles.

    make: makes the model, given the number of words and that of documents
    """
    compile_kernels(make(words(), 1))
    model = make(words(), train().D)
    return followed(name, model, growing(train(), model.default_batch_size), held_out())


def in_sweeps(
    name: str,
    fit: Callable[[int], Any],
    documents: int,
    sweeps: Sequence[int],
    scored: CompletionSet,
) -> Figures:
    """The curve of an algorithm that goes over all documents again and again.

    fit: gives a model that has learnt for so many sweeps. A model is fitted anew for each number of
    sweeps, so that the seconds of each are known.
    """
    points = []
    for n in sweeps:
        start = cpu_seconds()
        model = fit(n)
        seconds = cpu_seconds() - start
        points.append(CurvePoint(n * documents, seconds, scored.score(model)))
    return _curve(name, points)


def _curve(name: str, points: Sequence[CurvePoint]) -> Figures:
    """The curve as figures, with the log-likelihood and the seconds at its end."""
    curve = {
        "name": name,
        "documents": [point.documents for point in points],
        "seconds": [point.seconds for point in points],
        "log_likelihood": [point.log_likelihood for point in points],
    }
    end = points[-1]
    return {"log_likelihood": end.log_likelihood, "seconds": end.seconds, "curve": curve}


def plain_lda(n_words: int, n_documents: int, **options: Any) -> OnlineLDA:
    """[H10] as published: 100 topics, alpha = eta = 0.01; unless told otherwise tau0 = 64, kappa =
    0.5."""
    settings = {"tau0": 64.0, "kappa": 0.5, "alpha": 0.01, "eta": 0.01, "warm_start": False}
    return OnlineLDA(100, n_words, n_documents, **(settings | options))


class FixedTopics:
    """Topics and a Dirichlet prior learnt by somebody else; proportions by our own inference."""

    def __init__(self, topics: NDArray[Any], alpha: float | NDArray[np.float64]) -> None:
        K, W = topics.shape
        state = OnlineLDA(K, W, 1e6, warm_start=False, eta=1e-9).state()
        # With counts as large as these, exp(E[log beta]) is E[beta], so that the model uses the
        # topics as they are.
        counts = np.ascontiguousarray(topics.T * 1e9).astype(np.float32)
        state.update(
            lambda_hat=counts,
            total_hat=counts.sum(axis=0, dtype=float),
            eta_lambda=1e-9,
            alpha=np.full(K, alpha),
        )
        self._model = OnlineLDA.from_state(state)
        self.n_words = W
        self.infer = self._model.infer
        self.topics = self._model.topics


def common_score(topics: Any, corpus: Corpus) -> float:
    """`best_score` on the `report` articles."""
    return best_score(topics, held_out(corpus))


def best_score(topics: Any, scored: CompletionSet) -> float:
    """The log-likelihood by these topics, (K, W), whoever learnt them.

    One scorer for all: it infers everybody's proportions in the same way, with the best of a few
    symmetric priors.
    """
    return max(scored.score(FixedTopics(topics, alpha)) for alpha in PRIORS)


def quality(
    topics: NDArray[Any],
    shares: NDArray[Any] | None,
    documents: Minibatch,
    *,
    relevant: bool = False,
) -> tuple[float, float, int]:
    """NPMI and distinctness of the ten leading words of topics in use, and how many these are.

    topics: (K, W).
    shares: (K,) each topic's share of the words; None: all topics are in use, each as much as any
    other.
    documents: those that tell which words occur together.
    relevant: take the ten most relevant of the 20 leading words.
    """
    shares = np.ones(len(topics)) if shares is None else np.asarray(shares)
    leading: NDArray[Any] = top_words(topics, SNAPSHOT_WORDS).astype(np.int32)
    if relevant:
        probabilities = np.take_along_axis(topics, leading, axis=1)
        leading, _ = by_relevance((leading, probabilities), shares)
    in_use = shares > IN_USE
    ten_words = leading[in_use, :10]
    coherence = float(npmi_of_words(ten_words, Cooccurrences(documents)).mean())
    distinctness = len(np.unique(ten_words)) / ten_words.size
    return coherence, distinctness, len(ten_words)


# -- tables and plots ------------------------------------------------------------


def score(points: Points, name: str) -> str:
    """A point's log-likelihood for a table; a dash where it was not measured."""
    return f"{points[name]['log_likelihood']:.3f}" if name in points else "-"


def plot(names: Sequence[str], points: Points, *, over: str, title: str) -> Figure:
    """Curves of some points in one picture; `over`: the x axis, `documents` or `seconds`."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2))
    for name in names:
        if name in points:
            curve = points[name]["curve"]
            axes.plot(curve[over], curve["log_likelihood"], marker=".", label=curve["name"])
    labels = {"documents": "documents analysed", "seconds": "CPU seconds"}
    axes.set(
        xscale="log",
        xlabel=labels[over],
        ylabel="log-likelihood, nats per held-out word",
        title=title,
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    return figure
