"""The ELBO of LDA against what it bounds and against its own slopes: docs/derivations.md in
numbers."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln

from tests.model.conftest import batch_of, needs_jit, planted, read
from tests.model.reference.lda import Elog_dirichlet, document_elbo, topics_elbo, words_of
from wikitopics.model import BatchLDA, OnlineLDA
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.lda_e_step import (
    LDALimits,
    alpha_step,
    ascend,
    descend,
    document_bounds,
    e_step,
    eta_step,
)
from wikitopics.model.options import LARGEST_PRIOR
from wikitopics.model.threads import Threads


def log_evidence(documents, K, W, alpha, eta):
    """log p(words), where every assignment of topics to words is enumerated, and theta and beta are
    integrated out."""

    def log_polya(counts, prior):
        total = prior * len(counts)
        constant = gammaln(total) - gammaln(total + sum(counts))
        return constant + sum(gammaln(prior + count) - gammaln(prior) for count in counts)

    tokens = [(d, w) for d, words in enumerate(documents) for w in words]
    terms = []
    for z in itertools.product(range(K), repeat=len(tokens)):
        in_document = np.zeros((len(documents), K))
        in_topic = np.zeros((K, W))
        for (d, w), k in zip(tokens, z, strict=True):
            in_document[d, k] += 1
            in_topic[k, w] += 1
        of_documents = sum(log_polya(row, alpha) for row in in_document)
        of_topics = sum(log_polya(row, eta) for row in in_topic)
        terms.append(of_documents + of_topics)
    return np.logaddexp.reduce(terms)


@pytest.mark.parametrize("alpha", [0.1, 1.0])
@pytest.mark.parametrize("eta", [0.1, 1.0])
@pytest.mark.parametrize(
    "documents", [[[0, 1], [1, 2]], [[0, 0, 1], [2, 2], [0, 2]], [[0, 1, 2, 0]]]
)
def test_the_elbo_is_below_the_log_evidence(documents, alpha, eta):
    evidence = log_evidence(documents, 2, 3, alpha, eta)
    for seed in range(3):
        model = BatchLDA(2, 3, alpha=alpha, eta=eta, seed=seed).fit(batch_of(documents))
        last = model.elbo[-1]
        assert evidence - 6 < last <= evidence


ONE = Threads(1)
TO_THE_END = LDALimits(1e-13, 5000, 0.0)


def seen_by(documents, topics):
    """What documents see of the topics: their words, and the rows of these."""
    words = documents.words(topics.n_words)
    return words, topics.exp_Elog_rows(words.ids, ONE, np.ones(topics.n_topics))


def bounds_of(documents, topics, alpha, limits):
    """gamma and the documents' bounds after an E-step."""
    words, rows = seen_by(documents, topics)
    found = ascend(words, rows, alpha, limits, ONE)
    return found.gamma, document_bounds(topics, words, rows, alpha, found)


def some_topics():
    lambda_hat = np.random.default_rng(5).gamma(1.0, 3.0, (30, 5))
    return Lambda.of(lambda_hat, 0.05)


def test_slopes_vanish_where_a_document_converged(documents):
    alpha = np.array([0.1, 0.4, 0.2, 0.9, 0.05])
    topics = some_topics()
    found, bounds = bounds_of(documents, topics, alpha, TO_THE_END)
    Elog_beta = Elog_dirichlet(topics.lambda_())

    def elbo(ids, counts, gamma):
        log_phi = Elog_dirichlet(gamma) + Elog_beta[:, ids].T
        phi = np.exp(log_phi - log_phi.max(axis=1, keepdims=True))
        phi /= phi.sum(axis=1, keepdims=True)
        return document_elbo(ids, counts, gamma, phi, Elog_beta, alpha)

    for d in range(documents.D):
        ids, counts = words_of(documents, d)
        if not len(ids):
            continue
        gamma = found[d]
        assert bounds[d] == pytest.approx(elbo(ids, counts, gamma), rel=1e-9)
        for k in range(5):
            h = np.zeros(5)
            h[k] = 1e-4 * gamma[k]
            after = elbo(ids, counts, gamma + h)
            before = elbo(ids, counts, gamma - h)
            slope = (after - before) / 2e-4  # in log gamma
            assert slope == pytest.approx(0, abs=1e-4)


def test_slopes_in_lambda_vanish_after_a_whole_step(documents):
    alpha = np.full(5, 0.3)
    eta = 0.2
    topics = some_topics()
    _, found = e_step(*seen_by(documents, topics), alpha, TO_THE_END, ONE)
    statistics = np.zeros((5, 30))
    statistics[:, found.ids] = found.sums[:, :5].T
    topics.step(1.0, eta, 1.0, found, ONE)
    lambda_ = topics.lambda_()

    def elbo(lambda_):
        """The terms with lambda: sum n phi E[log beta], and the topics' own."""
        return np.sum(statistics * Elog_dirichlet(lambda_)) + topics_elbo(lambda_, eta)

    for k, w in [(0, 0), (1, 7), (4, 29), (2, 15)]:
        h = np.zeros_like(lambda_)
        h[k, w] = 1e-4 * lambda_[k, w]
        slope = (elbo(lambda_ + h) - elbo(lambda_ - h)) / 2e-4  # in log lambda
        assert slope == pytest.approx(0, abs=1e-4)


def test_sum_Elog_theta_is_that_of_gamma(documents):
    alpha = np.array([0.1, 0.4, 0.2, 0.9, 0.05])
    gamma, found = e_step(*seen_by(documents, some_topics()), alpha, TO_THE_END, ONE)
    np.testing.assert_allclose(
        found.sum_Elog_theta(alpha), Elog_dirichlet(gamma).sum(axis=0), rtol=1e-9
    )


def test_topics_elbo_and_sums_are_the_oracles():
    topics = some_topics()
    topics.decay(0.3, 0.2)
    lambda_ = topics.lambda_()
    assert topics.elbo(0.4) == pytest.approx(topics_elbo(lambda_, 0.4), rel=1e-10)
    assert topics.sum_Elog_beta() == pytest.approx(Elog_dirichlet(lambda_).sum(), rel=1e-10)


@needs_jit
def test_learnt_alpha_and_eta_raise_the_bound():
    batch, _ = planted(400, n_topics=4, alpha=0.3)

    def trained(alpha, eta):
        steps = {"tau0": 4.0, "kappa": 0.7, "warm_start": False}
        model = OnlineLDA(4, 40, 400, alpha=alpha, eta=eta, dtype="float64", seed=2, **steps)
        return read(model, batch, 50, passes=20)

    def bound_of(model):
        _, of_documents = bounds_of(batch, model._topics, model.alpha, LDALimits(1e-8, 500, 0.0))
        return of_documents.sum() + model._topics.elbo(model.eta)

    fixed = trained(0.25, 0.1)
    learnt = trained("learn", "learn")
    assert learnt.alpha.mean() == pytest.approx(0.3, rel=0.35)
    assert len(set(learnt.alpha)) == 4
    assert bound_of(learnt) > bound_of(fixed)


def bound(alpha, mean_Elog_theta):
    """Mean over documents of E[log p(theta | alpha)]."""
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ mean_Elog_theta


def test_the_step_solves_the_newton_equation():
    alpha = np.array([0.3, 0.8, 1.5])
    mean_Elog_theta = np.array([-2.0, -1.5, -0.9])
    h = 1e-4
    steps = h * np.eye(3)

    def slope(along, at):
        after = bound(at + along, mean_Elog_theta)
        before = bound(at - along, mean_Elog_theta)
        return (after - before) / (2 * h)

    def curvature(one, other):
        return (slope(one, alpha + other) - slope(one, alpha - other)) / (2 * h)

    gradient = np.array([slope(step, alpha) for step in steps])
    hessian = np.array([[curvature(one, other) for one in steps] for other in steps])
    expected = np.linalg.solve(hessian, gradient)
    found = alpha_step(alpha, 7, 7 * mean_Elog_theta)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_a_symmetric_step_is_that_of_the_vector_and_one_topic_has_none():
    W = 6
    n_topics = 4
    Elog = -2.5
    of_vector = alpha_step(np.full(W, 0.3), n_topics, n_topics * np.full(W, Elog))
    of_number = eta_step(0.3, n_topics, W, n_topics * W * Elog)
    assert of_number == pytest.approx(of_vector[0])
    assert alpha_step(np.array([0.3]), 7, np.array([0.0])) == 0


def test_parameters_stay_positive_and_where_a_step_can_be_computed():
    np.testing.assert_array_equal(
        descend(np.array([0.1, 0.2]), 1.0, np.array([5.0, -1.0])), [0.05, 1.2]
    )
    assert descend(1.0, 1.0, -1e300) == LARGEST_PRIOR
    assert np.isfinite(eta_step(LARGEST_PRIOR, 3, 40, -1e12))
