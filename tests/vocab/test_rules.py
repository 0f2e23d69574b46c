"""Word rule 2: what a word is in many languages, and that everything which counts agrees about
it."""

import pickle
import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import CUT_SHORT, DOTTED, Rule, token_lines, tokens_in
from wikitopics.vocab.vocabulary import BadVocabulary

WORDS = {
    # language: text, words
    "de": (
        "Die Straße führt »über« Groß\u00adbritannien (1984).",
        "die straße führt über großbritannien",
    ),
    "en": ("Don't touch 'the kings’ rock'n'roll'; it''s", "don't touch the kings rock'n'roll it s"),
    "fr": (
        "L'homme d’État, aujourd'hui, qu'il n'a jusqu'ici",
        "l homme d état aujourd'hui qu il n a jusqu ici",
    ),
    "it": ("L'arte dell'Ottocento, un po' d'acqua", "l arte dell ottocento un po d acqua"),
    "ca": ("l'illa d'Eivissa", "l illa d eivissa"),
    "uk": ("П'ять м’ячів, обʼєкт 'слово'", "п'ять м'ячів об'єкт слово"),
    "tr": ("İSTANBUL'da IĞDIR I\u0307zmir ışık", "istanbul'da ığdır izmir ışık"),
    "az": ("Bakı İÇƏRİ QIZIL", "bakı içəri qızıl"),
    "": ("İstanbul DIŞ", "istanbul diş"),
    "hi": ("हिन्दी भाषा, क्षेत्र।२ नदियाँ", "हिन्दी भाषा क्षेत्र नदियाँ"),
    "bn": ("বাংলা ভাষায় র‍্যাব, ক্\u200cষ", "বাংলা ভাষায় র‍্যাব ক্\u200cষ"),
    "ta": ("தமிழ் மொழி, ஆறுகள்.", "தமிழ் மொழி ஆறுகள்"),
    "ml": ("അവൻ മലയാളം", "അവൻ മലയാളം"),
    "si": ("ශ්\u200dරී ලංකා", "ශ්\u200dරී ලංකා"),
    "ar": ("كِتَابٌ كـتـاب، المَدْرَسَة\u200f.", "كِتَابٌ كتاب المَدْرَسَة"),
    "fa": ("می\u200cخواهم خانه\u200c ها", "می\u200cخواهم خانه ها"),
    "he": ('סֵפֶר צה"ל "שלום" ג׳ירפה', "סֵפֶר צה״ל שלום ג'ירפה"),
    "vi": (unicodedata.normalize("NFD", "Tiếng Việt"), "tiếng việt"),
    "el": ("Ο ΟΔΟΣ'Α ΟΔΟΣ.Β", "ο οδοσ'α οδος β"),
    "ko": (unicodedata.normalize("NFD", "한국의 강"), "한국의 강"),
    "yo": ("Ọ̀rọ̀ J\u030c", "ọ̀rọ̀ ǰ"),
}


@pytest.mark.parametrize("language", WORDS)
def test_words_by_language(language):
    text, words = WORDS[language]
    rule = Rule.of_language(language)
    assert [word.decode() for word in rule.words(text)] == words.split()
    assert all(rule.is_word(word) for word in words.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("'", ""),
        ("a'‌'b ‘c’ d''e f‌g", "a b c d e f‌g"),
        ("\u0301abc 1\u0301x \u0301'd", "abc x d"),
        ("a\udc80b\x00c x² Ⅷ", "a b c x"),
        ("<\u0338x \u093f", "x"),
        ("𐐀bc a\u0301\u0301", "𐐨bc á\u0301"),
        ("".join(chr(code) for code in range(0x2010, 0x2070)) + "é", "é"),
    ],
)
def test_words_at_the_edges_of_the_rule(text, words):
    assert [word.decode() for word in Rule.of_language("").words(text)] == words.split()


def is_part_of_word(char):
    is_mark = unicodedata.category(char).startswith("M")
    return char.isalpha() or is_mark or char == "\u200d"


def plain_words(text, language):
    """The words by the rule, character by character."""
    without_surrogates = "".join(" " if "\ud800" <= char <= "\udfff" else char for char in text)
    text = unicodedata.normalize("NFC", without_surrogates)
    for apostrophe in "\u2019\u02bc\u05f3":
        text = text.replace(apostrophe, "'")
    between_letters_only = "'\u200c\u05f4"

    runs = [""]
    for place, char in enumerate(text):
        neighbours = text[place - 1 : place] + text[place + 1 : place + 2]
        is_between = len(neighbours) == 2 and all(map(is_part_of_word, neighbours))
        if is_part_of_word(char) or (char in between_letters_only and is_between):
            runs[-1] += char
        else:
            runs.append("")
    words = []
    for run in runs:
        while run and not run[0].isalpha():
            run = run[1:]
        lower_i = "ı" if language in DOTTED else "i"
        word = run.replace("İ", "i").replace("I", lower_i).lower()
        word = unicodedata.normalize("NFC", word)
        while "i\u0307" in word:
            word = unicodedata.normalize("NFC", word.replace("i\u0307", "i"))
        words.append(word)
    return list(filter(None, words))


ALPHABET = "aIiıİéßΣσςא״׳\u05b0'’ʼ\u200c\u200d 1-.،نَकि्ক\u0301\u0307\u0327ñJ\u030c\U00010400"


@given(st.text(st.sampled_from(ALPHABET), max_size=30), st.sampled_from(["", "tr"]))
@example("ΟΔΟΣ' 'ΟΔΟΣ", "")
@example("I\u0301I\u0307", "tr")
def test_words_are_what_the_rule_says(text, language):
    words = [word.decode() for word in Rule.of_language(language).words(text)]
    assert words == plain_words(text, language)


@given(
    st.text(st.sampled_from(ALPHABET) | st.characters(), max_size=40),
    st.sampled_from(["", "tr", "fr"]),
)
def test_every_way_to_count_agrees(text, language):
    rule = Rule.of_language(language)
    words = rule.words(text)
    assert all(rule.is_word(word.decode()) for word in words)
    distinct = {word.decode() for word in words} | {"aa", "ışık"}
    every_second = sorted(distinct)[::2]
    vocabulary = Vocabulary.from_words([*every_second, "zz"], rule)
    split = vocabulary.split(text)
    ids, counts = vocabulary.count(text)
    assert len(split) == vocabulary.n_words_in(text) == len(words)
    expected = [split.count(word) for word in vocabulary.words]
    assert np.bincount(ids, counts, len(vocabulary)).tolist() == expected


def test_a_vocabulary_that_names_no_language_takes_a_capital_i_as_its_words_have_it():
    vocabulary = Vocabulary.from_words(["istanbul", "ışık", "kir", "kır"], "2")
    ids, counts = vocabulary.count("İSTANBUL IŞIK KIR kır")
    assert dict(zip(ids.tolist(), counts.tolist(), strict=True)) == {0: 1, 1: 1, 2: 1, 3: 1}
    assert vocabulary.split("IŞIK BİR") == ["ışık", "bir"]


def test_the_rule_is_part_of_the_vocabulary(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("# rule 2 tr\nçay\ntürkçe'de\n", encoding="utf-8")
    vocabulary = Vocabulary.from_file(path)
    assert str(vocabulary.rule) == "2 tr"
    assert vocabulary.words == ("çay", "türkçe'de")
    assert vocabulary.fingerprint == Vocabulary(vocabulary.words, "2").fingerprint
    assert vocabulary != Vocabulary(vocabulary.words, "2")
    from_lines = Vocabulary.from_lines(vocabulary.lines)
    unpickled = pickle.loads(pickle.dumps(vocabulary))
    for copy in (from_lines, unpickled):
        assert copy == vocabulary
        ids, _ = copy.count("TÜRKÇE’DE ÇAY")
        assert ids.tolist() == [0, 1]
    assert Vocabulary.from_words(["çay", "tea"]).lines == ("çay", "tea")


def test_rules_by_name():
    assert Rule.parse("1") == Rule()
    assert str(Rule.parse("2 de")) == "2"
    for name in ("2 az", "2 digits", "2 en digits", "tokens 1", "tokens 2 en digits"):
        assert str(Rule.parse(name)) == name
    assert str(Rule.of_language("fr-x-nice")) == "2 fr"
    for code in DOTTED | CUT_SHORT.keys():
        assert str(Rule.of_language(code)) == f"2 {code}"


@pytest.mark.parametrize(
    "wrong",
    ["", "0", "3", "1 tr", "2  tr", "2 T", "two", "tokens", "tokens links", "tokens tokens 1"],
)
def test_names_that_no_rule_has(wrong):
    with pytest.raises(ValueError, match="no word rule"):
        Rule.parse(wrong)


def test_with_digits_a_word_may_hold_them_but_not_be_a_number():
    text = "5G H2O e\u0301t\u00e92 1'000 2024 ² the '90s' \u03019x"
    words = [word.decode() for word in Rule.parse("2 digits").words(text)]
    assert words == ["5g", "h2o", "été2", "the", "90s", "9x"]


def test_tokens_are_words_as_they_are_and_texts_are_split_as_usual():
    words = ("C++", "New York", "new york", "ı", "don't")
    vocabulary = Vocabulary(words, "tokens 2 en")
    assert vocabulary == Vocabulary.from_lines(vocabulary.lines)
    assert vocabulary.lines[0] == "# rule tokens 2 en"
    assert vocabulary != Vocabulary(["don't", "new york"], "2 en")
    ids, counts = vocabulary.count_tokens(["New York", "C++", "c++", "New York", "I", "don’t"])
    assert (ids.tolist(), counts.tolist()) == ([0, 1], [1, 2])
    assert ids.dtype == counts.dtype == np.int32
    ids, counts = vocabulary.count_tokens({"ı": 3, "C++": 2**40, "x": 1, "New York": 0})
    assert (ids.tolist(), counts.tolist()) == ([0, 3], [2**31 - 1, 3])
    ids, _ = vocabulary.count("New York's C++, and I don’t")
    assert [words[id] for id in ids] == ["new york", "don't"]
    ids, counts = vocabulary.count(" C++ ")  # a text that is a token
    assert (ids.tolist(), counts.tolist()) == ([0], [1])
    assert vocabulary.split("New York") == ["New York"]
    assert vocabulary.why("C++") == "'C++' is in the vocabulary."
    for word in ("", " a", "a\tb", "a\n", "\x1b[1m"):
        with pytest.raises(BadVocabulary, match=r"blank|expected one token per line"):
            Vocabulary(["one", word], "tokens 2 en")


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)))
def test_tokens_are_read_as_they_were_written(tokens):
    assert tokens_in(token_lines(tokens)) == Counter(tokens)
    assert tokens_in(token_lines(Counter(tokens))) == Counter(tokens)


def test_lines_of_tokens_that_somebody_else_wrote_do_no_harm():
    text = "a\t3\nb\t\n\nc\t-1\nd\t9" + "9" * 30 + "\n\t7\na\ne\t²\nf\t1\t2"
    assert tokens_in(text) == {"a": 4, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}
