"""A pass of a model over some articles: seconds and memory against everything that they depend on.

Articles are drawn with replacement from short ones (103 words of 7,702), or from long ones (377
words of the shipped vocabulary). For a larger W each word is split at random into as many as
needed. For the HDP `topics` is the truncation.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import Corpus, split
from benchmarks.harness import Figures
from benchmarks.measuring import cpu_seconds
from benchmarks.processes import status_mb
from wikitopics.model import Minibatch, OnlineModel, kinds

MODELS = ("lda", "hdp", "scvb0")
ASKED = 500
"""Held-out documents whose proportions are inferred."""
REPEATS = 5
"""A figure of learning is the median of so many passes, that of a pass's inference the median of so
many inferences."""
MOST_REPEATED = 200_000
"""A pass over more documents than these is not repeated."""


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
"""The words of the shipped vocabulary, over which the long articles are counted."""


def point(varied: str, value: int, model: str) -> str:
    """The name of a point; the usual setting is measured once."""
    if getattr(USUAL, varied) == value:
        return f"usual_{model}"
    return f"{varied}_{value}_{model}"


def settings() -> list[tuple[str, str, Setting]]:
    """(name, model, setting) of all points, each once."""
    named: dict[str, tuple[str, Setting]] = {}
    for varied, values in VARIED.items():
        for value in values:
            changes: dict[str, Any] = {varied: value}
            setting = replace(USUAL, **changes)
            for model in MODELS:
                named[point(varied, value, model)] = (model, setting)
    million = replace(USUAL, documents=MILLION, words=LONG_WORDS, corpus="long")
    for model in MODELS:
        named[f"million_{model}"] = (model, million)
    return [(name, model, setting) for name, (model, setting) in named.items()]


def learnt(model: str, setting: Setting) -> Figures:
    """CPU and wall seconds of learning, documents inferred a CPU second (medians), and memory."""
    drawn = Drawn(setting.corpus, setting.words)
    kind = kinds.load(model)

    def new(topics: int, threads: int) -> OnlineModel:
        return kind.create(topics, setting.words, 7_000_000, threads=threads)

    new(10, 2).learn(drawn.minibatch(64))  # compiles the kernels
    new(10, 2).infer(drawn.minibatch(64))
    _forget_peak()
    before = status_mb(os.getpid(), "VmRSS")
    trained = new(setting.topics, setting.threads)
    passes = [_one_pass(trained, setting)]
    memory = status_mb(os.getpid(), "VmHWM") - before
    if setting.documents <= MOST_REPEATED:
        for _ in range(REPEATS - 1):
            passes.append(_one_pass(new(setting.topics, setting.threads), setting))
    documents = _steps(setting) * setting.batch
    learning_cpu_seconds = statistics.median(each.learning_cpu_seconds for each in passes)
    learning_seconds = statistics.median(each.learning_seconds for each in passes)
    inference_cpu_seconds = statistics.median(each.inference_cpu_seconds for each in passes)
    return {
        **asdict(setting),
        "documents_learnt": documents,
        "learnt_a_cpu_second": round(documents / learning_cpu_seconds),
        "learnt_a_second": round(documents / learning_seconds),
        "inferred_a_cpu_second": round(ASKED / inference_cpu_seconds),
        "memory_mb": round(memory, 1),
    }


def _steps(setting: Setting) -> int:
    return max(1, setting.documents // setting.batch)


class Pass(NamedTuple):
    """What a pass over the documents took, and the inference of the held-out ones."""

    learning_cpu_seconds: float
    learning_seconds: float
    inference_cpu_seconds: float


def _one_pass(model: OnlineModel, setting: Setting) -> Pass:
    drawn = Drawn(setting.corpus, setting.words)
    learning_cpu_seconds = 0.0
    learning_seconds = 0.0
    for _ in range(_steps(setting)):
        batch = drawn.minibatch(setting.batch)
        cpu_before = cpu_seconds()
        begun = time.perf_counter()
        model.learn(batch)
        learning_cpu_seconds += cpu_seconds() - cpu_before
        learning_seconds += time.perf_counter() - begun
    asked = drawn.held_out()
    inference_cpu_seconds = []
    for _ in range(REPEATS):
        cpu_before = cpu_seconds()
        model.infer(asked)
        inference_cpu_seconds.append(cpu_seconds() - cpu_before)
    return Pass(learning_cpu_seconds, learning_seconds, statistics.median(inference_cpu_seconds))


class Drawn:
    """Minibatches of documents drawn with replacement, over a vocabulary of so many words."""

    def __init__(self, corpus: Corpus, n_words: int) -> None:
        self._corpus = split(corpus)
        self._n_words = n_words
        self._rng = np.random.default_rng(0)

    def minibatch(self, documents: int) -> Minibatch:
        real = self._corpus.train
        rows = self._rng.integers(0, real.D, documents)
        return self._words_split(real.take(rows))

    def held_out(self) -> Minibatch:
        return self._words_split(self._corpus.report[:ASKED])

    def _words_split(self, batch: Minibatch) -> Minibatch:
        """The documents with each word as one of those that it is split into."""
        W = self._corpus.n_words
        if self._n_words == W:
            return batch
        # Part p of word w has the id w + p W.
        parts = math.ceil(self._n_words / W)
        part = self._rng.integers(0, parts, len(batch.word_ids))
        ids = batch.word_ids + W * part
        # A word whose last part would be beyond the vocabulary has one part less.
        ids = np.where(ids < self._n_words, ids, batch.word_ids % self._n_words)
        return Minibatch(batch.indptr, ids, batch.counts)


def _forget_peak() -> None:
    """Make VmHWM what is used now (Linux: proc_pid_clear_refs(5))."""
    Path("/proc/self/clear_refs").write_text("5")
