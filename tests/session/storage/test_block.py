from dataclasses import replace

import numpy as np
import pytest

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.storage.counts import Block
from wikitopics.session.storage.decoding import pack_state, unpack_state


def documents(lengths, first_page=0, titles=None):
    """A block with so many distinct words each."""
    total = sum(lengths)
    return Block(
        np.arange(first_page, first_page + len(lengths), dtype=np.int64),
        np.arange(len(lengths), dtype=np.int64) + 7,
        titles or tuple(f"t{i}" for i in range(len(lengths))),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.arange(total, dtype=np.int32),
        np.arange(1, total + 1, dtype=np.int32),
    )


def same(one, other):
    return one.titles == other.titles and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("page_ids", "revision_ids", "indptr", "word_ids", "counts")
    )


def test_a_slice_holds_its_articles_and_their_words():
    part = documents([2, 0, 3, 1])[1:3]
    assert part.titles == ("t1", "t2")
    assert part.indptr.tolist() == [0, 0, 3]
    assert part.counts.tolist() == [3, 4, 5]
    assert part.words.tolist() == [0, 12]


def test_slices_put_together_again_are_the_whole():
    whole = documents([2, 0, 3, 1, 5])
    assert same(Block.concatenate([whole[:2], whole[2:2], whole[2:]]), whole)
    assert len(Block.concatenate([])) == 0


def test_chosen_articles_keep_their_words():
    whole = documents([2, 0, 3, 1])
    assert whole.has_words.tolist() == [True, False, True, True]
    some, others = whole.split(np.array([False, True, True, False]))
    assert (some.titles, others.titles) == (("t1", "t2"), ("t0", "t3"))
    assert (some.indptr.tolist(), others.indptr.tolist()) == ([0, 0, 3], [0, 2, 3])
    assert (some.counts.tolist(), others.counts.tolist()) == ([3, 4, 5], [1, 2, 6])


def test_bytes_and_back_without_pickle():
    titles = "a", "", "\x1b[2J\x07", "line\nbreak\ttab\0nul", "[/x][bold]", "\u202eRTL", "雪☃😀", "'; DROP"
    whole = documents([2, 0, 3, 1, 1, 0, 0, 0], titles=titles)
    data = whole.to_bytes()
    assert same(Block.from_bytes(data, "here", 7), whole)
    assert b"pickle" not in data


def test_a_models_state_is_arrays_and_json():
    state = {
        "kind": "lda",
        "lambda": np.arange(6, dtype=np.float32).reshape(2, 3),
        "count": 2**40,
        "flag": True,
        "random": np.array([2**64 - 1, 0], np.uint64),
        "scale": 0.1 + 0.2,
        "empty": np.empty((0, 4), np.float64),
    }
    back = unpack_state(*pack_state(state))
    assert back["lambda"].dtype == np.float32
    assert np.array_equal(back["lambda"], state["lambda"])
    assert np.array_equal(back["random"], state["random"])
    assert back["empty"].shape == (0, 4)
    assert {k: v for k, v in back.items() if not isinstance(v, np.ndarray)} == {
        k: v for k, v in state.items() if not isinstance(v, np.ndarray)
    }


@pytest.mark.parametrize(
    "value",
    [object(), None, float("nan"), np.int64(3), np.array([object()]), np.array([True]), np.array(["a"])],
    ids=["object", "none", "nan", "numpy", "objects", "flags", "texts"],
)
def test_a_state_that_could_not_be_read_again_is_refused(value):
    with pytest.raises(SessionError, match="other of the model's state"):
        pack_state({"fine": 1, "other": value})
    with pytest.raises(SessionError, match="100 arrays"):
        pack_state({str(number): np.zeros(1) for number in range(101)})


def test_ids_of_their_own_stay_with_the_articles():
    whole = replace(documents([2, 0, 3, 1]), ids=("a", "", "c", "d"))
    back = Block.from_bytes(whole.to_bytes(), "here", 100)
    assert back.ids == whole.ids
    assert whole[1:3].ids == ("", "c")
    assert [part.ids for part in whole.split(whole.has_words)] == [("a", "c", "d"), ("",)]
    nothing = Block.concatenate([])
    assert Block.concatenate([nothing, whole[:2], whole[2:]]).ids == whole.ids
    assert Block.concatenate([nothing, documents([1])]).ids is None
    assert Block.from_bytes(documents([1]).to_bytes(), "here", 100).ids is None


def test_ids_of_another_number_are_damage():
    wrong = replace(documents([2, 1]), ids=("a",))
    with pytest.raises(Damaged, match="ids"):
        Block.from_bytes(wrong.to_bytes(), "here", 100)
