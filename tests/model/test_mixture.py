"""Short texts: topics that start as a mixture, and texts that are about one."""

import numpy as np

from tests.model.conftest import distances, planted
from wikitopics.model import kinds, mixture


def learnt(kind, threads=1, *, restored=False):
    batch, beta = planted(1200, n_words=40, length=5, alpha=0.01)
    model = kinds.load(kind).create(4, 40, 1200, threads=threads)
    for start in range(0, 1200, 200):
        if restored:
            model = type(model).from_state(model.state())
        model.learn(batch[start : start + 200])
    return model, batch, beta


def test_topics_of_short_texts_are_those_planted(kind):
    model, batch, beta = learnt(kind)
    assert distances(model.topics(), beta).max() < 0.2
    largest = model.infer(batch).max(axis=1)
    assert np.mean(largest > 0.7) > 0.8


def test_a_state_and_threads_keep_the_start_to_the_bit(kind):
    one, _, _ = learnt(kind)
    other, _, _ = learnt(kind, threads=3, restored=True)
    assert np.array_equal(one.lambda_, other.lambda_)


def test_the_share_falls_gradually_to_nothing_in_long_texts():
    shares = [mixture.share(words * 7, 7) for words in np.arange(0, 30, 0.5)]
    assert shares[0] == mixture.LARGEST_SHARE
    assert shares[-20:] == [0] * 20
    assert np.all(np.diff(shares) <= 0)
    assert np.diff(shares).min() > -0.05


def test_a_state_from_before_goes_on_without_the_mixture(kind):
    model, batch, _ = learnt(kind)
    state = model.state()
    del state["words_read"]
    model = type(model).from_state(state)
    assert model._mixed == 0
    model.learn(batch[:200])
    assert "words_read" not in model.state()


def test_topics_whose_prior_is_too_small_for_a_number_are_no_texts():
    batch, _ = planted(50, n_words=40, length=5, alpha=0.01)
    model = kinds.load("hdp").create(2000, 40, 50)
    model.learn(batch)
    assert model.document_prior().min() == 0
    assert np.allclose(model.infer(batch).sum(axis=1), 1)
