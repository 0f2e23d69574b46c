"""E-steps are pure functions, whose statistics make the M-step wherever they were computed."""

import numpy as np
import pytest

from tests.model.conftest import planted
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.schedules import HDP_WARM
from wikitopics.model.threads import Threads

ONE = Threads(1)
K = 5
W = 40
EVEN = np.ones(K)
ALPHA = np.full(K, 0.2)


def lda(topics, batch):
    from wikitopics.model.lda_e_step import LDALimits, e_step

    words = batch.words(W)
    rows = topics.exp_Elog_rows(words.ids, ONE, EVEN)
    return e_step(words, rows, ALPHA, LDALimits(1e-3, 50, 0.01), ONE)


def scvb0(topics, batch):
    from wikitopics.model.scvb0_e_step import ThetaPasses, e_step, word_rows

    words = batch.words(W)
    rows = word_rows(topics, words, EVEN, ONE)
    return e_step(words, rows, ThetaPasses(ALPHA, 2), ONE)


def hdp(topics, batch):
    from wikitopics.model.hdp_e_step import corpus_of, shortlists, sum_statistics
    from wikitopics.model.hdp_kernels import HDPLimits

    words = batch.words(W)
    rows = topics.exp_Elog_rows(words.ids, ONE, EVEN)
    corpus = corpus_of(rows, EVEN[1:], np.arange(K - 1, 0, -1.0), rows.dtype)
    of_recipe = {name: value for name, value in vars(HDP_WARM).items() if name in HDPLimits._fields}
    limits = HDPLimits(T=3, alpha=1.0, tolerance=1e-2, max_iterations=100, **of_recipe)
    tables = shortlists(words, corpus, K, limits, ONE)
    return tables.theta, sum_statistics(batch, tables, W, ONE)


@pytest.fixture(params=[lda, scvb0, hdp], ids=lambda e_step: e_step.__name__)
def e_step(request):
    return request.param


def made():
    lambda_hat = np.random.default_rng(5).gamma(1.0, 3.0, (W, K))
    return Lambda.of(lambda_hat.astype(np.float32), 0.05)


def test_an_e_step_changes_nothing_and_statistics_sum_to_the_words(e_step):
    batch, _ = planted(50)
    topics = made()
    same = made()
    counts = batch.counts.copy()
    theta, statistics = e_step(topics, batch)
    theta_again, statistics_again = e_step(topics, batch)
    np.testing.assert_array_equal(topics.hat, same.hat)
    assert (topics.scale, topics.eta) == (same.scale, same.eta)
    np.testing.assert_array_equal(batch.counts, counts)
    np.testing.assert_array_equal(theta, theta_again)
    np.testing.assert_array_equal(statistics.sums, statistics_again.sums)
    np.testing.assert_allclose(statistics.mass.sum(), batch.n_tokens, rtol=1e-5)
    np.testing.assert_allclose(statistics.sums[:, :K].sum(axis=0), statistics.mass, rtol=1e-4)
    counts_of_words = np.bincount(batch.word_ids, batch.counts, W)
    np.testing.assert_allclose(
        statistics.sums.sum(axis=1), counts_of_words[statistics.ids], rtol=1e-4
    )


def test_those_of_parts_make_the_step_of_the_whole(e_step):
    """Each E-step sees the topics as they were before the step."""
    batch, _ = planted(60)
    before = made()
    whole = made()
    parts = made()
    rho = 0.3
    eta = 0.1
    repeats = 10.0
    _, statistics = e_step(before, batch)
    whole.step(rho, eta, repeats, statistics, ONE)
    parts.decay(rho, eta)
    for part in (batch[:25], batch[25:40], batch[40:]):
        _, statistics = e_step(before, part)
        parts.add(rho * repeats, statistics, ONE)
    np.testing.assert_allclose(parts.lambda_(), whole.lambda_(), rtol=1e-4)
    np.testing.assert_allclose(parts.totals(), whole.totals(), rtol=1e-6)
