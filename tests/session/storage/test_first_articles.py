"""Stretches of the crawl with all their words, as they lie in a session that has no vocabulary yet."""

from dataclasses import replace

import numpy as np
import pytest

from wikitopics.crawler.source import Page, SourceInfo
from wikitopics.session.errors import Damaged
from wikitopics.session.storage.counts import Block, decode_block, encode_block
from wikitopics.session.storage.decoding import check_of
from wikitopics.session.training.intake.jobs import count_pages
from wikitopics.session.training.stream import choose_words
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.build import VocabularyRecipe
from wikitopics.vocab.rules import Rule

INFO = SourceInfo("w", None)
RULE = Rule.of_language("uk")


def pages(*texts):
    return [Page(number, f"p{number}", 1, text, "text") for number, text in enumerate(texts, start=1)]


def block():
    return replace(
        count_pages(pages("річка п’ять річка", "", "п'ять море"), RULE, INFO),
        unread=frozenset({2}),
        skips={"disambiguation": 2},
        position={"page": 3},
        lap=0.5,
        warnings=("p2 is skipped",),
    )


def decoded(row):
    return decode_block([check_of("first_articles", column)(value) for column, value in row.items()])


def test_a_stretch_survives_the_file():
    one, found = block(), decoded(*encode_block(block()))
    assert found.lexicon == ("річка", "п'ять", "море")
    assert found.counts.tolist() == one.counts.tolist() == [2, 1, 1, 1]
    assert (found.skips, found.position, found.lap, found.n_unread) == (one.skips, one.position, 0.5, 1)


def test_a_stretch_of_many_words_takes_rows_that_can_be_read(monkeypatch):
    """Whatever a wiki sends: a session that could not be read again would be lost."""
    monkeypatch.setattr("wikitopics.session.storage.counts.MOST_ROW_BYTES", 100)
    texts = [" ".join(f"{letter * 9}{other * 9}" for other in "abcdefghij") for letter in "abcdefgh"]
    documents = count_pages(pages(*texts[:4], "", *texts[4:], ""), RULE, INFO)
    whole = replace(documents, unread={5, 10}, skips={"redirect": 3}, position={"page": 10}, lap=0.5)
    rows = list(encode_block(whole))
    found = [decoded(row) for row in rows]
    assert len(found) == 9
    assert all(len(row["words"]) <= 400 for row in rows)
    assert [one.position for one in found] == [whole.position] * 9
    assert [one.skips for one in found] == [whole.skips, *[{}] * 8]
    assert [one.n_unread for one in found] == [0, 0, 0, 0, 1, 0, 0, 0, 1]
    joined = Block.concatenate(found)
    assert joined.page_ids.tolist() == documents.page_ids.tolist()
    assert joined.lexicon == documents.lexicon
    assert np.array_equal(joined.indptr, documents.indptr)
    assert np.array_equal(joined.word_ids, documents.word_ids)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("documents", b"no npz"), ("documents", None), ("words", ""), ("words", "a\na\nb"), ("words", None),
        ("skips", "[]"), ("skips", '{"x": -1}'), ("unread", -1), ("unread", 10**9), ("position", "null"),
        ("lap", "half"),
    ],
)  # fmt: skip
def test_a_damaged_stretch_is_told(column, value):
    (row,) = encode_block(block())
    with pytest.raises(Damaged, match="first_articles"):
        decoded({**row, column: value})


def test_over_a_vocabulary_they_are_what_it_would_have_counted():
    texts = ("річка п’ять річка", "", "п'ять море", "небо")
    vocabulary = Vocabulary.from_words(["море", "п'ять", "річка"], RULE)
    numbers = {word: number for number, word in enumerate(vocabulary.words)}
    parts = [count_pages([page], RULE, INFO) for page in pages(*texts)]
    joined = Block.concatenate([*parts, Block.uncounted(pages("x")[0])])
    there, here = joined.over(numbers), count_pages([*pages(*texts), pages("x")[0]], vocabulary, INFO)
    assert there.lexicon is None
    for name in ("page_ids", "indptr", "word_ids", "counts"):
        assert np.array_equal(getattr(there, name), getattr(here, name)), name


def test_what_is_held_out_does_not_choose_the_words():
    texts = ["held held", "alone", *["held word here"] * 2, *["word here"] * 2, *["late late"] * 9]
    blocks = [count_pages([page], Rule.parse("2"), INFO) for page in pages(*texts)]
    built = choose_words(lambda: blocks, 2, 6, VocabularyRecipe(Rule.parse("2"), (), 1.0))
    # Once "held" is left out, the first two articles have no known word: the next two are held out instead.
    assert built.documents == 2
    assert built.vocabulary.words == ("here", "word")
