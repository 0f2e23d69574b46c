"""Trainers started, stopped and asked from another process; sessions deleted."""

import contextlib
import errno
import fcntl
import functools
import os
import re
import signal
import sqlite3
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.session.memory import status
from tests.session.rows import sql
from tests.sessions import holder
from wikitopics.session import __version__, control
from wikitopics.session.control import (
    Trainers,
    check_removable,
    forget,
    remove,
    start_trainer,
    write_report,
)
from wikitopics.session.errors import NoSession, NotASession, NotRunning, SessionError, SessionInUse
from wikitopics.session.paths import LOCK, beside, log_file
from wikitopics.session.records import TrainerActivity
from wikitopics.session.storage import reader as heartbeat
from wikitopics.session.storage.heartbeats import HeartbeatWriter, request_control
from wikitopics.session.storage.reader import SessionReader, check_alone
from wikitopics.session.system import Process, TrainerLock, lock_path
from wikitopics.session.training.stream import Stream


@contextlib.contextmanager
def held_by_another(path, text):
    """Another program has locked the lock file, and ``text`` stands in it."""
    lock_path(path).write_text(text)
    with lock_path(path).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture
def bystander():
    """A process that has nothing to do with us; it must not be harmed."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    alive = process.poll() is None
    process.kill()
    process.wait()
    assert alive


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(control, "OBEY_SECONDS", 0.1)
    monkeypatch.setattr(control, "STOP_SECONDS", 0.1)


def test_where_no_trainer_runs_nobody_is_told(path):
    with pytest.raises(NotRunning):
        control.stop(path)


@pytest.mark.parametrize(
    "text", ["{pid}\n", "{pid}\nanother place\n1\n", "0\n", "1" * 20 + "\n", "nonsense"]
)
def test_a_number_in_a_lock_file_is_no_trainer(path, bystander, short, text):
    says = "end it on the machine where it runs"
    with (
        held_by_another(path, text.format(pid=bystander.pid)),
        pytest.raises(SessionError, match=says),
    ):
        control.stop(path)


def test_a_process_that_has_taken_the_number_is_not_signalled(path, bystander, short):
    own = Process.own()
    later = Process(bystander.pid, own.place, own.start)  # began at another time
    with (
        held_by_another(path, later.as_text()),
        pytest.raises(SessionError, match=str(bystander.pid)),
    ):
        control.stop(path)


def test_a_suspended_trainer_is_told_of_and_ends_once_it_is_continued(path, short):
    with holder(path) as process:
        process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        told = []
        end = rf"once resumed \(`kill -CONT {process.pid}`\), it saves and ends$"
        why = rf"it is suspended \(as by Ctrl\+Z\); {end}"
        with pytest.raises(SessionError, match=f"did not end within 0 s; {why}"):
            control.stop(path, told.append)
        (line,) = told
        assert re.fullmatch(f"waiting for the trainer: {why}", line)
        process.send_signal(signal.SIGCONT)
        assert process.wait() == -signal.SIGTERM


@pytest.mark.parametrize("answers", [True, False])
def test_who_does_not_hear_is_signalled_where_it_is_certain_who_it_is(
    path,
    short,
    monkeypatch,
    answers,
):
    """A trainer that is still starting does not look at what it is asked for."""
    monkeypatch.setattr(control, "STOP_SECONDS", 600.0)
    if not answers:
        path = path.with_name("not-yet.db")
    process = holder(path)
    threading.Thread(target=process.wait).start()
    control.stop(path)
    assert process.wait() == -signal.SIGTERM
    process.stdout.close()


def test_an_old_wish_is_not_for_the_next_trainer(corpus, home, cli, monkeypatch):
    small = ["--topics", 3, "--batch-size", 64, "--held-out", 40]
    assert cli("train", *corpus.options(), *small, "--articles", 64).code == 0
    request_control(home / "default.db", stop=True, paused=True, hurry=True, lay_out=True)
    laid_out = []
    monkeypatch.setattr(Stream, "lay_out", laid_out.append)
    assert cli("train").code == 0
    assert not laid_out
    now = cli.json("status")
    assert (now["state"], now["articles"]) == ("finished", 657)


@pytest.mark.parametrize("lives", [True, False])
def test_a_lock_file_deleted_under_a_trainer(trained, lives, cli, one_line, monkeypatch):
    """Its heartbeat goes on in the session."""
    monkeypatch.setattr(heartbeat, "STALE_SECONDS", 3600)  # it beats but once
    other = holder(trained)
    began = f"/proc/{other.pid}/stat"
    trainer = Process.from_text(lock_path(trained).read_text())
    lock_path(trained).unlink()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(Process, "own", classmethod(lambda cls: trainer))
        with contextlib.closing(HeartbeatWriter(trained)) as pulse:
            pulse.beat("running", TrainerActivity())
    if not lives:
        other.kill()  # and not waited for: so it is with a shell's background jobs
    try:
        while not lives and os.path.exists(began) and trainer.lives():
            time.sleep(0.01)
        outcome = cli("train", "--articles", 9999, "--session", trained)
        if lives:
            one_line(outcome, 4, f"pid {other.pid}")
        else:
            assert outcome.code == 0, outcome.err
    finally:
        other.kill()
        other.communicate()


@pytest.mark.parametrize("beats", [True, False])
def test_a_trainer_that_cannot_be_seen_from_here_is_known_by_its_heartbeat(
    path, beats, monkeypatch
):
    seconds = 600.0 if beats else 0.2
    monkeypatch.setattr(heartbeat, "BEATS_SECONDS", seconds)
    monkeypatch.setattr(
        Process, "own", classmethod(lambda cls: Process(1, "another container", "1"))
    )
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.beat("running", TrainerActivity())
        if beats:
            monkeypatch.setattr("time.sleep", lambda _: pulse.beat("running", TrainerActivity()))
        with pytest.raises(SessionInUse) if beats else contextlib.nullcontext():
            check_alone(path)


def test_a_system_that_starts_no_process_is_told_of_and_nothing_stays_open(tmp_path, monkeypatch):
    def refuse(*_, **more):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr("wikitopics.session.control.start_python", refuse)
    before = os.listdir("/dev/fd")
    with pytest.raises(
        SessionError, match="cannot start a trainer: Resource temporarily unavailable"
    ):
        start_trainer(tmp_path / "night.db", [])
    with pytest.raises(SessionError, match="cannot start a process that writes the report: "):
        write_report(tmp_path / "night.db", tmp_path / "night.html", print)
    assert os.listdir("/dev/fd") == before


@pytest.mark.parametrize(
    ("script", "told", "error"),
    [
        ("echo '20 topics read' >&2; kill -9 $$", ["20 topics read"], "killed by signal 9"),
        ("exit 3", [], "exit code 3"),
    ],
)
def test_how_a_report_failed_that_says_nothing_of_it(tmp_path, monkeypatch, script, told, error):
    def start(_, arguments, **streams):
        return subprocess.Popen(["sh", "-c", script], **streams)

    monkeypatch.setattr("wikitopics.session.control.start_python", start)
    messages = []
    with pytest.raises(SessionError, match=f"^the report was not written: {error}$"):
        write_report(tmp_path / "night.db", tmp_path / "night.html", messages.append)
    assert messages == told


def test_how_a_trainer_died_that_was_killed(tmp_path):
    path = tmp_path / "s.db"
    trainers = Trainers()
    assert trainers.death(path) == ""
    process = trainers.start(path, ["demo", "--headless", "--session", str(path)])
    assert trainers.death(path) == ""
    process.kill()
    process.wait()
    assert trainers.death(path) == "killed by signal 9"


def test_how_a_trainer_died_that_failed(tmp_path):
    path = tmp_path / "s.db"
    trainers = Trainers()
    trainers.start(path, ["--nonsense"]).wait()
    assert trainers.death(path) == "exit code 2"


def test_a_folder_that_cannot_be_made_and_a_log_that_is_a_link_are_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SessionError, match=r"cannot write .*night\.db\.log: "):
        start_trainer(tmp_path / "file" / "night.db", [])
    precious = tmp_path / "precious"
    precious.write_text("years of work\n")
    log_file(tmp_path / "s.db").symlink_to(precious)
    with pytest.raises(SessionError, match="symbolic link"):
        start_trainer(tmp_path / "s.db", ["--version"])
    assert precious.read_text() == "years of work\n"


def test_a_log_is_emptied_for_a_new_trainer_only_where_nobody_writes_to_it(tmp_path):
    path = tmp_path / "s.db"
    log_file(path).write_text("of an earlier run\n")
    first = start_trainer(path, ["demo", "--headless", "--session", str(path)])
    try:
        assert start_trainer(path, ["--version"]).wait() == 0
        start_trainer(path, ["--nonsense"]).wait()
        told = log_file(path).read_text()
        assert "of an earlier run" not in told
        assert f"wikitopics {__version__}\n" in told
        assert "--nonsense" in told
    finally:
        first.terminate()
        first.wait()


@pytest.mark.parametrize(
    ("log", "begun", "left"),
    [
        ("wikitopics: the wiki is no wiki\n", False, False),
        ("stopped before training began\n", False, False),
        ("Traceback (most recent call last):\nValueError: 1\n", False, True),
        ("wikitopics: the disk is full\n", True, True),
    ],
)
def test_a_failed_start_leaves_no_log_unless_there_is_more_in_it(tmp_path, log, begun, left):
    path = tmp_path / "s.db"
    log_file(path).write_text(log)
    if begun:
        path.touch()
    forget(path)
    assert log_file(path).exists() is left


@pytest.fixture
def night(new_session, corpus, home):
    home.mkdir(exist_ok=True)
    return new_session(home / "night.db", corpus)


def test_all_of_a_session_goes_and_nothing_else(night, home):
    log_file(night).write_text("a trainer said this")
    (home / "nightly.db").write_text("mine")
    with SessionReader(night):
        remove(night)
    assert [path.name for path in home.iterdir()] == ["nightly.db"]


def test_a_session_that_a_trainer_holds_stays_and_of_a_link_only_the_link_goes(night, home):
    with TrainerLock(night), pytest.raises(SessionInUse, match="pid"):
        remove(night)
    assert status(night).state == "new"
    link = home / "link.db"
    link.symlink_to(night)
    remove(link)
    assert not link.is_symlink()
    assert status(night).state == "new"
    link.symlink_to(home / "nowhere.db")
    with pytest.raises(NoSession):
        remove(link)
    assert link.is_symlink()


def test_what_is_no_session_stays(home):
    home.mkdir()
    sql(home / "other.db", "CREATE TABLE t (x)")
    (home / "text.db").write_text("no database")
    (home / "folder.db").mkdir()
    for name in ("other", "text", "folder"):
        with pytest.raises(NotASession, match="nothing was deleted"):
            remove(home / f"{name}.db")
        assert (home / f"{name}.db").exists()
        assert not beside(home / f"{name}.db", LOCK).exists()


def test_a_session_that_nobody_can_read_any_more_goes(night, home):
    sql(night, "DROP TABLE settings")
    sql(night, "PRAGMA user_version = 999")
    remove(night)
    assert not list(home.iterdir())


def test_the_names_that_are_near_are_told(night, home):
    with pytest.raises(NoSession, match=r"no session at .*nigth.db. Did you mean 'night'"):
        remove(home / "nigth.db")
    night.rename(home / "demo.db")
    with pytest.raises(NoSession, match=r"only the demo has one; to use it, add `--session demo`"):
        remove(home / "default.db")
    (home / "demo.db").unlink()
    with pytest.raises(NoSession, match=r"no session at .*nigth.db: `wikitopics train`"):
        remove(home / "nigth.db")


def test_of_two_who_delete_one_has_deleted(night, home):
    def removed(path):
        try:
            remove(path)
        except (NoSession, SessionInUse):
            return False
        return True

    with ThreadPoolExecutor() as threads:
        assert sum(threads.map(removed, [night] * 2)) == 1
    assert not list(home.iterdir())


def test_the_look_before_a_deletion_writes_no_file_that_another_deletion_could_miss(
    night, home, monkeypatch
):
    files = []

    class Looking(sqlite3.Connection):
        def close(self):
            files.extend(path.name for path in home.iterdir())
            super().close()

    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Looking))
    check_removable(night)
    assert files == ["night.db"]


def test_sessions_are_listed_by_name_not_by_file(home):
    home.mkdir()
    for name in ("notes-2", "notes"):
        (home / f"{name}.db").write_bytes(b"no session")
    assert [name for name, _, _ in control.list_sessions()] == ["notes", "notes-2"]
