"""A session of 1.0.0 becomes one of today's format, whole or not at all, and nobody sees a difference."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikitopics.session.errors import DiskFull
from wikitopics.session.storage import released as formats
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.schema import RELEASED, VERSION, tables

MODELS = ("lda", "scvb0", "hdp")
EXPORTS = ("topics", "history", "metrics", "events", "words", "articles", "proportions")
SEEN = [
    ["status", "--json"],
    *[["export", what, *form] for what in EXPORTS for form in ([], ["--format", "json"])],
    ["export", "articles", "--all"],
    *[["topics", "--json", "--all", "--model", model] for model in MODELS],
    *[["articles", "--topic", k, "--json", "--limit", "99", "--model", m] for m in MODELS for k in range(5)],
    *[["similar", "Title 79", "--json", "--model", model] for model in MODELS],
    *[["infer", "TEXT", "--json", "--model", model] for model in MODELS],
]

Cli = Callable[..., Any]


def seen(cli: Cli, text: Path) -> dict[str, Any]:
    """Everything that the commands print of the session."""
    text.write_text("aaa aab aac")
    found = {}
    for command in SEEN:
        outcome = cli(*[text if word == "TEXT" else word for word in command])
        assert outcome.code == 0, (command, outcome.err)
        found[" ".join(map(str, command))] = outcome.out
    status = json.loads(found["status --json"])
    del status["checkpoint_age_seconds"]
    return {**found, "status --json": status}


def version(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_nobody_sees_a_difference(cli: Cli, released: Path, tmp_path: Path) -> None:
    before = seen(cli, tmp_path / "text")
    with SessionReader(released) as reader:
        states = [reader.model_state(name) for name in MODELS]
    assert formats.is_released(released)
    formats.renew(released)
    assert not formats.is_released(released)
    assert seen(cli, tmp_path / "text") == before
    with SessionReader(released) as reader:
        for state, name in zip(states, MODELS, strict=True):
            now = reader.model_state(name)
            assert {key: str(value) for key, value in now.items()} == {k: str(v) for k, v in state.items()}
    with contextlib.closing(sqlite3.connect(released)) as db:
        made = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        orders = db.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'by_topic_of_model_%'")
        assert orders.fetchone() == (len(MODELS),)
    assert made == tables().keys()


def test_a_reader_that_is_open_meanwhile_goes_on(released: Path) -> None:
    with SessionReader(released) as reader:

        def asked() -> list[object]:
            about = [reader.articles_about(model, 1) for model in MODELS]
            return [about, reader.recent_articles(), reader.all_metrics(), reader.status().models]

        before = asked()
        formats.renew(released)
        assert asked() == before


KILLED = """
import os, signal, sys
from pathlib import Path
from wikitopics.session.storage import released
from wikitopics.session.storage.sqliteutils import Database

left, connect = int(sys.argv[2]), released.connect

def noted(sql):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

def watched(path):
    db = connect(path)
    db.conn.set_trace_callback(noted)
    return db

released.connect = watched
released.renew(Path(sys.argv[1]))
"""


def test_a_kill_at_any_statement_leaves_the_old_file_or_the_new_one(
    cli: Cli, released: Path, tmp_path: Path
) -> None:
    before, whole, codes = seen(cli, tmp_path / "text"), released.read_bytes(), []
    for statement in (*range(4, 17, 2), 1000):
        released.write_bytes(whole)
        run = subprocess.run([sys.executable, "-c", KILLED, str(released), str(statement)], check=False)
        codes.append(run.returncode)
        assert version(released) in (RELEASED, VERSION)
        formats.renew(released) if formats.is_released(released) else None
        assert cli("export", "articles").out == before["export articles"]
    assert codes[0] == -signal.SIGKILL
    assert codes[-1] == 0
    assert seen(cli, tmp_path / "text") == before


def test_a_full_disk_leaves_it_as_it_was(
    cli: Cli, released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, connect = seen(cli, tmp_path / "text"), formats.connect

    def small(path: Path) -> Any:
        db = connect(path)
        pages = db.conn.execute("PRAGMA page_count").fetchone()[0]
        db.conn.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        return db

    with monkeypatch.context() as full:
        full.setattr(formats, "connect", small)
        with pytest.raises(DiskFull, match="no space left on the disk"):
            formats.renew(released)
    assert version(released) == RELEASED
    assert seen(cli, tmp_path / "text") == before


def test_only_train_does_it_and_says_so(cli: Cli, counted_here: None, released: Path, tmp_path: Path) -> None:
    assert cli("topics", "rename", "2", "fish").code == 0
    assert cli("train", "--topics", "9").code == 2
    assert cli("train").code != 0, "its dump is not where it was"
    assert version(released) == RELEASED
    dump = json.dumps(str(Path(__file__).parent / "releases" / "wiki.xml.bz2"))
    with contextlib.closing(sqlite3.connect(released)) as db, db:
        db.execute(
            "UPDATE settings SET value = json_set(value, '$.dump[0]', json(?)) WHERE key = 'source_options'",
            [dump],
        )
    outcome = cli("train", "--articles", "320")
    assert outcome.code == 0, outcome.err
    assert "today's format" in outcome.err
    assert version(released) == VERSION
    again = cli("train", "--articles", "320")
    assert "today's format" not in again.err
    assert "fish" in cli("topics", "--json").out
