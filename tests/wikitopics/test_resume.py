"""What may change when a session goes on, and what may not."""

import shutil

from wikitopics.session.storage.reader import SessionReader

SMALL = ("--topics", 5, "--batch-size", 64, "--held-out", 40)


def test_a_file_that_has_moved_is_named_again(cli, trained, corpus, tmp_path):
    moved = tmp_path / "moved.npz"
    moved.write_bytes(corpus.counts.read_bytes())
    assert cli("train", "--counts", moved).code == 0


def test_a_run_that_needs_more_than_the_disk_has_says_so_and_goes_on(cli, corpus, home, monkeypatch):
    free = shutil.disk_usage(home.parent)._replace(free=50_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: free)
    few = ("train", *corpus.options(), *SMALL)
    said = cli(*few)
    assert said.code == 0
    assert "660 documents need about 0.1 GB more" in said.err
    assert "0.1 GB is free: make room" in said.err
    free = free._replace(free=500_000_000)
    roomy = cli(*few, "--session", "roomy")
    assert roomy.code == 0
    assert "need about" not in roomy.err


def test_a_session_made_small_says_so_when_it_is_to_grow_large(cli, corpus):
    assert "a corpus of" not in cli("train", *corpus.options(), *SMALL, "--articles", 100).err
    assert "a corpus of" not in cli("train", "--articles", 300).err
    grown = cli("train")
    assert grown.code == 0
    assert "made for a corpus of 100 documents" in grown.err
    assert "for 660, a new --session gives better topics" in grown.err


def test_a_session_knows_the_limits_of_its_last_run_only(cli, corpus, home):
    def given():
        with SessionReader(home / "default.db") as reader:
            return reader.status().activity.given

    cli("train", *corpus.options(), *SMALL, "--articles", 100, "--threads", 2, "--hours", 5)
    assert given() == {"articles": 100, "threads": 2, "hours": 5.0}
    cli("train", "--articles", 300)
    assert given() == {"articles": 300}
