"""`--keep-counts`: one session's crawl is another session's counts; and how often words were trained on."""

import numpy as np
import pytest

from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import DOCUMENTS
from wikitopics.session.storage.counts import KeptCounts, WordCounts
from wikitopics.session.storage.reader import SessionReader


def kept(cli, corpus, *more):
    return cli(
        "train", *corpus.options(), "--topics", 5, "--batch-size", 64, "--held-out", 40, "--session", "kept",
        "--keep-counts", *more,
    )  # fmt: skip


def test_training_on_the_kept_counts_gives_the_same_model(cli, corpus, home, states, assert_same_states):
    assert kept(cli, corpus).code == 0
    first = home / "kept.db"
    with SessionReader(first) as reader:
        documents = reader.settings()[DOCUMENTS]
        crawled = reader.status().articles
    again = cli(
        "train", "--counts", first, "--topics", 5, "--batch-size", 64, "--held-out", 40,
        "--documents", documents, "--passes", 1, "--session", "again",
    )  # fmt: skip
    assert again.code == 0, again.err
    with SessionReader(home / "again.db") as reader:
        assert reader.status().articles == crawled
        assert reader.vocabulary() == corpus.words
    assert_same_states(states(home / "again.db"), states(first))


def test_the_other_session_may_be_named_from_where_the_user_stands(cli, corpus, home, monkeypatch):
    kept(cli, corpus)
    monkeypatch.chdir(home.parent)
    outcome = cli("train", "--counts", f"{home.name}/kept.db", "--topics", 3, "--session", "again")
    assert outcome.code == 0, outcome.err
    with SessionReader(home / "again.db") as reader:
        assert reader.status().articles > 0


def test_reading_in_pieces_is_reading_at_once(cli, corpus, home):
    kept(cli, corpus)
    counts = KeptCounts(home / "kept.db")
    whole = counts.documents(0, len(counts))
    for start, stop in ((0, 1), (30, 200), (39, 41), (len(counts) - 3, len(counts) + 9)):
        part = counts.documents(start, stop)
        expected = whole[start:stop]
        assert part.titles == expected.titles
        assert np.array_equal(part.word_ids, expected.word_ids)
        assert np.array_equal(part.counts, expected.counts)
        assert np.array_equal(part.indptr, expected.indptr)
    counts.close()


def test_the_stream_keeps_its_name_while_the_other_session_goes_on(cli, corpus, home):
    kept(cli, corpus, "--articles", 100)
    before = KeptCounts(home / "kept.db")
    kept(cli, corpus)
    after = KeptCounts(home / "kept.db")
    assert len(after) > len(before)
    assert after.identity == before.identity
    before.close()
    after.close()


def test_a_session_without_counts_says_so(cli, trained, one_line):
    with pytest.raises(BadUsage, match="--keep-counts"):
        KeptCounts(trained)
    one_line(cli("train", "--counts", trained, "--session", "other"), 2, "--keep-counts")


def test_it_cannot_be_turned_on_later(cli, corpus, trained, one_line):
    one_line(cli("train", *corpus.options(), "--keep-counts"), 2, "--keep-counts")


def word_counts(total, articles):
    return WordCounts(np.array(total, np.int64), np.array(articles, np.int64))


def test_word_counts_come_back_as_they_were():
    found = WordCounts.from_bytes(word_counts([5, 0, 2], [3, 0, 2]).to_bytes(), 3, 4, 7)
    assert (found.counts.tolist(), found.articles.tolist()) == ([5, 0, 2], [3, 0, 2])


@pytest.mark.parametrize(
    ("total", "articles"),
    [([4, 0, 2], [3, 0, 2]), ([5, 0, 2], [3, 1, 2])],
    ids=["other words than were trained", "a word in articles without it"],
)
def test_word_counts_that_cannot_be_are_damage(total, articles):
    with pytest.raises(Damaged, match="word_counts"):
        WordCounts.from_bytes(word_counts(total, articles).to_bytes(), 3, 4, 7)
