"""What must hold of OnlineLDA whatever the numbers: planted topics found again, extremes."""

import numpy as np
import pytest

from tests.model.conftest import distances, needs_jit, planted
from wikitopics.model import Minibatch, OnlineLDA, document_completion

PAPER = {"warm_start": False, "alpha": 0.1, "eta": 0.05}


@needs_jit
def test_planted_topics_are_found():
    found = []
    for seed in range(8):
        batch, beta = planted(1500, seed=seed, n_topics=6, n_words=60)
        m = OnlineLDA(6, 60, 1500, seed=seed)
        start = 0
        while start < batch.D:
            stop = start + max(64, start // 4)
            m.learn(batch[start:stop])
            start = stop
        found.append((distances(m.topics(), beta) < 0.3).sum())
    # One pass from small minibatches may merge two topics now and then, no more.
    assert min(found) >= 4
    assert found.count(6) >= 6


@pytest.mark.parametrize("n_documents", [20, 150])
def test_a_few_documents_are_better_than_none(n_documents):
    W = 4000
    frequency = 1 / np.arange(10, W + 10)
    words = np.random.default_rng(0).choice(W, (n_documents + 100, 80), p=frequency / frequency.sum())
    batch = Minibatch(np.arange(len(words) + 1) * 80, words.ravel(), np.ones(words.size, int))
    m = OnlineLDA(3, W, n_documents)
    for start in range(0, n_documents, 64):
        m.learn(batch[start : min(start + 64, n_documents)])
    assert document_completion(m, batch[n_documents:]) > -np.log(W)


@pytest.mark.parametrize("alpha", [1e-6, 10.0])
@pytest.mark.parametrize("eta", [1e-3, 1.0])
@pytest.mark.parametrize("warm_start", [False, True])
def test_extreme_priors(alpha, eta, warm_start):
    batch, _ = planted(100)
    m = OnlineLDA(8, 40, 1e7, alpha=alpha, eta=eta, warm_start=warm_start)
    for start in (0, 10, 11, 50):
        theta = m.learn(batch[start : start + 50])
        np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-4)
    assert np.isfinite(m.topics()).all()
    assert np.isfinite(document_completion(m, batch))
    assert np.isfinite(m.bound_perplexity(batch))


def test_words_that_no_topic_likes():
    m = OnlineLDA(4, 1000, 1e6, warm_start=False, eta=1e-3, alpha=0.01, tau0=0.0)
    for start in range(5):
        m.learn(Minibatch([0, 3], [start, 2, 3], [2, 1, 1]))
    strange = Minibatch([0, 2, 4], [998, 999, 2, 997], [5, 1, 1, 40])
    theta = m.infer(strange)
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-4)
    m.learn(strange)
    assert np.isfinite(m.topics()).all()
    assert m.topics()[:, 997].max() > 0.1


def test_minibatches_without_words_leave_the_topics_alone():
    m = OnlineLDA(4, 40, 1000, **PAPER)
    before = m.lambda_
    m.learn(Minibatch([0, 0, 0], [], []))
    np.testing.assert_array_equal(m.lambda_, before)


def test_the_first_words_weigh_the_same_after_documents_without_words():
    batch, _ = planted(60)
    at_once, later = OnlineLDA(4, 40, 1000), OnlineLDA(4, 40, 1000)
    later.learn(Minibatch([0, 0], [], []))
    for m in (at_once, later):
        m.learn(batch)
    np.testing.assert_allclose(later.topic_weights().sum(), at_once.topic_weights().sum(), rtol=0.05)


def test_learnt_alpha_grows_where_documents_have_many_topics():
    batch, _ = planted(4000, length=60, alpha=0.5)
    model = OnlineLDA(4, 40, 4000, alpha="learn")
    before = model.document_prior().mean()
    for start in range(0, 4000, 100):
        model.learn(batch[start : start + 100])
    assert model.document_prior().mean() > 1.05 * before
