"""The topics of each word of a document, as each kind of model finds them."""

import numpy as np
import pytest

from wikitopics.model import SCVB0, Minibatch, OnlineHDP, OnlineLDA
from wikitopics.model.checking import planted_documents, planted_minibatches

K = 6
W = 40


def _sums(phi, batch):
    """(D, K) sum_w n_dw phi_dwk."""
    sums = np.zeros((batch.D, phi.shape[1]))
    np.add.at(sums, batch.documents(), batch.counts[:, None] * phi)
    return sums


def _learnt(kind, **options):
    model = kind.create(K, W, 300, options, seed=3)
    for batch in planted_minibatches():
        model.learn(batch)
    return model


@pytest.mark.parametrize("kind", [OnlineLDA, SCVB0, OnlineHDP])
def test_words_come_from_topics_in_proportion_to_theta_and_beta(kind):
    model = _learnt(kind)
    batch = planted_documents(20)
    theta = model.infer(batch)
    expected = theta[batch.documents()] * model.topics()[:, batch.word_ids].T
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.word_topics(batch, theta), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", [OnlineLDA, SCVB0, OnlineHDP])
def test_expected_words_of_each_topic_are_those_that_theta_counts(kind):
    model = _learnt(kind)
    batch = planted_documents(20)
    theta = model.infer(batch)
    phi = model.word_topics(batch, theta)
    prior = model.document_prior()
    again = _sums(phi, batch) + prior
    again /= again.sum(axis=1, keepdims=True)
    assert np.abs(again - theta).mean() < 0.02  # not 0, since the passes are few


def test_the_e_step_of_the_paper_is_at_its_fixed_point():
    model = _learnt(OnlineLDA, warm_start=False, tolerance=1e-7, max_iterations=1000)
    batch = planted_documents(20)
    theta = model.infer(batch)
    phi = model.word_topics(batch, theta)
    gamma = model.alpha + _sums(phi, batch)  # [H10] eq. 5
    np.testing.assert_allclose(gamma / gamma.sum(axis=1, keepdims=True), theta, atol=1e-3)


def test_words_sit_at_the_tables_of_figure_9():
    from wikitopics.model.hdp_e_step import sum_statistics

    model = _learnt(OnlineHDP, warm_start=False)
    batch = planted_documents(150)  # more than are taken at a time
    phi = model.word_topics(batch, model.infer(batch))
    words = batch.words(W)
    mass = np.zeros(K)
    corpus = model._corpus(words.ids, model._amount)
    for _, part, posterior in model._local_steps(words, corpus):
        mass += sum_statistics(part.batch, posterior, W, model._workers).mass
    np.testing.assert_allclose(_sums(phi, batch).sum(axis=0), mass, rtol=1e-3)


def test_all_words_of_a_short_text_can_be_of_one_topic():
    model = OnlineLDA(K, W, 300, seed=3)
    for start in range(0, 300, 50):
        of_topic = np.repeat((np.arange(50) + start) % 4, 3)
        word_ids = 10 * of_topic + np.tile(np.arange(3), 50) + start % 7
        model.learn(Minibatch(3 * np.arange(51), word_ids.astype(np.int32), np.ones(150, np.int32)))
    text = Minibatch([0, 3], [1, 2, 13], [2, 2, 1])
    theta = model.infer(text)
    phi = model.word_topics(text, theta)
    mixed = theta * model.topics()[:, text.word_ids].T
    mixed /= mixed.sum(axis=1, keepdims=True)
    topic = theta[0].argmax()
    assert np.allclose(phi.sum(axis=1), 1)
    assert phi[2, topic] > mixed[2, topic]  # the stray word follows the others


def test_a_word_out_of_range_is_refused():
    model = _learnt(OnlineLDA)
    theta = np.full((1, K), 1 / K)
    with pytest.raises(ValueError, match="word"):
        model.word_topics(Minibatch([0, 1], [W], [1]), theta)
