"""OnlineLDA beside its oracles, and what must hold of it whatever the numbers."""

from dataclasses import replace

import numpy as np
import pytest

from tests.model.conftest import distances, needs_jit, planted, read
from tests.model.reference import scvb0
from tests.model.reference.lda import (
    Elog_dirichlet,
    document_elbo,
    e_step,
    e_step_document,
    learn,
    words_of,
)
from wikitopics.model import Minibatch, OnlineLDA, document_completion

SETTINGS = {"n_topics": 5, "n_words": 30, "n_documents": 1000, "seed": 1}


def make(**options):
    paper = {"tau0": 1.0, "kappa": 0.7, "warm_start": False}
    settings = {**SETTINGS, **paper, **options}
    return OnlineLDA(**settings)


@pytest.mark.parametrize("initialization", ["gamma", "exponential"])
@pytest.mark.parametrize(("alpha", "eta"), [(0.1, 0.05), (0.01, 0.01), (2.0, 0.5)])
def test_float64_steps_are_the_papers(documents, initialization, alpha, eta):
    model = make(alpha=alpha, eta=eta, dtype="float64", initialization=initialization)
    expected = model.lambda_
    for t, batch in enumerate([documents[:10], documents[10:11], documents[11:], documents]):
        gamma, _ = e_step(batch, expected, np.full(5, alpha))
        expected = learn(expected, batch, (1 + t) ** -0.7, 1000, np.full(5, alpha), eta)
        np.testing.assert_allclose(
            model.learn(batch), gamma / gamma.sum(axis=1, keepdims=True), rtol=1e-6
        )
        np.testing.assert_allclose(model.lambda_, expected, rtol=1e-10)


@pytest.mark.usefixtures("not_short")
def test_the_first_documents_have_the_collapsed_e_step(documents):
    """[F13] eq. 5 to 9 for the documents, [H10]'s M-step for the topics, both straight from the
    papers."""
    model = make(warm_start=True, tau0=None, kappa=None, dtype="float64")
    model.learn(documents[:10])
    lambda_ = model.lambda_.T
    eta = model.state()["eta_lambda"]
    mass = (lambda_ - eta).sum(axis=0)
    batch = documents[10:]
    # Schedules count documents of 100 words.
    seen = documents[:10].n_tokens / 100
    amount = batch.n_tokens / 100
    in_all = 1000 * documents.n_tokens / 100 / documents.D
    middle = seen + amount / 2
    first = 1.3 / np.sqrt(5) * in_all / 1000
    alpha = np.full(5, first * (0.005 / first) ** (middle / (0.3 * in_all)))
    power = 0.4 * (1 - middle / (2 / 3 * in_all))
    factors = (mass / mass.mean()) ** -power
    N_theta, statistics = scvb0.local_step(
        batch,
        lambda_ - eta,
        mass,
        alpha,
        eta,
        (1, 1, 0.7),
        3,
        factors,
    )
    theta = model.learn(batch)
    horizon = max(0.3 * in_all, 450) + 0.75 * seen
    rho = 1 - np.exp(-amount / horizon)
    assert model.rho == pytest.approx(rho)
    prior = model.eta * 1e5 / 1000 * (1 + 300 / 1000)
    expected = (1 - rho) * lambda_ + rho * (prior + 1e6 / batch.D * statistics)
    np.testing.assert_allclose(model.lambda_.T, expected, rtol=1e-9)
    gamma = N_theta + model.alpha
    np.testing.assert_allclose(theta, gamma / gamma.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(("words", "learnt"), [(4, True), (1, False)])
def test_few_words_for_each_topic_are_not_halved(documents, words, learnt):
    """There the collapsed E-step stays, in which alpha is not learnt."""
    topics = documents.n_tokens // documents.D // words
    model = make(n_topics=topics, warm_start=True, tau0=None, kappa=None)
    model.recipe = replace(model.recipe, collapsed_share=0.0)
    before = model.alpha
    model.learn(documents)
    assert np.array_equal(model.alpha, before) != learnt


def test_schedules_count_words():
    """A document of 400 words teaches as much as four of 100."""
    long = Minibatch([0, 20], np.arange(20), np.full(20, 20))
    short = Minibatch([0, 20, 40, 60, 80], np.tile(np.arange(20), 4), np.full(80, 5))

    def learnt(batch, n_documents):
        model = make(n_documents=n_documents, warm_start=True, tau0=None, kappa=None)
        model.learn(batch)
        return model

    of_long = learnt(long, 1_000_000)
    of_short = learnt(short, 4_000_000)
    assert of_long.rho == of_short.rho
    assert of_long.state()["amount_seen"] == of_short.state()["amount_seen"] == 4


def test_bound_perplexity_is_the_oracles(documents):
    model = make(alpha=0.1, dtype="float64")
    model.learn(documents)
    Elog_beta = Elog_dirichlet(model.lambda_)
    elbo = 0.0
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        if len(ids):
            gamma, phi = e_step_document(ids, counts, Elog_beta, model.alpha, 3e-3, 100)
            elbo += document_elbo(ids, counts, gamma, phi, Elog_beta, model.alpha)
    expected = np.exp(-elbo / documents.n_tokens)
    assert model.bound_perplexity(documents) == pytest.approx(expected, rel=1e-10)


def test_who_gives_both_tau0_and_kappa_gets_the_papers_algorithm(documents):
    priors = SETTINGS | {"alpha": 0.1, "eta": 0.05}
    paper = OnlineLDA(**priors, warm_start=False, tau0=3.0, kappa=0.7)
    both = OnlineLDA(**priors, tau0=3.0, kappa=0.7)
    one = OnlineLDA(**priors, kappa=0.7)
    for m in (paper, both, one):
        m.learn(documents)
    np.testing.assert_array_equal(paper.lambda_, both.lambda_)
    assert both.rho == pytest.approx(3.0**-0.7)
    assert one.rho == pytest.approx(64.0**-0.7)
    assert not np.allclose(one.topics(), both.topics())


# What must hold of OnlineLDA whatever the numbers: planted topics found again, extremes.


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
        near = distances(m.topics(), beta) < 0.3
        found.append(near.sum())
    # One pass from small minibatches may merge two topics now and then, no more.
    assert min(found) >= 4
    assert found.count(6) >= 6


@pytest.mark.parametrize("n_documents", [20, 150])
def test_a_few_documents_are_better_than_none(n_documents):
    W = 4000
    frequency = 1 / np.arange(10, W + 10)
    words = np.random.default_rng(0).choice(
        W, (n_documents + 100, 80), p=frequency / frequency.sum()
    )
    batch = Minibatch(np.arange(len(words) + 1) * 80, words.ravel(), np.ones(words.size, int))
    m = read(OnlineLDA(3, W, n_documents), batch[:n_documents], size=64)
    assert document_completion(m, batch[n_documents:]) > -np.log(W)


def test_words_that_no_topic_likes():
    m = OnlineLDA(4, 1000, 1e6, warm_start=False, eta=1e-3, alpha=0.01, tau0=0.0)
    for start in range(5):
        m.learn(Minibatch([0, 3], [start, 2, 3], [2, 1, 1]))
    strange = Minibatch([0, 2, 4], [998, 999, 2, 997], [5, 1, 1, 40])
    np.testing.assert_allclose(m.infer(strange).sum(axis=1), 1, rtol=1e-4)
    m.learn(strange)
    assert np.isfinite(m.topics()).all()
    assert m.topics()[:, 997].max() > 0.1


def test_the_first_words_weigh_the_same_after_documents_without_words():
    batch, _ = planted(60)
    at_once = OnlineLDA(4, 40, 1000)
    later = OnlineLDA(4, 40, 1000)
    later.learn(Minibatch([0, 0], [], []))
    for m in (at_once, later):
        m.learn(batch)
    np.testing.assert_allclose(
        later.topic_weights().sum(), at_once.topic_weights().sum(), rtol=0.05
    )


def test_learnt_alpha_grows_where_documents_have_many_topics():
    batch, _ = planted(4000, length=60, alpha=0.5)
    model = OnlineLDA(4, 40, 4000, alpha="learn")
    before = model.document_prior().mean()
    read(model, batch, 100)
    assert model.document_prior().mean() > 1.05 * before
