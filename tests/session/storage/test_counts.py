"""Word counts in a session: blocks of articles, kept counts, and those of before there is a
vocabulary."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.session.errors import BadUsage, Damaged, SessionError
from wikitopics.session.options import DOCUMENTS
from wikitopics.session.storage.counts import (
    FIRST_ARTICLES,
    Block,
    KeptCounts,
    WordCounts,
    decode_block,
    encode_block,
)
from wikitopics.session.storage.decoding import convert_rows, pack_state
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.training.blocks import count_pages
from wikitopics.session.training.vocabulary import choose_words
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.building import VocabularyRecipe
from wikitopics.vocab.rules import Rule


def documents(lengths, first_page=0, titles=None):
    """A block with so many distinct words each."""
    total = sum(lengths)
    return Block(
        np.arange(first_page, first_page + len(lengths), dtype=np.int64),
        np.arange(len(lengths), dtype=np.int64) + 7,
        titles or tuple(f"t{i}" for i in range(len(lengths))),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.arange(total, dtype=np.int32),
        np.arange(1, total + 1, dtype=np.int32),
    )


def same(one, other):
    names = "page_ids", "revision_ids", "indptr", "word_ids", "counts"
    alike = (np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
    return one.titles == other.titles and all(alike)


def test_slices_and_chosen_articles_keep_their_words_and_put_together_are_the_whole():
    part = documents([2, 0, 3, 1])[1:3]
    assert (part.titles, part.indptr.tolist()) == (("t1", "t2"), [0, 0, 3])
    assert (part.counts.tolist(), part.words.tolist()) == ([3, 4, 5], [0, 12])
    whole = documents([2, 0, 3, 1, 5])
    assert same(Block.concatenate([whole[:2], whole[2:2], whole[2:]]), whole)
    assert len(Block.concatenate([])) == 0
    whole = documents([2, 0, 3, 1])
    assert whole.has_words.tolist() == [True, False, True, True]
    some, others = whole.split(np.array([False, True, True, False]))
    assert (some.titles, others.titles) == (("t1", "t2"), ("t0", "t3"))
    assert (some.indptr.tolist(), others.indptr.tolist()) == ([0, 0, 3], [0, 2, 3])
    assert (some.counts.tolist(), others.counts.tolist()) == ([3, 4, 5], [1, 2, 6])


def test_bytes_and_back_without_pickle():
    titles = (
        "a",
        "",
        "\x1b[2J\x07",
        "line\nbreak\ttab\0nul",
        "[/x][bold]",
        "\u202eRTL",
        "雪☃😀",
        "'; DROP",
    )
    whole = documents([2, 0, 3, 1, 1, 0, 0, 0], titles=titles)
    data = whole.to_bytes()
    assert same(Block.from_bytes(data, "here", 7), whole)
    assert b"pickle" not in data


@pytest.mark.parametrize(
    "value",
    [
        object(),
        None,
        float("nan"),
        np.int64(3),
        np.array([object()]),
        np.array([True]),
        np.array(["a"]),
    ],
    ids=["object", "none", "nan", "numpy", "objects", "flags", "texts"],
)
def test_a_state_that_could_not_be_read_again_is_refused(value):
    with pytest.raises(SessionError, match="other of the model's state"):
        pack_state({"fine": 1, "other": value})
    with pytest.raises(SessionError, match="100 arrays"):
        pack_state({str(number): np.zeros(1) for number in range(101)})


def test_ids_of_their_own_stay_with_the_articles_and_of_another_number_are_damage():
    whole = replace(documents([2, 0, 3, 1]), ids=("a", "", "c", "d"))
    assert Block.from_bytes(whole.to_bytes(), "here", 100).ids == whole.ids
    assert whole[1:3].ids == ("", "c")
    assert [part.ids for part in whole.split(whole.has_words)] == [("a", "c", "d"), ("",)]
    nothing = Block.concatenate([])
    assert Block.concatenate([nothing, whole[:2], whole[2:]]).ids == whole.ids
    assert Block.concatenate([nothing, documents([1])]).ids is None
    assert Block.from_bytes(documents([1]).to_bytes(), "here", 100).ids is None
    wrong = replace(documents([2, 1]), ids=("a",))
    with pytest.raises(Damaged, match="ids"):
        Block.from_bytes(wrong.to_bytes(), "here", 100)


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
        documents, crawled = reader.settings()[DOCUMENTS], reader.status().articles
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


INFO = SourceInfo("w", None)
RULE = Rule.of_language("uk")


def pages(*texts):
    return [
        Page(number, f"p{number}", 1, text, "text") for number, text in enumerate(texts, start=1)
    ]


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
    one, found = block(), decoded(*encode_block(block()))
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


def test_over_a_vocabulary_they_are_what_it_would_have_counted():
    texts = ("річка п’ять річка", "", "п'ять море", "небо")
    vocabulary = Vocabulary.from_words(["море", "п'ять", "річка"], RULE)
    numbers = {word: number for number, word in enumerate(vocabulary.words)}
    parts = [count_pages([page], RULE, INFO) for page in pages(*texts)]
    joined = Block.concatenate([*parts, Block.uncounted(pages("x")[0])])
    there, here = (
        joined.over(numbers),
        count_pages([*pages(*texts), pages("x")[0]], vocabulary, INFO),
    )
    assert there.lexicon is None
    for name in ("page_ids", "indptr", "word_ids", "counts"):
        assert np.array_equal(getattr(there, name), getattr(here, name)), name


def test_what_is_held_out_does_not_choose_the_words():
    texts = ["held held", "alone", *["held word here"] * 2, *["word here"] * 2, *["late late"] * 9]
    blocks = [count_pages([page], Rule.parse("2"), INFO) for page in pages(*texts)]
    built = choose_words(lambda: blocks, 2, 6, VocabularyRecipe(Rule.parse("2"), (), 1.0))
    # Once "held" is left out, the first two articles have no known word: the next two are held out
    # instead.
    assert (built.documents, built.vocabulary.words) == (2, ("here", "word"))
