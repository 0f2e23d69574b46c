import fcntl
import os
import signal
import stat

import pytest

from tests.sessions import holder
from wikitopics.session.errors import SessionError, SessionInUse
from wikitopics.session.system import UNKNOWN, Process, TrainerLock, lock_path, owner, owner_pid


@pytest.fixture
def path(tmp_path):
    """A session that nobody has made yet."""
    return tmp_path / "s.db"


@pytest.fixture(autouse=True)
def no_patience(monkeypatch):
    """Nobody here lets go of a lock because another waits for it."""
    monkeypatch.setattr("wikitopics.session.system.TRIES", 2)


def test_who_holds_it(path):
    assert owner_pid(path) is None
    assert not lock_path(path).exists()
    with TrainerLock(path):
        assert owner_pid(path) == os.getpid()
        assert stat.S_IMODE(lock_path(path).stat().st_mode) == 0o600
        with pytest.raises(SessionInUse, match=f"pid {os.getpid()}"), TrainerLock(path):
            pass
        path.write_bytes(b"")
    assert owner_pid(path) is None


def test_whoever_looks_in_for_a_moment_keeps_no_trainer_out(path, monkeypatch):
    looking = os.open(lock_path(path), os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr("time.sleep", lambda seconds: fcntl.flock(looking, fcntl.LOCK_UN))
    with TrainerLock(path):
        assert owner_pid(path) == os.getpid()
    os.close(looking)


def test_the_kernel_frees_the_lock_of_a_killed_trainer(path):
    process = holder(path)
    assert owner_pid(path) == process.pid
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert lock_path(path).read_text() != ""
    assert owner_pid(path) is None
    with TrainerLock(path):
        assert owner_pid(path) == os.getpid()


def test_the_same_session_by_another_name_is_the_same(path, tmp_path):
    link = tmp_path / "link.db"
    path.write_bytes(b"")
    link.symlink_to(path)
    with TrainerLock(path):
        assert owner_pid(link) == os.getpid()
        with pytest.raises(SessionInUse), TrainerLock(link):
            pass


@pytest.mark.parametrize("kind", ["link", "dangling", "hard", "pipe"])
def test_a_lock_that_is_no_plain_file_of_ours_is_refused_and_left_alone(path, tmp_path, kind):
    precious = tmp_path / "precious"
    precious.write_text("years of work")
    lock = lock_path(path)
    if kind == "pipe":
        os.mkfifo(lock)
    elif kind == "hard":
        lock.hardlink_to(precious)
    elif kind == "link":
        lock.symlink_to(precious)
    else:
        lock.symlink_to(tmp_path / "new")
    assert owner_pid(path) is None
    with (
        pytest.raises(SessionError, match=r"cannot write .*s\.db\.lock: .*remove it"),
        TrainerLock(path),
    ):
        pass
    assert precious.read_text() == "years of work"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "text", ["0", "-1", "1" * 20, "\u0663", "", "12\n\x00\n", "4121 and more", "9" * 500]
)
def test_any_text_in_a_lock_file_is_survived(path, text):
    with TrainerLock(path):
        lock_path(path).write_text(text)
        assert owner(path) == (UNKNOWN if text[:2] != "12" else Process(12, "\x00", ""))
        assert not owner(path).lives()
        with pytest.raises(SessionInUse), TrainerLock(path):
            pass


def test_no_folder_is_one_line(tmp_path):
    with (
        pytest.raises(SessionError, match=r"cannot write .*no such file"),
        TrainerLock(tmp_path / "no/s.db"),
    ):
        pass
