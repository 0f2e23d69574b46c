"""The store: sessions are made whole or not at all, and so is every commit; how large they
become."""

import os
import sqlite3
import stat
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scaling.tables import file_bytes
from tests.session.rows import WORDS, changes, documents, row, settings, sql
from wikitopics.session.errors import Damaged, DiskFull, SessionError
from wikitopics.session.records import Progress
from wikitopics.session.storage import writer as stores
from wikitopics.session.storage.database import SMALL, VERSION, connect, read_rows
from wikitopics.session.storage.models import check_size
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import Changes, SessionWriter

# The store: sessions are made whole or not at all, and so is every commit.


TABLES = ("pending", "held_out", "articles", "metrics", "snapshots")


def dump(path):
    return {table: sql(path, f"SELECT * FROM {table}") for table in (*TABLES, "models", "progress")}


def test_a_new_session_is_whole_and_its_owners_alone(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["s.db"]
    assert sql(path, "PRAGMA user_version") == [(VERSION,)]
    assert sql(path, "PRAGMA journal_mode") == [("wal",)]
    with closing(SessionWriter(path)) as store:
        assert (store.settings(), store.vocabulary()) == (settings(), WORDS)
        assert store.progress() == Progress()
        assert [model.log_likelihood for model in store.model_statuses()] == [None]
        assert np.array_equal(store.model_state(store.models()[0])["a"], np.zeros((2, 3)))
        assert store.pending() == []
        assert len(store.held_out()) == 0
        for suffix in ("-wal", "-shm"):
            assert stat.S_IMODE(path.with_name(path.name + suffix).stat().st_mode) == 0o600


@pytest.mark.parametrize("model", [1, 2, -1])
def test_topics_of_a_model_that_is_not_there_are_damage(path, model):
    with closing(SessionWriter(path)) as store:
        store.commit(Progress(), changes(1), 1)
        assert list(store.snapshots_at(64)) == [0]
        sql(path, "UPDATE snapshots SET model = ?", model)
        with pytest.raises(Damaged, match=r"snapshots\.model: Expected `int`"):
            store.snapshots_at(64)


def test_a_file_that_came_while_the_session_was_made_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "s.db"

    as_usual = stores.database

    def database(connection):
        path.write_text("mine")
        return as_usual(connection)

    monkeypatch.setattr(stores, "database", database)
    with pytest.raises(SessionError, match="exists"):
        stores.create(path, settings(), stores.Beginning(WORDS, [row()]))
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["s.db"]


def test_what_sqlite_left_of_a_deleted_session_is_no_part_of_the_next(path, tmp_path):
    with closing(SessionWriter(path)) as store:
        store.commit(Progress(articles=1, held_out=1, crawled=2), changes(1, 2), 1)
        logs = {
            ending: path.with_name(path.name + ending).read_bytes() for ending in ("-wal", "-shm")
        }
        path.unlink()  # as by a user, of a session whose trainer was killed
    for ending, data in logs.items():
        path.with_name(path.name + ending).write_bytes(data)
    assert len(logs["-wal"]) > 1000
    stores.create(path, settings(), stores.Beginning(WORDS, [row()]))
    with SessionReader(path) as reader:
        assert reader.progress().articles == 0
        assert reader.heartbeat().state == "new"
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]


def test_a_session_or_folder_that_cannot_be_made_is_one_line_and_leaves_nothing(tmp_path):
    with pytest.raises(SessionError):
        stores.create(
            tmp_path / "s.db", settings(), stores.Beginning(WORDS, [row() | {"arrays": object()}])
        )
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError, match=r"cannot create .*: (Not a directory|File exists)"):
        stores.create(tmp_path / "file" / "s.db", settings(), stores.Beginning(WORDS, [row()]))


def test_what_is_committed_is_there_for_the_next_trainer(path):
    progress = Progress(
        articles=3,
        tokens=4,
        held_out=2,
        crawled=9,
        pending=1,
        skipped=3,
        minibatches=1,
        pending_offset=1,
        skips={"disambiguation": 2, "no known word": 1},
        position={"cursor": {"a": "b"}},
        lap=0.5,
        elapsed_seconds=2.5,
        bytes_read=2**40,
    )
    with closing(SessionWriter(path)) as store:
        store.commit(progress, changes(5, 6), 1)
    with closing(SessionWriter(path)) as store:
        assert store.progress() == progress
        assert [model.log_likelihood for model in store.model_statuses()] == [-7.0]
        assert np.array_equal(store.model_state(store.models()[0])["a"], np.ones((2, 3)))
        ((number, pending),) = store.pending()
        assert number == 1
        assert pending.page_ids.tolist() == [5, 6]
        assert (store.held_out().page_ids.tolist(), store.points("metrics")) == ([5, 6], [64])
    with SessionReader(path) as reader:
        found = [(a.seq, a.page_id, a.topics) for a in reader.recent_articles()]
        lda = (("lda", 0, 0.75),)
        assert found == [(4, 6, lda), (3, 5, lda), (2, 6, ()), (1, 5, ())]


def test_trained_stretches_leave_the_pending_table(path):
    with closing(SessionWriter(path)) as store:
        progress = store.progress()
        store.commit(progress, changes(1, number=1), 1)
        store.commit(progress, changes(2, number=2), 2)
        assert [number for number, _ in store.pending()] == [2]
        store.commit(progress, changes(3, number=3), 4)
        assert store.pending() == []


@pytest.mark.parametrize("table", [*TABLES, "models", "progress"])
def test_a_commit_that_fails_half_way_writes_nothing_and_can_be_done_again(path, table):
    with closing(SessionWriter(path)) as store:
        progress = Progress(articles=1)
        store.commit(progress, changes(1), 1)
        before = dump(path)
        progress.articles = 2
        event = "UPDATE" if table in ("models", "progress") else "INSERT"
        sql(
            path,
            f"CREATE TRIGGER no BEFORE {event} ON {table} BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        with pytest.raises(SessionError, match="no"):
            store.commit(progress, changes(2, number=2), 2)
        assert dump(path) == before
        sql(path, "DROP TRIGGER no")
        store.commit(progress, changes(2, number=2), 2)
        assert store.progress() == progress
        assert [r[1] for r in dump(path)["articles"]] == [1, 1, 2, 2]
        assert [r[0] for r in dump(path)["articles"]] == [1, 2, 3, 4]


def test_a_heartbeat_in_the_middle_of_a_commit_does_not_refuse_it(path, monkeypatch):
    refused = []

    def insert_articles(db, *_):
        db.execute("SELECT 1 FROM articles").fetchall()  # sqlite-utils reads first, too
        try:
            beating.execute("UPDATE control SET save = 1")
        except sqlite3.OperationalError as error:
            refused.append(str(error))

    monkeypatch.setattr(stores.articles, "insert_articles", insert_articles)
    rows = (documents(1, 2), "held_out", None)
    with closing(SessionWriter(path)) as store, closing(connect(path)) as beating:
        beating.execute("PRAGMA busy_timeout = 10")
        store.commit(Progress(crawled=2, held_out=2), Changes(articles=[rows]), 0)
        assert refused == ["database is locked"]
        beating.execute("UPDATE control SET save = 1")
    with closing(SessionWriter(path)) as store:
        assert store.progress().crawled == 2


def test_a_full_disk_has_its_own_error_and_loses_nothing(path, monkeypatch):
    open_database = sqlite3.connect
    opened = []

    def noted(*arguments, **options):
        opened.append(open_database(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    with closing(SessionWriter(path)) as store:
        disk = opened[-1]
        pages = disk.execute("PRAGMA page_count").fetchone()[0]
        disk.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        many = changes(*range(5000))
        with pytest.raises(DiskFull, match="the disk is full"):
            store.commit(Progress(articles=2), many, 1)
        assert store.progress() == Progress()
        disk.execute("PRAGMA max_page_count = 100000").fetchall()
        store.commit(Progress(articles=2), many, 1)
        assert store.progress().articles == 2


def test_a_session_holds_no_contact(tmp_path, new_session, corpus):
    made = new_session(tmp_path / "made.db", corpus, contact="me@host.org")
    assert b"counts.npz" in made.read_bytes()
    assert b"me@host.org" not in made.read_bytes()


def test_nothing_lies_beside_a_closed_session_and_a_later_chmod_is_kept(path):
    path.chmod(0o644)
    with closing(SessionWriter(path)) as store:
        store.commit(Progress(), changes(1), 1)
    assert os.listdir(path.parent) == ["s.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_value_may_take_a_mebibyte_where_no_more_is_expected_and_any_number_when_written():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.setlimit(
            sqlite3.SQLITE_LIMIT_LENGTH, SMALL
        )  # by another thread's reading, just now
        assert read_rows(connection, "SELECT length(zeroblob(1048576))") == [(2**20,)]
        with pytest.raises(sqlite3.DataError):
            read_rows(connection, "SELECT length(zeroblob(1048577))")
        assert connection.execute("SELECT length(?)", [bytes(3 * SMALL)]).fetchone() == (3 * SMALL,)


# How large a session's file is expected to become, and how large a model in it may be.


def kept(keep, **more):
    base = settings()
    return replace(base, values={**base.values, "keep_articles": keep, **more})


def growth(settings):
    return (
        file_bytes(settings, 8_000, 65_000_000) - file_bytes(settings, 8_000, 7_000_000)
    ) / 58_000_000


def test_only_where_all_are_kept_the_file_grows_most_by_word_counts():
    assert 50 < growth(kept("all")) < 500
    assert growth(kept("top")) == growth(kept("none")) == 0
    assert growth(kept("all", keep_counts=True)) > 2 * growth(kept("all"))


def test_articles_take_about_what_is_expected(cli, corpus_of, home, monkeypatch):
    monkeypatch.setattr("wikitopics.session.storage.articles.RECENT_ARTICLES", 1)
    # What does not grow with every article.
    monkeypatch.setattr(
        "wikitopics.model.allocation.DirichletAllocation.waits_to_start_over", False
    )
    monkeypatch.setattr("wikitopics.session.training.charting.MOST_LANDMARKS", 16)
    many = corpus_of(4_040)
    run = ("train", *many.options(), "--topics", 5, "--held-out", 40)
    sizes = {}
    for keep in ("all", "none"):
        assert cli(*run, "--keep-articles", keep, "--session", keep).code == 0
        sizes[keep] = (home / f"{keep}.db").stat().st_size
    assert (sizes["all"] - sizes["none"]) / 4_000 == pytest.approx(growth(kept("all")), rel=0.5)


def test_a_model_may_be_as_large_as_four_arrays_of_its_topics():
    def state(arrays, more):
        topics = dict.fromkeys(map(str, range(arrays)), np.broadcast_to(0.0, (2_000, 100_000)))
        return {
            **topics,
            "more": np.broadcast_to(0.0, more * 2**17),
        }  # MiB; none of it takes memory

    check_size(state(4, 127), 2_000, 100_000)
    with pytest.raises(SessionError, match=r"at most 6,230 MB of such a model, not 6,231 MB"):
        check_size(state(4, 128), 2_000, 100_000)
