"""The last reading: the user's own documents as the finished models infer them."""

import contextlib
import random

import numpy as np
import pytest

from tests.session.rows import recorded_proportions, sql
from tests.session.training.driving import MODELS, Driver, account
from wikitopics.session.analysis.inference import saved_model
from wikitopics.session.errors import Damaged
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.stream import Stream

AGREE = 0.02
"""The largest total variation between what is stored and what the model infers."""


def differences(path, model):
    """Of each trained document, how far what is stored is from what the finished model infers."""
    with SessionReader(path) as reader:
        stored = recorded_proportions(reader, model)
        rows = reader.trained_rows()
        parts = [reader.counted_documents(first, articles) for first, articles in rows]
        finished = saved_model(reader, model)
        pages = np.concatenate([part.page_ids for part in parts])
        assert pages.tolist() == reader.recorded_articles().page_ids.tolist()
    batches = [part.minibatch() for part in parts]
    inferred = np.concatenate([finished.infer(batch) for batch in batches])
    theta = np.zeros_like(inferred)
    row_of = np.repeat(np.arange(len(stored)), stored.lengths)
    theta[row_of, stored.topics] = stored.values()
    assert (theta.argmax(axis=1) == inferred.argmax(axis=1)).mean() > 0.995
    return np.abs(theta - inferred).sum(axis=1) / 2


@pytest.mark.parametrize("passes", [1, 3])
def test_what_is_stored_is_what_the_finished_models_infer(sessions, corpus, passes):
    path = sessions("s", passes=passes)
    Driver(path, corpus).run()
    for model in MODELS:
        assert differences(path, model).max() < AGREE
    with SessionReader(path) as reader:
        assert (reader.progress().lap, reader.progress().renew_from) == (1.0, None)


def test_a_stop_at_a_limit_reads_what_was_learnt_and_going_on_reads_all(sessions, corpus):
    path = sessions("s", passes=1)
    Driver(path, corpus, limit=300).run()
    assert len(differences(path, "lda")) == 300
    assert differences(path, "lda").max() < AGREE
    with SessionReader(path) as reader:
        assert reader.progress().lap < 0.5
    Driver(path, corpus).run()
    assert len(differences(path, "lda")) == 657
    assert differences(path, "lda").max() < AGREE


def test_it_is_the_last_stretch_of_the_lap(sessions, corpus, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.renewal.READ_TOGETHER", 100)
    driver = Driver(sessions("s", passes=2, model=(MODELS["lda"],)), corpus)
    laps = []
    while not driver.trainer.done():
        driver.act()
        laps.append((driver.trainer.progress.in_last_reading, driver.trainer.progress.lap))
    driver.close()
    last = [lap for in_last_reading, lap in laps if in_last_reading]
    assert len(last) > 3
    unfinished = [lap for lap in last if lap < 1]
    assert unfinished == sorted(set(unfinished))
    # After it, articles get their places on the map.
    assert set(last[len(unfinished) :]) == {1}
    before = [lap for in_last_reading, lap in laps if not in_last_reading and lap is not None]
    assert max(before) == pytest.approx(2 / 2.1)


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("keep", ["all", "top"])
def test_interrupted_in_the_last_reading_equals_undisturbed(
    sessions, corpus, states, monkeypatch, passes, keep
):
    monkeypatch.setattr("wikitopics.session.training.renewal.READ_TOGETHER", 100)
    monkeypatch.setattr("wikitopics.session.storage.writer.TOP_ARTICLES", 3)
    options = {"passes": passes, "keep_articles": keep}
    calm = sessions("calm", **options)
    Driver(calm, corpus).run()
    rough = sessions("rough", **options)
    driver = Driver(rough, corpus, threads=(1, 2))
    chance = random.Random(passes)
    deaths = 0
    while not driver.trainer.done():
        before = driver.trainer.progress.renew_from
        driver.act()
        progress = driver.trainer.progress
        if progress.in_last_reading and progress.renew_from != before:
            if chance.random() < 0.6:
                driver.trainer.commit(0.0, 0)
            driver.die()
            deaths += 1
    driver.run()
    assert deaths > 5
    assert states(rough) == states(calm)
    assert account(rough) == account(calm)


def test_more_learning_begins_it_anew(sessions, corpus, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.renewal.READ_TOGETHER", 100)
    path = sessions("s", passes=1)
    driver = Driver(path, corpus, limit=400)
    while not driver.trainer.progress.in_last_reading:
        driver.act()
    driver.trainer.commit(0.0, 0)
    driver.close()
    Driver(path, corpus).run()
    for model in MODELS:
        assert differences(path, model).max() < AGREE


def test_a_session_that_keeps_no_articles_reads_nothing_once_more(sessions, corpus):
    path = sessions("s", passes=2, keep_articles="none")
    trainer = Driver(path, corpus).run().trainer
    assert trainer.progress.lap == 1
    with SessionReader(path) as reader:
        assert reader.progress().finished


def test_without_kept_counts_the_newest_documents_are_read_once_more(sessions, corpus):
    """A session over one pass that an earlier version began."""
    path = sessions("s", passes=1)
    sql(path, "UPDATE settings SET value = 'false' WHERE key = 'keep_counts'")
    Driver(path, corpus).run()
    with SessionReader(path) as reader:
        assert not reader.settings().keeps_counts
    assert differences(path, "scvb0").max() < AGREE


def test_a_last_reading_where_there_is_none_is_damage(sessions, corpus):
    path = sessions("s", passes=2, keep_articles="none")
    Driver(path, corpus, limit=300).run()
    sql(path, "UPDATE progress SET renew_from = -5")
    store = SessionWriter(path)
    with contextlib.closing(store), pytest.raises(Damaged, match="renew_from"):
        Stream(store, article_limit=None, threads=1)
