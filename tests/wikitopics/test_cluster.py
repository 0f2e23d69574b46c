"""`train --cluster` at the command line: what cannot be is told in one line, and nothing is created."""

import numpy as np
import pytest

from tests.crawler.dumps import dump, german, multistream


@pytest.fixture
def train(cli, tmp_path):
    path = tmp_path / "dump.xml"
    path.write_bytes(dump(range(1, 200), text="A river of water."))
    return lambda *words: cli("train", "--session", tmp_path / "s.db", "--dump", path, *words)


def test_an_unencrypted_scheduler_elsewhere_is_refused(train, one_line, tmp_path):
    one_line(train("--cluster", "tcp://10.255.255.1:8786"), 2, "--cluster-unencrypted")
    one_line(train("--cluster", "http://host"), 2, "not an address of a Dask scheduler")
    assert not (tmp_path / "s.db").exists()


def test_counted_words_are_not_sent_out(cli, one_line, tmp_path):
    path, words = tmp_path / "counts.npz", tmp_path / "words.txt"
    words.write_text("one\ntwo\n")
    np.savez(path, indptr=[0, 1], word_ids=[0], counts=[1], n_words=2)
    asked = ("train", "--session", tmp_path / "s.db", "--counts", path, "--vocab", words)
    one_line(cli(*asked, "--cluster", "localhost"), 2, "counted already")


@pytest.mark.interop
def test_no_scheduler_there(train, tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.intake.cluster.CONNECT_SECONDS", 1)
    outcome = train("--cluster", "tcp://127.0.0.1:9")
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith(
        "wikitopics: no Dask scheduler answers at tcp://127.0.0.1:9"
    )
    outcome = train("--cluster", "tls://127.0.0.1:9")
    assert outcome.code == 2
    assert "needs certificates" in outcome.err
    assert not (tmp_path / "s.db").exists()


@pytest.mark.interop
def test_the_words_of_a_new_vocabulary_are_counted_here_and_the_rest_there(
    cli, counted_here, dask, home, tmp_path
):
    """And the session comes out as without a cluster."""
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(multistream(range(1, 401), text=german))
    train = ("train", "--dump", path, "--lang", "de", "--vocab-articles", 250, "--batch-size", 64)
    dask.start_scheduler()
    dask.start_worker()
    found = []
    for session, more in (("far", ("--cluster", dask.address)), ("near", ())):
        outcome = cli(*train, "--topics", 3, "--seed", 1, "--session", session, *more)
        assert outcome.code == 0, outcome.err
        assert "is built first" in outcome.err
        assert ("counting on a cluster" in outcome.err) == bool(more)
        assert (
            cli("export", "model", "--session", session, "--format", "npz", "-o", tmp_path / session).code
            == 0
        )
        with np.load(tmp_path / session) as arrays:
            found.append(dict(arrays))
        (kept,) = (home / "vocabularies").glob("*.txt")
        kept.unlink()
    far, near = found
    assert far.keys() == near.keys()
    assert all(np.array_equal(far[name], near[name]) for name in far)
