"""Many texts at a time: separated and counted as the rules say, one text after another."""

import html
import json
import lzma
import pickle
import random
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.real_text import CORPUS, needs_corpus
from wikitopics.vocab import Vocabulary, counting
from wikitopics.vocab.characters import DOT_ABOVE
from wikitopics.vocab.counting import separated, words_of
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.tables import CharacterTables, composing_pairs
from wikitopics.vocab.vocabulary import Lexicon

# Compiled code does not warn of it; the kernels as plain Python do.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

RULES = [
    Rule.parse(text)
    for text in ("1", "2", "2 en", "2 fr", "2 ca", "2 tr", "2 digits", "2 en digits", "2 tr digits")
]
PIECES = (
    "a b c A B ı I İ i \u0307 \u0301 \u0300 \u0323 \u0327",
    "' ’ ʼ ׳ ״ \u200c \" \u200d א ב \u05c1 \u05bc",
    "Σ σ ς Α ʰ \u0345 1 2 s's S's l' qu' jusqu’",
    "क \u093c न \u093e \u0947 \u094d \u09c7 \u09be \u09d7 ऱ",
    "\u1100 \u1161 \u11a8 \uac00",
    "\u00ad \u200b \u200e \ufeff \u0640 ب \u0651 \u064b \u0654 ا",
    "\u212a \u212b \u2126 \u1f71 \u0344 ẞ ß Ⱥ ŉ é ố \u1e9b 𐐀 \U0001f600 ² Ⅷ",
)
"""What is treated in a way of its own by one of the rules."""
ODD = st.lists(st.sampled_from([" ", *" ".join(PIECES).split(" ")]), max_size=16).map("".join)
TEXTS = st.lists(ODD | st.text(max_size=12), max_size=5)


@given(TEXTS, st.sampled_from(RULES))
@example(["é\u0323 \u212b\u0323"], Rule.parse("2"))  # the marks change places
@example(["xİ\u200bΣ xİΣ\u0654"], Rule.parse("1"))  # the final sigma behind a letter and its dot
@example(["ऱ्य ऱ\u093c"], Rule.parse("2"))
@example(['א"ב \u05c1"\u05c1', '\u05c1"\u05c1'], Rule.parse("2"))
@example(["ΟΔΟΣ' 'ΟΔΟΣ ΑΣΑ ΑΣ's Σ Σ1"], Rule.parse("2 en digits"))
@example(["l'l'a aujourd'hui l'\u0301a"], Rule.parse("2 fr"))
@example(["5's 5' '5 5g g5's 's"], Rule.parse("2 en digits"))
def test_the_words_of_each_text_are_those_of_the_rule(texts, rule):
    assert list(words_of(rule, texts)) == [rule.words(text) for text in texts]


@pytest.mark.long
def test_random_strings_have_the_words_of_the_rule():
    rng = random.Random(5)
    pools = [piece.replace(" ", "") + " " for piece in PIECES]

    def random_text():
        length = rng.randrange(1, 24)
        if rng.random() < 0.8:
            pool = "".join(rng.sample(pools, 2))
            return "".join(rng.choice(pool) for _ in range(length))
        return "".join(chr(rng.randrange(0x110000)) for _ in range(length))

    for rule in RULES:
        texts = [random_text() for _ in range(700)]
        for text, words in zip(texts, words_of(rule, texts), strict=True):
            assert words == rule.words(text), (str(rule), ascii(text))


@given(TEXTS, st.sampled_from(RULES), st.randoms(use_true_random=False))
def test_counts_are_those_of_the_words_and_phrases_that_split_gives(texts, rule, rng):
    words = [word.decode() for text in texts for word in rule.words(text)]
    known = {"aa", "bb"}
    for word in words:
        if rng.random() < 0.5:
            known.add(word)
    for start in range(len(words)):
        if rng.random() < 0.3:
            known.add(" ".join(words[start : start + rng.choice([2, 3, 4])]))
    vocabulary = Vocabulary(sorted(known), rule, strict=False)
    for text, (ids, counts) in zip(texts, vocabulary.count_all(texts), strict=True):
        expected = Counter(word for word in vocabulary.split(text) if word in vocabulary)
        found = {vocabulary.words[id]: count for id, count in zip(ids, counts, strict=True)}
        assert found == expected
        assert ids.dtype == counts.dtype == np.int32
        assert (np.diff(ids) > 0).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("new york city hall", ["new york city", "hall"]),
        ("new york hall of new york", ["new york", "hall", "new york"]),
        ("New, York; new", ["new york", "new"]),
        ("york city york", ["york city", "york"]),
        ("city of new", ["new"]),
        ("of the of the people", ["of the people"]),
    ],
)
def test_the_longest_phrase_is_counted_from_left_to_right(text, expected):
    words = ["new york city", "new york", "york city", "new", "york", "hall", "of the people"]
    vocabulary = Vocabulary.from_words(words)
    ids, counts = vocabulary.count(text)
    found = {vocabulary.words[id]: count for id, count in zip(ids, counts, strict=True)}
    assert found == Counter(expected)


def test_texts_that_are_read_together_do_not_mix():
    texts = ["apple pear", "", "pear", " ", "apple"]
    counted = list(Vocabulary.from_words(["apple", "pear"]).count_all(texts))
    assert [ids.tolist() for ids, _ in counted] == [[0, 1], [], [1], [], [0]]


def test_a_text_that_only_the_rule_can_read_stands_among_others():
    rule = Rule.parse("2")
    texts = ["one two", "o\u0301ne", "three", "tw\u0307o four", "\u0307"]
    words, ends = separated(rule, texts)
    assert words.tobytes() == "one two óne three tẇo four ".encode()
    assert ends.tolist() == [0, 8, 13, 19, 30, 30]


def test_time_grows_with_the_number_of_marks_not_with_its_square():
    """Going through all marks for each further one would take days."""
    rule = Rule.parse("2")
    for text in ("x" + "\u0301" * 2_000_000, "\u0301" * 2_000_000):
        assert next(words_of(rule, [text])) == rule.words(text)
    for n_marks in range(28, 36):
        texts = [f"x{n_marks * mark} e" for mark in ("\u0301", "\u0315")]
        assert list(words_of(rule, texts)) == [rule.words(text) for text in texts]


def test_many_texts_are_read_a_few_at_a_time(monkeypatch):
    sizes = []

    def noted(rule, texts):
        sizes.append(len(texts))
        return separated(rule, texts)

    monkeypatch.setattr(counting, "separated", noted)
    vocabulary = Vocabulary.from_words(["apple", "pear"])
    short = ["apple"] * 150
    long = ["pear " * 40_000] * 3  # 200,000 characters each
    counted = list(vocabulary.count_all(iter(short + long)))
    assert sizes == [64, 64, 24, 1]
    assert [counts.sum() for _, counts in counted] == [1] * 150 + [40_000] * 3


def test_nothing_is_read_before_it_is_asked_for():
    def texts():
        yield from ["apple"] * 64
        raise AssertionError("too far")

    counted = Vocabulary.from_words(["apple", "pear"]).count_all(texts())
    assert [next(counted)[0].tolist() for _ in range(64)] == [[0]] * 64


def test_tables_grow_by_the_characters_that_turn_up():
    tables = CharacterTables()
    before = tables.arrays
    assert len(before.kinds) == 1
    assert len(before.pairs) == 0
    tables.add([ord("Ⱥ") >> 8])
    rows = {ord(char) >> 8 for char in "AȺⱥ"}  # the lower case is elsewhere
    assert set(np.flatnonzero(tables.arrays.row_of >= 0)) >= rows
    assert len(before.kinds) == 1
    tables.add([ord("Ⱥ") >> 8])
    assert len(tables.arrays.kinds) == np.count_nonzero(tables.arrays.row_of >= 0)


def test_pairs_are_those_that_nfc_makes_one():
    pairs = set(composing_pairs().tolist())
    assert ord("e") << 21 | 0x301 in pairs
    assert 0x928 << 21 | 0x93C in pairs
    assert 0x915 << 21 | 0x93C not in pairs  # NFC takes it apart
    assert ord("x") << 21 | ord(DOT_ABOVE) in pairs
    assert len(pairs) > 900


def test_a_vocabulary_that_has_counted_can_be_pickled():
    vocabulary = Vocabulary.from_words(["apple", "pear", "apple tree"])
    vocabulary.count("apple")
    copied = pickle.loads(pickle.dumps(vocabulary))
    assert copied == vocabulary
    ids, counts = copied.count("an apple tree, an apple")
    assert ids.tolist() == [0, 2]
    assert counts.tolist() == [1, 1]


def test_titles_and_tokens_are_counted_for_many_texts_too():
    titles = Vocabulary.from_words(["New York", "Pear"], "links")
    assert [ids.tolist() for ids, _ in titles.count_all(["New York\nPear", "york"])] == [[0, 1], []]
    tokens = Vocabulary.from_words(["New York", "pear"], "tokens 1")
    counted = [ids.tolist() for ids, _ in tokens.count_all(["New York", "a pear", "new york"])]
    assert counted == [[0], [1], []]


def test_a_lexicon_numbers_words_as_they_appear():
    lexicon = Lexicon(Rule.parse("2 en"))
    counted = list(lexicon.count_all(["the cat's hat", "a hat, a hat, " + "x" * 41]))
    assert lexicon.words == ("the", "cat", "hat", "a")
    assert [ids.tolist() for ids, _ in counted] == [[0, 1, 2], [2, 3]]
    assert [counts.tolist() for _, counts in counted] == [[1, 1, 1], [2, 2]]


@needs_corpus
@pytest.mark.long
def test_real_articles_have_the_words_of_the_rule():
    with lzma.open(CORPUS / "articles-60k.jsonl.xz", "rt", encoding="utf-8") as file:
        texts = [json.loads(next(file))["text"] for _ in range(2000)]
    for rule in RULES:
        assert list(words_of(rule, texts)) == [rule.words(text) for text in texts]


@needs_corpus
@pytest.mark.long
@pytest.mark.parametrize("language", ["uk", "el", "bn", "mr"])
def test_pages_in_other_scripts_have_the_words_of_the_rule(language):
    """With their markup, which has all kinds of characters."""
    path = CORPUS / "languages" / f"{language}wiki-truncated-100k.xml.xz"
    with lzma.open(path, "rt", encoding="utf-8", errors="replace") as file:
        begin = file.read(1_500_000)
    texts = [html.unescape(page) for page in re.findall("<text[^>]*>([^<]*)", begin)]
    assert len(texts) > 20
    for rule in (Rule(), Rule.of_language(language)):
        assert list(words_of(rule, texts)) == [rule.words(text) for text in texts]
