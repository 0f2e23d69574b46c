"""Documents as weights instead of counts, such as those of TF-IDF."""

import numpy as np
import pytest

from tests.model.conftest import planted, planted_batch, read
from tests.model.reference import scvb0 as oracle_scvb0
from wikitopics.model import SCVB0, BatchHDP, BatchLDA, Minibatch, document_completion, kinds, npmi


def weighted(batch, weight):
    """The same documents with their counts times a weight, or a weight for each entry."""
    return Minibatch(batch.indptr, batch.word_ids, batch.counts * weight)


def documents(size=200):
    """Planted documents with weights in place of counts, as TF-IDF would make them."""
    batch, _ = planted(size)
    documents_of_words = np.bincount(batch.word_ids, minlength=40)
    weights = 0.3 + np.log(batch.D / documents_of_words)
    return weighted(batch, weights[batch.word_ids])


@pytest.mark.parametrize("options", [{}, {"warm_start": False}], ids=["default", "paper"])
def test_a_whole_weight_is_a_count(kind, options):
    """The same kernels for another type: the same model, to rounding."""
    batch, _ = planted(60)
    narrow = batch[:]
    narrow.counts = batch.counts.astype(np.float32)
    of_counts = kinds.load(kind).create(5, 40, 60, options)
    of_weights = kinds.load(kind).create(5, 40, 60, options)
    for _ in range(3):
        np.testing.assert_allclose(of_counts.learn(batch), of_weights.learn(narrow), atol=1e-4)
    np.testing.assert_allclose(of_counts.topics(), of_weights.topics(), rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(of_counts.infer(batch), of_weights.infer(narrow), atol=1e-3)


def test_weights_are_learnt_from_and_measured(kind):
    batch = documents()
    held_out = weighted(planted_batch(60, seed=1), 0.7)
    model = read(kinds.load(kind).create(6, 40, 1000), batch, 50, passes=5)
    frequency = np.bincount(batch.word_ids, batch.counts, 40) / batch.n_tokens
    of_frequencies = held_out.counts @ np.log(frequency[held_out.word_ids]) / held_out.n_tokens
    assert document_completion(model, held_out) > of_frequencies + 0.02
    assert np.isfinite(npmi(model.topics(), held_out)).all()
    again = type(model).from_state(model.state())
    np.testing.assert_array_equal(model.learn(batch), again.learn(batch))


@pytest.mark.parametrize("weight", [1e-9, 1e-3, 1e8])
def test_weights_of_any_size_stay_finite(kind, weight):
    batch = weighted(planted_batch(60), weight * 1.001)
    model = kinds.load(kind).create(5, 40, 60)
    for _ in range(3):
        assert np.isfinite(model.learn(batch)).all()
    for found in (model.topics(), model.infer(batch), model.topic_shares()):
        assert np.isfinite(found).all()


def test_a_fraction_of_a_word_moves_scvb0_by_the_power_of_its_weight():
    """Clumping, [F13] eq. 9, with (1 - rho)^m for an m that is not whole."""
    alpha = 0.2
    batch = Minibatch([0, 3], [0, 2, 3], [0.25, 2.5, 1.0])
    length = 0.25 + 2.5 + 1.0
    model = SCVB0(3, 5, 10, n_tokens=100, alpha=alpha, dtype="float64", warm_start=False, burn_in=0)
    topics = model._topics
    N_phi = topics.scale * topics.hat
    N_Z = topics.scale * topics.total_hat
    N_theta = np.full(3, length / 3)
    for t, (word, m) in enumerate(zip(batch.word_ids, batch.counts, strict=True), start=1):
        gamma = oracle_scvb0.gamma_of(word, N_phi, N_Z, N_theta, alpha, model.eta, 1.0)
        rho = oracle_scvb0.rho(1.0, 10.0, 0.9, t)
        keep = (1 - rho) ** float(m)
        N_theta = keep * N_theta + (1 - keep) * length * gamma
    theta = N_theta + alpha
    np.testing.assert_allclose(model.learn(batch), [theta / theta.sum()], rtol=1e-6)


def test_batch_models_take_weights_too():
    batch = documents(60)
    lda = BatchLDA(4, 40, max_sweeps=5).fit(batch)
    assert np.isfinite(lda.topics()).all()
    hdp = BatchHDP(40, max_topics=6).fit(batch)
    assert np.isfinite(hdp.topics()).all()
    least_growth = -1e-9 * np.abs(hdp.bounds[:-1])
    assert np.all(np.diff(hdp.bounds) >= least_growth)
