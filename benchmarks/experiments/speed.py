"""Documents learnt in a CPU second, beside other programs in the same run; threads, and many
topics.

Each program takes turns with ours, three times; the figures are medians. Our models' topics are
read after each minibatch, as the screen does. `many_*` learn a whole corpus once, with several
seeds, and `core` measures the memory that bounds them (decision 59).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.data import Corpus, split
from benchmarks.harness import Experiment, Figures, Points, compared, table
from benchmarks.measuring import (
    compile_kernels,
    cpu_seconds,
    growing,
    held_out,
    in_turn,
    learn_all,
    minibatches,
    quality,
    timed,
    train,
    words,
)
from benchmarks.peers import BEST_SIZE
from wikitopics.model import SCVB0, OnlineHDP, OnlineLDA, OnlineModel

EXPERIMENT = Experiment(
    "speed", "documents learnt in a CPU second, beside other programs", programs="BigARTM"
)
K = 100
DOCUMENTS: Mapping[Corpus, int] = {"full": 8_192, "short": 20_480, "long": 4_096}
S = 1_024
REPEATS = 3
MODELS: Mapping[str, Callable[[Corpus], Any]] = {
    "lda": lambda corpus: OnlineLDA(K, words(corpus), 100_000),
    "scvb0": lambda corpus: SCVB0(K, words(corpus), 100_000),
    "hdp": lambda corpus: OnlineHDP(
        words(corpus),
        100_000,
        max_topics=150,
        max_topics_per_document=15,
    ),
}


def our_seconds(make: Callable[[], Any], corpus: Corpus) -> float:
    """CPU seconds for a document."""
    model = make()
    documents = train(corpus)[: DOCUMENTS[corpus]]
    begun = cpu_seconds()
    for batch in growing(documents, model.default_batch_size):
        model.learn(batch)
        model.topics()
    return (cpu_seconds() - begun) / documents.D


def sklearn_seconds(corpus: Corpus) -> float:
    documents = train(corpus)[: DOCUMENTS[corpus]]
    size = BEST_SIZE[corpus]
    model = peers.SklearnLDA(K, words(corpus), 100_000, size)
    seconds, _ = timed(lambda: learn_all(model, minibatches(documents, size)))
    return seconds / documents.D


def vowpal_wabbit_seconds(corpus: Corpus) -> float:
    documents = train(corpus)[: DOCUMENTS[corpus]]
    with tempfile.TemporaryDirectory() as folder:
        seconds, _ = peers.vowpal_wabbit(documents, K, words(corpus), Path(folder))
    return seconds / documents.D


def bigartm_seconds(corpus: Corpus) -> float:
    documents = train(corpus)[: DOCUMENTS[corpus]]
    seconds, *_ = peers.bigartm(documents, documents[:1], K, words(corpus), corpus)
    return float(seconds[-1]) / documents.D


def gensim_hdp_seconds(corpus: Corpus) -> float:
    documents = train(corpus)[:2_048]
    seconds, _, _ = peers.gensim_hdp(documents, words(corpus))
    return seconds / documents.D


def beside(kind: str, theirs: Callable[[Corpus], float], corpus: Corpus) -> Figures:
    """Documents a CPU second of both, in turn, and how many times as fast ours is."""
    make = partial(MODELS[kind], corpus)
    compile_kernels(make())
    ours, others = in_turn(REPEATS, lambda: our_seconds(make, corpus), lambda: theirs(corpus))
    return {"times": others / ours, "ours": 1 / ours, "theirs": 1 / others}


class Pair(NamedTuple):
    """A program beside one of our models."""

    label: str
    ours: str
    corpus: Corpus
    theirs: Callable[[Corpus], float]
    needs: tuple[str, ...] = ()


SKLEARN = ("sklearn",)
PAIRS = {
    "lda_sklearn_full": Pair(
        "online LDA, scikit-learn's LDA", "lda", "full", sklearn_seconds, SKLEARN
    ),
    "scvb0_sklearn_full": Pair(
        "SCVB0, scikit-learn's LDA", "scvb0", "full", sklearn_seconds, SKLEARN
    ),
    "lda_sklearn_short": Pair(
        "online LDA, scikit-learn's LDA, short articles",
        "lda",
        "short",
        sklearn_seconds,
        SKLEARN,
    ),
    "scvb0_sklearn_short": Pair(
        "SCVB0, scikit-learn's LDA, short articles",
        "scvb0",
        "short",
        sklearn_seconds,
        SKLEARN,
    ),
    "lda_sklearn_long": Pair(
        "online LDA, scikit-learn's LDA, few long articles",
        "lda",
        "long",
        sklearn_seconds,
        SKLEARN,
    ),
    "scvb0_sklearn_long": Pair(
        "SCVB0, scikit-learn's LDA, few long articles",
        "scvb0",
        "long",
        sklearn_seconds,
        SKLEARN,
    ),
    "lda_bigartm_full": Pair("online LDA, BigARTM", "lda", "full", bigartm_seconds),
    "lda_bigartm_short": Pair(
        "online LDA, BigARTM, short articles", "lda", "short", bigartm_seconds
    ),
    "lda_bigartm_long": Pair(
        "online LDA, BigARTM, few long articles", "lda", "long", bigartm_seconds
    ),
    "lda_vowpal_wabbit": Pair(
        "online LDA, Vowpal Wabbit's, short articles",
        "lda",
        "short",
        vowpal_wabbit_seconds,
        ("vowpalwabbit",),
    ),
    "hdp_gensim": Pair(
        "online HDP, gensim's HDP (K = 150, T = 15), short articles",
        "hdp",
        "short",
        gensim_hdp_seconds,
        ("gensim",),
    ),
}
for _name, _pair in PAIRS.items():
    _measure = partial(beside, _pair.ours, _pair.theirs, _pair.corpus)
    EXPERIMENT.add(_name, _measure, *_pair.needs)


TOPICS = (100, 300, 1_000)
OF_TOPICS: Mapping[str, Callable[[int], Any]] = {
    "online LDA": lambda topics: OnlineLDA(topics, words("full"), 100_000),
    "SCVB0": lambda topics: SCVB0(topics, words("full"), 100_000),
    "online HDP": lambda topics: OnlineHDP(words("full"), 100_000, max_topics=topics),
    "scikit-learn's LDA": lambda topics: peers.SklearnLDA(
        topics,
        words("full"),
        100_000,
        BEST_SIZE["full"],
    ),
}


@EXPERIMENT.point("sklearn")
def many_topics() -> Figures:
    """CPU microseconds to learn a document and to infer one, without reading the topics.

    By program: those of learning with each number of topics, then those of inferring.
    """
    documents = train("full")[: DOCUMENTS["full"]]
    asked = split("full").report[:1_024]
    models: dict[tuple[str, int], Any] = {}

    def learn(name: str, topics: int) -> float:
        model = OF_TOPICS[name](topics)
        models[name, topics] = model
        if isinstance(model, OnlineModel):
            batches = list(growing(documents, S))
        else:
            batches = [documents[: BEST_SIZE["full"]]]
        seconds, _ = timed(lambda: learn_all(model, iter(batches)))
        return seconds / sum(batch.D for batch in batches) * 1e6

    def infer(name: str, topics: int) -> float:
        model = models[name, topics]
        seconds, _ = timed(lambda: model.infer(asked))
        return seconds / asked.D * 1e6

    for make in OF_TOPICS.values():
        model = make(TOPICS[1])
        if isinstance(model, OnlineModel):
            compile_kernels(model)
    measures: list[Callable[[], float]] = []
    for name in OF_TOPICS:
        measures += [partial(learn, name, topics) for topics in TOPICS]
        measures += [partial(infer, name, topics) for topics in TOPICS]
    microseconds = np.reshape(in_turn(REPEATS, *measures), (len(OF_TOPICS), -1))
    return dict(zip(OF_TOPICS, microseconds.tolist(), strict=True))


SEEDS = (0, 1, 2)
MANY: Mapping[Corpus, str] = {"full": "full articles", "short": "short articles"}


def many(corpus: Corpus) -> Figures:
    """Online LDA after one pass under live conditions, by the number of topics: CPU microseconds to
    learn a document of a whole minibatch, the median of all with all seeds, so that starting over
    does not count; then means of the seeds: log-likelihood, NPMI and distinct words."""
    documents = train(corpus)
    scored = held_out(corpus)
    for topics in TOPICS:
        compile_kernels(OnlineLDA(topics, words(corpus), documents.D))
    figures = {}
    for topics in TOPICS:
        microseconds = []
        found = []
        for seed in SEEDS:
            model = OnlineLDA(topics, words(corpus), 7_000_000, seed=seed)
            order = np.random.default_rng(seed).permutation(documents.D)
            for batch in growing(documents.take(order), S):
                seconds, _ = timed(partial(model.learn, batch))
                if batch.D == S:
                    microseconds.append(seconds / S * 1e6)
            npmi, distinct, _ = quality(model.topics(), model.topic_shares(), documents)
            found.append((scored.score(model), npmi, distinct))
        log_likelihood, npmi, distinct = np.mean(found, axis=0).tolist()
        figures[str(topics)] = {
            "microseconds": float(np.median(microseconds)),
            "log_likelihood": log_likelihood,
            "npmi": npmi,
            "distinct": distinct,
        }
    return figures


for _corpus in MANY:
    EXPERIMENT.add(f"many_{_corpus}", partial(many, _corpus))


@EXPERIMENT.point()
def core() -> Figures:
    """GB/s of one core: read from rows of 4 kB, in random order, that fit into the first cache, the
    second one, and neither; and read and written when rows are added to such rows."""
    from wikitopics.model.kernels import add_lines, add_rows

    random = np.random.default_rng(0)
    length = 1_024
    ones = np.ones(10_000, np.float32)
    out = np.empty(length, np.float32)
    figures = {}
    for name, n_rows in (("first", 4), ("second", 250), ("neither", 7_000)):
        rows = np.ones((n_rows, length), np.float32)
        order = random.integers(0, n_rows, len(ones))
        read = partial(add_lines, len(ones), length, ones, order, rows, out)
        read()
        seconds = min(timed(read)[0] for _ in range(REPEATS * 3))
        figures[name] = len(ones) * rows[0].nbytes / seconds / 1e9
    ids = random.permutation(n_rows).astype(np.int32)
    add = partial(add_rows, 0, n_rows, ids, rows.copy(), np.float32(1), rows)
    add()
    seconds = min(timed(add)[0] for _ in range(REPEATS * 3))
    figures["added"] = 3 * rows.nbytes / seconds / 1e9
    return figures


@EXPERIMENT.point()
def two_threads() -> Figures:
    """Wall clock, the least of many tries in turn, since other work on the machine only ever adds
    to it."""
    documents = train()[:40_960]
    topics: dict[int, NDArray[Any]] = {}

    def run(threads: int) -> float:
        model = OnlineLDA(K, words(), 100_000, threads=threads)
        begun = time.perf_counter()
        learn_all(model, minibatches(documents, S))
        seconds = time.perf_counter() - begun
        topics[threads] = model.topics()
        return seconds

    run(1)  # compiles the kernels
    with_one = []
    with_two = []
    for _ in range(20):
        with_one.append(run(1))
        with_two.append(run(2))
    assert np.array_equal(topics[1], topics[2])
    return {"times": min(with_one) / min(with_two)}


def times(points: Points) -> str:
    columns = {"ours": "{ours:,.0f}", "theirs": "{theirs:,.0f}", "times": "{times:.1f}"}
    labels = {name: pair.label for name, pair in PAIRS.items()}
    return compared(labels, columns, points, "documents a CPU second")


def of_many(points: Points) -> str:
    head = ["", "K", "microseconds a document", "log-likelihood", "NPMI", "distinct words"]
    rows = []
    for corpus, label in MANY.items():
        for topics, found in points.get(f"many_{corpus}", {}).items():
            form = "{microseconds:.0f} | {log_likelihood:.4f} | {npmi:.3f} | {distinct:.3f}"
            rows.append([label, f"{int(topics):,}", *form.format(**found).split(" | ")])
    return table(head, rows)


def topics(points: Points) -> str:
    head = ["CPU microseconds a document"]
    head += [f"learn, K = {K:,}" for K in TOPICS]
    head += [f"infer, K = {K:,}" for K in TOPICS]
    rows = []
    for name, microseconds in points.get("many_topics", {}).items():
        rows.append([name, *(f"{each:,.0f}" for each in microseconds)])
    return table(head, rows)


EXPERIMENT.tables["times"] = times
EXPERIMENT.tables["many"] = of_many
EXPERIMENT.tables["topics"] = topics
