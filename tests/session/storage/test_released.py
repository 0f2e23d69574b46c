"""A session of 1.0.0 to 1.2.0 is read as it lies; to go on training, it becomes one of today's
format, whole or not at all, and nobody sees a difference.

In `releases/` there is one that each of these versions trained over `wiki.xml.bz2`, a dump of 600
articles over 60 words with five planted topics: `--model lda:topics=5 --model scvb0:topics=5
--model hdp:topics=10 --batch-size 64 --held-out 40 --keep-counts --seed 1`. It was stopped after
320 articles, with others counted and not yet trained, and topic 1 of its first model is called
birds. In that of 1.0.0, only the paths were changed; in the others, nothing.
"""

import contextlib
import json
import signal
import subprocess
import sys
from sqlite3 import SQLITE_DENY, SQLITE_OK

import numpy as np
import pytest

import wikitopics
from tests.session.memory import in_order
from tests.session.rows import sql
from tests.sessions import RELEASES
from wikitopics.model import Minibatch
from wikitopics.model.coherence import Cooccurrences, npmi_of_words
from wikitopics.session.analysis.areas import atlas
from wikitopics.session.errors import DiskFull, SessionError
from wikitopics.session.storage import upgrading as formats
from wikitopics.session.storage.counts import KeptCounts
from wikitopics.session.storage.database import FIRST_RELEASED, RELEASED, VERSION, schema
from wikitopics.session.storage.heartbeats import request_control
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter

PENDING = {"1.0.0": 122, "1.1.0": 122, "1.2.0": 59}
"""For each version, how many articles its session has counted and not yet trained."""


def of(*versions):
    """The test is of the sessions of these versions."""
    return pytest.mark.parametrize("released", versions, indirect=True)


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


def let_it_go_on(path):
    """The dump has moved; for the versions whose order of a dump is not known any more, as if it
    had been read in the order of the file, to its end."""
    find_dump(path)
    if RELEASED[version(path)] == "1.2.0":
        return
    sql(
        path,
        "UPDATE settings SET value = json_remove(value, '$.order') WHERE key = 'source_options'",
    )
    size = (RELEASES / "wiki.xml.bz2").stat().st_size
    position = {"size": size, "articles": 482, "first": 40, "threshold": -1, "read": 482}
    position |= {"file": 0, "offset": size, "skip": 0}
    sql(path, "UPDATE progress SET position = ?", json.dumps(position))


@of(*PENDING)
def test_it_is_read_as_it_lies(cli, seen, released, tmp_path):
    pending = PENDING[RELEASED[version(released)]]
    seen(released, READ)
    now = json.loads(cli("status", "--json", "--session", tmp_path / "copy.db").out)
    assert (now["articles"], now["held_out"], now["pending"]) == (320, 40, pending)
    assert now["crawled"] == 360 + pending
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
    ("released", "steps", "documents"),
    [
        ("1.0.0", {}, 442),
        ("1.0.0", {"kappa": "adaptive"}, 442),
        ("1.1.0", {}, 442),
        ("1.2.0", {}, 560),
    ],
    ids=["1.0.0", "1.0.0 with adaptive steps", "1.1.0", "1.2.0"],
    indirect=["released"],
)
def test_training_goes_on(cli, counted_here, released, steps, documents):
    let_it_go_on(released)
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
    assert in_order(released, trained_only=True)[: len(read) + len(waiting)] == read + waiting[:64]
    assert settings(released) == made
    for old, new in zip(then, topics(released), strict=True):
        assert ((old * new).sum(axis=1) > 0.7).all()
    assert cli("train", "--articles", "1000").code == 0
    now = json.loads(cli("status", "--json").out)
    assert (now["articles"], now["pending"], now["crawled"]) == (documents, 0, documents + 40)
    every = in_order(released, trained_only=True)
    assert sorted(every) == sorted(set(every))
    assert every[: len(read) + len(waiting)] == read + waiting
    assert json.loads(cli("topics", "--json", "--all").out)[0]["name"]
    assert "birds" in {topic["name"] for topic in json.loads(cli("topics", "--json").out)}


@of("1.0.0", "1.1.0")
def test_the_order_of_its_dump_is_refused(cli, one_line, released):
    before = version(released)
    find_dump(released)
    one_line(cli("train"), 2, "in the order of wikitopics 1.1", "pip install 'wikitopics<1.2'")
    assert version(released) == before


def test_its_counts_are_those_of_another_session(cli, released):
    with contextlib.closing(KeptCounts(released)) as counts:
        assert counts.identity == {"checksum": "da71503a3207676f265abb27604855b0"}
    sizes = ("--topics", 3, "--held-out", 40, "--passes", 1)
    cli.ok("train", "--counts", released, *sizes, "--session", "again")
    assert cli.json("status", "--session", "again")["articles"] == 320


@of(*PENDING)
def test_nobody_sees_a_difference(seen, released):
    before = seen(released)
    with SessionReader(released) as reader:
        states = [reader.model_state(name) for name in MODELS]
    assert version(released) in RELEASED
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


@of(*PENDING)
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


def test_a_full_disk_leaves_it_as_it_was(released, monkeypatch):
    before = released.read_bytes()
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
    assert released.read_bytes() == before


@of("1.2.0")
def test_a_trainer_that_is_still_of_an_earlier_version_is_asked_for_what_it_can_do(released):
    request_control(released, save=True)
    with pytest.raises(SessionError, match=r"a trainer of version 1\.2\.0 is running"):
        request_control(released, lay_out=True)
    assert sql(released, "SELECT save FROM control") == [(1,)]


def test_a_disk_that_is_full_once_all_is_committed_is_no_error(seen, released, monkeypatch):
    before = seen(released, [["topics"], ["export", "articles"]])
    connect = formats.connect

    def without_room(path):
        db = connect(path)
        db.set_authorizer(
            lambda _, name, *__: SQLITE_DENY if name == "wal_checkpoint" else SQLITE_OK
        )
        return db

    with monkeypatch.context() as full:
        full.setattr(formats, "connect", without_room)
        formats.upgrade(released)
    assert version(released) == VERSION
    assert seen(released, [["topics"], ["export", "articles"]]) == before


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
    let_it_go_on(released)
    assert (
        "converting this session from the format of 1.0.0 (only once)"
        in cli.ok("train", "--articles", "320").err
    )
    assert version(released) == VERSION
    assert "converting" not in cli("train", "--articles", "320").err
    after = {row["topic"]: row for row in cli.json("topics")}
    assert (after[2]["name"], after[1]["hidden"]) == ("fish", True)


def measured(path, metric):
    with SessionReader(path) as reader:
        return reader.curve("lda", metric).values.tolist()


@of("1.2.0")
def test_the_coherence_of_1_2_keeps_its_name_when_a_session_goes_on(cli, counted_here, released):
    stored = sql(
        released,
        "SELECT value FROM metrics WHERE model = 0 AND metric = 'npmi' ORDER BY articles",
    )
    outcome = cli.ok("topics")
    earlier = "still that of an earlier version, counted in held-out"
    assert earlier in outcome.err
    for command in (("topics", "--json"), ("export", "topics"), ("compare",)):
        assert earlier in cli.ok(*command).err
    with SessionReader(released) as reader:
        held_out = reader.held_out()
        batch = Minibatch(held_out.indptr, held_out.word_ids, held_out.counts)
        ids, _ = reader.newest_words("lda").leading
        expected = npmi_of_words(ids[:, :10], Cooccurrences(batch))
        assert "npmi_held_out" in reader.metric_names()
    found = sorted(wikitopics.open(released).topics(), key=lambda topic: topic.number)
    np.testing.assert_allclose([topic.npmi for topic in found], expected)
    before = measured(released, "npmi_held_out")
    assert before
    assert before == [value for (value,) in stored]
    assert measured(released, "npmi") == []
    let_it_go_on(released)
    cli.ok("train")
    assert measured(released, "npmi_held_out") == before
    assert measured(released, "npmi")
    assert cli.json("topics")[0]["npmi"] != expected[0]
    assert "earlier version" not in cli.ok("topics").err


@of("1.2.0")
def test_a_session_of_1_2_counts_words_in_the_articles_that_it_still_has(
    cli,
    counted_here,
    released,
):
    # As if the counts of the first 64 had been dropped, since many more articles have followed.
    sql(released, "DELETE FROM recent WHERE first_seq < 105")
    let_it_go_on(released)
    cli.ok("train")
    trained = in_order(released, trained_only=True)
    with SessionReader(released) as reader:
        reference = reader.reference()
    assert reference.page_ids.tolist() == trained[64:]


@of("1.2.0")
def test_names_of_1_2_are_made_of_the_present_words(cli, released):
    sql(released, "UPDATE topic_names SET name = 'once, so, called'")
    assert "once, so, called" not in cli.ok("topics").out


@of("1.1.0")
def test_a_session_of_1_1_is_grouped_by_its_leading_words(cli, released):
    before = released.read_bytes()
    with SessionReader(released) as reader:
        assert reader.areas("lda") is None
        assert atlas(reader, "lda").by_words
    areas = json.loads(cli("topics", "--areas", "--json").out)
    assert sorted(topic for area in areas for topic in area["topics"]) == list(range(5))
    assert released.read_bytes() == before


@pytest.mark.interop
@of("1.1.0")
def test_the_report_says_that_areas_come_from_leading_words(cli, released):
    pytest.importorskip("matplotlib")
    assert "leading words" in cli("report").out


@of(*PENDING)
def test_train_gives_areas_and_a_map_even_if_nothing_is_left_to_learn(cli, counted_here, released):
    let_it_go_on(released)
    cli.ok("train", "--articles", "320")
    with SessionReader(released) as reader:
        assert reader.progress().articles == 320
        for model in MODELS:
            assert reader.areas(model) is not None
    assert len(cli.rows("map")) == 320


@of("1.0.0", "1.1.0")
def test_only_the_words_of_an_article_are_taken_for_its_words(released):
    with SessionReader(released) as reader:
        articles = reader.recent_articles(320)
        words = {article.seq: reader.words_of(article) for article in articles}
    sql(released, "DELETE FROM recent")  # as if many more articles had followed
    with SessionReader(released) as reader:
        kept = dict(reader.words_of_each(articles))
    for seq, (ids, counts) in kept.items():
        np.testing.assert_array_equal(ids, words[seq][0])
        np.testing.assert_array_equal(counts, words[seq][1])
    assert len(kept) == (320 if RELEASED[version(released)] == "1.1.0" else 0)
