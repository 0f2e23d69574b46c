"""What somebody seeks, and where it is in a text."""

import re

from wikitopics.session.analysis.sought import MOST_CHARACTERS, MOST_WORDS, Sought
from wikitopics.vocab import Vocabulary, segmenters


def sought(text, *words, rule="2 en"):
    return Sought(text, Vocabulary.from_words(words or ("ship", "new", "york", "new york"), rule))


def marked(text, in_text, **more):
    return [in_text[start:stop] for start, stop in sought(text, **more).spans(in_text)]


def test_what_was_sought_is_marked_as_it_is_written():
    assert marked("new york ships", "New York's Ship, and SHIPS!") == ["New", "York", "SHIPS"]
    assert marked("café", "Le CAFÉ; cafes") == ["CAFÉ"]
    assert marked("shipwr", "Old Shipwreck") == ["Shipwr"]
    assert marked("the ship", "the ship, the end") == ["the ship"], "stop words only with the rest"
    assert marked("the", "the ship, The end") == ["the", "The"]
    assert marked("[x]*", "a [x]* b") == ["[x]*"]
    assert marked("", "anything") == []


def test_what_is_sought_is_bounded():
    long = sought(" ".join(f"word{number}" for number in range(10**5)))
    assert len(long.text) <= MOST_CHARACTERS
    assert len(long.units) <= MOST_WORDS
    assert sought("\x00\ud800 ship").units[-1].word


def test_a_word_that_is_typed_twice_is_sought_once(monkeypatch):
    assert [unit.word for unit in sought("whale ship whale").units] == ["ship", "whale"]
    monkeypatch.setattr(segmenters, "PACKAGES", {"ja": ("numpy",)})
    monkeypatch.setattr(segmenters, "_words_of", lambda language: re.compile("..").findall)
    in_japanese = sought("東京 東京", "都庁", "区役", rule="3 ja")
    assert [unit.word for unit in in_japanese.units] == ["東京"]


def test_an_excerpt_shows_the_first_of_the_words():
    text = "one two three four five six seven eight nine ten ship eleven twelve"
    excerpt = sought("ship").excerpt(text, 30)
    assert "ship" in excerpt
    assert excerpt.startswith("…")
    assert len(excerpt) <= 30
    assert sought("ship").excerpt("a ship", 30) == "a ship"


def test_links_are_found_by_a_part_of_a_title():
    vocabulary = Vocabulary.from_words(["New York City", "Yorkshire", "Paris"], "links")
    ((_, ids),) = Sought("york", vocabulary).groups
    assert ids == [0, 1]
