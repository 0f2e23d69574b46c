import numpy as np
import pytest
from scipy.special import gammaln, psi

from tests.model.conftest import planted
from tests.model.reference.lda import topics_elbo
from wikitopics.model import BatchHDP, Minibatch, OnlineHDP
from wikitopics.model.hdp_e_step import bounds, corpus_of, figure_9, sum_statistics


@pytest.mark.parametrize("warm_start", [True, False])
@pytest.mark.parametrize(("alpha", "omega", "eta"), [(1.0, 1.0, 0.1), (0.3, 4.0, 1.0)])
def test_the_bound_never_falls(documents, warm_start, alpha, omega, eta):
    priors = {"alpha": alpha, "omega": omega, "eta": eta, "warm_start": warm_start}
    model = BatchHDP(30, max_topics=8, max_topics_per_document=4, max_iterations=3, **priors)
    model.fit(documents, max_sweeps=40, tolerance=1e-12)
    assert len(model.bounds) > 5
    least_growth = -1e-10 * np.abs(model.bounds[:-1])
    assert np.all(np.diff(model.bounds) >= least_growth)


def test_a_sweep_is_an_online_step_of_size_one(documents):
    options = {"max_topics": 6, "max_topics_per_document": 3, "warm_start": False, "seed": 4}
    batch = BatchHDP(30, **options)
    online = OnlineHDP(30, documents.D, tau0=0.0, dtype="float64", **options)
    # The same start: footnote 6 scales it with the size of the corpus, which the batch learns
    # later.
    state = {**batch.state(), "n_documents": online.n_documents, "tau0": 0.0, "kappa": 0.6}
    online = OnlineHDP.from_state(state)
    batch.fit(documents, max_sweeps=1)
    online.learn(documents)
    assert online.rho == 1
    np.testing.assert_allclose(batch.lambda_, online.lambda_, rtol=1e-10)
    np.testing.assert_allclose(batch.a, online.a, rtol=1e-10)
    np.testing.assert_allclose(batch.b, online.b, rtol=1e-10)


def test_a_state_can_be_kept(documents, tmp_path):
    model = BatchHDP(30, max_topics=5).fit(documents, max_sweeps=3)
    np.savez(tmp_path / "model.npz", allow_pickle=False, **model.state())
    with np.load(tmp_path / "model.npz") as kept:
        again = BatchHDP.from_state(kept)
    assert again.bounds == model.bounds
    np.testing.assert_array_equal(again.topics(), model.topics())
    np.testing.assert_array_equal(again.infer(documents), model.infer(documents))
    again.fit(documents, max_sweeps=3)
    model.fit(documents, max_sweeps=3)
    np.testing.assert_array_equal(again.topics(), model.topics())


def test_a_state_is_checked():
    batch, _ = planted(20)
    state = BatchHDP(40, max_topics=5).fit(batch, max_sweeps=2).state()
    assert BatchHDP.from_state(state).infer(batch).shape == (20, 5)
    for key, wrong, says in (
        ("a", state["a"][1:], "a must have the shape"),
        ("bounds", None, "bounds is missing"),
        ("lambda_hat", state["lambda_hat"][:, 1:], "shape"),
    ):
        with pytest.raises(ValueError, match=says):
            BatchHDP.from_state({**state, key: wrong})


def test_corpus_bound_is_a_divergence_term_by_term(documents):
    omega = 2.5
    model = BatchHDP(30, max_topics=5, eta=0.3, omega=omega).fit(documents, max_sweeps=3)
    expected = topics_elbo(model.lambda_, 0.3)
    for a, b in zip(model.a, model.b, strict=True):
        Elog_v = psi(a) - psi(a + b)
        Elog_not_v = psi(b) - psi(a + b)
        expected += np.log(omega) + (omega - 1) * Elog_not_v
        expected -= gammaln(a + b) - gammaln(a) - gammaln(b)
        expected -= (a - 1) * Elog_v + (b - 1) * Elog_not_v
    assert model.corpus_bound() == pytest.approx(expected, rel=1e-10)


def test_finite_differences_of_the_bound_vanish_after_a_sweep(documents):
    """For the local step's phi and zeta, the corpus's updates are where the ELBO is flat and
    highest."""
    model = BatchHDP(30, max_topics=4, max_topics_per_document=3, eta=0.5)
    model.fit(documents, max_sweeps=2)
    words = documents.words(30)
    corpus = corpus_of(model._topics.Elog_rows(words.ids), model.a, model.b)
    limits = model._limits()._replace(alpha=1.0, tolerance=1e-3, max_iterations=9)
    local = figure_9(words, corpus, limits, model._workers)
    statistics = sum_statistics(documents, local, 30, model._workers)
    model._topics.step(1.0, model.eta, 1.0, statistics, model._workers)
    model._step_sticks(1.0, 1.0, statistics.mass, statistics.tables)

    def elbo(name=None, place=None, step=0.0):
        state = model.state()
        if name:
            state[name][place] += step
            state["total_hat"] = state["lambda_hat"].sum(axis=0)
        moved = BatchHDP.from_state(state)
        corpus = corpus_of(moved._topics.Elog_rows(words.ids), moved.a, moved.b)
        of_documents = bounds(words, corpus, moved.alpha, local, moved._workers)
        return of_documents.sum() + moved.corpus_bound()

    highest = elbo()
    word = words.ids[3]
    step = 1e-3
    for name, place in (("a", 0), ("b", 1), ("lambda_hat", (word, 0)), ("lambda_hat", (word, 2))):
        after = elbo(name, place, step)
        before = elbo(name, place, -step)
        slope = (after - before) / (2 * step)
        curvature = (2 * highest - after - before) / step**2
        assert curvature > 1e-4
        assert abs(slope) < 1e-4 * curvature + 1e-6


def test_needs_documents():
    with pytest.raises(ValueError, match="no document"):
        BatchHDP(10).fit(Minibatch([0], [], []))
    with pytest.raises(ValueError, match="out of range"):
        BatchHDP(10).fit(Minibatch([0, 1], [10], [1]))
