"""What must hold of OnlineHDP whatever the numbers: weights, starts, step sizes, extremes."""

from dataclasses import replace

import numpy as np
import pytest

from tests.model.hdp.small_hdp import ETA, OMEGA, T, make, mixed_documents
from wikitopics.model import Minibatch
from wikitopics.model.hdp import WARM, OnlineHDP
from wikitopics.model.schedules import raised


@pytest.fixture
def documents():
    return mixed_documents()


def test_a_corpus_weighs_as_a_large_one_against_the_priors(documents):
    small, large = (make(n_documents=D, dtype="float64") for D in (documents.D, WARM.smallest_corpus))
    for model in (small, large):
        model.learn(documents)
    # Every topic and stick rests on the words and tables of a large corpus, and D stays the one given.
    assert small.topic_weights().sum() == pytest.approx(large.topic_weights().sum(), rel=0.1)
    assert small.n_documents == small.state()["n_documents"] == documents.D
    paper = make(n_documents=documents.D, warm_start=False, tau0=0.0, dtype="float64")
    paper.learn(documents)
    assert paper.topic_weights().sum() == pytest.approx(8 * 30 * ETA + documents.n_tokens)


@pytest.mark.parametrize("sizes", [[24], [1] * 24, [2, 3, 19], [16, 8]])
def test_starts_from_the_first_documents_however_they_come(documents, sizes):
    model = make(dtype="float64")
    model.recipe = replace(model.recipe, first_documents=24)
    position = 0
    for size in sizes:
        theta = model.learn(documents[position : position + size])
        assert theta.shape == (size, 8)
        position += size
    assert model.updates == len(sizes)
    # Everything starts over once the first documents are there: nothing of the order is left but the draws.
    assert model.state()["started_from"] == 24
    assert len(model.state()["first_counts"]) == 0
    model.learn(documents)
    assert model.updates == len(sizes) + 1


def test_the_start_weighs_as_much_as_the_corpus(documents):
    """Shown by steps that change next to nothing: 100 words a document, and the tables of all documents."""
    model = make(dtype="float64", tau0=1e12, kappa=1.0)
    model.learn(documents[:5])
    D = WARM.smallest_corpus
    np.testing.assert_allclose(
        model.topic_weights(), D * 100 / 8 + 30 * raised(ETA, model.n_documents, 1e5), rtol=1e-6
    )
    tables = WARM.heavy * D * T / 8
    np.testing.assert_allclose(model.a, 1 + tables, rtol=1e-6)
    np.testing.assert_allclose(model.b, OMEGA + tables * np.arange(7, 0, -1), rtol=1e-6)


def test_small_minibatches_forget_as_much_as_one_large(documents):
    whole = make(n_documents=1, dtype="float64")
    whole.learn(documents[:1])
    parts = OnlineHDP.from_state(whole.state())
    whole.learn(documents[:12])
    for start in range(0, 12, 3):
        parts.learn(documents[start : start + 3])
    last_parts = documents[:12].n_tokens / documents[9:12].n_tokens
    assert whole.rho == pytest.approx(1 - (1 - parts.rho) ** last_parts, rel=0.01)


def test_survives_a_rescaled_state(documents):
    model = make(dtype="float64", warm_start=False, kappa=0.5, tau0=0.0, max_iterations=2)
    documents = documents[:3]
    other = OnlineHDP.from_state(model.state())
    for _ in range(40):
        model.learn(documents)
        state = other.state()
        scaled = {name: state[name] * state["scale"] for name in ("lambda_hat", "total_hat")}
        other = OnlineHDP.from_state({**state, **scaled, "scale": 1.0})
        other.learn(documents)
    np.testing.assert_allclose(model.lambda_, other.lambda_, rtol=1e-9)


def test_extremes():
    long = Minibatch([0, 3, 3], [0, 1, 2], [50_000, 1, 1])
    for options in (
        {"max_topics": 1},
        {"max_topics_per_document": 1},
        {"alpha": 1e-6},
        {"alpha": 10.0, "omega": 10.0},
        {"eta": 1e-3},
        {"warm_start": False},
        {"warm_start": False, "max_topics": 1, "max_topics_per_document": 1},
    ):
        model = make(**options)
        for _ in range(3):
            theta = model.learn(long)
        for proportions_ in (theta, model.infer(long)):
            np.testing.assert_allclose(proportions_.sum(axis=1), 1, rtol=1e-4)
        assert np.all(np.isfinite(model.topics()))
        np.testing.assert_allclose(model.topics().sum(axis=1), 1, rtol=1e-4)
    single = OnlineHDP(1, 10)
    single.learn(Minibatch([0, 1], [0], [5]))
    np.testing.assert_allclose(single.topics(), 1)
