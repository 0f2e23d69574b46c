"""Sessions of older programs: read as they lie, migrated by `train` alone, and gone on with as they were.

`schemas/aged.sqlite.gz` was trained by an earlier release (schema 2) past its models' first 64,000 articles;
`aged.npz` holds the topics that this release itself reached from there, at the end of the same file.
"""

import contextlib
import gzip
import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import wikitopics
from session.errors import Damaged
from session.storage.coordination.lock import trainer_lock
from session.storage.coordination.wishes import wish
from session.storage.database import read_rows, select
from session.storage.format import VERSION
from session.storage.reader import SessionReader
from session.storage.schema import migrations
from session.storage.writer import SessionWriter
from tests.session.storage import aged

FOLDER = Path(__file__).parent / "schemas"
KEPT = [*(FOLDER / f"{version}.sqlite" for version in range(1, VERSION)), FOLDER / "aged.sqlite.gz"]
READING = [
    ["status", "--json"],
    ["topics"],
    ["topics", "--top", "25", "--json"],
    ["articles", "--topic", "0"],
    ["infer", "TEXT"],
    ["export", "topics"],
    ["export", "history", "--format", "json"],
    ["export", "metrics"],
    ["export", "articles", "--all"],
    ["export", "model", "-o", "OUT"],
    ["sessions"],
    ["backup", "COPY.db"],
]


def put_aside(kept, path):
    """The kept session at a path of its own."""
    path.parent.mkdir(exist_ok=True)
    if kept.suffix == ".gz":
        path.write_bytes(gzip.decompress(kept.read_bytes()))
    else:
        shutil.copy(kept, path)
    return path


@pytest.fixture(params=KEPT, ids=lambda path: path.name.split(".")[0])
def old(request, home):
    """A session of an older schema, as `default`."""
    return put_aside(request.param, home / "default.db")


def schema(path):
    """Its version and the SQL of its tables."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
        return db.execute("PRAGMA user_version").fetchone()[0], tables


def test_reading_commands_change_nothing(cli, old, tmp_path):
    before = hashlib.sha256(old.read_bytes()).hexdigest()
    text = tmp_path / "text"
    with SessionReader(old) as reader:
        text.write_text(" ".join(reader.vocabulary()[:9]))
    places = {"TEXT": text, "OUT": tmp_path / "out", "COPY.db": tmp_path / "copy.db"}
    for command in READING:
        outcome = cli(*[places.get(word, word) for word in command])
        assert outcome.code == 0, (command, outcome.err)
        assert hashlib.sha256(old.read_bytes()).hexdigest() == before, command
        assert [file.name for file in old.parent.iterdir()] == [old.name], command
    assert schema(tmp_path / "copy.db") == schema(old)


def test_the_python_face_reads_them(old):
    before = old.read_bytes()
    session = wikitopics.open()
    for model in session.status().models:
        assert len(session.topics(model.name)) == model.topics
        assert session.infer(["some text"], model.name).shape == (1, model.topics)
        assert session.metrics(model.name)
        assert session.history(0, model.name)
        session.model(model.name).learn(wikitopics.Minibatch([0, 1], [3], [2]))
    assert session.articles(limit=5)
    assert old.read_bytes() == before


def test_what_was_not_recorded_is_said_to_be_so(cli, old):
    assert json.loads(cli("status", "--json").out)["skips"] == {}
    with contextlib.closing(sqlite3.connect(old)) as db, db:
        db.execute("UPDATE progress SET skipped = 7, crawled = crawled + 7")
    assert json.loads(cli("status", "--json").out)["skips"] == {"reason not recorded": 7}
    with SessionReader(old) as reader:
        assert reader.committed().progress.renew_from is None


def test_a_reader_and_wishes_leave_the_schema_to_an_older_trainer_at_work(old):
    before = schema(old)
    with trainer_lock(old), contextlib.closing(sqlite3.connect(old, isolation_level=None)) as trainer:
        for articles in (200_000, 300_000):
            trainer.execute("UPDATE progress SET articles = ?", [articles])
            wish(old, paused=True)
            with SessionReader(old) as reader:
                assert reader.status().articles == articles
        assert trainer.execute("SELECT paused FROM control").fetchone() == (1,)
    assert schema(old) == before


def test_a_migration_that_fails_halfway_leaves_the_file_as_it_was(old, monkeypatch):
    before = schema(old)

    def breaks(db):
        db.table("names").create({"id": int})
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(migrations, "_migrations", list(migrations._migrations))
        migrations(name="breaks")(breaks)
        with pytest.raises(Exception, match="no space left"):
            SessionWriter(old)
    assert schema(old) == before
    SessionWriter(old).close()
    assert schema(old)[0] == VERSION


def test_a_reader_that_stays_sees_what_a_migration_brings(old):
    with SessionReader(old) as reader:
        reader.status()
        SessionWriter(old).close()
        with contextlib.closing(sqlite3.connect(old)) as db, db:
            db.execute("UPDATE progress SET skipped = 2, crawled = crawled + 2, skips = '{\"empty\": 2}'")
        assert reader.status().skips == {"empty": 2}


def test_it_goes_on_past_64000_articles_as_it_did_then(cli, home, tmp_path):
    path = put_aside(FOLDER / "aged.sqlite.gz", home / "default.db")
    assert json.loads(cli("status", "--json").out)["articles"] == aged.KEPT_AT
    outcome = cli("train", *aged.write_counts(tmp_path))
    assert outcome.code == 0, outcome.err
    assert f"the session was upgraded from format 2 to {VERSION}" in outcome.err
    assert schema(path)[0] == VERSION
    assert json.loads(cli("status", "--json").out)["articles"] == aged.DOCUMENTS - aged.HELD_OUT
    with np.load(FOLDER / "aged.npz") as reached:
        assert list(reached) == ["lda", "learnt", "scvb0", "hdp"]
        for model, topics in reached.items():
            out = tmp_path / f"{model}.npz"
            assert cli("export", "model", "--model", model, "-o", out).code == 0
            with np.load(out) as now:
                np.testing.assert_allclose(now["topic_word"], topics, rtol=1e-5, err_msg=model)


@pytest.fixture
def bare(tmp_path):
    """An SQLite file with one table, and what sets its version."""
    with contextlib.closing(sqlite3.connect(tmp_path / "bare.db", isolation_level=None)) as db:
        db.execute("CREATE TABLE articles (seq INTEGER, title TEXT)")
        db.execute("INSERT INTO articles VALUES (3, 'Cello')")
        yield db


def test_columns_and_tables_of_later_schemas_are_null_and_empty(bare):
    bare.execute(f"PRAGMA user_version = {VERSION - 1}")
    articles = select(bare, "articles", "seq", "upper(title)", "id")
    assert read_rows(bare, f"{articles} WHERE seq = ? ORDER BY seq", [3]) == [(3, "CELLO", None)]
    names = select(bare, "names", "model", "name")
    assert read_rows(bare, f"{names} WHERE model = ? ORDER BY name", [0]) == []


@pytest.mark.parametrize("columns", [("articles", "seq", "id"), ("names", "name")])
def test_in_a_file_of_this_schema_nothing_may_be_missing(bare, columns):
    bare.execute(f"PRAGMA user_version = {VERSION}")
    with pytest.raises((Damaged, sqlite3.OperationalError), match="no such"):
        read_rows(bare, select(bare, *columns))
