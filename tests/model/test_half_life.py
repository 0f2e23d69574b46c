"""A half-life: what was learnt weighs half after so many documents, however large the minibatches
are."""

import numpy as np
import pytest

from tests.model.conftest import read
from wikitopics.model import Minibatch, kinds
from wikitopics.model.checking import planted_documents
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.rebirth import Rebirth


def made(kind, **options):
    return kinds.load(kind).create(4, 40, 10**6, options)


def old_words_weigh(model):
    """The share of the words of the corpus that the model takes to be among the vocabulary's first
    20."""
    of_topics = model.topics()[:, :20].sum(axis=1)
    return float(model.topic_shares() @ of_topics)


@pytest.mark.usefixtures("not_short")
@pytest.mark.parametrize("size", [50, 200])
@pytest.mark.parametrize(
    ("options", "least"),
    [({}, 0.0), ({"kappa": 1, "alpha": 0.5}, 0.45)],
    ids=["own steps", "small"],
)
def test_what_was_learnt_weighs_half_after_a_half_life(kind, size, options, least):
    """Less where a model's own steps are larger, or where topics of old words have been born
    again."""
    model = made(kind, half_life=400, **options)
    # 400 documents of 4 words each, from the first 20 words of the vocabulary.
    words = np.arange(40).repeat(40) % 20
    before = Minibatch(np.arange(0, 1601, 4), words, np.ones(1600, np.int32))
    read(model, before, 400, passes=10)
    assert old_words_weigh(model) > 0.9
    after = Minibatch(before.indptr, before.word_ids + 20, before.counts)
    read(model, after, size)
    assert least <= old_words_weigh(model) <= 0.55


def test_without_one_nothing_changes(kind):
    plain = made(kind)
    never = made(kind, half_life=1e12)
    documents = planted_documents(300)
    for batch in (documents[:100], documents[100:]):
        plain.learn(batch)
        never.learn(batch)
    np.testing.assert_array_equal(plain.topics(), never.topics())
    assert plain.half_life is None


# Topics whose subjects have left the stream are born again, and only these.


K = 4
HALF_LIFE = 200


def learnt(kind, batches):
    model = kinds.load(kind).create(K, 80, 10**6, {"half_life": HALF_LIFE})
    for batch in batches:
        model.learn(batch)
    return model


def stream(turned_after):
    """Planted topics over 40 words, then the same over 40 others."""
    batch = planted_documents(1600)
    words = batch.word_ids.copy()
    words[batch.documents() >= turned_after] += 40
    shifted = Minibatch(batch.indptr, words, batch.counts)
    return [shifted[start : start + 50] for start in range(0, 1600, 50)]


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_topics_follow_a_stream_that_turns(kind):
    model = learnt(kind, stream(turned_after=1200))
    assert model.state()["rebirth_documents"] < 400, "expected a turn to be noted"
    of_new_words = model.topics()[:, 40:].sum(axis=1)
    _, *others = np.sort(of_new_words)
    assert min(others) > 0.9, "expected all but one to be of the new words alone"


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_nothing_is_born_while_subjects_stay(kind):
    model = learnt(kind, stream(turned_after=1600))
    assert model.state()["rebirth_documents"] == 1600


def born(rebirth, topics, shares):
    """The topics that are born again in 20 steps of which each topic has this share of the words."""
    batch = planted_documents(50)
    random = np.random.default_rng(0)
    words = np.array(shares) * 5000
    found = set()
    for _ in range(20):
        found.update(rebirth.step(topics, words, batch, random).tolist())
    return found


def test_one_subject_that_leaves_costs_one_topic():
    topics = Lambda.of(np.ones((40, 10)) * 100, 0.1)
    rebirth = Rebirth.of(10, 100)
    assert born(rebirth, topics, [0.1] * 10) == set()
    assert born(rebirth, topics, [0.01, *[0.11] * 9]) == {0}


def test_nothing_is_born_of_nothing():
    topics = Lambda.of(np.ones((40, 10)) * 100, 0.1)
    assert born(Rebirth.of(10, 100), topics, [0.0] * 10) == set()
    assert Rebirth.of(10, None) is None
