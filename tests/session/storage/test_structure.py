"""A session's tables are those of the fixed list; what an attacker or a careless hand adds is
refused."""

import contextlib
import json
import sqlite3

import pytest

import wikitopics
from wikitopics.session.errors import NotASession
from wikitopics.session.storage.database import FIRST_RELEASED
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter

HARMLESS = {
    "analyzed": "ANALYZE",
    "an index": "CREATE INDEX mine ON articles (title)",
    "an index in order": "CREATE INDEX mine ON articles (words DESC, title COLLATE NOCASE)",
    "vacuumed": "VACUUM",
}
AS_VIRTUAL = "CREATE VIRTUAL TABLE events USING fts5(id, at, level, message)"
CONTROL = (
    "DROP TABLE control; CREATE TABLE control (id INTEGER PRIMARY KEY, paused INTEGER, save "
    "INTEGER,"
)
REFUSED = {
    "sql is a blob": "UPDATE sqlite_master SET sql = CAST(sql AS BLOB) WHERE name = 'settings'",
    "a forged root page": "DROP TABLE events; INSERT INTO sqlite_master VALUES ('table', 'events', 'events', "
    f"(SELECT rootpage FROM sqlite_master WHERE name = 'flow'), '{AS_VIRTUAL}')",
    "virtual": f"DROP TABLE events; {AS_VIRTUAL}",
    "another virtual table": "CREATE VIRTUAL TABLE mine USING fts5(x)",
    "another table": "CREATE TABLE mine (x)",
    "a table fewer": "DROP TABLE flow",
    "a view": "CREATE VIEW mine AS SELECT 1",
    "a view for a table": "DROP TABLE flow; CREATE VIEW flow AS SELECT 1 AS id",
    "a trigger": "CREATE TRIGGER mine AFTER INSERT ON events BEGIN DELETE FROM articles; END",
    "a column more": "ALTER TABLE flow ADD COLUMN mine",
    "a column fewer": "ALTER TABLE flow DROP COLUMN queue",
    "a column of another name": "ALTER TABLE flow RENAME COLUMN queue TO row",
    "computed when read": f"{CONTROL} stop INTEGER AS (length(hex(zeroblob(900000000)))))",
    "computed and stored": f"{CONTROL} stop INTEGER GENERATED ALWAYS AS (1) STORED)",
    "a default": f"{CONTROL} stop INTEGER DEFAULT (abs(1)))",
    "a condition": f"{CONTROL} stop INTEGER /**/cHeck(length(randomblob(900000000)) = 1))",
    "a foreign key": f"{CONTROL} stop INTEGER REFERENCES runs (id))",
    "another type": f"{CONTROL} stop TEXT)",
    "another key": "DROP TABLE control; CREATE TABLE control (id INTEGER, paused INTEGER, save INTEGER,"
    " stop INTEGER PRIMARY KEY)",
    "an index over an expression": "CREATE INDEX mine ON articles (abs(words))",
    "an index with a condition": "CREATE INDEX mine ON articles (words) WHERE words > 1",
    "an order by something else": "DROP INDEX by_topic_of_model_0;"
    " CREATE INDEX by_topic_of_model_0 ON articles (substr(topics, 1, abs(words)))",
    "an order without a name": (
        "UPDATE sqlite_master SET name = x'00' WHERE name = 'by_topic_of_model_0'"
    ),
    "an order of another name": "CREATE INDEX mine ON articles (substr(topics, 1, 4))",
    "a unique index": "CREATE UNIQUE INDEX mine ON articles (seq, title)",
    "no utf-8": "UPDATE sqlite_master SET sql = CAST(x'ff' || sql AS TEXT) WHERE name = 'settings'",
    "a broken table whose name is no utf-8": "UPDATE sqlite_master SET name = CAST(x'9cff' AS TEXT),"
    " sql = 'CREATE TABLE broken (' WHERE name = 'flow'",
    "a kind of its own": "UPDATE sqlite_master SET type = x'00' WHERE name = 'settings'",
    "a strange name": "CREATE TABLE [\x1b[2J\n] (x)",
}


def change(path, script):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.executescript(script)
        db.commit()


@pytest.mark.parametrize("session", ["trained", "released"])
@pytest.mark.parametrize("script", HARMLESS.values(), ids=HARMLESS)
def test_what_is_harmless_passes(request, session, script, cli):
    path = request.getfixturevalue(session)
    change(path, script)
    assert cli("status").code == cli("export", "articles").code == 0
    SessionWriter(path).close()


@pytest.mark.parametrize("script", REFUSED.values(), ids=REFUSED)
def test_anything_else_is_one_line_everywhere_and_can_be_deleted(
    script,
    trained,
    home,
    cli,
    one_line,
):
    change(trained, script)
    before = trained.read_bytes()
    one_line(cli("status"), 5, "damaged")
    for command in (["train"], ["watch"], ["topics"], ["backup", home / "copy"]):
        one_line(cli(*command), 5, "damaged")
    with pytest.raises(wikitopics.SessionError, match="damaged"):
        wikitopics.open(trained)
    (row,) = json.loads(cli("sessions", "--json").out)
    assert "damaged" in row["error"]
    listed = cli("sessions")
    assert (listed.code, listed.out.count("\n")) == (0, 1)
    assert "\x1b" not in listed.out
    assert trained.read_bytes() == before
    assert cli("sessions", "rm", "default", "--yes").code == 0
    assert not list(home.glob("default.db"))


@pytest.mark.parametrize("version", [-1, 0, 1, FIRST_RELEASED - 1])
def test_a_file_of_before_the_first_release_is_refused_and_stays_as_it_is(
    version,
    trained,
    cli,
    one_line,
):
    change(trained, f"PRAGMA user_version = {version}")
    before = trained.read_bytes()
    for command in (["status"], ["train"], ["export", "topics"], ["topics", "rename", "1", "x"]):
        one_line(cli(*command), 5, "made by a version before 1.0.0", "--session")
    with pytest.raises(wikitopics.SessionError, match=r"before 1\.0\.0"):
        wikitopics.open()
    assert trained.read_bytes() == before
    assert "before 1.0.0" in cli("sessions").out
    assert cli("sessions", "rm", "default", "--yes").code == 0


def test_a_table_of_a_pragmas_name_hides_nothing(trained):
    with contextlib.closing(sqlite3.connect(trained)) as db:
        every = "sqlite_master m, pragma_table_xinfo(m.name) c WHERE m.type = 'table'"
        columns = db.execute(f"SELECT m.name, c.* FROM {every}").fetchall()
        db.execute(
            "CREATE TABLE pragma_table_xinfo (x, cid, name, type, [notnull], dflt_value, pk, "
            "hidden)"
        )
        db.executemany("INSERT INTO pragma_table_xinfo VALUES (?, ?, ?, ?, ?, ?, ?, ?)", columns)
        db.commit()
    with pytest.raises(NotASession):
        SessionReader(trained)
