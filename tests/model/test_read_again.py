"""Documents that are learnt more than once."""

import math

import numpy as np
import pytest

from tests.model.conftest import planted
from wikitopics.model import SCVB0, OnlineLDA, document_completion, kinds

D = 600
NEW = ("documents_reread", "recipe_reread")
"""How the keys begin that states of earlier versions lack."""
lda_and_scvb0 = pytest.mark.parametrize("cls", [OnlineLDA, SCVB0])


def documents():
    batch, _ = planted(D, length=100)
    return batch


def learn(model, batch, passes, told=True):
    """Learn the documents in minibatches of 100; ``told``: the model is told that they come
    again."""
    for number in range(passes):
        for start in range(0, batch.D, 100):
            again = number > 0 and told
            model.passes_left = passes - number - start / batch.D if again else None
            model.learn(batch[start : start + 100])
    return model


@lda_and_scvb0
def test_the_horizon_is_a_share_of_the_corpus_until_the_last_pass(cls):
    model = cls(4, 40, D)
    batch = documents()
    learn(model, batch, 1)
    in_all = model.recipe.amount(batch)
    part = batch[:100]
    amount = model.recipe.amount(part)

    def horizon(passes_left):
        again = cls.from_state(model.state())
        again.passes_left = passes_left
        again.learn(part)
        return -amount / math.log1p(-again.rho)

    share = 0.25 * in_all
    shortest = model.recipe.shortest_horizon
    assert horizon(3.0) == horizon(1.0) == pytest.approx(max(share, shortest), rel=0.01)
    # In the last pass, what it has read comes on top.
    assert horizon(0.5) == pytest.approx(
        min(horizon(None), max(share + 0.5 * in_all, shortest)), rel=0.01
    )


@pytest.mark.parametrize("kind", ["lda", "scvb0", "hdp"])
def test_new_documents_are_learnt_as_if_there_were_no_passes(kind):
    batch = documents()
    model = kinds.load(kind).create(4, 40, D)
    learn(model, batch, 3, told=False)
    assert model.state()["documents_reread"] == 0
    state = {key: value for key, value in model.state().items() if not key.startswith(NEW)}
    again = type(model).from_state(state)
    np.testing.assert_array_equal(again.topics(), model.topics())
    again.learn(batch)
    model.learn(batch)
    np.testing.assert_array_equal(again.topics(), model.topics())


@pytest.mark.parametrize("kind", ["lda", "scvb0", "hdp"])
def test_the_state_of_an_earlier_version_reads_documents_again_as_it_did(kind):
    batch = documents()
    model = learn(kinds.load(kind).create(4, 40, D), batch, 1)
    state = {key: value for key, value in model.state().items() if not key.startswith(NEW)}
    told, untold = (learn(type(model).from_state(state), batch, 1) for _ in range(2))
    told.passes_left = 1.0
    for one in (told, untold):
        one.learn(batch)
    np.testing.assert_array_equal(told.topics(), untold.topics())


@lda_and_scvb0
def test_the_papers_algorithm_does_not_ask_whether_documents_are_new(cls):
    batch = documents()
    told, untold = (
        learn(cls(4, 40, D, warm_start=False), batch, 3, told) for told in (True, False)
    )
    np.testing.assert_array_equal(told.topics(), untold.topics())


@pytest.mark.parametrize("kind", ["lda", "scvb0", "hdp"])
def test_a_state_goes_on_in_the_middle_of_later_passes(kind):
    batch = documents()
    model = learn(kinds.load(kind).create(4, 40, D), batch, 2)
    again = type(model).from_state(model.state())
    for one in (model, again):
        one.passes_left = 0.5
        one.learn(batch[200:300])
    np.testing.assert_array_equal(again.topics(), model.topics())


@pytest.mark.parametrize("kind", ["lda", "scvb0", "hdp"])
def test_several_passes_predict_no_worse_than_one(kind):
    batch, _ = planted(D + 200, n_topics=8, n_words=160, length=60)
    learnt = batch[:D]
    scores = []
    for passes in (1, 10):
        model = learn(kinds.load(kind).create(8, 160, D, seed=1), learnt, passes)
        scores.append(document_completion(model, batch[D:]))
    assert scores[1] > scores[0] - 0.01


@pytest.mark.parametrize("kind", ["lda", "scvb0", "hdp"])
def test_a_very_small_corpus_is_read_again_as_if_it_were_new(kind):
    batch = documents()[:300]
    told, untold = (
        learn(kinds.load(kind).create(4, 40, 300), batch, 3, told) for told in (True, False)
    )
    np.testing.assert_array_equal(told.topics(), untold.topics())


@pytest.mark.parametrize(("length", "kind"), [(300, "lda"), (300, "hdp"), (100, "scvb0")])
def test_only_long_documents_that_are_read_again_are_decorrelated_further(length, kind):
    batch, _ = planted(D, length=length)
    told = learn(kinds.load(kind).create(4, 40, D), batch, 2)
    state = {key: value for key, value in told.state().items() if key != "documents_reread"}
    once = type(told).from_state(state)
    assert (told.topics() != once.topics()).any() == (length == 300)


@lda_and_scvb0
def test_long_documents_that_are_read_again_get_more_passes(cls):
    recipe = cls(4, 40, D).recipe
    passes = []
    for words in (100, 200, 400, 4_000):
        amount = D * words / recipe.document_words
        told = recipe.stage(D, 2 * D, amount, amount, passes_left=1.0)
        passes.append(told.more_passes)
        assert recipe.stage(D, 2 * D, amount, amount).more_passes == 0
    assert passes == [0, 1, 2, 2]
