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


MANY_SEPARATORS = "".join(map(chr, range(0x2000, 0x2100)))
OF_MOST_KINDS = st.text(
    st.characters(categories=["L", "M", "N", "P", "S", "Z", "Cs"]), min_size=200
)


@given(st.text() | OF_MOST_KINDS.map(lambda text: MANY_SEPARATORS + text))
def test_words_are_the_runs_of_letters_in_lower_case(text):
    found = [word.decode() for word in words(text)]
    assert found == [run.lower() for run in plain_words(text) if run]
    assert all(map(is_word, found))


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


@pytest.mark.parametrize("text", ["", "two words", "Upper", "x2", "a-b", " pad", "\u0307"])
def test_no_words(text):
    assert not is_word(text)
