"""A metric is declared once: what a kind of somebody else's measures is exported and can be
drawn."""

import asyncio

import numpy as np
import pytest

from wikitopics.model import KindError, Minibatch, OnlineLDA, check_model, kinds
from wikitopics.model.coherence import Cooccurrences
from wikitopics.session.analysis.quality import metrics_of
from wikitopics.session.metrics import METRICS, OF_STREAM, OF_TOPICS, SCORES, Evaluation
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.curves import drawing, title
from wikitopics.tui.follow import Follower
from wikitopics.tui.session_view import Choice

SURPRISED = """
from wikitopics.model import Metric
from wikitopics_unigrams import MixtureOfUnigrams

class Kind(MixtureOfUnigrams):
    kind = "surprised"
    metrics = (Metric("surprise", "Surprise at {held_out}", "how little it knew", better="lower"),)

    def own_metrics(self, batch):
        return {"surprise": 1.0 / (1 + self.updates), "perplexity": -1.0}
"""


@pytest.fixture
def surprised(unigrams, install, cli, corpus):
    """A session of that kind, and of lda."""
    install(SURPRISED, "wikitopics.models", surprised="surprised_models:Kind")
    models = ["--model", "lda:topics=3", "--model", "surprised:topics=3"]
    small = ["--batch-size", 64, "--held-out", 20, "--articles", 256]
    cli.ok("train", *corpus.options(), *models, *small)


def exported(cli):
    """The last value of each metric of each model."""
    return {(row["model"], row["metric"]): row["value"] for row in cli.rows("metrics")}


def drawn(path, metric):
    """The names of all metrics, the title of the chart, and the names of its lines."""

    async def session_view():
        follower = Follower(path)
        try:
            return await follower.read_session([metric])
        finally:
            follower.close()

    session = asyncio.run(session_view())
    choice = Choice(metric=metric)
    names = [each.name for each in session.metrics]
    lines = [series.name for series in drawing(session, choice, "articles").series]
    return names, title(session, choice, "articles"), lines


def test_a_metric_of_another_packages_kind(surprised, cli, home):
    values = exported(cli)
    assert 0 < values["surprised", "surprise"] < 1
    assert values["surprised", "perplexity"] > 1, "ours is not to be replaced"
    assert ("lda", "surprise") not in values
    names, heading, lines = drawn(home / "default.db", "surprise")
    scores = [metric.name for metric in SCORES]
    of_topics = [metric.name for metric in OF_TOPICS]
    assert names == [*scores, "bound_perplexity", "surprise", *of_topics]
    assert heading == "Surprise at 20 held-out documents"
    assert lines == ["surprised"]


def test_what_a_kind_measured_that_is_gone(surprised, cli, home, monkeypatch):
    def gone(self, name):
        raise KindError("not installed")

    monkeypatch.setattr("wikitopics.registry.Registry.load", gone)
    assert ("surprised", "surprise") in exported(cli)
    names, heading, lines = drawn(home / "default.db", "surprise")
    assert (names[-1], heading, lines) == ("surprise", "Surprise", ["surprised"])


def test_what_is_declared_is_measured(surprised, cli, home):
    declared = {metric.name for metric in METRICS if metric not in OF_STREAM}
    of_lda = {name for model, name in exported(cli) if model == "lda"}
    assert of_lda == declared | {"bound_perplexity"}
    with SessionReader(home / "default.db") as reader:
        assert {metric.name for metric in metrics_of(reader)} == {name for _, name in exported(cli)}
    help = " ".join(cli("export", "--help").out.split())
    assert all(f"{metric.name} {metric.help}" in help for metric in METRICS)


def test_a_kind_declares_what_it_measures(unigrams, install):
    source = SURPRISED.replace('"surprise", "Surprise', '"other", "Surprise')
    install(source, "wikitopics.models", surprised="surprised_models:Kind")
    with pytest.raises(AssertionError, match="to declare 'surprise'"):
        check_model(kinds.load("surprised"))


def test_coherence_is_the_mean_of_the_topics_in_use():
    (npmi,) = (metric for metric in OF_TOPICS if metric.name == "npmi")
    topics = np.kron(np.eye(2), np.full(10, 0.1))  # of ten words each
    first_words = np.arange(10)
    together = Minibatch([0, 10, 11], [*first_words, 10], np.ones(11))

    def coherence(*weights):
        model = OnlineLDA.with_topics(topics, np.array(weights), np.ones(2))
        return npmi.measure(Evaluation(model, Cooccurrences(together), log_likelihood=-7.0))

    assert coherence(1e6, 1e6) == pytest.approx(0)
    assert coherence(1e6, 1.0) == pytest.approx(1), "the other topic has no words"
