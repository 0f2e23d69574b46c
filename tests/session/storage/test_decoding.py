"""Values of a session file: the last that passes at each end, and what is said of the first that
does not."""

import numpy as np
import pytest

from wikitopics.session import records
from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.records import JSON
from wikitopics.session.storage import decoding


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        (records.Count, 0, 10**15),
        (records.PositiveCount, 1, 10**15),
        (records.Rate, 0.0, 1e15),
        (records.Moment, 0.0, 4e10),
    ],
    ids=["count", "from one", "rate", "moment"],
)
def test_numbers_have_ends(kind, first, last):
    assert [decoding.convert(end, kind, "it") for end in (first, last)] == [first, last]
    for wrong in (first - 1, last + 8, 10**400, float("nan"), True, None, "3", b"3", []):
        with pytest.raises(Damaged, match=r"\(it: (Expected|Number|Integer)"):
            decoding.convert(wrong, kind, "it")


def test_texts_end():
    assert decoding.convert("é" * 65_536, records.Text, "it") == "é" * 65_536
    with pytest.raises(Damaged, match="it: Expected `str` of length <= 65536"):
        decoding.convert("x" * 65_537, records.Text, "it")


def test_the_column_is_named_that_is_damaged():
    columns = {"at": records.Moment, "paused": bool, "skips": decoding.Annotated[dict, JSON]}
    assert decoding.convert_rows([(1.5, 1, '{"a": 1}')], "it", columns) == [(1.5, True, {"a": 1})]
    for row, said in (
        (("x", 0, "{}"), "it.at: Expected `float`, got `str`"),
        ((1.5, 2, "{}"), "it.paused: Expected `bool`, got `int`"),
        ((1.5, 0, "{"), "it.skips is not JSON"),
        ((1.5, 0, None), "it.skips: Expected `object`, got `null`"),
    ):
        with pytest.raises(Damaged, match=said):
            decoding.convert_rows([(1.5, 0, "{}"), row], "it", columns)


def test_what_damage_holds_is_harmless_to_a_terminal_and_short():
    for wrong in ("\x1b[31m", "x" * 100_000):
        with pytest.raises(Damaged) as caught:
            decoding.convert(wrong, records.State, "it")
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 400


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
    assert decoding.from_json('{"a": 1}', dict[str, int], "it") == {"a": 1}
    for wrong in ("NaN", '{"a": Infinity}', "[" * 100_000, "{", '"\\ud800"', ""):
        with pytest.raises(Damaged, match="it is not JSON"):
            decoding.from_json(wrong, object, "it")
    for odd, said in (
        ("[]", "it: Expected `object`"),
        ('{"a": "x"}', "it"),
        (" " * 2**20 + "{}", "length"),
    ):
        with pytest.raises(Damaged, match=said):
            decoding.from_json(odd, dict[str, int], "it")
    for depth in range(100, 1200, 50):
        try:
            decoding.convert_rows(
                [("[" * depth + "]" * depth,)], "it", {"a": decoding.Annotated[list, JSON]}
            )
        except Damaged:
            return
    raise AssertionError("no depth was refused")


@pytest.mark.parametrize(
    "value",
    [
        object(),
        None,
        float("nan"),
        np.int64(3),
        np.array([object()]),
        np.array([True]),
        np.array(["a"]),
    ],
    ids=["object", "none", "nan", "numpy", "objects", "flags", "texts"],
)
def test_a_state_that_could_not_be_read_again_is_refused(value):
    with pytest.raises(SessionError, match="other of the model's state"):
        decoding.pack_state({"fine": 1, "other": value})
    with pytest.raises(SessionError, match="100 arrays"):
        decoding.pack_state({str(number): np.zeros(1) for number in range(101)})
