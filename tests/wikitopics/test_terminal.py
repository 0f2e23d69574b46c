"""Standard output as the terminal, a pipe or a shell's redirection has it: encodings, closed
streams."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from tests.commands import ROOT
from tests.session.rows import sql
from tests.tui.terminals import Terminal

PROGRAM = [sys.executable, "-m", "wikitopics"]
ACTING = set("\x1b\x07\x9b\u202e")
ESCAPE = "\x1b]52;c;ZXZpbA==\x07\u202e\x9b31m"


def wikitopics(*arguments, redirect="", **environment):
    """Run the command line in a shell."""
    shell = ["sh", "-c", f'exec "$@" {redirect}', "sh", *PROGRAM, *map(str, arguments)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(shell, capture_output=True, stdin=subprocess.DEVNULL, env=variables)


def on_terminal(*arguments):
    """What a command writes to a terminal."""
    code = f"import sys; from wikitopics.cli import main; sys.argv[1:] = {arguments!r}; main()"
    with closing(Terminal(code)) as terminal:
        assert terminal.end() == 0
        return terminal.written


SCREENS = [["watch"], ["demo"], []]


@pytest.mark.parametrize(
    "arguments", [*SCREENS, ["--help"], ["topics"], ["status"], ["articles", "--topic", 0]]
)
def test_a_dumb_terminal_gets_no_escapes(trained, arguments):
    """The commands that would open the screen say so in one line."""
    code = "import os, sys; os.environ['TERM'] = 'dumb'; from wikitopics.cli import main; "
    with closing(Terminal(code + f"main({list(map(str, arguments))!r})")) as terminal:
        opens = arguments in SCREENS
        assert terminal.end() == (2 if opens else 0)
        assert b"\x1b" not in terminal.written
        assert opens == (b"(TERM=dumb) cannot show the screen: `wikitopics " in terminal.written)
        assert not opens or terminal.written.count(b"\n") == 1


@pytest.fixture
def titled(trained):
    """A session with a title that few encodings have."""
    sql(trained, "UPDATE articles SET title = 'Dvořák ☃ 雪'")
    return trained


@pytest.fixture
def hostile(trained):
    """A session whose titles and source act on a terminal."""
    sql(trained, "UPDATE articles SET title = ?", ESCAPE)
    sql(trained, "UPDATE settings SET value = ? WHERE key = 'source_name'", json.dumps(ESCAPE))
    return trained


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE vocabulary SET words = words || :escape, fingerprint = sha256(words || :escape)",
        "UPDATE settings SET value = json_replace(value, '$[0].name', :escape) WHERE key = "
        "'models'",
        "UPDATE settings SET value = json_replace(value, '$[0].kind', :escape) WHERE key = "
        "'models'",
        "UPDATE settings SET value = json_quote(:escape) WHERE key = 'source'",
    ],
)
def test_words_models_and_sources_that_act_are_damage(cli, trained, change):
    with closing(sqlite3.connect(trained)) as db, db:
        db.create_function("sha256", 1, lambda text: hashlib.sha256(text.encode()).hexdigest())
        db.execute(change, {"escape": ESCAPE})
    codes = set()
    for command in (["status"], ["topics"], ["infer", ROOT / "README.md"]):
        outcome = cli(*command)
        codes.add(outcome.code)
        assert not ACTING & set(outcome.out + outcome.err), command
    assert 5 in codes


@pytest.mark.parametrize("encoding", ["latin-1", "ascii:strict"])
def test_tables_write_out_what_the_terminal_cannot_show(titled, encoding):
    done = wikitopics("articles", "--topic", 0, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (
        rb"\u0159\xe1k \u2603 \u96ea" in done.stdout
        or rb"\u0159" + "ák".encode("latin-1") in done.stdout
    )


@pytest.mark.parametrize(
    ("form", "environment"),
    [
        ("csv", {"PYTHONIOENCODING": "cp1252:strict"}),
        ("json", {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),
    ],
)
def test_exports_are_utf_8_wherever_they_go(titled, environment, form):
    done = wikitopics("export", "articles", "--all", "--format", form, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Dvořák ☃ 雪" in done.stdout.decode("utf-8")


def test_help_is_shown_in_any_encoding():
    done = wikitopics("train", "--help", PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "command", ["status", "topics --json", "export model", "--help", "train --help", "--version"]
)
def test_closed_output_is_a_failure_in_one_line(trained, command):
    before = trained.read_bytes()
    done = wikitopics(*command.split(), redirect="1>&-")
    assert done.returncode == 1
    assert done.stderr.startswith(b"wikitopics: cannot write to standard output: ")
    assert done.stderr.count(b"\n") == 1
    assert trained.read_bytes() == before


def test_nothing_is_printed_into_a_session_that_took_a_closed_streams_number(trained):
    for redirect in ("<&- 1>&-", "2>&-", "<&- 1>&- 2>&-"):
        done = wikitopics("train", "--articles", 1, redirect=redirect)
        assert done.returncode == 0, (redirect, done.stderr)
        assert wikitopics("status", "--json", redirect="<&-").returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="has no full disk to write to")
@pytest.mark.parametrize(
    "command", [["topics"], ["export", "metrics"], ["status", "--json"], ["--help"]]
)
def test_a_full_disk_behind_the_output_is_a_failure_in_one_line(trained, command):
    done = wikitopics(*command, redirect=">/dev/full")
    assert done.returncode == 1
    assert done.stderr == b"wikitopics: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("command", [["--help"], ["train", "--help"], ["--version"]])
def test_nobody_reading_the_help_is_no_failure(command):
    unread, pipe = os.pipe()
    os.close(unread)
    done = subprocess.run(
        [sys.executable, "-m", "wikitopics", *command], stdout=pipe, stderr=subprocess.PIPE
    )
    os.close(pipe)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_broken_pipe_elsewhere_is_no_success(cli, monkeypatch):
    def broken(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("wikitopics.session.control.list_sessions", broken)
    outcome = cli("sessions")
    assert outcome.code == 1
    assert outcome.err.startswith("wikitopics: ")


def test_no_word_model_kind_or_source_acts_on_the_terminal(cli, hostile, tmp_path):
    (tmp_path / "text").write_text("aaa aab")
    shown = []
    read = ("status", "sessions", "topics", "articles --topic 0", f"infer {tmp_path / 'text'}")
    for command in (*read, "doctor --offline", "--help"):
        outcome = cli.ok(*command.split())
        assert not ACTING & set(outcome.out + outcome.err), command
        shown += command.split()[:1] if r"\x1b]52" in outcome.out else []
    assert shown == ["status", "sessions", "topics", "articles"]


def test_an_export_to_a_terminal_is_harmless_and_to_a_pipe_unchanged(hostile):
    for form in ("csv", "json"):
        shown = on_terminal("export", "articles", "--format", form)
        assert shown.count(b"\n") > 100
        assert not {b"\x1b", b"\x07"} & {bytes([byte]) for byte in shown}
        assert ESCAPE[-5:] not in shown.decode()
    assert ESCAPE in wikitopics("export", "articles").stdout.decode("utf-8")
