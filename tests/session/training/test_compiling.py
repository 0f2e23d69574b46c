"""Kernels compiled before the first article: all of them, and nothing else changes."""

import importlib

import numpy as np
import pytest
from numba.core import event

from model import Minibatch, kinds
from model.compiling import is_compiling
from session.models import new_model
from session.records import SNAPSHOT_WORDS
from session.request import TrainRequest
from session.training.compiling import warm_up
from session.training.evaluation import HeldOut


@pytest.mark.parametrize("spec", ["lda", "lda:alpha=learn,eta=learn", "scvb0", "hdp"])
def test_a_trainer_compiles_nothing_after_the_warm_up(spec: str) -> None:
    (parsed,) = TrainRequest(model=(spec,)).specs()
    warm_up([parsed])
    compiled: list[str] = []

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            compiled.append(event.data["dispatcher"].py_func.__name__)

        def on_end(self, event: event.Event) -> None:
            pass

    rng = np.random.default_rng(1)
    indptr = np.arange(31, dtype=np.int64) * 20
    words = np.concatenate([np.sort(rng.choice(500, 20, replace=False)) for _ in range(30)]).astype(np.int32)
    batch = Minibatch(indptr, words, rng.integers(1, 4, 600).astype(np.int32))
    with event.install_listener("numba:compile", Listener()):
        model = kinds.load(parsed.kind).from_state(new_model(parsed, 500, 1000, 0).state())
        model.learn(batch)
        model.top_words(SNAPSHOT_WORDS)
        HeldOut(batch, 0).measure(model)
        model.infer(batch)
    assert compiled == []


def test_a_compilation_is_told_as_long_as_it_lasts() -> None:
    importlib.import_module("model._jit")  # what compiles them, and listens
    assert not is_compiling()
    with event.trigger_event("numba:compile", data={}):
        assert is_compiling()
    assert not is_compiling()
