"""A session of 1.0.0 to 1.2.0 is read as it lies; to go on training, it becomes one of today's
format, whole or not at all, and nobody sees a difference.

`releases/1.0.0.sqlite.gz` is one that 1.0.0 trained over `wiki.xml.bz2`, a dump of 600 articles
over 60
words with five planted topics: `--model lda:topics=5 --model scvb0:topics=5 --model hdp:topics=10
--batch-size 64 --held-out 40 --keep-counts --seed 1`. It was stopped after 320 articles, with 122
counted and not yet trained, and topic 1 of its first model is called birds. Only the paths in it
were changed.
"""

import contextlib
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import wikitopics
from tests.session.memory import in_order
from tests.session.rows import sql
from tests.sessions import RELEASES
from wikitopics.model import Minibatch
from wikitopics.model.coherence import Occurrences, npmi_of_words
from wikitopics.session.analysis.areas import atlas
from wikitopics.session.errors import DiskFull
from wikitopics.session.storage import upgrading as formats
from wikitopics.session.storage.counts import KeptCounts
from wikitopics.session.storage.database import FIRST_RELEASED, VERSION, order_by_topic, schema
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter

MODELS = ("lda", "scvb0", "hdp")
EXPORTS = ("topics", "history", "metrics", "events", "words", "articles", "proportions")
SEEN = [
    ["status", "--json"],
    ["topics"],
    ["topics", "--tree"],
    ["history"],
    ["history", "1", "--json"],
    ["compare", "default"],
    ["vocab", "show", "--session", "default"],
    *[["export", what, *form] for what in EXPORTS for form in ([], ["--format", "json"])],
    ["export", "articles", "--all"],
    *[["topics", "--json", "--all", "--top", "25", "--model", model] for model in MODELS],
    *[
        ["articles", "--topic", k, "--json", "--limit", "99", "--model", m]
        for m in MODELS
        for k in range(5)
    ],
    *[["similar", "Title 79", "--json", "--model", model] for model in MODELS],
    *[["infer", "TEXT", "--json", "--model", model] for model in MODELS],
]
READ = [
    ["status"],
    ["sessions"],
    ["doctor", "--offline", "--session", "default"],
    ["export", "proportions", "--format", "npz", "-o", "OUT"],
    *[["export", "model", "-o", "OUT", "--model", model] for model in MODELS],
    ["backup", "COPY.db"],
]


@pytest.fixture
def seen(cli, tmp_path):
    """Everything that these commands print of the session, which they leave as it is."""
    (tmp_path / "text").write_text("aaa aab aac aad")
    places = {
        "TEXT": tmp_path / "text",
        "OUT": tmp_path / "out.npz",
        "COPY.db": tmp_path / "copy.db",
    }

    def see(session, commands=SEEN):
        before = session.read_bytes()
        found = {}
        for command in commands:
            outcome = cli(*[places.get(word, word) for word in command])
            assert outcome.code == 0, (command, outcome.err)
            assert session.read_bytes() == before, command
            assert [file.name for file in session.parent.iterdir()] == [session.name], command
            found[" ".join(map(str, command))] = outcome.out
        if "status --json" in found:
            found["status --json"] = json.loads(found["status --json"])
            del found["status --json"]["checkpoint_age_seconds"]
        return found

    return see


def version(path):
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
    ((found,),) = sql(path, "PRAGMA user_version")
    return found


def find_dump(path):
    """The dump has moved."""
    change = (
        "UPDATE settings SET value = json_set(value, '$.dump[0]', ?) WHERE key = 'source_options'"
    )
    sql(path, change, str(RELEASES / "wiki.xml.bz2"))


def read_in_order(path):
    """As if the dump had been read in the order of the file, to its end."""
    find_dump(path)
    sql(
        path,
        "UPDATE settings SET value = json_remove(value, '$.order') WHERE key = 'source_options'",
    )
    size = (RELEASES / "wiki.xml.bz2").stat().st_size
    position = {"size": size, "articles": 482, "first": 40, "threshold": -1, "read": 482}
    position |= {"file": 0, "offset": size, "skip": 0}
    sql(path, "UPDATE progress SET position = ?", json.dumps(position))


def test_it_is_read_as_it_lies(cli, seen, released, tmp_path):
    seen(released, READ)
    now = json.loads(cli("status", "--json", "--session", tmp_path / "copy.db").out)
    assert (now["articles"], now["held_out"], now["pending"], now["crawled"]) == (320, 40, 122, 482)
    assert [model["name"] for model in now["models"]] == list(MODELS)


def topics(session):
    """Every model's topics, each as long as the others."""
    with contextlib.closing(wikitopics.open(session)) as opened:
        found = [opened.model(name).topics() for name in MODELS]
    return [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in found]


def settings(path):
    with SessionReader(path) as reader:
        return reader.settings().as_json()


@pytest.mark.parametrize(
    "steps", [{}, {"kappa": "adaptive"}], ids=["", "adaptive steps were asked for"]
)
def test_training_goes_on(cli, counted_here, released, steps):
    read_in_order(released)
    lda, scvb0, hdp = settings(released)["models"]
    models = json.dumps([lda, {**scvb0, **steps}, hdp])
    sql(released, "UPDATE settings SET value = ? WHERE key = 'models'", models)
    with contextlib.closing(SessionWriter(released)) as store:
        ((_, pending),) = store.pending()
        waiting = pending.page_ids[-store.status().pending :].tolist()
    read = in_order(released, trained_only=True)
    made = settings(released)
    then = topics(released)
    assert cli("train", "--articles", "384").code == 0
    assert in_order(released, trained_only=True) == read + waiting[:64]
    assert settings(released) == made
    for old, new in zip(then, topics(released), strict=True):
        assert ((old * new).sum(axis=1) > 0.7).all()
    assert cli("train", "--articles", "1000").code == 0
    now = json.loads(cli("status", "--json").out)
    assert (now["articles"], now["pending"], now["crawled"]) == (442, 0, 482)
    every = in_order(released, trained_only=True)
    assert sorted(every) == sorted(set(every))
    assert every[: len(read) + len(waiting)] == read + waiting
    assert json.loads(cli("topics", "--json", "--all").out)[0]["name"]
    assert "birds" in {topic["name"] for topic in json.loads(cli("topics", "--json").out)}


def test_the_order_of_its_dump_is_refused(cli, one_line, released):
    find_dump(released)
    one_line(cli("train"), 2, "in the order of wikitopics 1.1", "pip install 'wikitopics<1.2'")
    assert version(released) == FIRST_RELEASED


def test_its_counts_are_those_of_another_session(cli, released):
    with contextlib.closing(KeptCounts(released)) as counts:
        assert counts.identity == {"checksum": "da71503a3207676f265abb27604855b0"}
    sizes = ("--topics", 3, "--held-out", 40, "--passes", 1)
    cli.ok("train", "--counts", released, *sizes, "--session", "again")
    assert cli.json("status", "--session", "again")["articles"] == 320


def test_nobody_sees_a_difference(seen, released):
    before = seen(released)
    with SessionReader(released) as reader:
        states = [reader.model_state(name) for name in MODELS]
    assert version(released) == FIRST_RELEASED
    formats.upgrade(released)
    assert version(released) == VERSION
    assert seen(released) == before
    with SessionReader(released) as reader:
        for state, name in zip(states, MODELS, strict=True):
            now = reader.model_state(name)
            assert {key: str(value) for key, value in now.items()} == {
                k: str(v) for k, v in state.items()
            }
    made = {
        name for (name,) in sql(released, "SELECT name FROM sqlite_master WHERE type = 'table'")
    }
    assert made == {table for table, *_ in schema()}
    orders = sql(
        released, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'by_topic_of_model_%'"
    )
    assert orders == [(len(MODELS),)]


def test_a_reader_that_is_open_meanwhile_goes_on(released):
    with SessionReader(released) as reader:

        def asked():
            about = [reader.articles_about(model, 1) for model in MODELS]
            return [about, reader.recent_articles(), reader.all_metrics(), reader.status().models]

        before = asked()
        formats.upgrade(released)
        assert asked() == before


KILLED = """
import os, signal, sys
from pathlib import Path
from wikitopics.session.storage import upgrading

left, connect = int(sys.argv[2]), upgrading.connect

def noted(sql):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

def watched(path):
    db = connect(path)
    db.set_trace_callback(noted)
    return db

upgrading.connect = watched
upgrading.upgrade(Path(sys.argv[1]))
"""


def test_a_kill_at_any_statement_leaves_the_old_file_or_the_new_one(cli, seen, released):
    before = seen(released)
    whole = released.read_bytes()
    codes = []
    for statement in (*range(4, 17, 2), 1000):
        released.write_bytes(whole)
        run = subprocess.run(
            [sys.executable, "-c", KILLED, str(released), str(statement)], check=False
        )
        codes.append(run.returncode)
        assert version(released) in (FIRST_RELEASED, VERSION)
        formats.upgrade(released) if version(released) != VERSION else None
        assert cli("export", "articles").out == before["export articles"]
    assert codes[0] == -signal.SIGKILL
    assert codes[-1] == 0
    assert seen(released) == before


def test_a_full_disk_leaves_it_as_it_was(seen, released, monkeypatch):
    before = seen(released)
    connect = formats.connect

    def small(path):
        db = connect(path)
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        return db

    with monkeypatch.context() as full:
        full.setattr(formats, "connect", small)
        with pytest.raises(DiskFull, match="the disk is full"):
            formats.upgrade(released)
    assert version(released) == FIRST_RELEASED
    assert seen(released) == before


def test_what_came_later_works_as_far_as_the_session_has_what_it_takes(cli, released, one_line):
    session = wikitopics.open(released)
    for model in MODELS:
        word = session.topics(model)[0].words[0]
        found = session.find(word, model=model)
        assert found.topics
        assert all(document.snippet is None for document in found.documents)
        (painted,) = session.explain(f"unknown {word}", model).words
        assert painted.word == word
        assert len(session.topics(model, frame=True)) == len(session.topics(model))
        assert all(article.snippet is None for article in session.articles(0, model=model))
        n_documents = session.proportions(model)[0].shape[0]
        assert session.by(["all"] * n_documents, model=model)["documents"].eq(n_documents).all()
        assert cli.json("find", word, "--model", model)["topics"]
    one_line(cli("export", "articles", "--snippets"), 2, "no snippets")
    one_line(cli("export", "proxann", "-o", released.with_name("p")), 1, "this session keeps none")
    assert version(released) == FIRST_RELEASED


def test_only_train_does_it_and_says_so(cli, counted_here, released):
    assert cli("topics", "rename", "2", "fish").code == cli("topics", "hide", "1").code == 0
    assert cli("train", "--topics", "9").code == 2
    assert cli("train").code != 0, "its dump is not where it was"
    assert version(released) == FIRST_RELEASED
    read_in_order(released)
    assert "converting this session" in cli.ok("train", "--articles", "320").err
    assert version(released) == VERSION
    assert "converting" not in cli("train", "--articles", "320").err
    after = {row["topic"]: row for row in cli.json("topics")}
    assert (after[2]["name"], after[1]["hidden"]) == ("fish", True)


@pytest.fixture
def of_1_2(trained):
    """The session as 1.2.0 would have left it."""
    for change in (
        "DROP TABLE reference",
        "ALTER TABLE progress DROP COLUMN stale",
        "ALTER TABLE control DROP COLUMN lay_out",
        "DROP TABLE snippets",
        "DROP TABLE layouts",
        "DROP TABLE places",
        "ALTER TABLE snapshots DROP COLUMN shown_ids",
        "ALTER TABLE snapshots DROP COLUMN shown_probabilities",
        "ALTER TABLE snapshots DROP COLUMN found",
        "CREATE TABLE topic_names (model INTEGER, topic INTEGER, name TEXT, alive INTEGER, "
        "lasting TEXT, PRIMARY KEY (model, topic))",
        "INSERT INTO topic_names SELECT model, topic, 'once, so, called', alive, NULL "
        "FROM told_topics",
        "DROP TABLE told_topics",
        "UPDATE metrics SET value = -0.5 WHERE metric = 'npmi'",
        "PRAGMA user_version = 10",
    ):
        sql(trained, change)
    orders = sql(trained, "SELECT name FROM sqlite_master WHERE name LIKE 'by_topic_of_model_%'")
    for model, (name,) in enumerate(orders):
        sql(trained, f"DROP INDEX {name}")
        sql(trained, order_by_topic(model, 10))
    return trained


@pytest.fixture
def of_1_1(of_1_2):
    """The session as 1.1.0 would have left it."""
    columns = ("models DROP COLUMN meetings", "control DROP COLUMN hurry")
    for change in (
        "DROP TABLE areas",
        *(f"ALTER TABLE {one}" for one in columns),
        "PRAGMA user_version = 9",
    ):
        sql(of_1_2, change)
    return of_1_2


def measured(path, metric):
    with SessionReader(path) as reader:
        return reader.curve("lda", metric).values.tolist()


def test_the_coherence_of_1_2_keeps_its_name_when_a_session_goes_on(cli, of_1_2, corpus):
    outcome = cli.ok("topics")
    assert "still that of an earlier version, counted in held-out" in outcome.err
    with SessionReader(of_1_2) as reader:
        held_out = reader.held_out()
        batch = Minibatch(held_out.indptr, held_out.word_ids, held_out.counts)
        ids, _ = reader.newest_words("lda").leading
        expected = npmi_of_words(ids[:, :10], Occurrences(batch))
        assert "npmi_held_out" in reader.metric_names()
    found = sorted(wikitopics.open(of_1_2).topics(), key=lambda topic: topic.number)
    np.testing.assert_allclose([topic.npmi for topic in found], expected)
    before = measured(of_1_2, "npmi_held_out")
    assert set(before) == {-0.5}
    assert measured(of_1_2, "npmi") == []
    cli.ok("train", *corpus.options(), "--articles", 10_000)
    assert version(of_1_2) == VERSION
    assert measured(of_1_2, "npmi_held_out") == before
    assert cli.json("topics")[0]["npmi"] != expected[0]
    assert "earlier version" not in cli.ok("topics").err


def test_a_session_of_1_2_counts_words_in_the_articles_that_it_still_has(cli, of_1_2, corpus):
    with SessionReader(of_1_2) as reader:
        articles = reader.progress().articles
        _, still_there = reader.recent(0, 5000, articles)
    cli.ok("train", *corpus.options(), "--articles", 10_000)
    with SessionReader(of_1_2) as reader:
        reference = reader.reference()
        trained = reader.progress().documents
    np.testing.assert_array_equal(reference.page_ids[: len(still_there)], still_there.page_ids)
    assert len(reference) == min(5000, len(still_there) + trained - articles)


def test_names_of_1_2_are_made_of_the_present_words(cli, of_1_2):
    assert "once, so, called" not in cli.ok("topics").out


def test_a_session_of_1_1_is_grouped_by_its_leading_words(cli, of_1_1):
    before = of_1_1.read_bytes()
    with SessionReader(of_1_1) as reader:
        assert reader.areas("lda") is None
        assert atlas(reader, "lda").by_words
    areas = json.loads(cli("topics", "--areas", "--json").out)
    assert sorted(topic for area in areas for topic in area["topics"]) == list(range(5))
    assert of_1_1.read_bytes() == before


@pytest.mark.interop
def test_the_report_says_that_areas_come_from_leading_words(cli, of_1_1):
    pytest.importorskip("matplotlib")
    assert "leading words" in cli("report").out


def test_a_session_of_1_1_has_areas_once_it_trains_on(cli, of_1_1, corpus):
    outcome = cli.ok("train", *corpus.options(), "--articles", 10_000)
    assert "converting this session from the format of 1.1.0 (only once)" in outcome.err
    assert version(of_1_1) == VERSION
