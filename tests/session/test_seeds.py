"""Seeds of topics as somebody writes them: lines or JSON."""

import pytest

from wikitopics.session.errors import BadUsage
from wikitopics.session.seeds import ids_of, parsed
from wikitopics.vocab import Vocabulary


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no topics"),
        ("music song", "line 1 has no colon"),
        ("a: b\na: c", "two topics are called 'a'"),
        ("a:", "the topic 'a' has no words"),
        (": b", "a topic has no name"),
        ("a\x1b: b", r"printable characters, not 'a\\x1b'$"),
        ("x" * 61 + ": b", "60 printable"),
        ('{"a": "b"}', "lists of words"),
        ('{"a": [1]}', "lists of words"),
        ('{"a": [" "]}', "lists of words"),
        ('{"a": ["b"], "a": ["c"]}', "two topics"),
        ('{"a": ' + "9" * 5000 + "}", "lists of words"),
        ('{"a": ', "not JSON: Expecting"),
        pytest.param("{" * 100_000, "not JSON: Expecting", id="nested"),
    ],
)
def test_what_are_no_seeds_is_told_in_one_line(text, says):
    with pytest.raises(ValueError, match=says) as error:
        parsed(text)
    assert str(error.value).isprintable()


def test_a_seed_that_is_too_long_for_a_line_is_cut_in_messages():
    with pytest.raises(
        BadUsage, match=r"^--seeds: the vocabulary has none of the words of 'a': x{60}$"
    ):
        ids_of({"a": ["x" * 10_000]}, Vocabulary.from_words(["tea", "cup"]))


def test_seeds_are_lines_or_json():
    assert parsed("Tea: pot  cup cup\n\nNew York: city\n") == {
        "Tea": ["pot", "cup"],
        "New York": ["city"],
    }
    assert parsed("Cities: new york, london") == {"Cities": ["new york", "london"]}
    assert parsed('{"Tea": ["new york"]}') == {"Tea": ["new york"]}
