"""Topics whose subjects have left the stream are born again, and only these."""

import numpy as np
import pytest

from wikitopics.model import Minibatch, kinds
from wikitopics.model.allocation import Rebirth
from wikitopics.model.checking import planted_documents
from wikitopics.model.lambda_ import Topics

K, HALF_LIFE = 4, 200


def learnt(kind, batches):
    model = kinds.load(kind).create(K, 80, 10**6, {"half_life": HALF_LIFE})
    for batch in batches:
        model.learn(batch)
    return model


def stream(turned_after, documents=1600, size=50):
    """Planted topics over 40 words, then the same over 40 others."""
    batch = planted_documents(documents)
    words = batch.word_ids + 40 * (batch.documents() >= turned_after)
    shifted = Minibatch(batch.indptr, words, batch.counts)
    return [shifted[start : start + size] for start in range(0, documents, size)]


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_topics_follow_a_stream_that_turns(kind):
    model = learnt(kind, stream(turned_after=1200))
    assert model.state()["rebirth_documents"] < 400, "expected a turn to be noted"
    new = np.sort(model.topics()[:, 40:].sum(axis=1))
    assert new[1] > 0.9, "expected all but one to be of the new words alone"


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_nothing_is_born_while_subjects_stay(kind):
    assert learnt(kind, stream(turned_after=1600)).state()["rebirth_documents"] == 1600


def used(rebirth, topics, shares, times=20):
    batch = planted_documents(50)
    random = np.random.default_rng(0)
    return [tuple(rebirth.step(topics, np.array(shares) * 5000, batch, random)) for _ in range(times)]


def test_one_subject_that_leaves_costs_one_topic():
    topics = Topics.of(np.ones((40, 10)) * 100, 0.1)
    rebirth = Rebirth.of(10, 100)
    assert not any(used(rebirth, topics, [0.1] * 10))
    born = used(rebirth, topics, [0.01, *[0.11] * 9])
    assert {k for one in born for k in one} == {0}


def test_nothing_is_born_of_nothing():
    topics = Topics.of(np.ones((40, 10)) * 100, 0.1)
    assert not any(used(Rebirth.of(10, 100), topics, [0.0] * 10))
    assert Rebirth.of(10, None) is None
