"""Every instant at which texts are added to a session, or replace those of one: both processes are
killed at it, and then the calls are repeated that a user may make."""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

import wikitopics as wt
from tests.commands import ROOT
from tests.session.rows import sql
from tests.waiting import gone, until
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.system import owner

# Those that die are processes of their own; what is called afterwards need not be.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("trainers_run_here"),
]

DYING = """
import os, signal, sqlite3, sys

role = "trainer" if "-m" in sys.orig_argv and "train" in sys.orig_argv else "caller"
last = int(os.environ["INSTANT"]) if os.environ["DIES"] == role else 0
passed = 0

def instant():
    global passed
    passed += 1
    if passed == last:
        with open(os.environ["DIED"], "w") as file:
            file.write("x")
        caller = int(os.environ.get("CALLER", 0))
        if caller and role == "trainer":
            os.kill(caller, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

os.cpu_count = lambda: 1  # sixty texts are learnt sooner by one thread

def around(work):
    def done(*arguments, **named):
        instant()
        result = work(*arguments, **named)
        instant()
        return result
    return done

for name in ("rename", "replace", "unlink", "remove", "ftruncate", "pwrite"):
    setattr(os, name, around(getattr(os, name)))

class Connection(sqlite3.Connection):
    def execute(self, sql, *rest):
        if sql == "BEGIN IMMEDIATE":
            self.beats = False
        if sql.startswith("INSERT OR REPLACE INTO heartbeat"):
            self.beats = True
        if sql != "COMMIT" or self.beats:
            return super().execute(sql, *rest)
        instant()
        result = super().execute(sql, *rest)
        instant()
        return result

connect = sqlite3.connect
sqlite3.connect = lambda *rest, **named: connect(*rest, **{"factory": Connection, **named})

if role == "trainer":
    # It counts its sixty texts itself: to start a worker would take longer than all the rest.
    from concurrent.futures import Future
    from wikitopics.session.training import jobs

    class Here(jobs.Workers):
        def __init__(self, number, initializer, initargs):
            super().__init__(number, initializer, initargs)
            initializer(*initargs)

        def submit(self, job, *arguments, **named):
            done = Future()
            done.set_result(job(*arguments, **named))
            return done

    jobs.Workers = Here
"""
"""Loaded by every Python process: kills the one that reaches an instant, before or after something
that
lasts: a commit (not a heartbeat's), or a change of files."""

CALL = """
import json, os, sys, warnings
os.environ["CALLER"] = str(os.getpid())
warnings.simplefilter("ignore")
import wikitopics as wt
wt.train(**json.loads(sys.argv[1]))
"""

WORDS = sorted(a + b for a in ("river", "song", "theorem") for b in "abcdefghijkl")
OTHER_TEXTS = "was made from other texts"


def texts(which):
    """Sixty texts, whose titles and ids say of which collection they are."""
    picks = [random.Random(f"{which}{n}").choices(WORDS[n % 3 * 12 :][:12], k=8) for n in range(60)]
    return [" ".join(pick) for pick in picks]


def asked(which, *, ids=True, **options):
    """What `wikitopics.train` is given to learn a collection."""
    names = [f"{which}{n}" for n in range(60)]
    named = {"ids": names} if ids else {"titles": names}
    usual = {"session": "notes", "model": "scvb0", "topics": 3, "passes": 1, "vocabulary": WORDS}
    return {"texts": texts(which), **usual, **named, **options}


def learn(which, **options):
    return wt.train(**asked(which, **options))


def call(which, **options):
    """The command that learns a collection in a process of its own."""
    return "-c", CALL, json.dumps(asked(which, **options))


def trainers(path):
    """The processes that train this session, also those that do not hold it yet."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(path) in (folder / "cmdline").read_text().split("\0"):
                yield int(folder.name)


@pytest.fixture
def path(home):
    return home / "notes.db"


@pytest.fixture
def dying(tmp_path, path, monkeypatch):
    """Runs a program until one of its processes dies at an instant; returns whether one did."""
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(DYING)
    died = tmp_path / "died"

    def run(who, instant, *command):
        died.unlink(missing_ok=True)
        variables = {"DIES": who, "INSTANT": str(instant), "DIED": str(died)}
        path_ = os.pathsep.join((str(hook), str(ROOT)))
        environment = {**os.environ, **variables, "PYTHONPATH": path_}
        done = subprocess.run(
            [sys.executable, *command],
            env=environment,
            capture_output=True,
            text=True,
        )
        for pid in trainers(path):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            until(lambda pid=pid: gone(pid))
        until(lambda: owner(path) is None)
        assert died.exists() or not done.returncode, done.stderr
        return died.exists()

    return run


def learnt(path):
    """How often each document is in the session, by title."""
    return Counter(title for (title,) in sql(path, "SELECT title FROM articles WHERE role < 2"))


def check_each_once(path, *collections):
    """Asserts that no document was learnt twice, and that a finished session has all of these
    collections."""
    found = learnt(path)
    assert found.most_common(1)[0][1] == 1, found.most_common(3)
    if wt.open(path).status().state == "finished":
        wanted = {f"{which}{n}" for which in collections for n in range(60)}
        assert wanted == found.keys(), (len(wanted), len(found))


CLOSE = 9
STRIDE = 9
"""The first instants are all tried; of those from this one on, one in so many."""


def instants(dying, who, begin, command):
    """Instants at which ``command`` dies, each on what ``begin`` makes, until it comes to its
    end."""
    yield from alternating_instants(dying, who, (begin, begin), (command, command))


def alternating_instants(dying, who, beginnings, commands):
    """The same where every other instant is another command's, on what it begins with.

    What lasts is the same after one change as before the next.
    """
    for number in (*range(1, CLOSE), *range(CLOSE, 200, STRIDE)):
        beginnings[number % 2]()
        if not dying(who, number, *commands[number % 2]):
            return
        yield number
    raise AssertionError("it never ends")


@pytest.mark.long
@pytest.mark.parametrize("who", ["caller", "trainer"])
def test_added_texts_are_learnt_once_whenever_both_are_killed(dying, path, cli, who):
    # Texts have ids every other time.
    finished = []
    for ids in (False, True):
        learn("a", ids=ids, replace=True)
        finished.append(path.read_bytes())

    def begin(ids):
        cli("sessions", "rm", "notes", "--yes")
        path.write_bytes(finished[ids])

    beginnings = [partial(begin, ids) for ids in (False, True)]
    commands = [call("b", ids=ids, add=True) for ids in (False, True)]
    tried = 0
    for number in alternating_instants(dying, who, beginnings, commands):
        tried += 1
        ids = number % 2 == 1
        told = sql(path, "SELECT value FROM settings WHERE key = 'source_options'")[0][0]
        if "documents_before" in told:
            with pytest.raises(wt.SessionError, match=OTHER_TEXTS):
                learn("a", ids=ids)  # the first call, as a notebook run from the top makes it
            check_each_once(path, "a", "b")
            assert cli("train", "--session", "notes").code  # its texts are gone
            check_each_once(path, "a", "b")
        else:
            assert learn("a", ids=ids).status().documents == 54
        learn("b", ids=ids, add=True)
        check_each_once(path, "a", "b")
        assert wt.open(path).status().state == "finished"
    fewest = 3 if who == "caller" else 9
    assert tried >= fewest


@pytest.mark.long
@pytest.mark.parametrize("who", ["caller", "trainer"])
def test_replaced_texts_are_learnt_once_whenever_both_are_killed(dying, path, cli, who):
    learn("a")
    finished = path.read_bytes()

    def begin():
        cli("sessions", "rm", "notes", "--yes")
        path.write_bytes(finished)

    tried = 0
    for _ in instants(dying, who, begin, call("b", replace=True)):
        tried += 1
        was = sorted(learnt(path)) if path.exists() else []
        if was and was[0].startswith("a"):
            assert len(was) == 60
        if path.exists() and not was:  # the session is new, and knows of which texts it is
            with pytest.raises(wt.SessionError, match=OTHER_TEXTS):
                learn("a")
        learn("b", replace=True)
        check_each_once(path, "b")
        assert wt.open(path).status().state == "finished"
        learn("b")
        check_each_once(path, "b")
    assert tried > 5


@pytest.mark.long
def test_more_files_are_learnt_once_whenever_the_trainer_is_killed(dying, path, cli, tmp_path):
    for which in "ab":
        rows = (
            f'{{"text": "{text}", "id": "{which}{n}"}}\n' for n, text in enumerate(texts(which))
        )
        (tmp_path / f"{which}.jsonl").write_text("".join(rows))
    usual = ("train", "--session", "notes", "--source", "texts")
    words = tmp_path / "words.txt"
    words.write_text("\n".join(WORDS))
    few = ("--model", "scvb0", "--topics", "3", "--passes", "1", "--vocab", str(words))
    first = (*usual, "--texts", str(tmp_path / "a.jsonl"), *few)
    cli.ok(*first)
    finished = path.read_bytes()

    def begin():
        cli("sessions", "rm", "notes", "--yes")
        path.write_bytes(finished)

    more = ("train", "--session", "notes", "--texts", str(tmp_path / "b.jsonl"))
    tried = 0
    for _ in instants(dying, "trainer", begin, ("-m", "wikitopics", *more)):
        tried += 1
        told = sql(path, "SELECT value FROM settings WHERE key = 'source_options'")[0][0]
        added = "documents_before" in told
        assert cli(*first).code == (2 if added else 0)
        if added:
            check_each_once(path, "a", "b")
        else:
            check_each_once(path, "a")
        if tried % 2 and added:
            cli.ok("train", "--session", "notes")
        else:
            cli.ok(*more)
        check_each_once(path, "a", "b")
        assert wt.open(path).status().state == "finished"
    assert tried > 8


def test_a_session_that_was_told_of_texts_knows_them_before_it_has_read_any(
    path,
    cli,
    one_line,
    monkeypatch,
):
    from wikitopics.session.training import start

    def dies(*_):
        raise SystemExit(9)

    learn("a")
    files = InMemoryTexts.of(path)
    files.texts.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts("b")))
    with monkeypatch.context() as patched:
        patched.setattr(start, "_read", dies)  # the next thing after the session has been told
        with pytest.raises(SystemExit):
            cli("train", "--session", "notes", "--texts", files.texts)
    with pytest.raises(wt.SessionError, match=OTHER_TEXTS):
        learn("a")
    assert set(learnt(path)) == {f"a{n}" for n in range(60)}


def test_a_new_session_knows_its_texts_before_it_has_read_any(
    path,
    cli,
    tmp_path,
    one_line,
    monkeypatch,
):
    from wikitopics.session.training import start

    def dies(*_):
        raise SystemExit(9)

    file = tmp_path / "a.jsonl"
    file.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts("a")))
    words = tmp_path / "words.txt"
    words.write_text("\n".join(WORDS))
    made = ("train", "--session", "notes", "--source", "texts", "--texts", file, "--vocab", words)
    with monkeypatch.context() as patched:
        patched.setattr(start, "_read", dies)
        with pytest.raises(SystemExit):
            cli(*made)
    file.write_text("".join(f'{{"text": "{text}"}}\n' for text in texts("b")))
    done = cli(*made)
    assert done.code == 2
    assert "changed since this session began" in done.err
