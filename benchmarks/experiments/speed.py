"""Documents learnt in a CPU second, beside other programs in the same run; threads, and many
topics.

Each takes turns with ours, three times; medians. The topics are looked up after each of our
minibatches, as the screen does.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.data import Corpus, split
from benchmarks.harness import Experiment, Figures, Points, compared, table
from benchmarks.measuring import (
    compile_kernels,
    cpu_seconds,
    growing,
    in_turn,
    learn_all,
    minibatches,
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
    """Both take turns: documents a CPU second, and how many times as fast ours is."""
    make = partial(MODELS[kind], corpus)
    compile_kernels(make())
    ours, others = in_turn(REPEATS, lambda: our_seconds(make, corpus), lambda: theirs(corpus))
    return {"times": others / ours, "ours": 1 / ours, "theirs": 1 / others}


PAIRS: Mapping[str, tuple[str, Callable[[Corpus], float], tuple[str, ...]]] = {
    "lda_sklearn_full": ("online LDA, scikit-learn's LDA", sklearn_seconds, ("sklearn",)),
    "scvb0_sklearn_full": ("SCVB0, scikit-learn's LDA", sklearn_seconds, ("sklearn",)),
    "lda_sklearn_short": (
        "online LDA, scikit-learn's LDA, short articles",
        sklearn_seconds,
        ("sklearn",),
    ),
    "scvb0_sklearn_short": (
        "SCVB0, scikit-learn's LDA, short articles",
        sklearn_seconds,
        ("sklearn",),
    ),
    "lda_sklearn_long": (
        "online LDA, scikit-learn's LDA, few long articles",
        sklearn_seconds,
        ("sklearn",),
    ),
    "scvb0_sklearn_long": (
        "SCVB0, scikit-learn's LDA, few long articles",
        sklearn_seconds,
        ("sklearn",),
    ),
    "lda_bigartm_full": ("online LDA, BigARTM", bigartm_seconds, ()),
    "lda_bigartm_short": ("online LDA, BigARTM, short articles", bigartm_seconds, ()),
    "lda_bigartm_long": ("online LDA, BigARTM, few long articles", bigartm_seconds, ()),
    "lda_vowpal_wabbit": (
        "online LDA, Vowpal Wabbit's, short articles",
        vowpal_wabbit_seconds,
        ("vowpalwabbit",),
    ),
    "hdp_gensim": (
        "online HDP, gensim's HDP (K = 150, T = 15), short articles",
        gensim_hdp_seconds,
        ("gensim",),
    ),
}
"""The row's label, the other program and the packages that it needs. A name holds our model, the
other program, and the corpus, if it is not that of short articles."""


def corpus_of(pair: str) -> Corpus:
    """The corpus that the name of a pair ends with; short articles if it names none."""
    for corpus in DOCUMENTS:
        if pair.endswith(corpus):
            return corpus
    return "short"


for _name, (_, _theirs, _needs) in PAIRS.items():
    _kind, _, _ = _name.partition("_")
    EXPERIMENT.add(_name, partial(beside, _kind, _theirs, corpus_of(_name)), *_needs)


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
    """CPU microseconds to learn a document and to infer one, without looking the topics up."""
    first = train("full")[: DOCUMENTS["full"]]
    others = split("full").report[:1_024]
    models: dict[tuple[str, int], Any] = {}

    def learn(name: str, topics: int) -> float:
        model = models[name, topics] = OF_TOPICS[name](topics)
        ours = isinstance(model, OnlineModel)
        batches = [*growing(first, S)] if ours else [first[: BEST_SIZE["full"]]]
        return timed(lambda: learn_all(model, iter(batches)))[0] / sum(map(len, batches)) * 1e6

    def infer(name: str, topics: int) -> float:
        return timed(lambda: models[name, topics].infer(others))[0] / others.D * 1e6

    for make in [*OF_TOPICS.values()][:3]:
        compile_kernels(make(TOPICS[1]))
    measures = [
        partial(work, name, topics)
        for name in OF_TOPICS
        for work in (learn, infer)
        for topics in TOPICS
    ]
    taken = np.reshape(in_turn(REPEATS, *measures), (len(OF_TOPICS), -1))
    return dict(zip(OF_TOPICS, taken.tolist(), strict=True))


@EXPERIMENT.point()
def two_threads() -> Figures:
    """Wall clock, the least of many tries in turn, since other work on the machine only ever adds
    to it."""
    documents = train()[:40_960]
    topics = {}

    def run(threads: int) -> float:
        model = OnlineLDA(K, words(), 100_000, threads=threads)
        seconds, _ = timed(lambda: learn_all(model, minibatches(documents, S)), time.perf_counter)
        topics[threads] = model.topics()
        return seconds

    run(1)
    taken = [(run(1), run(2)) for _ in range(20)]
    one, two = (min(column) for column in zip(*taken, strict=True))
    assert np.array_equal(topics[1], topics[2])
    return {"times": one / two}


def times(points: Points) -> str:
    columns = {"ours": "{ours:,.0f}", "theirs": "{theirs:,.0f}", "times": "{times:.1f}"}
    labels = {name: label for name, (label, *_) in PAIRS.items()}
    return compared(labels, columns, points, "documents a CPU second")


def topics(points: Points) -> str:
    head = [f"{work}, K = {K:,}" for work in ("learn", "infer") for K in TOPICS]
    rows = points.get("many_topics", {}).items()
    return table(
        ["CPU microseconds a document", *head],
        ([name, *(f"{one:,.0f}" for one in taken)] for name, taken in rows),
    )


EXPERIMENT.tables["times"] = times
EXPERIMENT.tables["topics"] = topics
