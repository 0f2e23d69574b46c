"""Where the words that are counted stand in a text."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikitopics.vocab import Vocabulary, segmenters
from wikitopics.vocab.positions import known_words, places
from wikitopics.vocab.rules import Rule

SPACED = {
    "1": "Don't re-read Öl and 3rd-rate prose, soft\u00adly; naïve Straße!",
    "2 en": "The country's rock'n'roll, well-known: it’s “new”.",
    "2 fr": "L'homme d’aujourd'hui, qu'il l'a vu: c'est jusqu'ici.",
    "2 tr": "IŞIK ve İstanbul'da I\u0307stanbul ışık.",
    "2": 'בצה"ל "שלום" и ещё й\u0306 e\u0301te\u0301 می\u200cخواهم क्षि क्\u200dष',
    "2 digits": "covid19, 5G and 2020's 4x4 wheels; 1990",
}
"""A text for each word rule of languages with spaces."""
ALPHABET = (
    "aIıi̇İßǆÉé'’ʼ׳״\"\u200c\u200d\u00ad\u0301\u0307 \n,.-019①אבगिकصـかΩ\u212bｶ한\u1112\u1161\ud800"
)


def parts_of(text, found):
    return [text[start:end] for start, end in found]


@pytest.mark.parametrize("rule", SPACED)
def test_each_word_is_where_the_text_has_it(rule):
    text = SPACED[rule]
    rule = Rule.parse(rule)
    found = places(rule, text)
    assert [rule.words(part) for part in parts_of(text, found)] == [
        [word] for word in rule.words(text)
    ]


def test_what_belongs_to_no_word_is_left_out_of_its_place():
    text = "«L'homme» est-il d’ici?"
    found = places(Rule.parse("2 fr"), text)
    assert parts_of(text, found) == ["L", "homme", "est", "il", "d", "ici"]
    text = "'tis the country's"
    assert parts_of(text, places(Rule.parse("2 en"), text)) == ["tis", "the", "country's"]


@given(st.sampled_from([*SPACED, "2 it"]), st.text(ALPHABET) | st.text())
def test_there_is_a_place_for_each_word_of_any_text(rule, text):
    rule = Rule.parse(rule)
    found = places(rule, text)
    assert len(found) == len(rule.words(text))
    edges = [edge for place in found for edge in place]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)
    assert all(start < end for start, end in found)


@given(st.lists(st.sampled_from(["New", "York", "city", "d'", "x", "-", "York's", " ", "\n"])))
def test_known_words_are_those_that_count_counts(parts):
    vocabulary = Vocabulary.from_words(["york", "new york", "new york city", "city", "d"], "2 en")
    text = " ".join(parts)
    known = known_words(vocabulary, text)
    ids, counts = np.unique([word_id for _, _, word_id in known], return_counts=True)
    expected_ids, expected_counts = vocabulary.count(text)
    assert (ids.tolist(), counts.tolist()) == (expected_ids.tolist(), expected_counts.tolist())
    for start, end, word_id in known:
        assert vocabulary.split(text[start:end]) == [vocabulary.words[word_id]]


def test_a_phrase_is_one_place_and_a_misread_spelling_is_its_word():
    vocabulary = Vocabulary.from_words(["new york", "ışık"], "2")
    text = "In New\nYork, IŞIK."
    assert [
        (text[start:end], word_id) for start, end, word_id in known_words(vocabulary, text)
    ] == [
        ("New\nYork", 0),
        ("IŞIK", 1),
    ]


def test_a_text_that_is_a_token_is_one_place():
    vocabulary = Vocabulary.from_words(["c++", "a-b c", "river", "new york"], "tokens 2")
    for text, expected in {
        " a-b c\n": [(1, 6, 1)],
        "c++": [(0, 3, 0)],
        "New York, a river of c++": [(0, 8, 3), (12, 17, 2)],
    }.items():
        assert known_words(vocabulary, text) == expected
        ids, _ = vocabulary.count(text)
        assert sorted({word_id for _, _, word_id in expected}) == ids.tolist()


def test_titles_are_lines():
    vocabulary = Vocabulary.from_words(["Paris", "New York City"], "links")
    text = "Rome\nNew York City\n\nParis\nParis"
    assert known_words(vocabulary, text) == [(5, 18, 1), (20, 25, 0), (26, 31, 0)]


def test_a_hostile_run_without_spaces_takes_no_time_of_its_square():
    text = "l'" * 10_000
    found = places(Rule.parse("2 fr"), text)
    assert len(found) == len(Rule.parse("2 fr").words(text))


def test_words_of_a_dictionary_have_the_places_that_it_tells(monkeypatch):
    def placed(text, language):
        for pair in re.finditer("..", text):
            yield (*pair.span(), pair[0])

    monkeypatch.setattr(
        segmenters, "spaced_text", lambda text, language: " ".join(re.findall("..", text))
    )
    monkeypatch.setattr(segmenters, "placed_words", placed)
    text = "東京都庁A-吹替"
    rule = Rule.parse("3 ja")
    assert parts_of(text, places(rule, text)) == ["東京", "都庁", "A", "吹替"]


def test_a_word_of_a_dictionary_is_taken_apart_once_however_often_it_occurs(monkeypatch):
    n = 50
    taken_apart = []
    split = Rule.words_between_spaces

    def watched(rule, text):
        taken_apart.append(text)
        return split(rule, text)

    placed = [(2 * number, 2 * number + 2, "東京") for number in range(n)]
    monkeypatch.setattr(segmenters, "placed_words", lambda text, language: placed)
    monkeypatch.setattr(Rule, "words_between_spaces", watched)
    found = places(Rule.parse("3 ja"), "東京" * n)
    assert found == [(start, end) for start, end, _ in placed]
    assert len(taken_apart) < 5


@pytest.mark.interop
@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("ja", "映画の吹替は、東京で", {"映画": "映画", "吹替": "吹き替え", "東京": "東京"}),
        (
            "zh",
            "臺灣的圖書館和大學 Python 3",
            {"臺灣": "台湾", "圖書館": "图书馆", "大學": "大学", "Python": "python"},
        ),
        ("th", "ภาษาไทย และเเม่น้ำ", {"ภาษาไทย": "ภาษาไทย", "เเม่น้ำ": "แม่น้ำ"}),
    ],
)
def test_words_of_japanese_chinese_and_thai_have_places(language, text, expected):
    for package in segmenters.PACKAGES[language]:
        if package not in segmenters.installed_versions(language):
            pytest.skip(f"{package} is not installed")
    rule = Rule.parse(f"3 {language}")
    words = [word.decode() for word in rule.words(text)]
    found = places(rule, text)
    assert len(found) == len(words)
    word_of = dict(zip(parts_of(text, found), words, strict=True))
    assert expected.items() <= word_of.items()
