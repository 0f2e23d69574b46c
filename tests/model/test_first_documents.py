"""The first documents, from which topics start: how they are kept, and for how long."""

import numpy as np
import pytest

from tests.model.conftest import planted_batch, read
from wikitopics.model import Minibatch, kinds, mixture
from wikitopics.model.first_documents import FirstDocuments

D = 1500
"""The number of documents that models expect."""


def learnt(model, *runs):
    """The model once it has learnt runs of documents: how many, and about how many words each;
    None: none."""
    for n, length in runs:
        if length is None:
            model.learn(Minibatch(np.zeros(n + 1, int), [], []))
        else:
            read(model, planted_batch(n, length=length), 100)
    return model


def kept(model):
    """The number of documents that a state keeps."""
    return len(model.state().get("first_indptr", [0])) - 1


def seeded(kind):
    """A model whose topics do not start over from components."""
    model = kinds.load(kind).create(4, 40, D)
    model.seed([np.array([0, 1])])
    return model


def test_short_texts_before_long_ones_are_kept_until_a_mixture_takes_no_more(kind):
    model = learnt(seeded(kind), (1100, 4), (300, 200))
    assert kept(model) == 1100
    learnt(model, (100, 200))
    assert kept(model) == 0
    assert not model.waits_to_start_over


@pytest.mark.parametrize("others", [(100, 100), (100, None)], ids=["long", "without words"])
@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_texts_of_which_a_mixture_lacks_some_are_kept_no_longer(kind, others):
    model = learnt(seeded(kind), (300, 4), others, (1000, 1))
    assert 1000 <= kept(model) < 1400
    learnt(model, (100, 1))
    assert kept(model) == 0
    assert not model.waits_to_start_over


@pytest.mark.parametrize("kind", ["lda", "scvb0"])
def test_no_documents_are_kept_for_components_once_texts_are_short(kind, monkeypatch):
    monkeypatch.setattr(mixture, "MOST", 500)
    model = learnt(kinds.load(kind).create(4, 40, D), (600, 20))
    assert kept(model) == 600
    learnt(model, (300, 1))
    assert kept(model) == 0
    assert not model.waits_to_start_over


@pytest.mark.parametrize("length", [4, 40])
def test_documents_that_come_one_by_one_are_joined_only_when_all_are_needed(
    kind, length, monkeypatch
):
    concatenate = Minibatch.concatenate
    joined = []

    def counted(parts):
        whole = concatenate(parts)
        joined.append(whole.D)
        return whole

    batch = planted_batch(256, length=length)
    model = kinds.load(kind).create(4, 40, 10**6)
    monkeypatch.setattr(Minibatch, "concatenate", counted)
    read(model, batch, 1)
    assert kept(model) == batch.D
    assert sum(joined) < 4 * batch.D


def test_documents_kept_one_by_one_are_those_of_one_minibatch():
    whole = planted_batch(30)
    weights = Minibatch(whole.indptr, whole.word_ids, whole.counts + 0.5)
    first = FirstDocuments()
    for batch in (whole[:10], whole[10:11], weights[11:30]):
        first.add(batch)
        assert len(first.joined()) == first.D
        assert len(first.word_ids) == first.N
    expected = Minibatch.concatenate([whole[:11], weights[11:]])
    for name in ("indptr", "word_ids", "counts"):
        array = getattr(first, name)
        assert array.dtype == getattr(expected, name).dtype
        np.testing.assert_array_equal(array, getattr(expected, name))
