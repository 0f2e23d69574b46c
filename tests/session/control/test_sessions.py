"""Deleting a session: all of it, nothing else, and never under a trainer."""

import functools
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.session.rows import sql
from wikitopics.session.control import check_removable, remove
from wikitopics.session.errors import NoSession, NotASession, SessionInUse
from wikitopics.session.paths import LOCK, beside, log_file
from wikitopics.session.storage.lock import TrainerLock
from wikitopics.session.storage.reader import SessionReader


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


def test_a_session_that_a_trainer_holds_stays(night):
    with TrainerLock(night), pytest.raises(SessionInUse, match="pid"):
        remove(night)
    with SessionReader(night) as reader:
        assert reader.status().state == "new"


def test_what_is_no_session_stays(home):
    home.mkdir()
    database = home / "other.db"
    sql(database, "CREATE TABLE t (x)")
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


def test_of_a_link_only_the_link_goes(night, home):
    link = home / "link.db"
    link.symlink_to(night)
    remove(link)
    assert not link.is_symlink()
    with SessionReader(night) as reader:
        assert reader.status().state == "new"
    link.symlink_to(home / "nowhere.db")
    with pytest.raises(NoSession):
        remove(link)
    assert link.is_symlink()


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


def test_the_look_before_a_deletion_writes_no_file_that_another_deletion_could_miss(night, home, monkeypatch):
    there: list[str] = []

    class Looking(sqlite3.Connection):
        def close(self):
            there.extend(path.name for path in home.iterdir())
            super().close()

    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Looking))
    check_removable(night)
    assert there == ["night.db"]
