"""Whose file it is, and who else has it open."""

import contextlib
import random
import shutil
import sqlite3
import subprocess
import sys

import pytest

from tests.session.rows import sql
from wikitopics.session.errors import NotASession, SessionError
from wikitopics.session.records import Progress
from wikitopics.session.storage.database import connect, is_sqlite
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.tui.follow import Follower

# Files that are no session, or are of a newer version, are told as such and left as they are.


HEADER = b"SQLite format 3\0" + b"\x55" * 5000
"""And then rubbish."""


@pytest.mark.parametrize("opener", [SessionWriter, HeartbeatWriter, SessionReader])
class TestNoSession:
    def test_another_programs_database(self, opener, tmp_path):
        path = tmp_path / "places.db"
        sql(path, "CREATE TABLE t (x)")
        before = path.read_bytes()
        with pytest.raises(NotASession, match="not a wikitopics session"):
            opener(path)
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        "content", [b"", b"hello", b"SQLite format 3", random.Random(1).randbytes(4096), HEADER]
    )
    def test_no_database_at_all(self, opener, tmp_path, content):
        path = tmp_path / "x.db"
        path.write_bytes(content)
        with pytest.raises(NotASession, match=r"not a wikitopics session|not an SQLite file"):
            opener(path)
        assert path.read_bytes() == content

    def test_one_deleted_between_looking_and_opening(self, opener, path, monkeypatch):
        def connect_too_late(*arguments, **options):
            path.unlink(missing_ok=True)
            return connect(*arguments, **options)

        connect = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", connect_too_late)
        with pytest.raises(SessionError, match="unable to open"):
            opener(path)


def test_whether_a_file_is_a_database_sqlite_alone_finds_out(path, monkeypatch):
    """Whoever opens a file and closes it takes away the locks that SQLite holds on it in the same
    process."""

    def refuse(*_):
        raise OSError

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert is_sqlite(path)


# Others open the file while one trains: neither of them notices.


TRAINER = """
import sys
from pathlib import Path
from wikitopics.session.records import TrainerActivity
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.session.storage.writer import Changes
from wikitopics.session.storage.writer import SessionWriter
path = Path(sys.argv[1])
store, pulse = SessionWriter(path), HeartbeatWriter(path)
pulse.begin(0)
for articles in (1, 2, 3):
    print("ready", flush=True)
    sys.stdin.readline()
    progress = store.progress()
    progress.articles = articles
    store.commit(progress, Changes(), 1)
    pulse.beat("running", TrainerActivity())
print("done", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def trainer(path):
    command = [sys.executable, "-c", TRAINER, str(path)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def go_on(trainer):
    trainer.stdin.write("\n")
    trainer.stdin.flush()


@pytest.mark.parametrize("looks", ["write", "read", "write and read"])
def test_whoever_looks_in_for_a_moment_leaves_the_trainers_log_alone(path, trainer, looks):
    """The last to close a database deletes its log: nobody may take himself for the last while one
    trains."""
    log = path.with_name(path.name + "-wal")
    for articles in (1, 2, 3):
        assert trainer.stdout.readline() == "ready\n"
        file = log.stat().st_ino
        if "write" in looks:
            connect(path).close()
        if "read" in looks:
            SessionReader(path).close()
        assert log.stat().st_ino == file
        go_on(trainer)
        while trainer.poll() is None:
            with SessionReader(path) as reader:
                if reader.status().articles == articles:
                    break
    assert trainer.stdout.readline() == "done\n"


def test_a_reader_keeps_its_view_while_others_of_its_process_come_and_go(path):
    with contextlib.closing(SessionWriter(path)) as store, SessionReader(path) as lasting:
        for articles in (1, 2, 3):
            SessionReader(path).close()
            connect(path).close()
            progress = store.progress()
            progress.articles = articles
            store.commit(progress, Changes(), 1)
            assert lasting.status().articles == articles


def test_a_session_is_one_file_though_somebody_looked_in_at_the_end(path, tmp_path):
    with SessionReader(path) as reader:
        assert reader.status().articles == 0
        with contextlib.closing(SessionWriter(path)) as store:
            store.commit(Progress(articles=64), Changes(), 1)
        shutil.copy(path, tmp_path / "alone.db")
        with SessionReader(tmp_path / "alone.db") as copy:
            assert copy.status().articles == reader.status().articles == 64


async def test_who_looks_at_a_killed_trainer_last_folds_its_log_in(path, trainer, tmp_path):
    assert trainer.stdout.readline() == "ready\n"
    go_on(trainer)
    assert trainer.stdout.readline() == "ready\n"
    trainer.kill()
    trainer.wait()
    feed = Follower(path)
    assert (await feed.read_session(())).status.articles == 1
    feed.close(wait=True)
    assert not path.with_name(path.name + "-wal").exists()
    shutil.copy(path, tmp_path / "alone.db")
    with SessionReader(tmp_path / "alone.db") as copy:
        assert copy.status().articles == 1


def test_whoever_may_not_write_leaves_the_log_as_it_is(path, monkeypatch):
    real = sqlite3.connect

    def read_only(database, **options):
        if "mode=rw" in str(database):
            raise PermissionError("as in a browser")
        return real(database, **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    with SessionReader(path) as reader:
        assert reader.status().articles == 0


SQLITE_UTILS = """
import importlib, threading

def import_pandas():
    try:
        importlib.import_module("pandas")
    except ImportError:
        return "none"
    return "pandas"

here = import_pandas()
found_by_other = []
other = threading.Thread(target=lambda: found_by_other.append(import_pandas()))
other.start()
other.join()

def Database(connection, *, execute_plugins):
    return here, *found_by_other
"""


def test_sqlite_utils_is_loaded_without_pandas_which_another_thread_may_load_meanwhile(tmp_path):
    """In a process of its own, where neither is loaded yet."""
    (tmp_path / "pandas.py").write_text("")
    (tmp_path / "sqlite_utils.py").write_text(SQLITE_UTILS)
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
from wikitopics.session.storage.database import database
finders = list(sys.meta_path)
print(*database(None), sys.meta_path == finders)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["none", "pandas", "True"], "")
