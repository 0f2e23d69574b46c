"""Others open the file while one trains: neither of them notices."""

import contextlib
import subprocess
import sys

import pytest

from session.database import connect
from session.reader import SessionReader
from session.store import Changes, Store

TRAINER = """
import sys
from pathlib import Path
from session.pulse import Pulse
from session.store import Changes, Store
path = Path(sys.argv[1])
store, pulse = Store(path), Pulse(path)
pulse.begin(0)
for articles in (1, 2, 3):
    print("ready", flush=True)
    sys.stdin.readline()
    progress = store.progress()
    progress.articles = articles
    store.commit(progress, Changes(), 1)
    pulse.beat("running", {}, None)
print("done", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("looks", ["write", "read", "write and read"])
def test_whoever_looks_in_for_a_moment_leaves_the_trainers_log_alone(path, looks):
    """The last to close a database deletes its log: nobody may take himself for the last while one trains."""
    trainer = subprocess.Popen(
        [sys.executable, "-c", TRAINER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        log = path.with_name(path.name + "-wal")
        for articles in (1, 2, 3):
            assert trainer.stdout.readline() == "ready\n"
            file = log.stat().st_ino
            if "write" in looks:
                connect(path).close()
            if "read" in looks:
                SessionReader(path).close()
            assert log.stat().st_ino == file
            trainer.stdin.write("\n")
            trainer.stdin.flush()
            while trainer.poll() is None:
                with SessionReader(path) as reader:
                    if reader.status().articles == articles:
                        break
        assert trainer.stdout.readline() == "done\n"
    finally:
        trainer.kill()
        trainer.communicate()
    with SessionReader(path) as reader:
        assert reader.status().articles == 3


def test_a_reader_keeps_its_view_while_others_of_its_process_come_and_go(path):
    with contextlib.closing(Store(path)) as store, SessionReader(path) as lasting:
        for articles in (1, 2, 3):
            SessionReader(path).close()
            connect(path).close()
            progress = store.progress()
            progress.articles = articles
            store.commit(progress, Changes(), 1)
            assert lasting.status().articles == articles
