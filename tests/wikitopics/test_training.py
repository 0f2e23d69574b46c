"""`wikitopics.train`: texts in memory, a trainer in a process of its own, and what a kill leaves behind."""

import os
import random
import signal
import stat
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.commands import ROOT
from tests.waiting import gone, until
from wikitopics.session.control.given import Given
from wikitopics.session.control.launch import start_trainer
from wikitopics.session.storage.lock import TrainerLock, owner

WORDS = sorted(a + b for a in ("river", "song", "theorem") for b in "abcdefghijkl")


def text(number):
    pick = random.Random(number)
    return " ".join(pick.choices(WORDS[number % 3 * 12 :][:12], k=8))


TEXTS = [text(number) for number in range(120)]


@pytest.fixture
def path(home):
    return home / "notes.db"


def assert_nothing_is_left(path):
    assert not any(file.exists() for file in Given.of(path))


def learn(texts=TEXTS, **options):
    return wt.train(texts, **{"session": "notes", "model": "scvb0", "topics": 3, "passes": 2, **options})


def test_a_column_becomes_a_session(path):
    column = pd.Series([*TEXTS, None, np.nan, np.float32("nan"), pd.NA, "", "  "])
    session = learn(column, titles=(f"T{n}" for n in range(126)), ids=range(1000, 1126))
    status = session.status()
    assert (status.state, status.documents, status.passes, status.source) == ("finished", 108, 2, "texts")
    assert status.skips == {"no text": 6}
    assert status.source_name == "texts given in Python"
    assert len(session.topics()) == 3
    found = session.articles(limit=200)
    assert {(one.page_id, one.title, one.id) for one in found} == {
        (n + 1, f"T{n}", str(n + 1000)) for n in range(120)
    }
    assert set(session.vocabulary().words) <= set(WORDS)
    assert str(session.vocabulary().rule) == "2 en"
    assert_nothing_is_left(path)
    assert path.exists()


def test_titles_are_numbers_and_a_generator_will_do():
    session = learn(text for text in TEXTS)
    assert all(one.title == f"text {one.page_id}" for one in session.articles(limit=200))


def test_the_same_call_returns_it_and_any_other_is_refused(path, monkeypatch):
    learn(vocabulary=wt.Vocabulary.from_words(WORDS))
    before = path.read_bytes()
    monkeypatch.setattr("wikitopics.training.Trainers.start", pytest.fail)
    assert learn(vocabulary=wt.Vocabulary.from_words(WORDS)).status().state == "finished"
    assert learn(iter(TEXTS), passes=None).status().state == "finished", "what is not given is as it was"
    for other, says in (
        ({"texts": [*TEXTS[:-1], "another"]}, "was made from other texts"),
        ({"texts": [*TEXTS[:-1], TEXTS[0]]}, "was made from other texts"),
        ({"titles": TEXTS}, "was made from other texts"),
        ({"seed": 2}, "seed 2: this session was made with 0; leave seed out"),
        ({"topics": 4}, "this session was made with scvb0"),
        ({"passes": 3}, "^passes 3"),
        ({"vocabulary": wt.Vocabulary.from_words(WORDS[1:])}, "^vocabulary .* another list of words"),
        ({"markup": "html"}, "^markup html"),
    ):
        with pytest.raises(wt.SessionError, match=says):
            learn(**other)
    assert path.read_bytes() == before
    assert_nothing_is_left(path)


def test_a_call_with_defaults_is_the_same_call_again(path):
    session = wt.train(TEXTS, "notes")
    assert [model.kind for model in session.status().models] == ["hdp"]
    before = path.read_bytes()
    assert wt.train(TEXTS, "notes").status().state == "finished"
    assert path.read_bytes() == before


def test_a_session_that_was_made_otherwise_is_refused(trained):
    with pytest.raises(wt.SessionError, match="default was made from other texts"):
        wt.train(TEXTS)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"texts": "a text"}, ValueError, "put a single text in brackets"),
        ({"texts": pd.DataFrame({"text": ["a text"]})}, ValueError, "a column, not a table"),
        ({"texts": None}, ValueError, "must be a collection"),
        ({"texts": ["a", 3]}, ValueError, "texts: number 1 is of type int"),
        ({"titles": ["a"]}, ValueError, "titles: only 1 of them"),
        ({"ids": range(200)}, ValueError, "texts: only 120 of them"),
        ({"seed": -1}, ValueError, "seed must be a whole number"),
        ({"passes": 0}, ValueError, "passes must be a whole number"),
        ({"markup": "xml"}, ValueError, "one of wikitext, html"),
        ({"model": []}, ValueError, "model must be a SPEC"),
        ({"model": b"lda"}, ValueError, "model must be a SPEC"),
        ({"model": "lsa"}, wt.SessionError, "is not a kind of model"),
        ({"topics": 0}, wt.SessionError, "topics"),
        ({"vocabulary": 3}, TypeError, "not int"),
        ({"vocabulary": "klingon"}, wt.UnknownVocabulary, "klingon"),
        ({"texts": []}, wt.SessionError, "no documents in texts given in Python$"),
        ({"texts": ["one"]}, wt.SessionError, "too little text"),
        ({"texts": map(open, ["missing.txt"])}, wt.SessionError, "cannot read the texts: .*missing.txt"),
        ({"session": "/dev/null/a/b.db"}, wt.SessionError, "Not a directory"),
        ({"session": "/" + "a" * 300 + ".db"}, wt.SessionError, "File name too long"),
        ({"session": "a b"}, wt.SessionError, "is not a session name"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(path, arguments, error, says):
    with pytest.raises(error, match=says) as caught:
        learn(**arguments)
    assert "\n" not in str(caught.value)
    assert not path.parent.exists() or not list(path.parent.iterdir())


def test_an_error_of_the_texts_leaves_nothing(path):
    def failing():
        yield "one"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError, match="the database is gone"):
        learn(failing())
    assert_nothing_is_left(path)
    assert not path.exists()


def test_ctrl_c_while_a_trainer_is_being_started_ends_that_trainer(path, monkeypatch):
    started = []

    def interrupted(path, arguments):
        started.append(start_trainer(path, arguments))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    monkeypatch.setattr("wikitopics.session.control.launch.start_trainer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learn(passes=10_000)
    assert started[0].poll() is not None
    assert_nothing_is_left(path)


def test_markup_is_warned_of_and_removed(path):
    pages = [f"<p>{text}</p><br>" for text in TEXTS]
    with pytest.warns(UserWarning, match="120 of the first 120 texts contain HTML"):
        learn(pages, session="tags")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session = learn(pages, markup="html")
    assert session.status().tokens == learn(session="plain").status().tokens
    if find_spec("jinja2"):
        session.report(path.with_name("page.html"))
        assert "<code>--markup</code></th><td><bdi>html</bdi>" in path.with_name("page.html").read_text()


def test_two_at_once_do_not_take_each_others_texts(path, monkeypatch):
    def soon(path):
        """The other one begins when the texts are written."""
        return owner(path) if Given.of(path).texts.exists() else None

    monkeypatch.setattr("wikitopics.training.owner", soon)
    path.parent.mkdir()
    says = f"in use by another trainer .pid {os.getpid()}.; watch it with `wikitopics watch --session notes`"
    with TrainerLock(path), pytest.raises(wt.SessionError, match=says):
        learn()
    assert Given.of(path).texts.exists()


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import wikitopics as wt
from tests.wikitopics.test_training import learn
learn(passes=10_000)
"""


def asked_for():
    """A program that will not come to its end."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(ROOT)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def articles(path):
    with suppress(wt.SessionError):
        return wt.open(path).status().articles
    return 0


def at_work(path):
    """The trainer's pid, once it has trained on more than it had."""
    before = articles(path)
    until(lambda: articles(path) > before)
    return owner(path).pid


@pytest.mark.long
def test_whoever_is_killed_the_texts_are_removed(path, cli):
    program = asked_for()
    at_work(path)
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in Given.of(path))
    program.send_signal(signal.SIGINT)
    _, told = program.communicate()
    assert told.endswith("KeyboardInterrupt\n"), told
    assert wt.open(path).status().state == "stopped"
    assert_nothing_is_left(path)

    program = asked_for()  # goes on
    trainer = at_work(path)
    program.kill()
    program.communicate()
    before = articles(path)
    until(lambda: articles(path) > before)
    with pytest.raises(wt.SessionError, match=f"in use by another trainer .pid {trainer}"):
        learn(passes=10_000)
    assert Given.of(path).texts.exists()
    os.kill(trainer, signal.SIGTERM)
    until(lambda: gone(trainer))
    assert_nothing_is_left(path)

    program = asked_for()
    os.kill(at_work(path), signal.SIGKILL)
    _, told = program.communicate()
    assert "SessionError: the trainer was killed by signal 9: " in told.splitlines()[-1]
    assert program.returncode == 1
    assert_nothing_is_left(path)

    for remove in (lambda: cli("sessions", "rm", "notes", "--yes"), lambda: learn()):
        program = asked_for()
        trainer = at_work(path)
        program.kill()
        os.kill(trainer, signal.SIGKILL)
        program.communicate()
        until(lambda trainer=trainer: gone(trainer))
        left = str(Given.of(path).texts)
        assert (
            f"texts given in Python to trainers that were killed, to be deleted: {left}"
            in cli("doctor", "--offline").out
        )
        with suppress(wt.SessionError):  # the second one asks for other passes
            remove()
        assert_nothing_is_left(path)
