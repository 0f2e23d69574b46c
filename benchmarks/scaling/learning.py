"""A pass of a model over some articles: seconds and memory against everything that they depend on.

Articles are drawn with replacement from short ones (103 words of 7,702), or from long ones (377
words of the shipped vocabulary). For a larger W each word is split at random into as many as
needed. For the HDP `topics` is the truncation.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Corpus, in_order, split
from benchmarks.harness import Figures
from benchmarks.measuring import cpu_seconds
from benchmarks.processes import status_mb
from wikitopics.model import Minibatch, OnlineModel, kinds

MODELS = ("lda", "hdp", "scvb0")
ASKED = 500
"""Held-out documents whose proportions are inferred."""
REPEATS = 5
"""Passes whose median is the figure; so many inferences in each pass, likewise."""
SHORT = 200_000
"""Documents: a pass over no more than these is repeated."""


@dataclass(frozen=True)
class Setting:
    """What a pass depends on."""

    documents: int = 20_480
    topics: int = 100
    words: int = 7_702
    batch: int = 1_024
    threads: int = 1
    corpus: Corpus = "short"


USUAL = Setting()
VARIED = {
    "documents": (10_240, 20_480, 102_400, 1_024_000),
    "topics": (25, 50, 100, 200, 500, 1_000, 2_000),
    "words": (7_702, 20_000, 50_000, 100_000),
    "batch": (64, 256, 1_024, 4_096, 16_384),
    "threads": (1, 2, 4),
}
"""One of these is varied, everything else as usual."""
MILLION = 1_024_000
LONG_WORDS = 8_000
"""The size of the shipped vocabulary, over which long articles are counted."""


def point(varied: str, value: int, model: str) -> str:
    """The name of a point; the usual setting is measured once."""
    return f"usual_{model}" if getattr(USUAL, varied) == value else f"{varied}_{value}_{model}"


def _varied(varied: str, value: int) -> Setting:
    changes: dict[str, Any] = {varied: value}
    return replace(USUAL, **changes)


def settings() -> Iterator[tuple[str, str, Setting]]:
    """(name, model, setting) of all points, each once."""
    named = {
        point(varied, value, model): (model, _varied(varied, value))
        for varied, values in VARIED.items()
        for value in values
        for model in MODELS
    }
    yield from ((name, model, setting) for name, (model, setting) in named.items())
    for model in MODELS:
        yield (
            f"million_{model}",
            model,
            replace(USUAL, documents=MILLION, words=LONG_WORDS, corpus="long"),
        )


def learnt(model: str, setting: Setting) -> Figures:
    """CPU and wall seconds of learning, documents inferred a CPU second (medians), and memory."""
    drawn = Drawn(setting.corpus, setting.words)
    kind = kinds.load(model)

    def new(topics: int, threads: int) -> Any:
        return kind.create(topics, setting.words, 7_000_000, threads=threads)

    new(10, 2).learn(drawn.minibatch(64))  # compiles
    new(10, 2).infer(drawn.minibatch(64))
    _forget_peak()
    before = status_mb(os.getpid(), "VmRSS")
    trained = new(setting.topics, setting.threads)
    passes = [_passed(trained, setting)]
    memory = status_mb(os.getpid(), "VmHWM") - before
    if setting.documents <= SHORT:
        passes += [
            _passed(new(setting.topics, setting.threads), setting) for _ in range(REPEATS - 1)
        ]
    cpu, seconds, inferring = (statistics.median(column) for column in zip(*passes, strict=True))
    documents = _steps(setting) * setting.batch
    return {
        **asdict(setting),
        "documents_learnt": documents,
        "learnt_a_cpu_second": round(documents / cpu),
        "learnt_a_second": round(documents / seconds),
        "inferred_a_cpu_second": round(ASKED / inferring),
        "memory_mb": round(memory, 1),
    }


def _steps(setting: Setting) -> int:
    return max(1, setting.documents // setting.batch)


def _passed(model: OnlineModel, setting: Setting) -> tuple[float, float, float]:
    """CPU and wall seconds of learning the documents, and CPU seconds of inferring the held-out
    ones."""
    drawn = Drawn(setting.corpus, setting.words)
    cpu = seconds = 0.0
    for _ in range(_steps(setting)):
        batch = drawn.minibatch(setting.batch)
        at = cpu_seconds()
        wall = time.perf_counter()
        model.learn(batch)
        cpu = cpu + cpu_seconds() - at
        seconds = seconds + time.perf_counter() - wall
    asked = drawn.held_out()
    inferring = []
    for _ in range(REPEATS):
        at = cpu_seconds()
        model.infer(asked)
        inferring.append(cpu_seconds() - at)
    return cpu, seconds, statistics.median(inferring)


class Drawn:
    """Minibatches of documents drawn with replacement, over a vocabulary of so many words."""

    def __init__(self, corpus: Corpus, n_words: int) -> None:
        self._corpus = split(corpus)
        self._n_words = n_words
        self._rng = np.random.default_rng(0)

    def minibatch(self, documents: int) -> Minibatch:
        real = self._corpus.train
        return self._parted(in_order(real, self._rng.integers(0, real.D, documents)))

    def held_out(self) -> Minibatch:
        return self._parted(self._corpus.report[:ASKED])

    def _parted(self, batch: Minibatch) -> Minibatch:
        """Each word as one of those that it was split into."""
        W = self._corpus.n_words
        if self._n_words == W:
            return batch
        ids = batch.word_ids + W * self._rng.integers(
            0, -(-self._n_words // W), len(batch.word_ids)
        )
        # A word whose last part would be beyond the vocabulary has one part less.
        ids = np.where(ids < self._n_words, ids, batch.word_ids % self._n_words)
        return Minibatch(batch.indptr, ids, batch.counts)


def _forget_peak() -> None:
    """Make VmHWM what is used now (Linux: proc_pid_clear_refs(5))."""
    Path("/proc/self/clear_refs").write_text("5")
