"""A session file that is slow, or cannot be read any more."""

import contextlib
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.tui import canned, seeing
from tests.tui.seeing import Opener
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.questions import Ask


async def test_the_screen_answers_while_the_file_is_slow(shown: Opener, live: Path, monkeypatch: Any) -> None:
    reading, answered, waits = threading.Event(), threading.Event(), []
    real = SessionReader.status

    def slow(self: SessionReader) -> Any:
        reading.set()
        waits.append(answered.wait(60))
        return real(self)

    async with shown(live, size=(100, 30), words="lda 1,3") as (app, pilot):
        monkeypatch.setattr(SessionReader, "status", slow)
        while not reading.is_set():
            await pilot.pause(0.05)
        try:
            await pilot.press("5", "1", "x")
            assert "? Help" in seeing.text(app)
        finally:
            answered.set()
    assert all(waits), "keys do not wait for the file"


async def test_a_list_that_could_not_be_read_once_is_read_the_next_time(
    shown: Opener, live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    real = SessionReader.find_articles

    def locked_once(self: SessionReader, text: str, limit: int = 50) -> Any:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise SessionError("the session is locked")
        return real(self, text, limit)

    monkeypatch.setattr(SessionReader, "find_articles", locked_once)
    async with shown(live, size=(120, 30)) as (app, pilot):
        await seeing.press(pilot, "3", shows="Bauhaus")
        app.screen.view.find("Unix")
        await seeing.until(pilot, "1 article with “Unix” in the title")
    assert asked > 1


async def test_a_file_that_cannot_be_read_is_named(shown: Opener, live: Path, monkeypatch: Any) -> None:
    def gone(self: SessionReader) -> Any:
        raise SessionError("disk I/O error [/x]")

    async with shown(live, size=(160, 30), words="lda 1,3") as (_, pilot):
        monkeypatch.setattr(SessionReader, "status", gone)
        await seeing.until(pilot, "cannot read the session: disk I/O error [/x]")


async def test_a_file_that_is_removed_is_no_session_any_more(shown: Opener, tmp_path: Path) -> None:
    path = canned.build(tmp_path / "s.db", canned.Recipe())
    async with shown(path, size=(160, 40)) as (app, pilot):
        with canned.live(path):
            assert "saved" in await seeing.until(pilot, "LIVE")
            assert app.latest.status.lively
            path.unlink()
            seen = await seeing.until(pilot, "cannot read the session: its file was removed or replaced")
            assert "LIVE" not in seen
            assert "saved" not in seen
            await seeing.until(pilot, "these are its last")
            assert not app.latest.status.lively
        canned.build(path, canned.Recipe(state="stopped", articles=5_000, restarts=()))
        seen = await seeing.until(pilot, "STOPPED")
        assert "5,000 articles" in seen
        assert "cannot read" not in seen


async def test_whatever_ends_the_screen_it_lets_go_of_the_file(
    shown: Opener, live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[Path] = []
    real = SessionReader.leave

    def leave(self: SessionReader) -> None:
        real(self)
        left.append(self.path)

    monkeypatch.setattr(SessionReader, "leave", leave)
    async with shown(live, words="LIVE") as (app, _):
        pass
    await seeing.until_true(lambda: left == [live])
    app.show_status()  # a look that ends after the screen is no fault


async def test_a_tampered_session_is_listed_and_deleted(shown: Opener, live: Path, home: Path) -> None:
    home.mkdir()
    bad = canned.build(home / "bad.db", canned.Recipe(state="finished"))
    with contextlib.closing(sqlite3.connect(bad)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = CAST(sql AS BLOB)")
    async with shown(live, size=(250, 30)) as (app, pilot):
        await seeing.press(pilot, "6", shows="the session is damaged ('")
        await seeing.in_front(pilot, Ask, "D")
        await pilot.press("d")
        await seeing.until_true(lambda: any("bad was deleted" in one for one in seeing.notices(app)))
    assert not bad.exists()
