"""Others open the file while one trains: neither of them notices."""

import contextlib
import shutil
import subprocess
import sys

import pytest

from wikitopics.session.errors import NoSession
from wikitopics.session.storage.database import connect
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.settings import Progress
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.tui.follow import Follower

TRAINER = """
import sys
from pathlib import Path
from wikitopics.session.records import TrainerActivity
from wikitopics.session.storage.trainer import HeartbeatWriter
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
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def go_on(trainer):
    trainer.stdin.write("\n")
    trainer.stdin.flush()


@pytest.mark.parametrize("looks", ["write", "read", "write and read"])
def test_whoever_looks_in_for_a_moment_leaves_the_trainers_log_alone(path, trainer, looks):
    """The last to close a database deletes its log: nobody may take himself for the last while one trains."""
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
    assert (await feed.look(())).status.articles == 1
    feed.close(wait=True)
    assert not path.with_name(path.name + "-wal").exists()
    shutil.copy(path, tmp_path / "alone.db")
    with SessionReader(tmp_path / "alone.db") as copy:
        assert copy.status().articles == 1


@pytest.mark.parametrize("replaced", [False, True])
def test_a_reader_knows_when_its_file_is_no_session_any_more(path, tmp_path, replaced):
    with SessionReader(path) as reader:
        reader.status()
        other = tmp_path / "other.db"
        other.write_bytes(path.read_bytes())
        other.replace(path) if replaced else path.unlink()
        with pytest.raises(NoSession, match="was removed or replaced"):
            reader.status()


def test_a_look_at_a_session_leaves_nothing_beside_it(path):
    before = path.read_bytes()
    with SessionReader(path) as reader:
        reader.status()
    assert [file.name for file in path.parent.glob(f"{path.name}-*")] == []
    assert path.read_bytes() == before
