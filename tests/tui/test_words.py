"""Numbers as people read them; foreign text as it is, never obeyed."""

import unicodedata
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikitopics.tui import text

OBEYED: Final = ("Cc", "Cf", "Zl", "Zp", "Cs", "Co")
"""Categories of what a terminal may obey, or show in the place of something else."""


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Ottoman Navy", "Ottoman Navy"),
        ("bell\x07", "bell\\x07"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\x0alines"),
        ("a\u202eb", "a\\u202eb"),
        ("[/x]", "[/x]"),
        ("Kyōto 京都", "Kyōto 京都"),
        ("\ud800", "\\ud800"),
    ],
)
def test_control_characters_print_as_themselves(title: str, shown: str) -> None:
    assert text.visible(title) == shown


@given(st.text() | st.text(st.characters(categories=OBEYED)))
def test_nothing_that_a_terminal_obeys_is_left(title: str) -> None:
    left = {ch for ch in text.visible(title) if unicodedata.category(ch) in OBEYED}
    assert left <= {"\u200c", "\u200d"}, "joiners, which belong to words"


def test_numbers() -> None:
    assert text.count(12480) == "12,480"
    assert text.short(9210) == "9.2k"
    assert text.short(168) == "168"
    assert text.short(1.5e6) == "1.5M"
    assert text.measured(1187.3) == "1,187"
    assert text.measured(-7.0812) == "-7.081"
    assert text.share(0.0613) == "6.1%"
    assert text.clock(6130) == "01:42:10"
    assert text.clock(2 * 86400 + 3 * 3600 + 600) == "2d 03:10"
    assert text.age(38.2) == "38 s"
    assert text.age(600) == "10 min"
    assert text.size(1_234_567) == "1.2 MB"
    assert text.plural(1, "article") == "1 article"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("plain", "plain"),
        ("Zwoleń, Hespérides", "Zwolen, Hesperides"),
        ("e\u0301", "e"),
        ("日本 ł", "???? ?"),
    ],
)
def test_without_utf8_accents_go_and_widths_stay(title: str, shown: str) -> None:
    assert text.in_ascii(title) == shown
