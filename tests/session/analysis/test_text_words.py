"""The words of titles and snippets."""

import pytest

from wikitopics.session.analysis.text_words import TextWords, folded
from wikitopics.vocab.rules import Rule


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Read a CSV-file: 42 rows", ["read", "a", "csv", "file", "42", "rows"]),
        ("l’homme «don't»\u3000naïve", ["l", "homme", "don", "t", "naïve"]),
        ("Straße · GRÖSSE – cafe\u0301", ["strasse", "grösse", "café"]),
        ("हिन्दी, русский", ["हिन्दी", "русский"]),
        ("", []),
        ("…", []),
    ],
)
def test_words_of_titles_and_snippets(text, words):
    assert TextWords(Rule(2)).of(text) == words
    keys, ends = TextWords(Rule(2)).keys_of_lines("\n".join([folded(text), "", folded(text)]))
    assert ends.tolist() == [len(words), len(words), 2 * len(words)]
    assert keys.tolist() == [key for word in words for key in TextWords(Rule(2)).keys(word)] * 2


def test_different_words_have_different_keys():
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in ("", "longer" * 2) for c in range(500)]
    assert len({TextWords(Rule(2)).keys(word) for word in words}) == len(words)


def test_where_a_dictionary_separates_words_each_character_is_one():
    words = TextWords(Rule.parse("3 zh"))
    assert words.of("東京都 abc12") == ["東", "京", "都", "abc12"]
    assert words.keys("京都") == words.keys("東京都")[1:]
