from inspect import signature

import numpy as np
import pytest

from tests.model.conftest import planted
from tests.model.reference.lda import (
    Elog_dirichlet,
    document_elbo,
    e_step_document,
    topics_elbo,
    words_of,
)
from wikitopics.model import BatchHDP, BatchLDA, Minibatch


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("alpha", "eta"), [(0.01, 0.01), (0.1, 0.1), (1.5, 0.5)])
def test_the_elbo_never_falls(seed, alpha, eta):
    batch, _ = planted(40, seed=seed, n_words=30, n_topics=5)
    model = BatchLDA(
        n_topics=7,
        n_words=30,
        alpha=alpha,
        eta=eta,
        seed=seed,
        improvement=0.0,
        max_sweeps=25,
    )
    model.fit(batch)
    elbo = np.array(model.elbo)
    assert len(elbo) > 3
    least_growth = -1e-9 * np.abs(elbo[1:])
    assert (np.diff(elbo) > least_growth).all()


def test_the_elbo_is_the_oracles():
    batch, _ = planted(20, n_words=30)
    model = BatchLDA(n_topics=3, n_words=30, alpha=0.1, eta=0.1, max_sweeps=1).fit(batch)
    first_lambda = np.random.default_rng(0).gamma(100.0, 0.01, (30, 3)).T
    Elog_beta = Elog_dirichlet(first_lambda)
    expected = topics_elbo(first_lambda, 0.1)
    limits = (model.tolerance, model.max_iterations)
    for d in range(batch.D):
        ids, counts = words_of(batch, d)
        gamma, phi = e_step_document(ids, counts, Elog_beta, model.alpha, *limits)
        expected += document_elbo(ids, counts, gamma, phi, Elog_beta, model.alpha)
    assert model.elbo[0] == pytest.approx(expected, rel=1e-9)


def test_ends_when_the_elbo_hardly_grows():
    batch, _ = planted(100)
    model = BatchLDA(n_topics=4, n_words=40, alpha=0.1, eta=0.1).fit(batch)
    assert len(model.elbo) < 100
    last, now = model.elbo[-2:]
    assert (now - last) / abs(last) < 1e-5
    np.testing.assert_allclose(model.topics().sum(axis=1), 1)
    np.testing.assert_allclose(model.infer(batch).sum(axis=1), 1, rtol=1e-5)
    assert model.topic_shares().sum() == pytest.approx(1)


def test_threads_do_not_change_the_result():
    batch, _ = planted(200, n_words=1500)  # several blocks, of documents and of words
    one = BatchLDA(4, 1500, seed=1, threads=1, max_sweeps=4).fit(batch)
    two = BatchLDA(4, 1500, seed=1, threads=2, max_sweeps=4).fit(batch)
    np.testing.assert_array_equal(one.lambda_, two.lambda_)


def test_fitting_again_starts_afresh_also_from_a_state():
    batch, _ = planted(60)
    model = BatchLDA(4, 40, max_sweeps=3, initialization="exponential").fit(batch)
    again = BatchLDA.from_state(model.state())
    np.testing.assert_array_equal(again.topics(), model.topics())
    assert again.elbo == model.elbo
    assert len(again.fit(batch).elbo) == 3
    assert again.elbo[0] < model.elbo[-1]


def test_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="out of range"):
        BatchLDA(2, 3).fit(Minibatch([0, 1], [3], [1]))
    with pytest.raises(ValueError, match="no words"):
        BatchLDA(2, 3).fit(Minibatch([0, 0], [], []))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("n_topics", 0),
        ("alpha", 0.0),
        ("alpha", "learn"),
        ("eta", -1.0),
        ("initialization", "zero"),
    ],
)
def test_refuses_settings_out_of_range(name, wrong):
    settings = {"n_topics": 2, "n_words": 3, name: wrong}
    with pytest.raises(ValueError, match=name):
        BatchLDA(**settings)


@pytest.mark.parametrize(
    "name",
    ["dtype", "warm_start", "kappa", "tau0", "half_life", "decorrelation", "n_documents", "etta"],
)
def test_arguments_that_it_has_no_use_for_are_unknown(name):
    assert name not in signature(BatchLDA).parameters
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        BatchLDA(2, 3, **{name: 1})
    if name in ("dtype", "n_documents", "etta"):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            BatchHDP(3, **{name: 1})
