"""Compiling the models' kernels, or loading them from their cache, while the source is still being
contacted.

Compiling takes seconds the first time after an installation, and the first articles take a second
or two to arrive. Doing both in parallel brings the first point of the curve sooner.
"""

import contextlib
from collections.abc import Sequence

import numpy as np

from wikitopics.compiled import compiling, nothing_kept
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.allocation import DirichletAllocation
from wikitopics.model.coherence import Cooccurrences
from wikitopics.model.relevance import RELEVANCE
from wikitopics.model.threads import Threads
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.settings import ModelSpec, load_kind, new_model
from wikitopics.session.training.held_out import HeldOut
from wikitopics.session.training.workers import JobFailed, WorkerDied, Workers

WARM_UP_WORDS = 64
WARM_UP_DOCUMENTS = 8


def warm_up(specs: Sequence[ModelSpec]) -> None:
    """Take models like those of ``specs`` through everything that a trainer does, then discard
    them.

    A process compiles one kernel at a time. After an installation, when all kernels have to be
    compiled, another process compiles those for learning, and this one loads them.
    """
    if nothing_kept():
        with (
            compiling(),
            Workers(1, bool, ()) as helper,
            contextlib.suppress(JobFailed, WorkerDied),
        ):
            learnt = helper.submit(_learn, specs)
            _measure(specs)
            learnt.result()
    _learn(specs)
    _measure(specs)


def _learn(specs: Sequence[ModelSpec]) -> None:
    """Make models learn, and read their words."""
    for spec in specs:
        model = _like(spec)
        model.learn(_documents())
        # Once LDA has learnt a part of its corpus, long documents have another E-step.
        model.learn(_documents(4 * spec.topics))
        model.top_words(SNAPSHOT_WORDS)
        model.relevant_words(SNAPSHOT_WORDS, RELEVANCE)
    _start_over(specs)


def _measure(specs: Sequence[ModelSpec]) -> None:
    """Measure models, for LDA beginning with what only measuring needs, and infer documents."""
    documents = _documents()
    held_out = HeldOut(documents, 0)
    for spec in specs:
        model = _like(spec)
        held_out.measure(model, Cooccurrences(documents))
        model.infer(documents)


def _start_over(specs: Sequence[ModelSpec]) -> None:
    """Find first topics, as some models do in the midst of learning, where compiling would halt
    it."""
    if any(issubclass(load_kind(spec.kind), DirichletAllocation) for spec in specs):
        from wikitopics.model.rotation import first_topics

        random = np.random.default_rng(0)
        documents = _documents()
        counts = random.integers(1, 9, len(documents.word_ids))
        varied = Minibatch(documents.indptr, documents.word_ids, counts)
        first_topics(varied, WARM_UP_WORDS, 2, random, Threads(1))


def _like(spec: ModelSpec) -> OnlineModel:
    """A small model, made from its state as in the trainer: the compiler may see other types
    otherwise."""
    new = new_model(spec, WARM_UP_WORDS, WARM_UP_DOCUMENTS, 0)
    return type(new).from_state(new.state())


def _documents(count: int = 1) -> Minibatch:
    """Documents for compiling the kernels: each has every word, this many times."""
    W = WARM_UP_WORDS
    D = WARM_UP_DOCUMENTS
    word_ids = np.tile(np.arange(W, dtype=np.int32), D)
    indptr = np.arange(0, W * D + 1, W)
    return Minibatch(indptr, word_ids, np.full(W * D, count, np.int32))
