"""Nothing that a stranger's session or a path holds acts on the terminal that shows it: not in what
commands print and ask, nor in Python's reprs, warnings and exceptions."""

import contextlib
import json
import shutil
import warnings
from io import StringIO

import click
import pytest

import wikitopics as wt
from tests.commands import ACTS
from tests.session.rows import sql
from wikitopics.session.storage.reader import SessionReader

ESC = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m"


@pytest.fixture
def stranger(trained_once, tmp_path):
    """A stranger's session, in a file and a folder with such names, all of whose texts are such
    too."""
    folder = tmp_path / f"f{ESC}\nx"
    folder.mkdir()
    path = folder / f"s{ESC}\nwikitopics: all is well.db"
    shutil.copy(trained_once, path)
    bad = f"{ESC}\nwikitopics: all is well"
    sql(path, "UPDATE settings SET value = ? WHERE key = 'source_name'", json.dumps(bad))
    sql(path, "UPDATE settings SET value = ? WHERE key = 'vocabulary'", json.dumps(bad))
    sql(path, "UPDATE articles SET title = ? || page_id", bad)
    sql(path, "UPDATE events SET message = ?", bad)
    sql(path, "UPDATE runs SET reason = ?", bad)
    sql(
        path,
        "INSERT INTO given_names SELECT 0, number, ? FROM (SELECT 0 AS number UNION SELECT 1)",
        bad,
    )
    for table, column in (("told_topics", "name"), ("topic_events", "name"), ("areas", "name")):
        with contextlib.suppress(Exception):
            sql(path, f"UPDATE {table} SET {column} = ?", bad)
    ((activity,),) = sql(path, "SELECT activity FROM heartbeat")
    given = {**json.loads(activity), "waiting_for": bad, "failing": True}
    sql(path, "UPDATE heartbeat SET activity = ?", json.dumps(given))
    skips = "UPDATE progress SET skipped = skipped + 1, crawled = crawled + 1, skips = ?"
    ((before,),) = sql(path, "SELECT skips FROM progress")
    sql(path, skips, json.dumps({**json.loads(before), bad: 1}))
    return path


def check(text):
    assert not ACTS.search(text), repr(text)
    for line in text.split("\n"):
        assert not line.startswith("wikitopics: all is well")


COMMANDS = [
    ("status",),
    ("topics",),
    ("topics", "--all", "--tree"),
    ("topics", "--areas"),
    ("history",),
    ("history", "0"),
    ("articles", "--topic", "0"),
    ("similar", "TITLE"),
    ("similar", "not there"),
    ("find", "TITLE"),
    ("find", "not there \x1b[2J"),
    ("compare", "SESSION"),
    ("vocab", "show"),
    ("doctor", "--offline"),
    ("stop",),
    ("topics", "rename", "0", "a\x1bname"),
    ("topics", "rename", "0", ""),
    ("export", "nothing"),
    ("export", "topics", "-o", "SESSION"),
    ("train", "--seed", "77"),
    ("train", "--source", "html"),
    ("backup", "SESSION"),
    ("infer", "SESSION"),
    ("sessions", "rm", "SESSION"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_commands_print(cli, stranger, words):
    with SessionReader(stranger) as reader:
        title = reader.recent_articles()[0].title
    given = [{"SESSION": str(stranger), "TITLE": title}.get(word, word) for word in words]
    if "SESSION" not in words or words[0] not in ("compare", "sessions"):
        given += ["--session", str(stranger)]
    done = cli(*given)
    check(done.out)
    check(done.err)
    assert done.out or done.err


def test_what_the_list_of_sessions_prints(cli, stranger, home):
    home.mkdir()
    shutil.copy(stranger, home / stranger.name)
    shutil.copy(stranger, home / "named.db")
    done = cli.ok("sessions")
    check(done.out + done.err)
    assert done.out.count("\n") == 2
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        (home / stranger.name).write_text("no session")
        wt.sessions()
    assert len(warned) == 1
    check(str(warned[0].message))
    assert "\n" not in str(warned[0].message)


def test_what_is_asked(cli, stranger, monkeypatch):
    asked = []
    monkeypatch.setattr(click, "confirm", lambda question, **_: asked.append(question))
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    cli("sessions", "rm", stranger)
    check(asked[0])
    assert "\n" not in asked[0]


def test_what_shells_complete(stranger, home, monkeypatch, capsys):
    from wikitopics.cli import run

    home.mkdir()
    shutil.copy(stranger, home / stranger.name)
    shutil.copy(stranger, home / "night.db")
    monkeypatch.setenv("_WIKITOPICS_COMPLETE", "zsh_complete")
    for words in ("wikitopics articles --session", "wikitopics articles --session night --topic"):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
        run([])
        printed = capsys.readouterr().out
        assert "night" in printed or "\\x1b" in printed
        check(printed)


def test_what_python_shows(stranger, tmp_path):
    session = wt.open(stranger)
    shown = [session, session.status(), session.topics(), session.areas(), session.history(0)]
    shown += [session.events(), session.articles(0), session.metrics(), session.vocabulary()]
    words = " ".join(session.topics()[0].words)
    shown += [session.similar(text=words), session.find(words), session.find(ESC)]
    shown += [session.find("zzzz"), session.model()]
    for one in shown:
        check(repr(one).replace("\n", ""))
    check(session._repr_html_() or "")
    calls = (
        lambda: wt.open(f"{stranger}x"),
        lambda: wt.open(f"a{ESC}"),
        lambda: session.similar(f"a{ESC}"),
        lambda: session.topics(f"a{ESC}"),
        lambda: session.export(f"a{ESC}", tmp_path / "x.csv"),
        lambda: session.export("topics", stranger),
        lambda: session.export("topics", f"{stranger}.nothing"),
        lambda: session.report(stranger),
        lambda: wt.train(["some text"] * 30, stranger),
        lambda: wt.train(["some text"] * 30, "x", vocabulary=stranger),
        lambda: wt.train(["some text"] * 30, "x", model=f"a{ESC}"),
        lambda: wt.train(["some text"] * 30, "x", lang=f"a{ESC}"),
        lambda: wt.train(["some text"] * 30, "x", seeds={f"a{ESC}": ["text"]}),
        lambda: session.infer(["x"], markup=f"a{ESC}"),
        lambda: wt.delete(f"{stranger}x"),
        lambda: wt.delete(stranger.parent),
        lambda: wt.Vocabulary.load(stranger),
        lambda: wt.Vocabulary.load(f"a{ESC}"),
    )
    for call in calls:
        with pytest.raises((wt.SessionError, ValueError, TypeError)) as raised:
            call()
        check(str(raised.value))
        assert "\n" not in str(raised.value)


def test_messages_of_the_progress_line_and_of_the_log_are_one_line_each(monkeypatch):
    from wikitopics.cli import output

    err = StringIO()
    monkeypatch.setattr("sys.stderr", err)
    output.say(f"a{ESC}\nb")
    progress = output.ProgressLine()
    progress._next = 0.0
    progress(f"pages of {ESC}\nx", 5, 0)
    assert err.getvalue().count("\n") == 2
    check(err.getvalue())
