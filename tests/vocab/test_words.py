import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikitopics.vocab.rules import INVISIBLE, Rule

words, is_word = Rule().words, Rule().is_word


def plain_words(text: str) -> list[str]:
    """The definition, letter by letter."""
    seen = (char for char in text if char not in INVISIBLE)
    return "".join(char if char.isalpha() else " " for char in seen).split(" ")


@given(st.text())
def test_words_are_the_runs_of_letters_in_lower_case(text):
    expected = [run.lower() for run in plain_words(text) if run]
    assert [word.decode() for word in words(text)] == expected


@given(st.text(alphabet=st.characters(categories=["L", "M", "N", "P", "S", "Z", "Cs"]), min_size=200))
def test_many_kinds_of_separators(text):
    text = "".join(chr(code) for code in range(0x2000, 0x2100)) + text
    assert [word.decode() for word in words(text)] == [run.lower() for run in plain_words(text) if run]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mother-in-law's café", ["mother", "in", "law", "s", "café"]),
        ("x² ½ Ⅷ 3rd snake_case", ["x", "rd", "snake", "case"]),
        ("İstanbul ΟΔΟΣ'Α STRASSE Straße", ["i̇stanbul", "οδος", "α", "strasse", "straße"]),
        ("\N{KELVIN SIGN}ing", ["king"]),
        ("co\u00adoperate \u202dleft\u202c", ["cooperate", "left"]),
        ("a\udc80b\x00c", ["a", "b", "c"]),
        (unicodedata.normalize("NFD", "été"), ["e", "te"]),
        ("", []),
    ],
)
def test_examples(text, expected):
    assert [word.decode() for word in words(text)] == expected


@given(st.text(max_size=20))
def test_a_word_is_what_words_give(text):
    for word in words(text):
        assert is_word(word.decode())


@pytest.mark.parametrize("text", ["", "two words", "Upper", "x2", "a-b", " pad", "\u0307"])
def test_no_words(text):
    assert not is_word(text)
