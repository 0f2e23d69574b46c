"""OnlineLDA's rows of the table."""

from __future__ import annotations

import functools

import numpy as np

from benchmarks import _data as data
from benchmarks._measure import (
    Curve,
    cpu_seconds,
    curve,
    growing,
    in_turn,
    learn_all,
    minibatches,
    wall,
)
from benchmarks._peers import FixedTopics, SklearnLDA, tomotopy_gibbs, vowpal_wabbit_seconds
from benchmarks._row import Row, row
from model import OnlineLDA

W = 7702
PAPER = {"warm_start": False, "alpha": 0.01, "eta": 0.01, "tau0": 64.0, "kappa": 0.5}  # [H10] table 1
SPEED = 10_240  # documents of a measurement of speed


def seconds_of(n_topics: int = 100, size: int = 1024, documents=None) -> float:
    """CPU seconds of OnlineLDA at its defaults, `topics()` after each minibatch included."""
    documents = documents or data.stream()[:SPEED]
    model = OnlineLDA(n_topics, W, 100_000)
    start = cpu_seconds()
    for batch in minibatches(documents, size):
        model.learn(batch)
        model.topics()
    return cpu_seconds() - start


def sklearn_seconds(documents=None) -> float:
    documents = documents or data.stream()[:4096]
    model = SklearnLDA(100, W, 100_000)
    start = cpu_seconds()
    learn_all(model, minibatches(documents, 1024))
    return cpu_seconds() - start


@functools.cache
def paper_curve() -> Curve:
    model = OnlineLDA(100, W, data.stream().D, **PAPER)
    return curve("OnlineLDA, settings of [H10]", model, minibatches(data.stream(), 4096), data.held_out())


@functools.cache
def default_curve() -> Curve:
    model = OnlineLDA(100, W, data.stream().D)
    batches = growing(data.stream(), OnlineLDA.default_batch_size)
    return curve("OnlineLDA", model, batches, data.held_out())


@functools.cache
def sklearn_curve() -> Curve:
    first = data.stream()[:100_000]
    model = SklearnLDA(100, W, first.D, offset=64.0)
    return curve("scikit-learn", model, minibatches(first, 1024), data.held_out(), points=8)


@functools.cache
def gibbs_topics() -> tuple[float, FixedTopics]:
    """CPU seconds and topics of 100 sweeps."""
    return tomotopy_gibbs(data.stream(), data.words(), 100, 100)


@functools.cache
def gibbs() -> tuple[float, float]:
    """CPU seconds and log-likelihood of 100 sweeps."""
    seconds, topics = gibbs_topics()
    return seconds, data.held_out().score(topics)


@row("sklearn")
def against_sklearn() -> Row:
    seconds_of(documents=data.stream()[:1024])  # compile
    ours, theirs = in_turn(3, lambda: seconds_of() / SPEED, lambda: sklearn_seconds() / 4096)
    return Row(
        "OnlineLDA / scikit-learn, documents per CPU second",
        theirs / ours,
        10,
        15,
        f"{1 / ours:,.0f} / {1 / theirs:,.0f}",
    )


@row("vowpalwabbit")
def against_vowpal_wabbit() -> Row:
    seconds_of(documents=data.stream()[:1024])
    ours, theirs = in_turn(
        3,
        lambda: seconds_of() / SPEED,
        lambda: vowpal_wabbit_seconds(data.stream()[:SPEED], 100, 100_000) / SPEED,
    )
    return Row(
        "OnlineLDA / Vowpal Wabbit, documents per CPU second",
        theirs / ours,
        5,
        8,
        f"{1 / ours:,.0f} / {1 / theirs:,.0f}",
    )


@row()
def four_times_the_topics() -> Row:
    seconds_of(documents=data.stream()[:1024])
    documents = data.stream()[:40_960]
    few, many = in_turn(
        3, lambda: seconds_of(documents=documents), lambda: seconds_of(400, documents=documents)
    )
    return Row("OnlineLDA, time at K = 400 / at K = 100", many / few, 2.5, 1.5, "", more_is_better=False)


@row()
def two_threads() -> Row:
    documents = data.stream()[:40_960]
    topics = {}

    def run(threads: int) -> float:
        model = OnlineLDA(100, W, 100_000, threads=threads)
        seconds, _ = wall(lambda: learn_all(model, minibatches(documents, 1024)))
        topics[threads] = model.topics()
        return seconds

    run(1)
    # The least of many, in turn: other work on the machine only ever adds to a wall clock.
    taken = [(run(1), run(2)) for _ in range(20)]
    one, two = (min(column) for column in zip(*taken, strict=True))
    same = "identical" if np.array_equal(topics[1], topics[2]) else "DIFFERENT"
    return Row("OnlineLDA, wall clock of one thread / of two", one / two, 1.7, 1.9, f"results {same}")


@row()
def above_the_papers_settings() -> Row:
    ours, paper = default_curve().log_likelihood[-1], paper_curve().log_likelihood[-1]
    return Row(
        "OnlineLDA above [H10]'s settings, nats a word", ours - paper, 0.04, 0.08, f"{ours:.3f} / {paper:.3f}"
    )


@row("sklearn")
def seconds_to_sklearns_likelihood() -> Row:
    theirs = sklearn_curve()
    best = min((default_curve(),), key=lambda c: c.seconds_to(theirs.log_likelihood[-1]))
    seconds = best.seconds_to(theirs.log_likelihood[-1])
    return Row(
        "scikit-learn's CPU seconds / ours to its final log-likelihood",
        theirs.seconds[-1] / seconds,
        10,
        25,
        f"{theirs.seconds[-1]:.1f} s / {seconds:.2f} s ({best.name}), to {theirs.log_likelihood[-1]:.3f}",
    )


@row("tomotopy")
def one_pass_against_gibbs() -> Row:
    seconds, theirs = gibbs()
    ours = default_curve()
    return Row(
        "OnlineLDA in one pass above 100 Gibbs sweeps, nats a word",
        ours.log_likelihood[-1] - theirs,
        -0.02,
        0.0,
        f"{ours.log_likelihood[-1]:.3f} in {ours.seconds[-1]:.1f} s / {theirs:.3f} in {seconds:.0f} s",
    )


@row()
def against_float64() -> Row:
    first = data.stream()[:20_000]
    scores = []
    for dtype in ("float32", "float64"):
        model = OnlineLDA(100, W, 20_000, dtype=dtype, **PAPER)
        scores.append(data.held_out().score(learn_all(model, minibatches(first, 1024))))
    return Row(
        "OnlineLDA in float32 below float64, nats a word after 20,000",
        scores[1] - scores[0],
        0.003,
        0.003,
        f"{scores[0]:.4f} / {scores[1]:.4f}",
        more_is_better=False,
    )


def _beside_sklearn(what: str, documents, held_out, size: int) -> list[Row]:
    ours = OnlineLDA(100, W, documents.D)
    theirs = SklearnLDA(100, W, documents.D, batch_size=size)
    start = cpu_seconds()
    learn_all(ours, growing(documents, size))
    ours.topics()
    middle = cpu_seconds()
    learn_all(theirs, minibatches(documents, size))
    end = cpu_seconds()
    scores = held_out.score(ours), held_out.score(theirs)
    speeds = documents.D / (middle - start), documents.D / (end - middle)
    return [
        Row(
            f"{what}: OnlineLDA / scikit-learn, documents per CPU second",
            speeds[0] / speeds[1],
            10,
            15,
            f"{speeds[0]:,.0f} / {speeds[1]:,.0f}",
        ),
        Row(
            f"{what}: OnlineLDA above scikit-learn, nats a word",
            scores[0] - scores[1],
            -0.02,
            -0.02,
            f"{scores[0]:.3f} / {scores[1]:.3f}",
        ),
    ]


@row("sklearn")
def long_articles() -> list[Row]:
    documents, held_out = data.long_articles()
    seconds_of(documents=data.stream()[:1024])
    return _beside_sklearn("380 words", documents, held_out, 1024)


@row("sklearn")
def short_stream() -> list[Row]:
    seconds_of(documents=data.stream()[:1024])
    return _beside_sklearn("12,000 documents", data.stream()[:12_000], data.held_out(), 1100)
