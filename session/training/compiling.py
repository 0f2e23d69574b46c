"""Compiles kernels, or loads them from their cache, while the source is still being contacted.

Compiling takes seconds the first time after an installation, and the first articles take a second or two to
arrive. Done in parallel, the first point of the curve comes sooner.
"""

from collections.abc import Sequence

import numpy as np

from wikitopics.model import Minibatch
from wikitopics.session.models import ModelSpec, new_model
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.training.evaluation import HeldOut

WORDS = 64
DOCUMENTS = 8


def warm_up(specs: Sequence[ModelSpec]) -> None:
    """Take models like those of ``specs`` through everything that a trainer does, then discard them."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (DOCUMENTS, WORDS)).astype(np.int32)
    counts[:, 0] = 1
    documents, words = np.nonzero(counts)
    indptr = np.searchsorted(documents, np.arange(DOCUMENTS + 1)).astype(np.int64)
    batch = Minibatch(indptr, words.astype(np.int32), counts[documents, words])
    held_out = HeldOut(batch, 0)
    for spec in specs:
        # As the trainer does: a model made from its state may have other types for the compiler.
        new = new_model(spec, WORDS, DOCUMENTS, 0)
        model = type(new).from_state(new.state())
        model.learn(batch)
        model.top_words(SNAPSHOT_WORDS)
        held_out.measure(model)
        model.infer(batch)
