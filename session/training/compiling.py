"""Compiles kernels, or loads them from their cache, while the source is still being contacted.

Compiling takes seconds the first time after an installation, and the first articles take a second or two to
arrive. Done in parallel, the first point of the curve comes sooner.
"""

import contextlib
from collections.abc import Sequence

import numpy as np

from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.compiling import nothing_kept
from wikitopics.session.models import ModelSpec, new_model
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.training.evaluation import HeldOut
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied, Workers

WORDS = 64
DOCUMENTS = 8


def warm_up(specs: Sequence[ModelSpec]) -> None:
    """Take models like those of ``specs`` through everything that a trainer does, then discard them.

    A process compiles one kernel at a time. After an installation, when all of them have to be compiled,
    another process does what learning needs, and this one loads it.
    """
    if nothing_kept():
        with Workers(1, bool, ()) as helper, contextlib.suppress(JobFailed, WorkerDied):
            learnt = helper.submit(learn, specs)
            measure(specs)
            learnt.result()
    learn(specs)
    measure(specs)


def learn(specs: Sequence[ModelSpec]) -> None:
    """Have models learn, and their words read."""
    for spec in specs:
        model = _like(spec)
        model.learn(_documents())
        model.top_words(SNAPSHOT_WORDS)


def measure(specs: Sequence[ModelSpec]) -> None:
    """Have models measured, which for LDA begins with what only this needs, and documents inferred."""
    documents = _documents()
    held_out = HeldOut(documents, 0)
    for spec in specs:
        model = _like(spec)
        held_out.measure(model)
        model.infer(documents)


def _like(spec: ModelSpec) -> OnlineModel:
    """A small model. As the trainer does: one made from its state may have other types for the compiler."""
    new = new_model(spec, WORDS, DOCUMENTS, 0)
    return type(new).from_state(new.state())


def _documents() -> Minibatch:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (DOCUMENTS, WORDS)).astype(np.int32)
    counts[:, 0] = 1
    documents, words = np.nonzero(counts)
    indptr = np.searchsorted(documents, np.arange(DOCUMENTS + 1)).astype(np.int64)
    return Minibatch(indptr, words.astype(np.int32), counts[documents, words])
