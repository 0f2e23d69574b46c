"""A half-life: what was learnt weighs half after so many documents, however large the minibatches are."""

import numpy as np
import pytest

from wikitopics.model import Minibatch, kinds
from wikitopics.model.checking import planted_documents

KINDS = tuple(kinds.built_in)


def made(kind, **options):
    return kinds.load(kind).create(4, 40, 10**6, options)


def old_words_weigh(model):
    """How much of the topics is words that come first in the vocabulary."""
    return float(model.topic_shares() @ model.topics()[:, :20].sum(axis=1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [50, 200])
@pytest.mark.parametrize(
    ("options", "least"), [({}, 0.0), ({"kappa": 1, "alpha": 0.5}, 0.45)], ids=["own steps", "small"]
)
def test_what_was_learnt_weighs_half_after_a_half_life(kind, size, options, least):
    """Less where a model's own steps are larger, or where topics of old words have been born again."""
    model = made(kind, half_life=400, **options)
    words = np.arange(40).repeat(40) % 20
    before = Minibatch(np.arange(0, 1601, 4), words, np.ones(1600, np.int32))
    for _ in range(10):
        model.learn(before)
    assert old_words_weigh(model) > 0.9
    after = Minibatch(before.indptr, before.word_ids + 20, before.counts)
    for start in range(0, 400, size):
        model.learn(after[start : start + size])
    assert least <= old_words_weigh(model) <= 0.55


@pytest.mark.parametrize("kind", KINDS)
def test_without_one_nothing_changes(kind):
    plain, never = made(kind), made(kind, half_life=1e12)
    for batch in (planted_documents(300)[:100], planted_documents(300)[100:]):
        plain.learn(batch)
        never.learn(batch)
    np.testing.assert_array_equal(plain.topics(), never.topics())
    assert plain.half_life is None
