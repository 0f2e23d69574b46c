"""States written before they had a version go on as they did then.

Each file holds a state of version 1, the documents that followed, and what the model then learnt from them.
"""

from pathlib import Path

import numpy as np
import pytest

from model import Minibatch, StateError, kinds
from model.states import MOST_ITERATIONS

FILES = sorted((Path(__file__).parent / "states").glob("*.npz"))


def test_every_kind_has_old_states():
    names = {f"{kind}{how}" for kind in kinds.BUILT_IN for how in ("", "-paper")}
    assert {path.stem for path in FILES} == names | {"lda-learning", "scvb0-learning", "hdp-started"}


def opened(path):
    with np.load(path) as data:
        kept = {key: data[key] for key in data.files}
    state = {key.removeprefix("state."): kept.pop(key) for key in list(kept) if key.startswith("state.")}
    return state, Minibatch(kept["indptr"], kept["word_ids"], kept["counts"]), kept


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_state_of_version_1_goes_on_as_it_did(path):
    state, batch, then = opened(path)
    model = kinds.load(str(state["kind"])).from_state(state)
    for start in (0, 40, 80):
        model.learn(batch[start : start + 40])
    # Another system's logarithms and exponentials differ in the last digit, which learning carries on.
    np.testing.assert_allclose(model.topics(), then["topics"], rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(model.topic_shares(), then["shares"], rtol=1e-5)
    np.testing.assert_allclose(model.infer(batch[:10]), then["proportions"], rtol=1e-4)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_becomes_a_state_of_this_version(path):
    state, _, _ = opened(path)
    kind = kinds.load(str(state["kind"]))
    model = kind.from_state(state)
    now = model.state()
    assert now["version"] == kind.version > 1
    assert not [key for key in now if key.startswith("_")]
    assert model.warm_start == ("paper" not in path.stem)
    again = kind.from_state(now).state()
    assert all(np.array_equal(now[key], again[key]) for key in now.keys() | again.keys())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_key_of_it_is_missed(path):
    state, _, _ = opened(path)
    kind = kinds.load(str(state["kind"]))
    for key in state.keys() - {"starting", "_n_tokens"}:
        with pytest.raises(StateError) as caught:
            kind.from_state({name: value for name, value in state.items() if name != key})
        assert "\n" not in str(caught.value)


def test_numbers_of_a_recipe_stay_with_the_state():
    """New models may begin with others; those that are kept go on with theirs."""
    for name in kinds.names():
        kind = kinds.load(name)
        state = kind.create(3, 40, 500).state()
        numbers = [key for key in state if key.startswith("recipe_")]
        assert "recipe_balance_power" in numbers
        model = kind.from_state({**state, "recipe_balance_power": 0.25})
        assert model.recipe.balance_power == 0.25
        assert model.state()["recipe_balance_power"] == 0.25
        whole = next(key for key in numbers if isinstance(state[key], int))
        with pytest.raises(StateError, match=r"recipe_\w+ must be from 1"):
            kind.from_state({**state, whole: MOST_ITERATIONS + 1})


def test_an_hdp_of_version_1_keeps_the_numbers_that_were_not_in_its_state():
    state, _, _ = opened(next(path for path in FILES if path.stem == "hdp"))
    recipe = kinds.load("hdp").from_state(state).recipe
    assert (recipe.balance_power, recipe.balance_documents, recipe.balance_share) == (0.7, 100_000, 2 / 3)


@pytest.mark.parametrize("warm_start", [True, False])
def test_a_state_of_version_2_counts_documents_as_it_did(warm_start):
    for name in kinds.names():
        kind = kinds.load(name)
        model = kind.create(3, 40, 500, {"warm_start": warm_start})
        batch = Minibatch([0, 2, 3], [1, 2, 3], [50, 1, 9])
        model.learn(batch)
        later = (
            "recipe_document_words",
            "amount_seen",
            "recipe_collapsed",
            "recipe_passes",
            "recipe_first_p",
        )
        state = {key: value for key, value in model.state().items() if not key.startswith(later)}
        again = kind.from_state({**state, "version": 2, "documents_seen": 70_000})
        again.learn(batch)
        assert again.state()["amount_seen"] == 70_002


@pytest.mark.parametrize("name", ["lda", "hdp"])
def test_a_state_of_version_3_infers_as_it_did(name):
    batch = Minibatch([0, 2, 3], [1, 2, 3], [50, 1, 9])
    now = kinds.load(name).create(3, 40, 500)
    now.learn(batch)
    state = now.state()
    assert state.pop("recipe_inference_passes") > 0
    before = kinds.load(name).from_state({**state, "version": 3})
    assert before.recipe.inference_passes == 0
    assert not np.array_equal(before.infer(batch), now.infer(batch))


def test_an_hdp_of_version_4_starts_as_it_did():
    """Its topics start from documents that are drawn with repetition, also if there are fewer of them."""
    batch = Minibatch([0, 2, 3], [1, 2, 3], [50, 1, 9])
    kind = kinds.load("hdp")
    now = kind.create(8, 40, 2)
    then = kind.from_state({**now.state(), "recipe_mixed": 0})
    state = now.state()
    assert state.pop("recipe_mixed") > 0
    before = kind.from_state({**state, "version": 4})
    for model in (now, then, before):
        model.learn(batch)
    np.testing.assert_array_equal(before.topics(), then.topics())
    assert not np.array_equal(before.topics(), now.topics())


def test_an_hdp_of_version_5_weighs_its_corpus_as_it_did():
    """Its D was the one given, however small."""
    batch = Minibatch([0, 2, 3], [1, 2, 3], [50, 1, 9])
    now = kinds.load("hdp").create(3, 40, 2)
    then = kinds.load("hdp").from_state({**now.state(), "recipe_smallest_corpus": 0.0})
    state = then.state()
    del state["recipe_smallest_corpus"]
    before = kinds.load("hdp").from_state({**state, "version": 5})
    for model in (now, then, before):
        model.learn(batch)
    assert before.state()["version"] == 6
    np.testing.assert_array_equal(before.topics(), then.topics())
    assert before.topic_weights().sum() == pytest.approx(then.topic_weights().sum(), rel=1e-12)
    assert now.topic_weights().sum() > 1000 * before.topic_weights().sum()


def test_a_newer_state_is_said_to_be_one():
    for name in kinds.names():
        kind = kinds.load(name)
        with pytest.raises(StateError, match="version 99"):
            kind.from_state({**kind.create(3, 40, 500).state(), "version": 99})
