"""Seeds: a larger prior for some words, in whatever model learns topics as a lambda."""

import numpy as np
import pytest

from tests.model.conftest import planted, read
from wikitopics.model import Minibatch, OnlineModel, StateError, kinds

SEEDS = [np.array([35, 36, 37]), np.array([3, 4])]


def learnt(kind, topics=4, threads=1, documents=300, steps=6, **options):
    batch, _ = planted(documents)
    model = kinds.load(kind).create(topics, 40, documents, options, threads=threads)
    model.seed(SEEDS)
    return read(model, batch, documents // steps), batch


def test_a_seeded_topic_is_about_its_words(kind):
    model, _ = learnt(kind, topics=8, documents=3000, steps=30)
    # Each of 4 planted topics has ten words of its own: how much of each topic they are.
    of_planted = model.topics().reshape(8, 4, 10).sum(axis=2)
    assert of_planted[0].argmax() == 3, "the topic of the words 30 to 39, with the first seeds"
    assert of_planted[1].argmax() == 0, "the topic of the words 0 to 9, with the second seeds"


def test_a_state_and_threads_keep_seeds_to_the_bit(kind):
    one, batch = learnt(kind)
    other, _ = learnt(kind, threads=3)
    whole, _ = learnt(kind, steps=2)
    again = kinds.load(kind).from_state(whole.state())
    again.learn(batch[:100])
    whole.learn(batch[:100])
    assert np.array_equal(one.lambda_, other.lambda_)
    assert np.array_equal(again.lambda_, whole.lambda_)


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_lambda_is_a_step_towards_a_larger_prior(kind):
    # lambda <- (1 - rho) lambda + rho (eta + seeds + statistics): without statistics, the seeds
    # stay.
    model, _ = learnt(kind, dtype="float64")
    topics = model._topics
    for _ in range(60):
        topics.decay(0.5, 0.25)
    prior = np.full((4, 40), 0.25)
    np.add.at(prior, (topics.seed_topics, topics.seed_words), topics.seed_counts)
    assert topics.seed_counts.min() > 0
    np.testing.assert_allclose(model.lambda_, prior, rtol=1e-9)
    np.testing.assert_allclose(model.topic_weights(), prior.sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("seeds", [[[]], [[40]], [[-1]], [[1]] * 5])
def test_what_cannot_be_seeded_is_refused(kind, seeds):
    model = kinds.load(kind).create(4, 40, 100)
    with pytest.raises(ValueError, match="seeded"):
        model.seed(seeds)
    model.learn(Minibatch([0, 1], [1], [1]))
    with pytest.raises(ValueError, match="learnt nothing"):
        model.seed(SEEDS)


def test_seeds_of_a_hostile_state_are_refused():
    model, _ = learnt("lda")
    for key, value in (("seed_words", np.array([40] * 5)), ("seed_topics", np.array([4] * 5))):
        with pytest.raises(StateError, match=key):
            type(model).from_state({**model.state(), key: value})
    state = model.state()
    del state["seed_counts"]
    with pytest.raises(StateError, match="seed_counts is missing"):
        type(model).from_state(state)


def test_a_kind_without_seeds_says_so():
    with pytest.raises(NotImplementedError, match="no seeds"):
        OnlineModel.seed(kinds.load("lda").create(4, 40, 100), SEEDS)
