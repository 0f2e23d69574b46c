import json
import lzma
import random

import pytest

from tests.real_text import CORPUS, needs_corpus
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.building import (
    ENGLISH_STOP_WORDS,
    BadDocuments,
    VocabularyRecipe,
    build_vocabulary,
)
from wikitopics.vocab.rules import Rule

ALL = VocabularyRecipe(Rule(), (), 1.0)


def documents() -> list[str]:
    common = ["the house", "the garden", "the house", "the pond", "the pond", "the garden"]
    return [
        f"{one} of theorem theorem theorem" if i < 2 else one for i, one in enumerate(common)
    ] + ["…"] * 9


def test_rare_frequent_short_and_stop_words_stay_out_and_words_that_come_back_win():
    built = build_vocabulary(documents(), VocabularyRecipe(Rule(), {"pond"}, 0.9))
    assert (built.vocabulary.words, built.documents) == (("garden", "house", "theorem"), 6)
    built = build_vocabulary(documents(), VocabularyRecipe(Rule(), (), 0.9), size=2)
    assert built.vocabulary.words == ("garden", "theorem")
    texts = ["lone " * 1000, "lone", *["often often often"] * 4, *["also also"] * 4]
    assert build_vocabulary(texts, ALL, size=2).vocabulary.words == ("also", "often")


@pytest.mark.parametrize(("times", "words"), [(5, ("early", "often")), (6, ("early", "later"))])
def test_after_the_fifth_in_a_document_none_counts(times, words):
    # of equals, the first
    text = f"{'often ' * times} {'later ' * (times - 1)} {'early ' * (times - 1)}"
    assert build_vocabulary([text, text], ALL, size=2).vocabulary.words == words


def test_the_order_of_documents_does_not_matter():
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    texts = [" ".join(random.Random(i).choices(names, k=4)) for i in range(99)]
    shuffled = random.Random(1).sample(texts, len(texts))
    assert build_vocabulary(texts, ALL, size=4) == build_vocabulary(shuffled, ALL, size=4)


def test_memory_is_bounded_and_frequent_words_survive():
    def texts():
        for i in range(3000):
            unique = "".join(chr(97 + int(digit)) for digit in str(i))
            yield f"{unique}xyz {'apple' if i % 5 else 'pear'} {'kiwi' if i % 9 else 'plum'}"

    built = build_vocabulary(texts(), ALL, max_candidates=100)
    assert {"apple", "pear", "kiwi", "plum"} <= set(built.vocabulary.words)
    assert built.distinct_words <= 100


def test_words_of_stop_words_stay_out_and_syllables_count_twice():
    texts = ["don't it's the king's n'est m'ba 강물 강 नदी व ሰው"] * 2
    english = VocabularyRecipe(Rule.of_language("en"), ENGLISH_STOP_WORDS, 1.0)
    assert build_vocabulary(texts, english).vocabulary.words == (
        "king",
        "n'est",
        "नदी",
        "ሰው",
        "강물",
    )
    other = VocabularyRecipe(Rule.of_language("uk"), (), 1.0)
    assert build_vocabulary(["м'яч і п'ять"] * 2, other).vocabulary.lines == (
        "# rule 2",
        "м'яч",
        "п'ять",
    )


def test_a_language_says_how_its_vocabulary_is_built():
    assert [
        str(VocabularyRecipe.of_language(code).rule) for code in (None, "en", "de", "tr", "fr")
    ] == [
        "2 en",
        "2 en",
        "2",
        "2 tr",
        "2 fr",
    ]
    assert [VocabularyRecipe.of_language(code).limits(100) for code in ("de", "en")] == [
        (2, 10),
        (2, 20),
    ]
    assert not VocabularyRecipe.of_language("de").stop_words
    texts = [*["king's's castle garden"] * 3, *["other words here"] * 20]
    assert (
        "king's" not in build_vocabulary(texts, VocabularyRecipe.of_language("en")).vocabulary.words
    )
    assert all(word == word.lower() and word.isalpha() for word in ENGLISH_STOP_WORDS)


def test_frequent_pairs_are_phrases():
    texts = ["New York river of rivers", "New York and his bridge"] * 10
    texts += [
        f"{word} and his river" for word in ("hotel", "castle", "museum", "garden", "square")
    ] * 40
    recipe = VocabularyRecipe.of_language("en", max_df=1.0, phrases=True)
    vocabulary = build_vocabulary(texts, recipe).vocabulary
    assert vocabulary.words == (
        "bridge",
        "castle",
        "garden",
        "hotel",
        "museum",
        "new york",
        "river",
        "rivers",
        "square",
    )
    assert vocabulary.split("a New York river, new, York") == ["a", "new york", "river", "new york"]


def test_phrases_are_counted_longest_first_from_the_left():
    vocabulary = Vocabulary.from_lines(
        ["new york", "new york city", "york city hall", "york", "hall", "new"]
    )
    ids, counts = vocabulary.count(
        "York: New York, New York City Hall. A new hall, york city hall and new"
    )
    assert dict(zip(ids.tolist(), counts.tolist(), strict=True)) == {
        0: 1,
        1: 1,
        2: 1,
        3: 1,
        4: 2,
        5: 2,
    }


def test_words_of_ones_own_kind():
    texts = [
        *["the EU on AI, 5G and covid19 in 2024 — don't"] * 3,
        *["AI is not art"] * 2,
        *["rest"] * 5,
    ]

    def words(*stop_words, **choice):
        recipe = VocabularyRecipe.of_language("en", stop_words or None, **choice)
        return build_vocabulary(texts, recipe).vocabulary

    usual = {"max_df": 1.0, "min_letters": 2}
    assert words(digits=True, **usual).lines == (
        "# rule 2 en digits",
        "5g",
        "ai",
        "art",
        "covid19",
        "eu",
        "rest",
    )
    assert words(**usual, min_df=3).words == ("ai", "covid", "eu", "rest")
    assert words(**usual, min_df=0.4).words == ("ai", "rest")
    assert words(min_letters=2, max_df=3).words == ("art", "covid", "eu")
    assert words("The", "don't rest", **usual, min_df=3).words == (
        "ai",
        "and",
        "covid",
        "eu",
        "in",
        "on",
    )


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([], "0 documents, no usable word"),
        (["", " "], "0 documents, no usable word"),
        (["one two three"], "1 document, no usable word"),
        (["same same", "same"], "2 documents, one usable word"),
    ],
)
def test_too_little_to_build_from(texts, found):
    says = f"^too little text: {found}, .* at least two are needed"
    with pytest.raises(BadDocuments, match=says) as caught:
        build_vocabulary(texts, ALL)
    assert caught.value.exit_code == 2


def test_limits_that_leave_no_word_are_told():
    with pytest.raises(BadDocuments, match="occurs in at least 2 and at most 1 documents"):
        build_vocabulary(["one two three"] * 3, VocabularyRecipe(Rule(), (), max_df=1, min_df=2))


@pytest.mark.long
@needs_corpus
def test_the_shipped_english_vocabulary_is_what_the_rule_gives():
    with lzma.open(CORPUS / "articles-60k.jsonl.xz") as lines:
        texts = (json.loads(line)["text"] for line in lines)
        built = build_vocabulary(texts, VocabularyRecipe(Rule(), ENGLISH_STOP_WORDS, 0.2))
    assert built.vocabulary == Vocabulary.load("english")
