"""OnlineHDP beside its oracles: figure 9, and the default's passes."""

import numpy as np
import pytest
from scipy.special import psi

from tests.model.hdp.small_hdp import ALPHA, ETA, OMEGA, T, as_given, make, mixed_documents, trained
from wikitopics.model import Minibatch
from wikitopics.model.hdp import WARM
from wikitopics.model.lambda_ import topics_from
from wikitopics.model.reference.hdp import Elog_sticks as oracle_Elog_sticks
from wikitopics.model.reference.hdp import (
    document_bound,
    document_gamma,
    expected_sticks,
    figure_9,
    learn,
    recipe,
)
from wikitopics.model.reference.lda import words_of
from wikitopics.model.reference.scvb0 import local_step
from wikitopics.model.schedules import THETA_STEPS, raised


@pytest.fixture
def documents():
    return mixed_documents()


def sticks_of(model):
    return np.stack([model.a, model.b], axis=1)


def Elog_beta_of(model):
    lambda_ = model.lambda_.astype(float)
    return psi(lambda_) - psi(lambda_.sum(axis=1, keepdims=True))


def oracle(model, documents, **more):
    """The local step of each document: counts, E[log beta] of its words, phi, zeta, and its proportions."""
    Elog_beta, sticks = Elog_beta_of(model), sticks_of(model)
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        here = Elog_beta[:, ids]
        if model.warm_start:
            yield counts, here, *recipe(counts, here, sticks, T, ALPHA, 1e-2, **more)
        else:
            phi, zeta = figure_9(counts, here, sticks, T, ALPHA, 1e-2, 100)
            yield counts, here, phi, zeta, expected_sticks(document_gamma(counts @ phi, ALPHA)) @ zeta


def check_steps(model, batches, sizes, of_document, *settings):
    """The model learns as [SVI13] figure 9 does with these step sizes and this local step."""
    lambda_, sticks = model.lambda_, sticks_of(model)
    for batch, rho in zip(batches, sizes, strict=True):
        lambda_, sticks = learn(
            lambda_, sticks, batch, rho, model.n_documents, OMEGA, ETA,
            lambda *document: of_document(*document, T, ALPHA, 1e-2, *settings),
        )  # fmt: skip
        model.learn(batch)
        assert model.rho == pytest.approx(rho, rel=1e-12)
        np.testing.assert_allclose(model.lambda_, lambda_, rtol=1e-10)
        np.testing.assert_allclose(sticks_of(model), sticks, rtol=1e-10)


def test_float64_steps_are_figure_9(documents):
    model = make(warm_start=False, dtype="float64", max_iterations=30)
    np.testing.assert_array_equal(sticks_of(model), [[1.0, OMEGA]] * 7)  # line 1
    batches = [documents[:10], documents[10:11], documents[11:], documents]
    check_steps(model, batches, [(1 + t) ** -0.7 for t in range(1, 5)], figure_9, 30)


def test_float64_steps_of_the_default_are_its_oracles(documents):
    model = as_given(make(dtype="float64", n_documents=documents.D))
    model.learn(documents)  # the start
    # Steps count documents of 100 words.
    assert model.whole_step == 64
    batches = [documents[:4], documents[4:], documents]
    wholes = np.array([batch.n_tokens for batch in batches]) / 6400
    times = documents.n_tokens / 6400 + np.cumsum(wholes)
    # Topics ahead are held back: the balance ends after two thirds of the documents, here at once.
    check_steps(model, batches, 1 - (1 - (1 + times) ** -0.7) ** wholes, recipe)


def test_topics_ahead_are_held_back_at_first(documents):
    model = make(dtype="float64", n_documents=10 * documents.D)
    model.learn(documents)
    mass = model.lambda_.sum(axis=1) - 30 * raised(ETA, model.n_documents, 1e5)
    exponent = 0.7 * (1 - documents.D / (10 * documents.D * 2 / 3))
    balance = (mass / mass.mean()) ** -exponent
    expected = next(oracle(model, documents, balance=balance))[-1]
    np.testing.assert_allclose(model.learn(documents[:1])[0], expected, rtol=1e-5)


@pytest.mark.parametrize("warm_start", [True, False])
def test_proportions_and_bounds_are_the_oracles(documents, warm_start):
    model = trained(documents, warm_start=warm_start)
    bounds, theta = model.document_bounds(documents), model.local_proportions(documents)
    if not warm_start:
        np.testing.assert_array_equal(model.infer(documents), theta)
    Elog_sigma = oracle_Elog_sticks(sticks_of(model))
    for d, (counts, here, phi, zeta, expected) in enumerate(oracle(model, documents)):
        np.testing.assert_allclose(theta[d], expected, rtol=1e-5)
        if len(counts):
            expected = document_bound(counts, here, Elog_sigma, phi, zeta, T, ALPHA)
            assert bounds[d] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_array_equal(model.learn(documents), theta)


def test_held_out_proportions_are_passes_over_the_document(documents):
    model = trained(documents)
    topics, prior = model.topics().T.astype(float), model.document_prior()
    steps = (THETA_STEPS.s, THETA_STEPS.tau0, THETA_STEPS.kappa)
    N_theta, _ = local_step(documents, topics, topics.sum(axis=0), prior, 0.0, steps, passes=2)
    theta = N_theta + prior
    np.testing.assert_allclose(model.infer(documents), theta / theta.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("D", [40, 16])
def test_no_two_topics_start_from_the_same_documents(D):
    of_a_word_each = Minibatch(np.arange(D + 1), np.arange(D), np.ones(D, int))
    topics = topics_from(of_a_word_each, D, WARM.draw(D, 20, np.random.default_rng(0)), 0.1)
    np.testing.assert_allclose(topics.sum(axis=0), 1)
    assert np.unique(topics.round(9), axis=1).shape == topics.shape


def test_the_bound_with_tables_is_below_the_evidence():
    """Three words of one document, two topics, two tables; the evidence by Monte Carlo."""
    model = make(n_words=2, n_documents=1, max_topics=2, max_topics_per_document=2, dtype="float64")
    document = Minibatch([0, 2], [0, 1], [2, 1])
    model.learn(document)
    random = np.random.default_rng(0)
    n = 200_000
    v = random.beta(model.a[0], model.b[0], n)
    beta = random.dirichlet(model.lambda_[0], n), random.dirichlet(model.lambda_[1], n)
    table = [np.where((random.random(n) < v)[:, None], *beta) for _ in range(40)]
    left, word = np.ones(n), np.zeros((n, 2))
    for topic in table:
        stick = random.beta(1, ALPHA, n)
        word += (left * stick)[:, None] * topic
        left *= 1 - stick
    word += left[:, None] * table[0]
    evidence = np.mean(word[:, 0] ** 2 * word[:, 1])
    assert model.document_bounds(document)[0] < np.log(evidence)
