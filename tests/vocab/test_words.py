import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikitopics.vocab.rules import INVISIBLE, Rule

RULE = Rule()


def plain_words(text):
    """The words by their definition, letter by letter: runs of letters in lower case."""
    runs = [""]
    for char in text:
        if char in INVISIBLE:
            continue
        if char.isalpha():
            runs[-1] += char
        else:
            runs.append("")
    return [run.lower() for run in runs if run]


def words_of(text):
    return [word.decode() for word in RULE.words(text)]


MANY_SEPARATORS = "".join(map(chr, range(0x2000, 0x2100)))
OF_MOST_KINDS = st.text(
    st.characters(categories=["L", "M", "N", "P", "S", "Z", "Cs"]), min_size=200
)


@given(st.text() | OF_MOST_KINDS.map(lambda text: MANY_SEPARATORS + text))
def test_words_are_the_runs_of_letters_in_lower_case(text):
    words = words_of(text)
    assert words == plain_words(text)
    assert all(map(RULE.is_word, words))


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
def test_words_of_examples(text, expected):
    assert words_of(text) == expected


@pytest.mark.parametrize("text", ["", "two words", "Upper", "x2", "a-b", " pad", "\u0307"])
def test_what_is_no_word(text):
    assert not RULE.is_word(text)
