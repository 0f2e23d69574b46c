"""`import wikitopics`: what a notebook gets from a session, and that nothing of it reaches the session."""

import contextlib
import copy
import json
import pickle
import re
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from keyword import iskeyword
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from wikitopics.cli import run
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter

TWO = ["--model", "lda:topics=5", "--model", "hdp:name=many,topics=8"]


@pytest.fixture(scope="module")
def trained_two(corpus, tmp_path_factory):
    """Two models, trained on 300 articles; nobody may write to it."""
    path = tmp_path_factory.mktemp("two") / "two.db"
    few = ["--batch-size", "64", "--held-out", "40", "--articles", "300", "--seed", "3"]
    assert run(["train", *corpus.options(), *TWO, *few, "--session", str(path)]) == 0
    return path


@pytest.fixture
def session(trained_two, home):
    """The same as the session `default`."""
    home.mkdir()
    shutil.copy(trained_two, home / "default.db")
    return wt.open()


def refused(call, *says, error=wt.SessionError):
    """Asserts that the call ends in one line that says these things."""
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, wt.SessionError) == (error is wt.SessionError)
    assert "\n" not in str(caught.value)
    for text in says:
        assert text in str(caught.value)
    return str(caught.value)


def test_status_has_the_keys_of_the_command(session, cli):
    told = json.loads(cli("status", "--json").out)
    status = session.status()
    for key in told.keys() - {"models", "checkpoint_age_seconds"}:
        assert getattr(status, f"{key}_" if iskeyword(key) else key) == told[key], key
    assert [asdict(model) for model in status.models] == [
        {**model, "prequential_log_likelihood": None} for model in told["models"]
    ]
    assert re.fullmatch(
        r"<Status: finished, 300 documents, [\d,]+ an hour; lda perplexity [\d.]+; many perplexity [\d.]+>",
        repr(status),
    )


def test_topics_are_those_of_the_command(session, cli):
    for model in (None, "lda", "many"):
        options = ["--model", model] if model else []
        told = json.loads(cli("topics", "--json", "--top", 20, *options).out)
        topics = session.topics(model)
        for topic, one in zip(topics, told, strict=True):
            assert (topic.number, topic.share) == (one["topic"], one["share"])
            pairs = zip(topic.words, topic.probabilities, strict=True)
            assert [{"word": word, "probability": value} for word, value in pairs] == one["words"]
            assert topic.in_use == (topic.share > 0.001)
        last = [one for one in session.metrics(model) if one.metric == "npmi"][-1]
        assert last.articles == session.history(0, model)[-1].articles
        assert np.mean([topic.npmi for topic in topics]) == pytest.approx(last.value)
    first = session.topics()[0]
    words = " ".join(first.words[:10])
    assert repr(first) == f"<Topic {first.number} {first.name!r}, {first.share:.1%}: {words}>"


def test_articles_of_a_topic_and_the_newest(session, cli):
    told = json.loads(cli("articles", "--topic", 2, "--limit", 7, "--json").out)
    found = session.articles(np.int64(2), limit=np.int64(7))
    for key in ("page_id", "title", "revision_id", "words", "topic", "proportion"):
        assert [getattr(article, key) for article in found] == [one[key] for one in told]
    newest = session.articles(limit=350, model="many")
    assert len(newest) > 300
    for article in newest:
        assert (article.role != "skipped") == (article.topic is not None) == (article.proportion is not None)
    assert session.articles(limit=0) == []


def test_metrics_and_history_are_those_of_the_exports(session, cli):
    for model in ("lda", "many"):
        told = json.loads(cli("export", "metrics", "--format", "json", "--model", model).out)
        assert [asdict(one) for one in session.metrics(model)] == told
        told = json.loads(cli("export", "history", "--format", "json", "--model", model).out)
        for then in session.history(1, model):
            words = [one for one in told if (one["articles"], one["topic"]) == (then.articles, 1)]
            assert [one["word"] for one in words] == list(then.words[:10])
            assert [one["probability"] for one in words] == list(then.probabilities[:10])
    assert session.metrics() == session.metrics("lda")
    assert "after 64 articles" in repr(session.history(0)[0])


def test_texts_are_inferred_by_each_model(session, corpus, cli, tmp_path):
    texts = [" ".join(corpus.words[:12]), "unknown", ""]
    for model, K in ((None, 5), ("many", 8)):
        theta = session.infer(iter(texts), model)
        assert (theta.shape, theta.dtype) == ((3, K), np.float32)
        np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
        assert session.infer([], model).shape == (0, K)
    (tmp_path / "text").write_text(texts[0])
    (told,) = json.loads(cli("infer", tmp_path / "text", "--json").out)
    assert session.infer(texts)[0].tolist() == told["proportions"]
    refused(lambda: session.infer("a text"), "texts must be a list of texts", error=TypeError)
    for texts in (["a text", np.nan], ["a text", 3.0]):
        refused(lambda texts=texts: session.infer(texts), "texts: number 1 is of type float", error=TypeError)
    refused(lambda: session.infer([None]), "texts: number 0 is of type NoneType", error=TypeError)
    table = pd.DataFrame({"text": ["a"]})
    refused(lambda: session.infer(table), "texts must be a column, not a table", error=TypeError)
    refused(lambda: session.infer(["a"], markup="xml"), "markup must be one of", error=ValueError)


def test_a_model_learns_and_the_session_stays(session, corpus):
    before = session.path.read_bytes()
    model = session.model("many")
    assert isinstance(model, wt.OnlineModel)
    assert repr(model) == f"<OnlineHDP: 8 topics, 60 words, {model.updates} updates>"
    ids, counts = session.vocabulary().count(" ".join(corpus.words[:30]))
    batch = wt.Minibatch([0, len(ids)], ids, counts)
    model.learn(batch)
    assert model.updates == session.model("many").updates + 1
    assert not np.array_equal(model.topics(), session.model("many").topics())
    assert session.path.read_bytes() == before
    assert not [file for file in session.path.parent.iterdir() if file.name.startswith("default.db-")]


def test_names_and_paths(session, monkeypatch):
    for named in ("default", session.path, str(session.path)):
        assert wt.open(named).path == session.path
    monkeypatch.chdir(session.path.parent)
    shutil.copy(session.path, "night")
    assert wt.open(Path("night")).status().articles == 300, "a Path is no name, whatever it looks like"
    assert repr(session) == (
        "<StoredSession default: finished, 300 documents (counts.npz); lda (5 topics), many (8 topics)>"
    )


def test_mistakes_are_one_line(session, home, tmp_path):
    (tmp_path / "text.db").write_text("some text")
    refused(lambda: wt.open("nothing"), "no session", "Available: default")
    assert "--" not in refused(lambda: wt.open("nothing"))
    refused(lambda: wt.open(tmp_path / "text.db"), "not a session", "not an SQLite file")
    refused(lambda: wt.open(tmp_path), "folder")
    refused(lambda: wt.open("../x y"), "no session")
    refused(lambda: wt.open(home / "default.db-wal"), "part of a session", error=ValueError)
    for ask in (session.topics, session.metrics, session.model, lambda name: session.infer(["a"], name)):
        refused(lambda ask=ask: ask("nope"), "no model 'nope'", "lda, many", error=ValueError)
    for ask in (session.articles, session.history):
        refused(lambda ask=ask: ask(5), "topics 0 to 4", error=ValueError)
        refused(lambda ask=ask: ask(-1), "topics 0 to 4", error=ValueError)
    refused(lambda: session.articles(limit=-1), "limit", error=ValueError)
    refused(lambda: session.articles(limit="all"), "limit must be a whole number", error=TypeError)
    refused(lambda: session.similar(3), "title must be text, not 3", error=TypeError)
    refused(lambda: session.similar(), "a title or a text", error=ValueError)
    refused(lambda: session.export("topic", "x.csv"), "what: there is no export 'topic'", error=ValueError)
    refused(lambda: session.export([], "x.csv"), "what: there is no export []", error=ValueError)
    refused(lambda: session.export("topics", "x.xlsx"), "no format has the ending .xlsx", error=ValueError)
    refused(lambda: session.export("topics", "x.csv", "json"), ".csv is not the ending of", error=ValueError)
    refused(lambda: session.export("topics", 3), "path must be a path, not 3", error=TypeError)
    refused(lambda: session.report("x.pdf"), "end the name in .html", error=ValueError)
    refused(lambda: wt.open(3), "session must be a name or a path, not 3", error=TypeError)
    refused(lambda: wt.open("x y"), "session: 'x y' is not a session name", error=ValueError)


def test_a_session_that_goes_away_is_told(session, tmp_path):
    with wt.open() as other:
        assert len(other.topics()) == 5
    refused(other.topics, "closed")
    shutil.copy(session.path, tmp_path / "copy")
    (tmp_path / "copy").replace(session.path)
    refused(session.status, "replaced")
    session.path.unlink()
    refused(session.status, "no session")
    assert "no session" in repr(session)


def test_it_is_used_from_many_threads_and_sent_to_other_processes(session):
    topics = session.topics()
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(call) for call in [session.topics, session.metrics, session.status] * 8]
        assert all(call.result() == topics for call in calls[::3])
        assert {call.result().articles for call in calls[2::3]} == {300}
    for copied in (pickle.loads(pickle.dumps(session)), copy.deepcopy(session)):
        assert copied.topics() == topics


def test_one_call_sees_one_commit(session):
    with (
        contextlib.closing(SessionWriter(session.path)),
        contextlib.closing(sqlite3.connect(session.path)) as trainer,
        SessionReader(session.path) as reader,
    ):
        with reader.one_moment():
            before = reader.status()
            with trainer:
                trainer.execute("UPDATE models SET updates = updates + 1")
                trainer.execute("UPDATE progress SET articles = articles + 64, crawled = crawled + 64")
            with reader.one_moment():
                now = reader.status()
            assert (now.articles, now.models) == (before.articles, before.models)
        assert reader.status().articles == before.articles + 64
        assert session.status().models[0].updates == before.models[0].updates + 1
