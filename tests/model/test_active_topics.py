"""Inference with many topics: over each document's active topics, beside all topics."""

import numpy as np
import pytest

from tests.model.conftest import emptied, needs_jit, planted_batch, read
from wikitopics.model import SCVB0, CompletionSet, kinds, scvb0_e_step

pytestmark = pytest.mark.usefixtures("not_short")


@pytest.fixture
def trained(kind):
    def trained_in(dtype):
        model = kinds.load(kind).create(40, 400, 1000, {"dtype": dtype})
        return read(model, texts()[:1000], 250)

    return trained_in


def texts():
    return emptied(planted_batch(1300, n_topics=30, n_words=400, length=60), 5)


def infer(monkeypatch, model, active, many=20):
    monkeypatch.setattr(scvb0_e_step, "MANY_TOPICS", many)
    monkeypatch.setattr(scvb0_e_step, "ACTIVE", active)
    return model.infer(texts())


def test_with_all_active_the_oracle_is_the_loop_over_all(monkeypatch):
    """Small enough for plain Python."""
    model = SCVB0(20, 30, 100, warm_start=False)
    batch = emptied(planted_batch(6, n_topics=3, n_words=30, length=8), 5)
    model.learn(batch)
    expected = model.infer(batch)
    monkeypatch.setattr(scvb0_e_step, "MANY_TOPICS", 1)
    monkeypatch.setattr(scvb0_e_step, "ACTIVE", 7)
    np.testing.assert_allclose(model.infer(batch), expected, atol=1e-4)


@needs_jit
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-5), ("float32", 1e-3)])
def test_with_all_active_it_is_the_loop_over_all(monkeypatch, trained, dtype, tolerance):
    model = trained(dtype)
    found = infer(monkeypatch, model, 7, many=20)  # 7 sqrt(40): 48
    expected = infer(monkeypatch, model, 7, many=1000)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@needs_jit
def test_few_active_topics_predict_nearly_as_well_on_any_number_of_threads(monkeypatch, trained):
    model = trained("float32")
    scored = CompletionSet(texts()[1000:])
    infer(monkeypatch, model, 2, many=1000)
    of_all = scored.score(model)
    one = infer(monkeypatch, model, 2)  # 2 sqrt(40): 16
    assert scored.score(model) == pytest.approx(of_all, abs=0.02)
    prior = model.document_prior()
    np.testing.assert_allclose(one[5], prior / prior.sum(), rtol=1e-4)
    model.threads = 3
    np.testing.assert_array_equal(model.infer(texts()), one)
