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

EVERY_WORD = VocabularyRecipe(Rule(), stop_words=(), max_df=1.0)
"""Of at least three letters, and in at least two documents."""
COMMON = ["tree", "house", "garden", "lake", "pond", "field"]
DOCUMENTS = [
    "the house of theorem theorem theorem",
    "the garden of theorem theorem theorem",
    "the house",
    "the pond",
    "the pond",
    "the garden",
    *["…"] * 9,  # no words
]


def words_built(texts, recipe, **options):
    return build_vocabulary(texts, recipe, **options).vocabulary.words


def test_rare_frequent_short_and_stop_words_stay_out():
    recipe = VocabularyRecipe(Rule(), stop_words={"pond"}, max_df=0.9)
    built = build_vocabulary(DOCUMENTS, recipe)
    assert built.vocabulary.words == ("garden", "house", "theorem")
    assert built.documents == 6


def test_words_that_come_back_in_a_document_win():
    recipe = VocabularyRecipe(Rule(), stop_words=(), max_df=0.9)
    assert words_built(DOCUMENTS, recipe, size=2) == ("garden", "theorem")
    texts = ["lone " * 1000, "lone", *["often often often"] * 4, *["also also"] * 4]
    assert words_built(texts, EVERY_WORD, size=2) == ("also", "often")


@pytest.mark.parametrize(("times", "words"), [(5, ("early", "often")), (6, ("early", "later"))])
def test_after_the_fifth_in_a_document_none_counts(times, words):
    """Of words that count equally, the first of the alphabet are taken."""
    often = "often " * times
    others = "later early " * (times - 1)
    text = often + others
    assert words_built([text, text], EVERY_WORD, size=2) == words


def test_the_order_of_documents_does_not_matter():
    names = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    texts = [" ".join(random.Random(seed).choices(names, k=4)) for seed in range(99)]
    shuffled = random.Random(1).sample(texts, len(texts))
    of_texts = build_vocabulary(texts, EVERY_WORD, size=4)
    of_shuffled = build_vocabulary(shuffled, EVERY_WORD, size=4)
    assert of_texts == of_shuffled


def test_memory_is_bounded_and_frequent_words_survive():
    letters = str.maketrans("0123456789", "abcdefghij")

    def texts():
        for number in range(3000):
            unique = str(number).translate(letters) + "xyz"
            fruit = "pear" if number % 5 == 0 else "apple"
            other_fruit = "plum" if number % 9 == 0 else "kiwi"
            yield f"{unique} {fruit} {other_fruit}"

    built = build_vocabulary(texts(), EVERY_WORD, max_candidates=100)
    assert {"apple", "pear", "kiwi", "plum"} <= set(built.vocabulary.words)
    assert built.distinct_words <= 100


def test_what_apostrophes_join_to_stop_words_stays_out_and_syllables_count_twice():
    texts = ["don't it's the king's n'est m'ba 강물 강 नदी व ሰው"] * 2
    english = VocabularyRecipe(Rule.of_language("en"), ENGLISH_STOP_WORDS, 1.0)
    assert words_built(texts, english) == ("king", "n'est", "नदी", "ሰው", "강물")


def test_an_apostrophe_inside_a_word_is_kept_in_the_vocabulary():
    ukrainian = VocabularyRecipe(Rule.of_language("uk"), (), 1.0)
    built = build_vocabulary(["м'яч і п'ять"] * 2, ukrainian)
    assert built.vocabulary.lines == ("# rule 2", "м'яч", "п'ять")


@pytest.mark.parametrize(
    ("code", "rule"),
    [(None, "2 en"), ("en", "2 en"), ("de", "2"), ("tr", "2 tr"), ("fr", "2 fr")],
)
def test_a_language_says_by_which_rule_its_vocabulary_is_built(code, rule):
    assert str(VocabularyRecipe.of_language(code).rule) == rule


def test_a_language_without_stop_words_leaves_out_words_of_a_tenth_of_the_documents():
    german = VocabularyRecipe.of_language("de")
    assert not german.stop_words
    assert german.limits(100) == (2, 10)


def test_english_leaves_out_stop_words_and_words_of_a_fifth_of_the_documents():
    english = VocabularyRecipe.of_language("en")
    assert english.limits(100) == (2, 20)
    texts = [*["king's's castle garden"] * 3, *["other words here"] * 20]
    assert "king's" not in words_built(texts, english)
    for word in ENGLISH_STOP_WORDS:
        assert word == word.lower()
        assert word.isalpha()


def test_frequent_pairs_are_phrases():
    about_new_york = ["New York river of rivers", "New York and his bridge"]
    others = [f"{word} and his river" for word in ("hotel", "castle", "museum", "garden", "square")]
    recipe = VocabularyRecipe.of_language("en", max_df=1.0, phrases=True)
    vocabulary = build_vocabulary(about_new_york * 10 + others * 40, recipe).vocabulary
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
    words = ["new york", "new york city", "york city hall", "york", "hall", "new"]
    vocabulary = Vocabulary.from_lines(words)
    ids, counts = vocabulary.count(
        "York: New York, New York City Hall. A new hall, york city hall and new"
    )
    found = {words[word_id]: count for word_id, count in zip(ids, counts, strict=True)}
    assert found == {
        "new york": 1,
        "new york city": 1,
        "york city hall": 1,
        "york": 1,
        "hall": 2,
        "new": 2,
    }


TEXTS_WITH_SHORT_WORDS_AND_DIGITS = [
    *["the EU on AI, 5G and covid19 in 2024 — don't"] * 3,
    *["AI is not art"] * 2,
    *["rest"] * 5,
]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"max_df": 1.0, "min_letters": 2, "digits": True},
            ("5g", "ai", "art", "covid19", "eu", "rest"),
        ),
        ({"max_df": 1.0, "min_letters": 2, "min_df": 3}, ("ai", "covid", "eu", "rest")),
        ({"max_df": 1.0, "min_letters": 2, "min_df": 0.4}, ("ai", "rest")),
        ({"max_df": 3, "min_letters": 2}, ("art", "covid", "eu")),
        (
            {"max_df": 1.0, "min_letters": 2, "min_df": 3, "stop_words": ["The", "don't rest"]},
            ("ai", "and", "covid", "eu", "in", "on"),
        ),
    ],
)
def test_which_words_count_can_be_chosen(options, words):
    recipe = VocabularyRecipe.of_language("en", **options)
    vocabulary = build_vocabulary(TEXTS_WITH_SHORT_WORDS_AND_DIGITS, recipe).vocabulary
    assert vocabulary.words == words
    if "digits" in options:
        assert vocabulary.lines == ("# rule 2 en digits", *words)


@pytest.mark.parametrize(
    ("texts", "counted"),
    [
        ([], "0 documents, no usable word"),
        (["", " "], "0 documents, no usable word"),
        (["one two three"], "1 document, no usable word"),
        (["same same", "same"], "2 documents, one usable word"),
    ],
)
def test_too_little_to_build_from(texts, counted):
    message = f"^too little text: {counted}, .* at least two are needed"
    with pytest.raises(BadDocuments, match=message) as caught:
        build_vocabulary(texts, EVERY_WORD)
    assert caught.value.exit_code == 2


def test_limits_that_leave_no_word_are_told():
    recipe = VocabularyRecipe(Rule(), (), max_df=1, min_df=2)
    with pytest.raises(BadDocuments, match="occurs in at least 2 and at most 1 documents"):
        build_vocabulary(["one two three"] * 3, recipe)


def test_why_each_word_is_kept_or_not_with_its_figures():
    texts = [
        *["river bridge everywhere the"] * 6,
        *["river everywhere"] * 4,
        *["lake bridge everywhere"] * 3,
        *["pond everywhere"] * 2,
        "alone",
    ]
    recipe = VocabularyRecipe(Rule(), {"the"}, max_df=0.8, min_df=2)
    asked = ["River", "everywhere", "alone", "the", "pond", "absent", "a"]
    built = build_vocabulary(texts, recipe, size=3, asked=asked)
    assert built.vocabulary.document_frequencies == {"river": 10, "bridge": 9, "lake": 3}
    is_out = "is not in the vocabulary: it"
    assert list(built.reasons.items()) == [
        ("River", "'River' is read as 'river', which is in the vocabulary: in 10 of 16 documents."),
        (
            "everywhere",
            f"'everywhere' {is_out} occurs in 15 of 16 documents; words in more than 12 are left "
            "out.",
        ),
        (
            "alone",
            f"'alone' {is_out} occurs in 1 of 16 documents; words in fewer than 2 are left out.",
        ),
        ("the", f"'the' {is_out} is a stop word."),
        (
            "pond",
            f"'pond' {is_out} occurs in 2 of 16 documents, but is number 4 by score, and only 3 "
            "are kept.",
        ),
        ("absent", f"'absent' {is_out} occurs in none of the 16 documents."),
        ("a", f"'a' {is_out} has fewer than 3 letters."),
    ]


def test_why_a_pair_is_a_phrase_or_not():
    others = [" ".join(random.Random(seed).choices(COMMON, k=20)) for seed in range(40)]
    texts = [*others, *["a los angeles lake"] * 10, *["his lake"] * 2]
    recipe = VocabularyRecipe(Rule(), {"his"}, max_df=1.0, min_df=3, phrases=True)
    asked = ["los angeles", "angeles", "his lake", "tree house", "los angeles lake"]
    built = build_vocabulary(texts, recipe, asked=asked)
    found, part, rare, chance, longer = built.reasons.values()
    assert found == "'los angeles' is in the vocabulary: in 10 of 52 documents."
    assert "in 10 of 52 documents, but hardly ever outside of phrases. In these" in part
    assert part.endswith("not counted alone: 'los angeles'.")
    assert "it occurs in 2 of 52 documents; a phrase must be in at least 3. It" in rare
    assert "do not belong together often enough for a phrase. It is counted as 'tree'" in chance
    assert "it is more than two words, and only pairs are found. It is counted as" in longer


def test_pairs_are_no_phrases_unless_asked_for():
    built = build_vocabulary(["red river lake"] * 3, EVERY_WORD, asked=["red river"])
    assert built.reasons == {
        "red river": "'red river' is not in the vocabulary: it is several words, and phrases were "
        "not asked for. It is counted as 'red', 'river'."
    }


@pytest.mark.long
@needs_corpus
def test_the_shipped_english_vocabulary_is_what_the_rule_gives():
    recipe = VocabularyRecipe(Rule(), ENGLISH_STOP_WORDS, 0.2)
    with lzma.open(CORPUS / "articles-60k.jsonl.xz") as lines:
        texts = (json.loads(line)["text"] for line in lines)
        built = build_vocabulary(texts, recipe)
    shipped = Vocabulary.load("english")
    assert built.vocabulary == shipped
    assert built.vocabulary.document_frequencies == shipped.document_frequencies
