"""A state that no model has kept is refused in one line, before a kernel writes beyond an array's
end."""

import numpy as np
import pytest

from tests.model.conftest import planted, planted_batch
from wikitopics.model import Minibatch, StateError, kinds

W = 40

SAVED_WITH = {
    "lda": [{}, {"alpha": "learn", "eta": "learn", "warm_start": False}],
    "scvb0": [{}, {"n_tokens": 9000.0, "warm_start": False}],
    "hdp": [{}, {"warm_start": False}, {"n_documents": 5000}],
}
WRONG = [None, "text", [], {}, [[1.0]], np.nan, np.inf, -1.0, -1, 1e300, 2**70, 10**400, True, b"x"]


def made(kind, n_documents=300, **options):
    n_topics = 12 if kind == "hdp" else 6
    return kinds.load(kind).create(n_topics, W, n_documents, options, seed=3)


@pytest.fixture(
    params=[(kind, options) for kind in kinds.names() for options in SAVED_WITH[kind]], ids=str
)
def trained(request):
    kind, options = request.param
    batch, _ = planted(64, n_words=W)
    model = made(kind, **options)
    model.learn(batch[:32])
    return model, batch[32:]


def goes_on(kind, state, batch):
    """Whether a model is made of the state; if one is, it must bear being used."""
    try:
        model = kind.from_state(state)
    except ValueError:
        return False
    if model.n_words != W:  # another model, not a wrong one
        return False
    for theta in (model.infer(batch), model.learn(batch)):
        assert theta.shape == (batch.D, model.n_topics)
        assert np.isfinite(theta).all()
    return True


def damaged(array):
    """The array in other shapes, of other types, and with numbers out of range."""
    yield array[:-1]
    yield array[None]
    if array.ndim == 2:
        yield array.T.copy()
    else:
        yield array.reshape(-1, 1)
    yield np.concatenate([array, array])
    for dtype in (object, "S8", "complex128", array.dtype.newbyteorder()):
        yield array.astype(dtype)
    if array.dtype.kind == "f" and array.size:
        for value in (np.nan, np.inf, -np.inf, -1e9, 3e38):
            changed = array.copy()
            changed.flat[-1] = value
            yield changed


def test_every_entry_is_missed_and_of_another_type_or_shape_refused(trained):
    model, batch = trained
    state = model.state()
    column_major = dict(state)
    for key, value in state.items():
        if isinstance(value, np.ndarray):
            column_major[key] = np.asfortranarray(value)
    again = type(model).from_state(column_major)
    np.testing.assert_array_equal(again.infer(batch), model.infer(batch))
    with_defaults = {option.name for option in model.options if isinstance(option.default, float)}
    of_later_versions = {key for key in state if "reread" in key or "rotated" in key}
    may_be_missing = {"n_tokens", "words_read", *of_later_versions, *with_defaults}
    for key, value in state.items():
        rest = model.state()
        del rest[key]
        assert goes_on(type(model), rest, batch) == (key in may_be_missing), key
        for wrong in WRONG:
            goes = goes_on(type(model), {**model.state(), key: wrong}, batch)
            if isinstance(value, str | np.ndarray):
                assert not goes, (key, wrong)
            elif type(wrong) is not type(value) and not isinstance(wrong, int | float):
                assert not goes or key in may_be_missing, (key, wrong)
        if not isinstance(value, np.ndarray):
            continue
        for wrong in damaged(value):
            goes = goes_on(type(model), {**model.state(), key: wrong}, batch)
            # Counts have a narrow type by chance, and without seeds there is nothing to damage.
            assert not goes or key.startswith(("first_", "seed_")), (key, wrong.dtype, wrong.shape)


def test_words_out_of_range_and_a_generator_that_would_repeat_itself():
    state = made("hdp").state()
    first = {"first_indptr": np.array([0, 1]), "first_counts": np.array([1])}
    last = {**state, **first, "first_word_ids": np.array([W - 1])}
    assert goes_on(kinds.load("hdp"), last, planted_batch(5, n_words=W))
    for word in (W, 2**31 - 1, 2**40, -1):
        with pytest.raises(ValueError, match=r"word"):
            kinds.load("hdp").from_state({**state, **first, "first_word_ids": np.array([word])})
    state["random"][2:4] = 0
    with pytest.raises(ValueError, match="odd"):
        kinds.load("hdp").from_state(state)


def test_more_documents_read_again_than_read_are_refused(kind):
    model = kinds.load(kind).create(3, 40, 500)
    model.learn(Minibatch([0, 2, 3], [1, 2, 3], [50, 1, 9]))
    counts = {"documents_seen": 0, "documents_reread": 1}
    with pytest.raises(StateError, match="more documents were read again"):
        type(model).from_state({**model.state(), **counts})


def test_a_first_step_of_1_on_documents_without_words_leaves_a_state(kind):
    model = kinds.load(kind).create(3, 40, 500, {"tau0": 0, "kappa": 0.5})
    model.learn(Minibatch([0, 0, 0], [], []))
    again = kinds.load(kind).from_state(model.state())
    assert np.isfinite(again.topics()).all()
    assert again.topic_shares().sum() == pytest.approx(1)


def test_the_largest_eta_leaves_a_state(kind):
    """In a small corpus eta weighs more than was asked for."""
    model = kinds.load(kind).create(3, 40, 5, {"eta": 1e9})
    model.learn(Minibatch([0, 2, 3], [1, 2, 3], [5, 1, 9]))
    again = kinds.load(kind).from_state(model.state())
    assert np.isfinite(again.learn(Minibatch([0, 1], [4], [2]))).all()


@pytest.mark.parametrize(("kind", "version"), [("lda", 3), ("scvb0", 2), ("hdp", 5)])
def test_a_state_of_before_the_first_release_is_refused_and_a_newer_one_is_said_to_be_one(
    kind, version
):
    model = kinds.load(kind).create(3, 40, 500)
    for other, says in ((version, r"before 1\.0\.0"), (99, "version 99")):
        with pytest.raises(StateError, match=says):
            type(model).from_state({**model.state(), "version": other})


@pytest.mark.parametrize("adaptive", [True, False])
def test_scvb0_of_the_first_release_goes_on_with_todays_steps(adaptive):
    scvb0 = kinds.load("scvb0")
    options = {} if adaptive else {"tau0": 1.0, "kappa": 0.7}
    model = scvb0.create(3, 40, 500, options)
    batch = Minibatch([0, 2, 3], [1, 2, 3], [50, 1, 9])
    model.learn(batch)
    now = model.state()
    then = {key: value for key, value in now.items() if "horizon" not in key and key != "own_steps"}
    then |= {"version": 3, "adaptive": adaptive, "recipe_first_alpha": 0.5, "adaptive_steps": 1}
    again = scvb0.from_state(then)
    np.testing.assert_array_equal(again.lambda_, model.lambda_)
    assert again.decorrelation == 0, "its words stay what they were"
    again.learn(batch)
    model.learn(batch)
    assert again.rho == model.rho
    np.testing.assert_array_equal(again.lambda_, model.lambda_)


def test_lda_of_the_first_release_goes_on_with_todays_numbers():
    lda = kinds.load("lda")
    model = lda.create(3, 40, 500)
    batch = Minibatch([0, 2, 3], [1, 2, 3], [50, 1, 9])
    model.learn(batch)
    again = lda.from_state({**model.state(), "version": 4, "recipe_first_alpha": 0.45})
    np.testing.assert_array_equal(again.learn(batch), model.learn(batch))
    assert again.recipe == model.recipe
