"""Damage to what replicas, and topics that are to start over, add to a session: one line with exit
code 5, and nothing else changes."""

import contextlib
import io
import json
import shutil
import sqlite3

import numpy as np
import pytest

from tests.corpora import write_corpus
from tests.session.archives import npz
from tests.session.rows import sql

SHARED = '$."shared arrays"'


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A session of a model with two replicas, which still keep the first documents."""
    from wikitopics.cli import run

    folder = tmp_path_factory.mktemp("replicas")
    corpus = write_corpus(folder, 220, words=20)
    path = folder / "whole.db"
    small = ["--topics", "3", "--batch-size", "64", "--held-out", "20", "--articles", "128"]
    more = ["--replicas", "2", "--documents", "100000", "--session", str(path)]
    assert run(["train", *corpus.options(), *small, *more]) == 0
    return path


@pytest.fixture
def damaged(whole, home):
    """A copy of that session as the session `default`, which a test may damage."""
    home.mkdir()
    return shutil.copy(whole, home / "default.db")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("DELETE FROM models WHERE id = 2", "models and settings.models do not match"),
        ("UPDATE models SET id = 7 WHERE id = 1", "models and settings.models do not match"),
        (
            "UPDATE settings SET value = '1' WHERE key = 'replicas'",
            "models and settings.models do not match",
        ),
        (
            "UPDATE settings SET value = '12' WHERE key = 'replicas'",
            "settings.replicas must be a whole number from 0 to 11",
        ),
    ],
)
def test_replicas_that_do_not_fit_are_refused(cli, one_line, damaged, damage, says):
    sql(damaged, damage)
    before = damaged.read_bytes()
    for command in (["status"], ["train", "--articles", "192"]):
        one_line(cli(*command), 5, says)
        assert damaged.read_bytes() == before


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (f"json_remove(scalars, '{SHARED}')", "first_indptr|alpha is missing"),
        (f"json_set(scalars, '{SHARED}', 'first_indptr\nomega')", "an array that it lacks"),
        (f"json_set(scalars, '{SHARED}', '\x1b[31m')", "an array that it lacks"),
        (f"json_set(scalars, '{SHARED}', 5)", "an array that it lacks"),
        ("(SELECT scalars FROM models WHERE id = 0)", "is missing"),
    ],
)
def test_what_a_replica_shares_is_checked(cli, damaged, changed, says):
    sql(damaged, f"UPDATE models SET scalars = {changed} WHERE id = 2")
    refused = cli("train", "--articles", "192")
    assert refused.code == 5
    last_line = refused.err.splitlines()[-1]
    assert any(text in last_line for text in says.split("|")), last_line
    assert "\x1b" not in refused.err
    assert sql(damaged, "SELECT articles FROM progress") == [(128,)]


def _with(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


FIRST = {
    "gone": ("first_counts", lambda counts: None),
    "shorter": ("first_word_ids", lambda ids: ids[:-1]),
    "of another type": ("first_indptr", lambda indptr: indptr.astype(np.float64)),
    "no starts": ("first_indptr", lambda indptr: indptr[:0]),
    "falling starts": ("first_indptr", lambda indptr: _with(indptr, 3, indptr[-1])),
    "a word beyond the vocabulary": ("first_word_ids", lambda ids: _with(ids, -1, 20)),
    "a word below it": ("first_word_ids", lambda ids: _with(ids, 0, -1)),
    "a count that is no number": (
        "first_counts",
        lambda counts: _with(counts.astype(np.float32), 0, np.nan),
    ),
    "a vast count": ("first_counts", lambda counts: _with(counts.astype(np.int64), 0, 2**62)),
}


@pytest.mark.parametrize(("name", "change"), FIRST.values(), ids=FIRST)
def test_first_documents_are_checked(cli, damaged, name, change):
    """They are the model's; its replicas share them."""
    with contextlib.closing(sqlite3.connect(damaged)) as db, db:
        ((packed,),) = db.execute("SELECT arrays FROM models WHERE id = 0")
        with np.load(io.BytesIO(packed)) as loaded:
            arrays = dict(loaded)
        ((scalars,),) = db.execute("SELECT scalars FROM models WHERE id = 1")
        assert name in json.loads(scalars)["shared arrays"].split("\n")
        changed = change(arrays.pop(name))
        if changed is not None:
            arrays[name] = changed
        db.execute("UPDATE models SET arrays = ? WHERE id = 0", [npz(arrays)])
    refused = cli("train", "--articles", "192")
    assert refused.code == 5
    assert "the session is damaged (model lda: " in refused.err.splitlines()[-1]
    assert "Traceback" not in refused.err
    assert sql(damaged, "SELECT articles FROM progress") == [(128,)]
    cli.ok("topics")  # as of the last snapshot, which is whole
