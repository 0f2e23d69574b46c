"""A small counts file cannot take all memory, and a large minibatch is no damage."""

import contextlib
import json
from struct import pack

import numpy as np
import pytest

from tests.session.rows import documents, largest
from wikitopics.session.errors import BadUsage
from wikitopics.session.storage.schema import CREATE
from wikitopics.session.storage.sqliteutils import Database
from wikitopics.session.storage.tables.articles import insert_articles, renew_topics
from wikitopics.session.training.intake import counts_npz
from wikitopics.session.training.intake.counts_npz import CountsFile


def write(path, lengths):
    """Documents with so many entries, all of the first of five words."""
    n = sum(lengths)
    np.savez_compressed(
        path,
        indptr=np.cumsum([0, *lengths]),
        word_ids=np.zeros(n, np.int8),
        counts=np.ones(n, np.int8),
        n_words=5,
    )
    return path


def test_a_document_has_no_more_entries_than_there_are_words(tmp_path):
    with contextlib.closing(CountsFile(write(tmp_path / "c.npz", [1, 5]), 5)) as file:
        assert file.documents(0, 2).words.tolist() == [1, 5]
    long = write(tmp_path / "long.npz", [1, 5, 60_000_000])
    with pytest.raises(BadUsage, match=r"document 2 has 60,000,000 entries.*only 5 words"):
        CountsFile(long, 5)


def test_a_file_known_before_is_held_to_it_too(tmp_path):
    first = CountsFile(write(tmp_path / "c.npz", [1, 5]), 5)
    first.close()
    with pytest.raises(BadUsage, match="document 1 has 6 entries"):
        CountsFile(write(tmp_path / "c.npz", [1, 6]), 5, first.identity)


def test_a_minibatch_is_bounded(tmp_path, monkeypatch, cli, one_line):
    monkeypatch.setattr(counts_npz, "MOST_ENTRIES", 500)
    (tmp_path / "words.txt").write_text("aa\nbb\ncc\ndd\nee\n")
    counts = write(tmp_path / "c.npz", [5] * 2000)
    train = ["train", "--counts", counts, "--vocab", tmp_path / "words.txt", "--topics", 2, "--held-out", 10]
    outcome = cli(*train, "--batch-size", 1024)
    assert outcome.code == 2
    assert "entries, over the 500" in outcome.err.splitlines()[-1]
    assert "--batch-size" in outcome.err.splitlines()[-1]
    assert cli(*train, "--batch-size", 32, "--session", "small").code == 0


def test_a_very_large_minibatch_is_trained(cli, corpus):
    outcome = cli("train", *corpus.options(), "--topics", 3, "--batch-size", 1_000_000)
    assert outcome.code == 0, outcome.err
    assert json.loads(cli("status", "--json").out)["articles"] > 600


def test_the_topics_of_a_very_large_minibatch_are_inferred_again():
    seqs = range(1, 100_003)
    db = Database(memory=True)
    db.conn.executescript(CREATE)
    zeros = np.zeros(len(seqs), np.intp)
    insert_articles(db, documents(*seqs), "trained", largest((zeros, zeros + 0.5)), 1)
    renew_topics(db, seqs, largest((zeros + 1, zeros + 0.75)))
    assert db.execute("SELECT DISTINCT topics FROM articles").fetchall() == [(pack(">HH", 1, 7500),)]
    db.close()
