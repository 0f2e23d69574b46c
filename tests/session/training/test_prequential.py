"""Articles scored before they are trained: over the newest of them, through every interruption."""

import pytest

from tests.session.training.driving import MODELS, Driver
from wikitopics.model import Minibatch, kinds
from wikitopics.model.checking import planted_documents
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.settings import Progress, Scored
from wikitopics.session.training.measuring import SAMPLE, latest_of_each, scored

METRIC = "prequential_log_likelihood"
FORGETTING = tuple(f"{spec},half_life=300" for spec in MODELS.values())


def measured(path):
    with SessionReader(path) as reader:
        rows = reader.all_metrics()
    return {(model, articles): value for model, articles, _, _, metric, value in rows if metric == METRIC}


def test_interrupted_anywhere_equals_undisturbed(undisturbed):
    calm = undisturbed(seeds=1, model=FORGETTING)
    with SessionReader(calm) as reader:
        points = {articles for _, articles, _, _, metric, _ in reader.all_metrics() if metric == "npmi"}
    assert measured(calm).keys() == {(name, count) for name in MODELS for count in points}


def test_all_models_are_scored_where_one_forgets(sessions, corpus):
    path = sessions("one", model=("lda:topics=3,batch_size=64", "scvb0:topics=3,batch_size=64,half_life=300"))
    Driver(path, corpus).run()
    assert {model for model, _ in measured(path)} == {"lda", "scvb0"}


def test_without_a_half_life_nothing_is_recorded(sessions, corpus):
    path = sessions("plain")
    driver = Driver(path, corpus).run()
    assert driver.trainer.progress.prequential == ()
    assert measured(path) == {}


@pytest.mark.parametrize("kind", kinds.built_in)
def test_scoring_changes_no_model(kind):
    batch = planted_documents(100)
    model = kinds.load(kind).create(4, 40, 1000)
    model.learn(batch[:50])
    before = model.state()
    found = scored([model], batch, 3)
    assert found.articles == batch.D
    assert found.nats[0] < 0 < found.words
    after = model.state()
    assert all(
        (before[key] == after[key])
        if isinstance(before[key], float | int | str)
        else (before[key] == after[key]).all()
        for key in before
    )


def test_the_window_is_the_fewest_minibatches_of_a_thousand_articles():
    window = ()
    for _ in range(40):
        window = latest_of_each(window, Scored(64, 10, (-70.0, -80.0)))
    assert sum(one.articles for one in window) == 1024
    assert Progress(prequential=window).predicted(1) == pytest.approx(-8.0)
    assert latest_of_each(window, Scored(1024, 5, (-1.0, -1.0))) == (Scored(1024, 5, (-1.0, -1.0)),)


def test_there_is_no_mean_of_nothing():
    nothing = Minibatch([0, 0], [], [])
    model = kinds.load("lda").create(4, 40, 1000)
    assert Progress().predicted(0) is None
    assert Progress(prequential=(scored([model], nothing, 0),)).predicted(0) is None


def test_a_sample_of_a_large_minibatch_is_scored(monkeypatch):
    sizes = []
    monkeypatch.setattr(
        "wikitopics.session.training.measuring.CompletionSet",
        lambda documents, seed: sizes.append(documents.D) or type("", (), {"hidden": documents})(),
    )
    scored([], Minibatch(range(0, 2049, 2), [0, 1] * 1024, [1] * 2048), 0)
    assert sizes == [SAMPLE]
