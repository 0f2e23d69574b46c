import hashlib
import re

import numpy as np
import pytest

from wikitopics.vocab import Vocabulary
from wikitopics.vocab.vocabulary import BadVocabulary, UnknownVocabulary, VocabularyError, shipped


def test_words_are_counted_in_the_order_of_their_ids():
    vocabulary = Vocabulary.from_words(["zebra", "apple", "łódź"])
    ids, counts = vocabulary.count("Apple zebra, APPLE; ŁÓDŹ łódź apple pie")
    assert ids.tolist() == [0, 1, 2]
    assert counts.tolist() == [1, 3, 2]
    assert ids.dtype == np.int32
    assert counts.dtype == np.int32


def test_the_fingerprint_is_a_hash_of_the_words_in_their_order():
    vocabulary = Vocabulary.from_words(["b", "a"])
    assert vocabulary.fingerprint == hashlib.sha256(b"b\na").hexdigest()
    assert vocabulary != Vocabulary.from_words(["a", "b"])
    assert vocabulary == Vocabulary(["b", "a"])


@pytest.mark.parametrize("text", ["", "   ", "nothing known here", "١٢٣"])
def test_nothing_known_counts_to_empty_arrays(text):
    ids, counts = Vocabulary.from_words(["apple", "pear"]).count(text)
    assert ids.shape == counts.shape == (0,)
    assert ids.dtype == counts.dtype == np.int32


def test_the_shipped_vocabulary():
    assert shipped() == ("english",)
    vocabulary = Vocabulary.load("english")
    assert len(vocabulary) == 8000
    assert list(vocabulary.words) == sorted(vocabulary.words)
    assert not {"the", "references", "http", "thumb", "px", "january"} & set(vocabulary.words)
    assert {"theorem", "river", "football", "church", "election"} <= set(vocabulary.words)


def test_the_shipped_vocabulary_knows_in_how_many_documents_its_words_were():
    vocabulary = Vocabulary.load("english")
    assert vocabulary.n_documents == 60_000
    frequencies = vocabulary.document_frequencies
    assert set(frequencies) == set(vocabulary.words)
    assert min(frequencies.values()) >= 60_000 / 2500
    assert max(frequencies.values()) <= 60_000 / 5
    assert frequencies["city"] > frequencies["theorem"]
    assert repr(vocabulary).startswith("<Vocabulary of 8,000 words, rule 1: born, village, ")


@pytest.mark.parametrize("name", ["klingon", "../data/english", "", "english.txt"])
def test_an_unknown_name_is_one_line_that_lists_the_known(name):
    with pytest.raises(UnknownVocabulary, match="english") as caught:
        Vocabulary.load(name)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_file_of_words_is_read_as_a_shipped_one_is(tmp_path):
    path = tmp_path / "words.txt"
    for data in (b"pear\napple\n", b"pear\napple", b"\xef\xbb\xbfpear\r\napple\r\n"):
        path.write_bytes(data)
        assert Vocabulary.from_file(path).words == ("pear", "apple")
        assert Vocabulary.from_file(str(path)).words == ("pear", "apple")


def test_what_is_no_file_of_words_is_told(tmp_path):
    for path in (tmp_path / "absent.txt", tmp_path):
        with pytest.raises(VocabularyError, match=r"no such file|cannot be read"):
            Vocabulary.from_file(path)


def test_a_vocabulary_is_loaded_by_the_path_of_its_file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("# rule 2 en\napple\npear\n")
    for name in (path, str(path)):
        ids, _ = Vocabulary.load(name).count("the apple's pears, a pear")
        assert ids.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "line 1: blank"),
        (b"apple\n", "only one word"),
        (b"apple\n   \npear\n", "line 2: blank"),
        (b"apple\npear\napple\n", "line 3: 'apple' repeats line 1"),
        (b"apple\nPear\n", "line 2: 'Pear' .* lower case"),
        (b"apple\nnew  york\n", "line 2: 'new  york' .* one word"),
        (b"apple\n2pac\n", "line 2: '2pac' .* with digits need `# rule 2 digits`"),
        (
            "apple\nकिला\n".encode(),
            "line 2: .* marks or apostrophes need `# rule 2` as the first line",
        ),
        (b"# rule 2\napple\ndon\xe2\x80\x99t\n", "line 3: .* one word"),
        (b"# rule 2\napple\npear\napple\n", "line 4: 'apple' repeats line 2"),
        (b"# rule 2\n", "no word"),
        (b"# rule 3\napple\npear\n", "line 1: there is no word rule '3'"),
        (b"# rule 2 Turkish!\napple\npear\n", "line 1: there is no word rule"),
        (b"#rule 2\napple\npear\n", "line 1: .* named in the first line, as `# rule 2`"),
        (b"apple\n# rule 2\npear\n", "line 2: .* named in the first line, as `# rule 2`"),
        ("apple\ncafe\u0301\n".encode(), "line 2: .*NFC"),
        (b"apple\npear \n", "line 2"),
        (b"apple\n" + b"x y" * 1000, "line 2"),
        (b"apple\n" + b"1" * 40, f"line 2: '{'1' * 40}'[^…]"),
        (b"apple\n" + b"1" * 41, f"line 2: '{'1' * 40}'…"),
        (b"apple\n\x1b[31m\n", r"line 2: '\\x1b\[31m'"),
        ("apple\ncafé\n".encode("latin-1"), "line 2: not UTF-8"),
        ("apple\npear\n".encode("utf-16"), "line 1: not UTF-8"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, data, reason):
    path = tmp_path / "words.txt"
    path.write_bytes(data)
    with pytest.raises(BadVocabulary, match=reason) as caught:
        Vocabulary.from_file(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 300 + len(str(path))
    assert caught.value.exit_code == 2


def test_a_file_too_large_for_words_says_how_large_it_may_be(tmp_path):
    path = tmp_path / "dump.xml"
    with path.open("wb") as file:
        file.truncate(64 * 2**20 + 1)
    with pytest.raises(
        BadVocabulary, match=r"dump\.xml: over 64 MiB is too large for a word list$"
    ):
        Vocabulary.from_file(path)


PHRASES = Vocabulary.from_words(
    ["angeles", "city", "los angeles", "new york", "new york city", "river"], "2 en"
)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("river", "'river' is in the vocabulary."),
        ("River's", "\"River's\" is read as 'river', which is in the vocabulary."),
        ("NEW YORK", "'NEW YORK' is read as 'new york', which is in the vocabulary. In these"),
        ("city", "'city' is in the vocabulary. In these phrases, .* alone: 'new york city'."),
        ("york", "not in the vocabulary: it .* not recorded. In .*: 'new york', 'new york city'."),
        ("los river", "it is several words, but none of the 3 phrases. It is counted as 'river'."),
        ("The", "'The' is read as 'the', which is not in the vocabulary: it is a stop word; such"),
        ("don't", "it is made of stop words; such words are usually left out."),
        ("ai", "'ai' is not in the vocabulary: it has fewer than 3 letters; such"),
        ("x" * 41, "it has more than 40 letters; such"),
        ("lake", "none of the 6 words, but could be one.* is not recorded."),
        ("2024", "'2024' is no word: by rule 2 en, a word is made of letters."),
        ("", "'' is no word"),
        ("a\x1b[31mriver", r"'a\\x1b\[31mriver' is read as 'a mriver', which"),
    ],
)
def test_why_a_word_is_in_or_not(word, reason):
    assert re.search(reason, PHRASES.why(word))


def test_why_follows_the_rule_of_the_vocabulary():
    plain = Vocabulary(["river", "york"])
    assert plain.why("new york") == (
        "'new york' is not in the vocabulary: it is several words, and the vocabulary has no "
        "phrases. It is counted as 'york'."
    )
    german = Vocabulary(["fluss", "stadt"], "2")
    assert "stop word" not in german.why("was")
    digits = Vocabulary(["5g", "covid19"], "2 digits")
    assert "'covid19' is in" in digits.why("Covid19") or "which is in" in digits.why("Covid19")
    assert digits.why("19").endswith("made of letters and digits, with at least one letter.")
    titles = Vocabulary(["New York", "The Who"], "links")
    assert titles.why("The Who") == "'The Who' is in the vocabulary."
    assert titles.why("York").endswith("it is none of the 2 titles.")
    counted_elsewhere = Vocabulary(["new_york", "river"], strict=False)
    assert counted_elsewhere.why("new_york").endswith("no text has this word by rule 1.")


def test_a_vocabulary_shows_its_size_and_its_words():
    assert repr(PHRASES) == (
        "<Vocabulary of 6 words (3 phrases), rule 2 en: angeles, city, los angeles, new york, "
        "new york city, …>"
    )
    assert repr(Vocabulary(["b", "a"])) == "<Vocabulary of 2 words, rule 1: b, a>"
    assert repr(Vocabulary(["B b", "A"], "links")) == "<Vocabulary of 2 titles, rule links: B b, A>"
    assert PHRASES.phrases == ("los angeles", "new york", "new york city")
    assert "new york" in PHRASES
    assert "york" not in PHRASES
    assert 3 not in PHRASES


def test_the_most_widespread_words_come_first_where_documents_are_known():
    plain = Vocabulary(["city", "lake", "river"])
    assert plain.document_frequencies == {}
    counted = plain.counted_in(1200, [3, 0, 1100])
    assert list(counted.document_frequencies.items()) == [("river", 1100), ("city", 3), ("lake", 0)]
    assert repr(counted) == "<Vocabulary of 3 words, rule 1: river, city, lake>"
    assert counted.why("River") == (
        "'River' is read as 'river', which is in the vocabulary: in 1,100 of 1,200 documents."
    )
    assert counted == plain
    assert plain.n_documents == 0
    assert counted.counted_in(0, [0, 0, 0]).document_frequencies == {}
