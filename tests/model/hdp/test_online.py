"""OnlineHDP beside its oracles: figure 9, and the default's passes."""

import numpy as np
import pytest
from scipy.special import psi

from tests.model.hdp.small_hdp import ALPHA, ETA, OMEGA, T, as_given, make, mixed_documents, trained
from wikitopics.model import Minibatch
from wikitopics.model.hdp import OnlineHDP
from wikitopics.model.hdp.recipe import WARM
from wikitopics.model.lambda_ import topics_from
from wikitopics.model.reference.hdp import Elog_sticks as oracle_Elog_sticks
from wikitopics.model.reference.hdp import (
    document_bound,
    expected_sticks,
    figure_9,
    learn,
    recipe,
)
from wikitopics.model.reference.lda import words_of
from wikitopics.model.reference.scvb0 import local_step
from wikitopics.model.schedules import THETA_STEPS


@pytest.fixture
def documents():
    return mixed_documents()


def sticks_of(model):
    return np.stack([model.a, model.b], axis=1)


def Elog_beta_of(model):
    lambda_ = model.lambda_.astype(float)
    return psi(lambda_) - psi(lambda_.sum(axis=1, keepdims=True))


def test_float64_steps_are_figure_9(documents):
    model = make(warm_start=False, dtype="float64", max_iterations=30)
    lambda_, sticks = model.lambda_, sticks_of(model)
    np.testing.assert_array_equal(sticks, [[1.0, OMEGA]] * 7)  # line 1
    for t, batch in enumerate([documents[:10], documents[10:11], documents[11:], documents], start=1):
        lambda_, sticks = learn(
            lambda_,
            sticks,
            batch,
            (1 + t) ** -0.7,
            1000,
            OMEGA,
            ETA,
            lambda counts, Elog_beta, v: figure_9(counts, Elog_beta, v, T, ALPHA, 1e-2, 30),
        )
        model.learn(batch)
        np.testing.assert_allclose(model.lambda_, lambda_, rtol=1e-10)
        np.testing.assert_allclose(sticks_of(model), sticks, rtol=1e-10)


def test_float64_steps_of_the_default_are_its_oracles(documents):
    model = as_given(make(dtype="float64", n_documents=documents.D))
    model.learn(documents)  # the start
    lambda_, sticks = model.lambda_, sticks_of(model)
    # Steps count documents of 100 words.
    assert model.whole_step == 64
    time = documents.n_tokens / 6400
    for batch in [documents[:4], documents[4:], documents]:
        whole = batch.n_tokens / 6400
        time += whole
        rho = 1 - (1 - (1 + time) ** -0.7) ** whole
        # Topics ahead are held back: the balance ends after two thirds of the documents, here at once.
        lambda_, sticks = learn(
            lambda_,
            sticks,
            batch,
            rho,
            documents.D,
            OMEGA,
            ETA,
            lambda counts, Elog_beta, v: recipe(counts, Elog_beta, v, T, ALPHA, 1e-2),
        )
        model.learn(batch)
        assert model.rho == pytest.approx(rho, rel=1e-12)
        np.testing.assert_allclose(model.lambda_, lambda_, rtol=1e-10)
        np.testing.assert_allclose(sticks_of(model), sticks, rtol=1e-10)


def test_topics_ahead_are_held_back_at_first(documents):
    model = make(dtype="float64", n_documents=10 * documents.D)
    model.learn(documents)
    mass = model.lambda_.sum(axis=1) - 30 * ETA
    exponent = 0.7 * (1 - documents.D / (10 * documents.D * 2 / 3))
    balance = (mass / mass.mean()) ** -exponent
    ids, counts = words_of(documents, 0)
    expected = recipe(counts, Elog_beta_of(model)[:, ids], sticks_of(model), T, ALPHA, 1e-2, balance=balance)[
        2
    ]
    np.testing.assert_allclose(model.learn(documents[:1])[0], expected, rtol=1e-5)


def test_returned_proportions(documents):
    model = trained(documents)
    Elog_beta, sticks = Elog_beta_of(model), sticks_of(model)
    theta = model.learn(documents)
    assert theta.shape == (documents.D, 8)
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        expected = expected_sticks(sticks)
        if len(ids):
            expected = recipe(counts, Elog_beta[:, ids], sticks, T, ALPHA, 1e-2)[2]
        np.testing.assert_allclose(theta[d], expected, rtol=1e-5)


@pytest.mark.parametrize("warm_start", [True, False])
def test_local_proportions_are_those_that_learn_returns(documents, warm_start):
    model = trained(documents, warm_start=warm_start)
    theta = model.local_proportions(documents)
    np.testing.assert_array_equal(theta, model.learn(documents))


def test_held_out_proportions_are_passes_over_the_document(documents):
    model = trained(documents)
    lambda_, prior = model.lambda_.T.astype(float), model.document_prior()
    steps = (THETA_STEPS.s, THETA_STEPS.tau0, THETA_STEPS.kappa)
    N_theta, _ = local_step(documents, lambda_, lambda_.sum(axis=0), prior, 0.0, steps, passes=2)
    theta = N_theta + prior
    np.testing.assert_allclose(model.infer(documents), theta / theta.sum(axis=1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("D", [40, 16])
def test_no_two_topics_start_from_the_same_documents(D):
    of_a_word_each = Minibatch(np.arange(D + 1), np.arange(D), np.ones(D, int))
    topics = topics_from(of_a_word_each, D, WARM.draw(D, 20, np.random.default_rng(0)), 0.1)
    np.testing.assert_allclose(topics.sum(axis=0), 1)
    assert np.unique(topics.round(9), axis=1).shape == topics.shape


def test_held_out_proportions_of_figure_9(documents):
    model = trained(documents, warm_start=False)
    theta = model.infer(documents)
    Elog_beta, sticks = Elog_beta_of(model), sticks_of(model)
    for d in (0, 1, 7):
        ids, counts = words_of(documents, d)
        phi, zeta = figure_9(counts, Elog_beta[:, ids], sticks, T, ALPHA, 1e-2, 100)
        words = counts @ phi
        gamma = np.array([[1 + words[i], ALPHA + words[i + 1 :].sum()] for i in range(T - 1)])
        np.testing.assert_allclose(theta[d], expected_sticks(gamma) @ zeta, rtol=1e-5)


@pytest.mark.parametrize("warm_start", [True, False])
def test_document_bounds_are_the_oracles(documents, warm_start):
    model = trained(documents, warm_start=warm_start)
    bounds = model.document_bounds(documents)
    Elog_beta, sticks = Elog_beta_of(model), sticks_of(model)
    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        if len(ids) == 0:
            continue
        here = Elog_beta[:, ids]
        if warm_start:
            phi, zeta = recipe(counts, here, sticks, T, ALPHA, 1e-2)[:2]
        else:
            phi, zeta = figure_9(counts, here, sticks, T, ALPHA, 1e-2, 100)
        expected = document_bound(counts, here, oracle_Elog_sticks(sticks), phi, zeta, T, ALPHA)
        assert bounds[d] == pytest.approx(expected, rel=1e-9)


def test_the_bound_never_falls_in_coordinate_ascent(documents):
    """With the word counts in every term; without them in one, as in well-known programs, it does fall."""
    start = trained(documents, warm_start=False, max_iterations=5)
    state = start.state()
    documents = documents[:8]
    last = np.full(documents.D, -np.inf)
    for iterations in range(1, 16):
        model = OnlineHDP.from_state({**state, "max_iterations": iterations, "tolerance": 1e-300})
        bounds = model.document_bounds(documents)
        assert np.all(bounds >= last - 1e-9 * np.abs(bounds))
        last = bounds


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
