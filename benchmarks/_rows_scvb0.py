"""SCVB0's rows of the table."""

from __future__ import annotations

import functools

import numpy as np

from benchmarks import _data as data
from benchmarks._measure import Curve, cpu_seconds, curve, growing, in_turn, learn_all, minibatches
from benchmarks._peers import FixedTopics, SklearnLDA
from benchmarks._row import Row, row
from benchmarks._rows_lda import gibbs_topics, paper_curve, sklearn_curve, sklearn_seconds
from model import SCVB0, CompletionSet, Minibatch

W = 7702
SPEED = 20_480  # documents of a measurement of speed


def seconds_of(**options: float) -> float:
    """CPU seconds of SCVB0 at its defaults, `topics()` included."""
    documents = data.stream()[:SPEED]
    model = SCVB0(100, W, 100_000, **options)
    start = cpu_seconds()
    learn_all(model, minibatches(documents, 1024))
    model.topics()
    return cpu_seconds() - start


def warm_up() -> None:
    """Compile."""
    model = SCVB0(100, W, 1000)
    model.learn(data.stream()[:1000])
    data.held_out().score(model)


@functools.cache
def default_curve() -> Curve:
    warm_up()
    batches = growing(data.stream(), SCVB0.default_batch_size)
    return curve("SCVB0", SCVB0(100, W, data.stream().D), batches, data.held_out())


@functools.cache
def paper_settings_curve() -> Curve:
    warm_up()
    model = SCVB0(100, W, data.stream().D, warm_start=False)
    return curve("SCVB0, settings of [F13]", model, minibatches(data.stream(), 100), data.held_out())


@row("sklearn")
def against_sklearn() -> Row:
    warm_up()
    ours, theirs = in_turn(3, lambda: seconds_of() / SPEED, lambda: sklearn_seconds() / 4096)
    return Row(
        "SCVB0 / scikit-learn, documents per CPU second",
        theirs / ours,
        15,
        30,
        f"{1 / ours:,.0f} / {1 / theirs:,.0f}",
    )


def _beside_sklearn(what: str, documents: Minibatch, held_out: CompletionSet) -> list[Row]:
    """Both in minibatches of 1,024, and both at their own settings for a corpus of this size."""
    warm_up()
    ours, theirs = SCVB0(100, W, documents.D), SklearnLDA(100, W, documents.D)
    start = cpu_seconds()
    learn_all(ours, minibatches(documents, 1024))
    ours.topics()
    middle = cpu_seconds()
    learn_all(theirs, minibatches(documents, 1024))
    end = cpu_seconds()
    speeds = documents.D / (middle - start), documents.D / (end - middle)
    scores = held_out.score(ours), held_out.score(theirs)
    return [
        Row(
            f"{what}: SCVB0 / scikit-learn, documents per CPU second",
            speeds[0] / speeds[1],
            15,
            30,
            f"{speeds[0]:,.0f} / {speeds[1]:,.0f}",
        ),
        Row(
            f"{what}: SCVB0 above scikit-learn, nats a word",
            scores[0] - scores[1],
            -0.02,
            -0.02,
            f"{scores[0]:.3f} / {scores[1]:.3f}",
        ),
    ]


@row("sklearn")
def long_articles() -> list[Row]:
    return _beside_sklearn("380 words", *data.long_articles())


@row("sklearn")
def short_stream() -> list[Row]:
    return _beside_sklearn("12,000 documents", data.stream()[:12_000], data.held_out())


@row("sklearn")
def seconds_to_sklearns_likelihood() -> Row:
    theirs, ours = sklearn_curve(), default_curve()
    seconds = ours.seconds_to(theirs.log_likelihood[-1])
    return Row(
        "scikit-learn's CPU seconds / SCVB0's to its final log-likelihood",
        theirs.seconds[-1] / seconds,
        10,
        25,
        f"{theirs.seconds[-1]:.1f} s / {seconds:.2f} s, to {theirs.log_likelihood[-1]:.3f}",
    )


@row()
def above_the_papers_settings() -> Row:
    ours, lda, paper = default_curve(), paper_curve(), paper_settings_curve()
    return Row(
        "SCVB0 above OnlineLDA at [H10]'s settings, nats a word",
        ours.log_likelihood[-1] - lda.log_likelihood[-1],
        0.04,
        0.08,
        f"{ours.log_likelihood[-1]:.3f} in {ours.seconds[-1]:.1f} s / {lda.log_likelihood[-1]:.3f}; "
        f"SCVB0 at [F13]'s settings {paper.log_likelihood[-1]:.3f} in {paper.seconds[-1]:.1f} s",
    )


def with_our_proportions(theirs: FixedTopics) -> SCVB0:
    """Somebody else's topics and prior with SCVB0's way to the proportions of held-out documents."""
    topics = theirs.topics()
    return SCVB0.with_topics(topics, np.full(len(topics), 1e9), theirs.document_prior())


@row("tomotopy")
def one_pass_against_gibbs() -> list[Row]:
    """Both ways to proportions: theirs would be judged too low by variational ones alone."""
    seconds, theirs = gibbs_topics()
    ours = default_curve()
    return [
        Row(
            f"SCVB0 in one pass above 100 Gibbs sweeps ({how}), nats a word",
            ours.log_likelihood[-1] - value,
            -0.02,
            0.0,
            f"{ours.log_likelihood[-1]:.3f} in {ours.seconds[-1]:.1f} s / {value:.3f} in {seconds:.0f} s",
        )
        for how, value in (
            ("variational proportions for theirs", data.held_out().score(theirs)),
            ("SCVB0's proportions for both", data.held_out().score(with_our_proportions(theirs))),
        )
    ]


@row()
def step_size_without_tuning() -> Row:
    """Streams and minibatches of several sizes: the adaptive step beside the best one schedule for all."""
    warm_up()
    schedules = [{}, *({"tau0": tau0, "kappa": kappa} for tau0 in (1.0, 16.0) for kappa in (0.5, 0.7, 0.9))]
    streams = ((12_000, 256), (12_000, 1024), (50_000, 256), (50_000, 1024), (50_000, 4096))
    scores = np.zeros((len(schedules), len(streams)))
    for i, options in enumerate(schedules):
        for j, (n, size) in enumerate(streams):
            for seed in (0, 1):
                model = SCVB0(100, W, n, seed=seed, **options)
                learn_all(model, minibatches(data.stream()[:n], size))
                scores[i, j] += data.held_out().score(model) / 2
    best = scores[1:].mean(axis=1).argmax() + 1
    behind = (scores[1:].max(axis=0) - scores[0]).max()
    return Row(
        "SCVB0's adaptive step above the best fixed schedule, mean of five streams, nats a word",
        scores[0].mean() - scores[best].mean(),
        0.0,
        0.0,
        f"{scores[0].mean():.3f} / {scores[best].mean():.3f} with {schedules[best]}; behind the best of each "
        f"stream by {behind:.3f} at worst",
    )
