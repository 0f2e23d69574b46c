"""Values of a session file: the last that passes at each end, and what is said of the first that does not."""

import numpy as np
import pytest

from wikitopics.session.errors import Damaged
from wikitopics.session.storage import decoding


@pytest.mark.parametrize(
    ("decode", "first", "last"),
    [
        (decoding.whole, 0, 10**15),
        (decoding.number, 0.0, 1e15),
        (decoding.moment, 0.0, 4e10),
        (lambda value, place: decoding.wholes([3, value], place, 2, 5)[1], 2, 5),
    ],
    ids=["whole", "number", "moment", "wholes"],
)
def test_numbers_have_ends(decode, first, last):
    assert (decode(first, "it"), decode(last, "it")) == (first, last)
    for wrong in (first - 1, last + 8):
        with pytest.raises(Damaged, match="it is out of range"):
            decode(wrong, "it")
    for wrong, said in ((True, "a flag"), (None, "missing"), ("3", "text"), (b"3", "a blob"), ([], "a list")):
        with pytest.raises(Damaged, match=f"it is {said}"):
            decode(wrong, "it")


@pytest.mark.parametrize("decode", [decoding.number, decoding.moment])
def test_nan_is_no_number(decode):
    with pytest.raises(Damaged, match="out of range"):
        decode(float("nan"), "it")


@pytest.mark.parametrize(
    "decode",
    [decoding.text, lambda value, place: decoding.texts(["a", value], place)[1]],
    ids=["one", "many"],
)
def test_texts_end_and_can_be_written(decode):
    assert decode("é" * 65_536, "it") == "é" * 65_536
    with pytest.raises(Damaged, match="it is over 65,536 characters"):
        decode("x" * 65_537, "it")
    with pytest.raises(Damaged, match="not Unicode"):
        decode("\udc80", "it")


def test_arrays_are_as_long_as_their_shape():
    data = np.arange(6, dtype=np.int32).tobytes()
    assert decoding.numbers(data, "it", np.int32, (2, 3), 0, 5).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert decoding.numbers(data, "it", np.int32, (3, -1), 0, 5).shape == (3, 2)
    assert decoding.numbers(b"", "it", np.int32, (-1,), 1, 1).size == 0
    assert decoding.numbers(b"", "it", np.int32, (0,), 1, 1).size == 0
    for shape in ((3,), (5,), (4, -1), (0,)):
        with pytest.raises(Damaged, match="wrong length"):
            decoding.numbers(data, "it", np.int32, shape, 0, 5)
    for low, high in ((1, 5), (0, 4)):
        with pytest.raises(Damaged, match="holds numbers"):
            decoding.numbers(data, "it", np.int32, (6,), low, high)


def test_json_has_neither_nan_nor_depth_without_end():
    assert decoding.json_object('{"a": 1}', "it") == {"a": 1}
    for wrong in ("NaN", '{"a": Infinity}', "[" * 100_000, "{"):
        with pytest.raises(Damaged, match="it is not JSON"):
            decoding.from_json(wrong, "it")
    with pytest.raises(Damaged, match="it is a list, not an object"):
        decoding.json_object("[]", "it")
