"""Word counts in a session: those kept, and those of before there is a vocabulary."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from tests.session.rows import sql
from tests.session.storage.pages import INFO, RULE, pages, same
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import DOCUMENTS
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.counts import (
    FIRST_ARTICLES,
    KeptCounts,
    WordCounts,
    decode_block,
    encode_block,
)
from wikitopics.session.storage.decoding import convert_rows
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.training.jobs import count_pages
from wikitopics.session.training.vocabulary import choose_words
from wikitopics.vocab.building import VocabularyRecipe
from wikitopics.vocab.rules import Rule

# `--keep-counts`: one session's crawl is another session's counts; and how often words were trained
# on.


def kept(cli, corpus, *more):
    return cli(
        "train",
        *corpus.options(),
        "--topics",
        5,
        "--batch-size",
        64,
        "--held-out",
        40,
        "--session",
        "kept",
        "--keep-counts",
        *more,
    )


def test_training_on_kept_counts_gives_the_same_model(cli, corpus, home, monkeypatch, states):
    """The other session may be named from where the user stands."""
    assert kept(cli, corpus).code == 0
    first = home / "kept.db"
    with SessionReader(first) as reader:
        documents = reader.settings()[DOCUMENTS]
        crawled = reader.status().articles
    again = (
        "--topics",
        5,
        "--batch-size",
        64,
        "--held-out",
        40,
        "--documents",
        documents,
        "--passes",
        1,
    )
    monkeypatch.chdir(home.parent)
    cli.ok("train", "--counts", f"{home.name}/kept.db", *again, "--session", "again")
    with SessionReader(home / "again.db") as reader:
        assert (reader.status().articles, reader.vocabulary()) == (crawled, corpus.words)
    assert states(home / "again.db") == states(first)
    with contextlib.closing(KeptCounts(first)) as counts:
        whole = counts.documents(0, len(counts))
        for start, stop in ((0, 1), (30, 200), (39, 41), (len(counts) - 3, len(counts) + 9)):
            assert same(counts.documents(start, stop), whole[start:stop]), (
                "read in pieces or at once"
            )


def test_the_stream_keeps_its_name_while_the_other_session_goes_on(cli, corpus, home):
    kept(cli, corpus, "--articles", 100)
    with contextlib.closing(KeptCounts(home / "kept.db")) as before:
        kept(cli, corpus)
        with contextlib.closing(KeptCounts(home / "kept.db")) as after:
            assert (len(after) > len(before), after.identity) == (True, before.identity)


def test_a_session_without_counts_says_so_and_cannot_begin_to_keep_them(
    cli,
    trained,
    one_line,
    corpus,
):
    """A session over one pass that an earlier version made."""
    sql(trained, "UPDATE settings SET value = 'false' WHERE key = 'keep_counts'")
    with pytest.raises(BadUsage, match="--keep-counts"):
        KeptCounts(trained)
    one_line(cli("train", "--counts", trained, "--session", "other"), 2, "--keep-counts")
    one_line(cli("train", *corpus.options(), "--keep-counts"), 2, "--keep-counts")


@pytest.mark.parametrize(
    ("total", "articles"),
    [([4, 0, 2], [3, 0, 2]), ([5, 0, 2], [3, 1, 2])],
    ids=["other words than were trained", "a word in articles without it"],
)
def test_word_counts_that_cannot_be_are_damage(total, articles):
    counts = WordCounts(np.array(total, np.int64), np.array(articles, np.int64))
    with pytest.raises(Damaged, match="word_counts"):
        WordCounts.from_bytes(counts.to_bytes(), 3, 4, 7)


# Stretches of the crawl with all their words, as they lie in a session that has no vocabulary yet.


def block():
    counted = count_pages(pages("річка п’ять річка", "", "п'ять море"), RULE, INFO)
    told = {
        "skips": {"disambiguation": 2},
        "warnings": ("p2 is skipped",),
        "unread": frozenset({2}),
    }
    return replace(counted, position={"page": 3}, lap=0.5, **told)


def decoded(row):
    rows = [[row[name] for name in FIRST_ARTICLES]]
    return decode_block(*convert_rows(rows, "first_articles", FIRST_ARTICLES))


def test_a_stretch_survives_the_file():
    one = block()
    found = decoded(*encode_block(block()))
    assert found.lexicon == ("річка", "п'ять", "море")
    assert found.counts.tolist() == one.counts.tolist() == [2, 1, 1, 1]
    assert (found.skips, found.position, found.lap, found.n_unread) == (
        one.skips,
        one.position,
        0.5,
        1,
    )


def test_a_stretch_of_many_words_takes_rows_that_can_be_read(monkeypatch):
    """Whatever a wiki sends: a session that could not be read again would be lost."""
    monkeypatch.setattr("wikitopics.session.storage.counts.MOST_ROW_BYTES", 100)
    texts = [
        " ".join(f"{letter * 9}{other * 9}" for other in "abcdefghij") for letter in "abcdefgh"
    ]
    documents = count_pages(pages(*texts[:4], "", *texts[4:], ""), RULE, INFO)
    whole = replace(
        documents,
        unread={5, 10},
        skips={"redirect": 3},
        position={"page": 10},
        lap=0.5,
    )
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
        ("documents", b"no npz"),
        ("documents", None),
        ("words", ""),
        ("words", "a\na\nb"),
        ("words", None),
        ("skips", "[]"),
        ("skips", '{"x": -1}'),
        ("unread", -1),
        ("unread", 10**9),
        ("position", "null"),
        ("lap", "half"),
    ],
)
def test_a_damaged_stretch_is_told(column, value):
    (row,) = encode_block(block())
    with pytest.raises(Damaged, match="first_articles"):
        decoded({**row, column: value})


def test_what_is_held_out_does_not_choose_the_words():
    texts = ["held held", "alone", *["held word here"] * 2, *["word here"] * 2, *["late late"] * 9]
    blocks = [count_pages([page], Rule.parse("2"), INFO) for page in pages(*texts)]
    built = choose_words(lambda: blocks, 2, 6, VocabularyRecipe(Rule.parse("2"), (), 1.0))
    # Once "held" is left out, the first two articles have no known word: the next two are held out
    # instead.
    assert (built.documents, built.vocabulary.words) == (2, ("here", "word"))
