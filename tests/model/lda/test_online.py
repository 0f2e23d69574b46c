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
    alphas = np.full(5, alpha)
    batches = [documents[:10], documents[10:11], documents[11:], documents]
    for t, batch in enumerate(batches):
        rho = (1 + t) ** -0.7
        gamma, _ = e_step(batch, expected, alphas)
        expected = learn(expected, batch, rho, 1000, alphas, eta)
        theta = gamma / gamma.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.learn(batch), theta, rtol=1e-6)
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
    n_documents = SETTINGS["n_documents"]
    seen = documents[:10].n_tokens / 100
    amount = batch.n_tokens / 100
    in_all = n_documents * documents.n_tokens / 100 / documents.D
    # They are read in the middle of the minibatch.
    middle = seen + amount / 2
    annealed = middle / (0.3 * in_all)
    first_alpha = 1.3 / np.sqrt(5) * in_all / n_documents
    last_alpha = 0.005
    alpha = np.full(5, first_alpha * (last_alpha / first_alpha) ** annealed)
    balanced = middle / (2 / 3 * in_all)
    factors = (mass / mass.mean()) ** -(0.4 * (1 - balanced))
    N_phi = lambda_ - eta
    steps = (1, 1, 0.7)
    _, expected, statistics = scvb0.local_step(
        batch,
        N_phi,
        mass,
        alpha,
        eta,
        steps,
        passes=3,
        factors=factors,
    )
    theta = model.learn(batch)
    horizon = max(0.3 * in_all, 450) + 0.75 * seen
    rho = 1 - np.exp(-amount / horizon)
    assert model.rho == pytest.approx(rho)
    raised_eta = model.eta * 1e5 / n_documents * (1 + 300 / n_documents)
    learnt = raised_eta + 1e6 / batch.D * statistics
    np.testing.assert_allclose(model.lambda_.T, (1 - rho) * lambda_ + rho * learnt, rtol=1e-9)
    gamma = expected + model.alpha
    np.testing.assert_allclose(theta, gamma / gamma.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize(("words_a_topic", "learnt"), [(4, True), (1, False)])
def test_few_words_for_each_topic_are_not_halved(documents, not_short, words_a_topic, learnt):
    """There the collapsed E-step stays, in which alpha is not learnt."""
    words_a_document = documents.n_tokens // documents.D
    n_topics = words_a_document // words_a_topic
    model = make(n_topics=n_topics, warm_start=True, tau0=None, kappa=None)
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
            limits = (model.tolerance, model.max_iterations)
            gamma, phi = e_step_document(ids, counts, Elog_beta, model.alpha, *limits)
            elbo += document_elbo(ids, counts, gamma, phi, Elog_beta, model.alpha)
    expected = np.exp(-elbo / documents.n_tokens)
    assert model.bound_perplexity(documents) == pytest.approx(expected, rel=1e-10)


def test_who_gives_both_tau0_and_kappa_gets_the_papers_algorithm(documents):
    priors = SETTINGS | {"alpha": 0.1, "eta": 0.05}
    paper = OnlineLDA(**priors, warm_start=False, tau0=3.0, kappa=0.7)
    both = OnlineLDA(**priors, tau0=3.0, kappa=0.7)
    one = OnlineLDA(**priors, kappa=0.7)
    for model in (paper, both, one):
        model.learn(documents)
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
        model = OnlineLDA(6, 60, 1500, seed=seed)
        start = 0
        while start < batch.D:
            stop = start + max(64, start // 4)
            model.learn(batch[start:stop])
            start = stop
        near = distances(model.topics(), beta) < 0.3
        found.append(near.sum())
    # One pass from small minibatches may merge two topics now and then, no more.
    assert min(found) >= 4
    assert found.count(6) >= 6


@pytest.mark.parametrize("n_documents", [20, 150])
def test_a_few_documents_are_better_than_none(n_documents):
    W = 4000
    frequency = 1 / np.arange(10, W + 10)
    length = 80
    n_held_out = 100
    D = n_documents + n_held_out
    random = np.random.default_rng(0)
    words = random.choice(W, D * length, p=frequency / frequency.sum())
    batch = Minibatch(np.arange(D + 1) * length, words, np.ones(len(words), int))
    model = read(OnlineLDA(3, W, n_documents), batch[:n_documents], size=64)
    assert document_completion(model, batch[n_documents:]) > -np.log(W)


def test_words_that_no_topic_likes():
    model = OnlineLDA(4, 1000, 1e6, warm_start=False, eta=1e-3, alpha=0.01, tau0=0.0)
    for start in range(5):
        model.learn(Minibatch([0, 3], [start, 2, 3], [2, 1, 1]))
    strange = Minibatch([0, 2, 4], [998, 999, 2, 997], [5, 1, 1, 40])
    np.testing.assert_allclose(model.infer(strange).sum(axis=1), 1, rtol=1e-4)
    model.learn(strange)
    assert np.isfinite(model.topics()).all()
    assert model.topics()[:, 997].max() > 0.1


def test_the_first_words_weigh_the_same_after_documents_without_words():
    batch, _ = planted(60)
    at_once = OnlineLDA(4, 40, 1000)
    later = OnlineLDA(4, 40, 1000)
    later.learn(Minibatch([0, 0], [], []))
    for model in (at_once, later):
        model.learn(batch)
    np.testing.assert_allclose(
        later.topic_weights().sum(), at_once.topic_weights().sum(), rtol=0.05
    )


def test_learnt_alpha_grows_where_documents_have_many_topics():
    batch, _ = planted(4000, length=60, alpha=0.5)
    model = OnlineLDA(4, 40, 4000, alpha="learn")
    before = model.document_prior().mean()
    read(model, batch, 100)
    assert model.document_prior().mean() > 1.05 * before
