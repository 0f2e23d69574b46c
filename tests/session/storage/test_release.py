"""A session of 1.0.0 is read as it lies, and gone on with.

`releases/1.0.0.sqlite.gz` is one that 1.0.0 trained over `wiki.xml.bz2`, a dump of 600 articles over 60
words with five planted topics: `--model lda:topics=5 --model scvb0:topics=5 --model hdp:topics=10
--batch-size 64 --held-out 40 --keep-counts --seed 1`. It was stopped after 320 articles, with 122 counted and
not yet trained, and topic 1 of its first model is called birds. Only the paths in it were changed.
"""

import contextlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wikitopics
from tests.sessions import RELEASES
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.tables.counts import KeptCounts
from wikitopics.session.storage.writer import SessionWriter

READING = [
    ["status"],
    ["topics"],
    ["topics", "--top", "25", "--json", "--model", "hdp"],
    ["topics", "--tree"],
    ["articles", "--topic", "0"],
    ["history"],
    ["history", "1", "--json"],
    ["similar", "Title 79", "--json"],
    ["infer", "TEXT", "--model", "scvb0"],
    ["compare", "default"],
    ["export", "topics"],
    ["export", "history", "--format", "json"],
    ["export", "metrics"],
    ["export", "events"],
    ["export", "words"],
    ["export", "articles", "--all"],
    ["export", "proportions", "--format", "npz", "-o", "OUT"],
    ["export", "model", "-o", "OUT"],
    ["export", "model", "-o", "OUT", "--model", "hdp"],
    ["sessions"],
    ["doctor", "--offline", "--session", "default"],
    ["vocab", "show", "--session", "default"],
    ["backup", "COPY.db"],
]
MODELS = ("lda", "scvb0", "hdp")

Cli = Callable[..., Any]


def test_it_is_read_as_it_lies(cli: Cli, released: Path, tmp_path: Path) -> None:
    before = released.read_bytes()
    (tmp_path / "text").write_text("aaa aab aac aad")
    places = {"TEXT": tmp_path / "text", "OUT": tmp_path / "out.npz", "COPY.db": tmp_path / "copy.db"}
    for command in READING:
        outcome = cli(*[places.get(word, word) for word in command])
        assert outcome.code == 0, (command, outcome.err)
        assert released.read_bytes() == before, command
        assert [file.name for file in released.parent.iterdir()] == [released.name], command
    now = json.loads(cli("status", "--json", "--session", tmp_path / "copy.db").out)
    assert (now["articles"], now["held_out"], now["pending"], now["crawled"]) == (320, 40, 122, 482)
    assert [model["name"] for model in now["models"]] == list(MODELS)


def test_python_reads_it_as_it_lies(released: Path) -> None:
    before = released.read_bytes()
    session = wikitopics.open()
    for model in session.status().models:
        assert len(session.topics(model.name)) == model.topics
        assert session.infer(["aaa aab aac"], model.name).shape == (1, model.topics)
        assert session.metrics(model.name)
        assert session.history(0, model.name)
        session.model(model.name).learn(wikitopics.Minibatch([0, 1], [3], [2]))
    assert session.articles(limit=5)
    assert released.read_bytes() == before


def topics(session: Path) -> list[Any]:
    """Every model's topics, each as long as the others."""
    with contextlib.closing(wikitopics.open(session)) as opened:
        found = [opened.model(name).topics() for name in MODELS]
    return [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in found]


@pytest.mark.parametrize("steps", [{}, {"kappa": "adaptive"}], ids=["", "adaptive steps were asked for"])
def test_training_goes_on(cli: Cli, counted_here: None, released: Path, steps: dict[str, str]) -> None:
    source = json.dumps({**settings(released)["source_options"], "dump": [str(RELEASES / "wiki.xml.bz2")]})
    lda, scvb0, hdp = settings(released)["models"]
    with contextlib.closing(sqlite3.connect(released)) as db, db:  # the dump has moved
        db.execute("UPDATE settings SET value = ? WHERE key = 'source_options'", [source])
        models = json.dumps([lda, {**scvb0, **steps}, hdp])
        db.execute("UPDATE settings SET value = ? WHERE key = 'models'", [models])
    with contextlib.closing(SessionWriter(released)) as store:
        ((_, pending),) = store.pending()
    waiting = pending.page_ids[len(pending) - store_pending(released) :].tolist()
    read, made, then = trained_pages(released), settings(released), topics(released)
    assert cli("train", "--articles", "384").code == 0
    assert trained_pages(released) == read + waiting[:64]
    assert settings(released) == made
    for old, new in zip(then, topics(released), strict=True):
        assert ((old * new).sum(axis=1) > 0.7).all()
    assert cli("train", "--articles", "1000").code == 0
    now = json.loads(cli("status", "--json").out)
    assert (now["articles"], now["pending"], now["crawled"]) == (560, 0, 600)
    assert sorted(every := trained_pages(released)) == sorted(set(every))
    assert every[: len(read) + len(waiting)] == read + waiting
    assert json.loads(cli("topics", "--json", "--all").out)[0]["name"]
    assert "birds" in {topic["name"] for topic in json.loads(cli("topics", "--json").out)}


def store_pending(path: Path) -> int:
    with SessionReader(path) as reader:
        return reader.status().pending


def trained_pages(path: Path) -> list[int]:
    with SessionReader(path) as reader:
        return [page for _, pages, *_ in reader.all_articles(trained_only=True) for page in pages]


def settings(path: Path) -> dict[str, Any]:
    with SessionReader(path) as reader:
        return reader.settings().as_json()


@pytest.mark.usefixtures("released")
def test_its_counts_are_those_of_another_session(cli: Cli, released: Path, home: Path) -> None:
    with contextlib.closing(KeptCounts(released)) as counts:
        assert counts.identity == {"checksum": "da71503a3207676f265abb27604855b0"}
    outcome = cli("train", "--counts", released, "--topics", 3, "--held-out", 40, "--session", "again")
    assert outcome.code == 0, outcome.err
    assert json.loads(cli("status", "--session", "again", "--json").out)["articles"] == 320
