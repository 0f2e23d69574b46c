"""Files that are no session, or are of a newer version, are told as such and left as they are."""

import random
import sqlite3

import pytest

from tests.session.rows import sql
from wikitopics.session.errors import NotASession, SessionError
from wikitopics.session.storage.database import is_ours, is_sqlite
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.trainer import HeartbeatWriter
from wikitopics.session.storage.writer import SessionWriter

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

    def test_a_name_that_no_file_can_have(self, opener, tmp_path):
        with pytest.raises(SessionError, match=r"File name too long|there is no session"):
            opener(tmp_path / f"{'x' * 300}.db")

    def test_one_deleted_between_looking_and_opening(self, opener, path, monkeypatch):
        def connect_too_late(*arguments, **options):
            path.unlink(missing_ok=True)
            return connect(*arguments, **options)

        connect = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", connect_too_late)
        with pytest.raises(SessionError, match="unable to open"):
            opener(path)

    def test_none(self, opener, tmp_path):
        with pytest.raises(SessionError) as caught:
            opener(tmp_path / "none.db")
        assert caught.value.exit_code == 1
        assert list(tmp_path.iterdir()) == []


def test_a_session_is_told_from_other_files_and_from_none(path, tmp_path):
    (tmp_path / "text.db").write_text("no database")
    assert is_ours(path)
    assert not is_ours(tmp_path / "text.db")
    assert not is_ours(tmp_path / "none.db")


def test_whether_a_file_is_a_database_sqlite_alone_finds_out(path, monkeypatch):
    """Whoever opens a file and closes it takes away the locks that SQLite holds on it in the same process."""

    def refuse(*_):
        raise OSError

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert is_sqlite(path)
