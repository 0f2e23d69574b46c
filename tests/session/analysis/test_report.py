"""What a report tells, read from a session. How the page looks: tests/wikitopics/test_report.py."""

import contextlib
import json
import sqlite3
from dataclasses import replace
from importlib import metadata

import numpy as np
import pytest

import wikitopics
from tests.session.rows import sql
from wikitopics.session.analysis.report.contents import (
    LARGEST_DRAWN,
    LONGEST,
    MOST_CHARTS,
    _settings,
    contents,
    spread,
)
from wikitopics.session.errors import SessionError
from wikitopics.session.given_names import hide_topics
from wikitopics.session.options import VOCAB_ARTICLES
from wikitopics.session.storage.reader import SessionReader


def read(path):
    with SessionReader(path) as reader:
        return contents(reader)


def test_topics_are_as_topics_says(trained, cli):
    (model,) = read(trained)["models"]
    listed = json.loads(cli("topics", "--json", "--top", 20).out)
    assert [topic.row.topic for topic in model.topics] == [other["topic"] for other in listed]
    for topic, other in zip(model.topics, listed, strict=True):
        assert topic.row.name == other["name"]
        assert topic.coherence == other["npmi"]
        assert list(topic.titles) == other["titles"]
        assert topic.row.share == pytest.approx(other["share"])
        assert [word for word, _, _ in topic.words[:10]] == other["shown"]
        assert all(0 < own <= 1 for _, _, own in topic.words)


def test_without_topics_there_is_nothing_to_tell(new_session, home, corpus):
    new_session(home / "default.db", corpus)
    with pytest.raises(SessionError, match="no topics yet"):
        read(home / "default.db")


def test_what_each_topic_has_is_its_own(trained, cli):
    with SessionReader(trained) as reader:
        (model,) = contents(reader)["models"]
        points = reader.snapshots("lda")
    for topic in model.topics:
        articles = cli.json("articles", "--topic", topic.row.topic, "--limit", 10)
        assert [article.called for article in topic.articles] == [
            each["title"] for each in articles
        ]
        first = topic.past[0]
        last = topic.past[-1]
        assert first.articles == points[0]
        assert last.articles == points[-1]
        assert not any(is_new for _, is_new in first.words)
        last_point, _, _ = topic.shares[-1]
        assert last_point == points[-1]
        assert all(0 <= own <= share * 1.0001 for _, share, own in topic.shares)
    grouped = [topic.row.topic for _, topics in model.groups for topic in topics]
    assert sorted(grouped) == sorted(topic.row.topic for topic in model.topics)
    assert len(model.tree) == 2 * len(grouped) - 1


def test_a_session_whose_packages_are_gone_is_told_all_the_same(race, unigrams, monkeypatch):
    unigrams.uninstall(monkeypatch)
    assert "unigrams" in {model.label for model in read(race)["models"]}


def test_nothing_of_the_machine_is_told(trained, corpus):
    report = read(trained)
    names = ("settings", "versions", "source_name", "session", "runs")
    texts = repr([report[name] for name in names])
    assert corpus.vocabulary.name in texts
    assert str(corpus.vocabulary.parent) not in texts
    assert str(trained.parent) not in texts


def test_only_settings_that_applied_are_told(trained):
    with SessionReader(trained) as reader:
        settings = reader.settings()
    assert settings[VOCAB_ARTICLES]
    for vocabulary, was_built in (("english", False), ("/texts/words.txt", False), ("de", True)):
        told = dict(_settings(replace(settings, vocabulary=vocabulary)))
        assert ("--vocab-articles" in told) == was_built


def test_values_that_no_chart_can_show_are_left_out(trained):
    sql(trained, "UPDATE metrics SET articles = 0 WHERE articles = 64")
    sql(trained, "DELETE FROM metrics WHERE articles > 0 AND metric = 'npmi'")
    metrics = read(trained)["metrics"]
    names = [metric.name for metric, _ in metrics]
    assert "perplexity" in names
    assert "npmi" not in names
    for _, curves in metrics:
        assert all(curve.articles[0] > 64 for curve in curves.values())


@pytest.mark.parametrize("value", [1.7e308, -1.7e308, 5e-324])
def test_whatever_a_stranger_measured_can_be_told(trained, cli, value):
    """Warnings of overflow are errors in these tests."""
    sql(
        trained,
        "UPDATE metrics SET value = ? WHERE metric <> 'log_likelihood' OR articles = 64",
        value,
    )
    sql(trained, "UPDATE progress SET elapsed_seconds = ?", 5e-324)
    found = read(trained)
    for _, curves in found["metrics"]:
        for curve in curves.values():
            assert np.abs(curve.values).max() <= LARGEST_DRAWN
    exported = json.loads(cli("export", "metrics", "--format", "json").out)
    assert all(np.isfinite(row["value"]) for row in exported)
    assert np.isfinite(json.loads(cli("status", "--json").out)["articles_per_hour"])
    with wikitopics.open(trained) as session:
        assert np.isfinite([each.value for each in session.metrics()]).all()


def test_what_was_predicted_has_a_finite_perplexity(trained, cli):
    sql(trained, "UPDATE progress SET prequential = ?", json.dumps([[64, 1, [-1e15]]]))
    assert "on new articles" in cli.ok("status").out


def test_of_many_metrics_the_declared_and_some_others_are_drawn(trained):
    names = [(f"m{number}" + 1000 * "\x1b<&",) for number in range(3000)]
    with contextlib.closing(sqlite3.connect(trained)) as db, db:
        db.executemany("INSERT INTO metrics SELECT 0, 64, 1, 1, ?, 0.5", names)
    found = read(trained)
    titles = [metric.title for metric, _ in found["metrics"]]
    assert {"perplexity", "npmi"} <= {metric.name for metric, _ in found["metrics"]}
    assert len(titles) <= MOST_CHARTS
    assert found["metrics_left_out"] > 2970
    assert all(title.isprintable() and len(title) < 5 * LONGEST for title in titles)


def test_of_many_topics_the_largest_are_told(trained, monkeypatch):
    monkeypatch.setattr("wikitopics.session.analysis.report.contents.MOST_TOPICS", 3)
    (model,) = read(trained)["models"]
    assert (len(model.topics), model.in_use, model.hidden) == (3, 5, 0)
    grouped = [topic.anchor for _, topics in model.groups for topic in topics]
    assert sorted(grouped) == sorted(topic.anchor for topic in model.topics)
    hide_topics(trained, "lda", [model.topics[0].row.topic], True)
    (model,) = read(trained)["models"]
    assert (len(model.topics), model.in_use, model.hidden) == (3, 5, 1)


def test_of_many_models_some_are_told(race, monkeypatch):
    monkeypatch.setattr("wikitopics.session.analysis.report.contents.MOST_MODELS", 1)
    found = read(race)
    assert len(found["models"]) == 1
    assert found["models_left_out"] >= 1
    assert all(list(curves) == [0] for _, curves in found["metrics"])


def test_reasons_for_skipping_are_harmless_and_short(trained):
    reasons = {f"{number}\x1b[31m" + 200 * "x": 1 for number in range(2000)}
    sql(trained, "UPDATE progress SET skipped = 2000, skips = ?", json.dumps(reasons))
    skips = read(trained)["skips"]
    assert skips.isprintable()
    assert len(skips) < 5 * LONGEST


def test_moments_are_spread_by_even_factors():
    points = [64 * 2**n for n in range(8)] + [10_000, 10_500, 11_000]
    assert spread(points, 20) == points
    assert spread(points, 4) == [64, 256, 2048, 11_000]


def test_without_the_extra_one_line_says_what_to_install(
    cli,
    trained,
    tmp_path,
    monkeypatch,
    one_line,
):
    def missing(package):
        raise metadata.PackageNotFoundError(package)

    monkeypatch.setattr("wikitopics.extra.metadata.distribution", missing)
    outcome = cli("report", "-o", tmp_path / "page.html")
    one_line(outcome, 2, "wikitopics: the report needs", "pip install 'wikitopics[report]'")
    assert not (tmp_path / "page.html").exists()
