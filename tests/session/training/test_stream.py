"""The stream's account, and the promise that an interrupted run ends exactly as an undisturbed one."""

from dataclasses import replace

import numpy as np
import pytest

from tests.session.training.driving import MODELS, Driver, account, block
from wikitopics.model import kinds
from wikitopics.session.storage.counts import Block
from wikitopics.session.storage.reader import SessionReader


def test_interrupted_anywhere_equals_undisturbed(undisturbed):
    assert set(MODELS) == set(kinds.names())
    assert account(undisturbed(seeds=4))["state"] == "finished"


def test_models_side_by_side_are_the_models_alone(sessions, corpus, states, assert_same_states):
    together = sessions("together")
    Driver(together, corpus).run()
    for place, (kind, spec) in enumerate(MODELS.items()):
        # The session's minibatches are those of the largest batch size: give it to a second model.
        models = (spec,) if kind == "lda" else (spec, "lda:name=large,topics=2,batch_size=64")
        alone = sessions(kind, model=models)
        Driver(alone, corpus).run()
        assert_same_states(states(alone)[:1], states(together)[place : place + 1])


def test_measuring_changes_no_model(sessions, corpus, states, assert_same_states):
    often, never = sessions("often", documents=700), sessions("never", documents=700, held_out=0)
    Driver(often, corpus, limit=600).run()
    driver = Driver(never, corpus, limit=600)
    driver.next = 41  # behind those that the other one holds out, and an empty one
    driver.run()
    assert_same_states(states(never), states(often))
    with SessionReader(often) as reader:
        assert len(reader.all_metrics()) > 20
    with SessionReader(never) as reader:
        assert reader.all_metrics() == []
        assert reader.status().held_out == 0
        assert reader.status().models[0].perplexity is None


def test_the_next_measurement_is_named_once_the_last_one_is_saved(sessions, corpus):
    driver = Driver(sessions("s"), corpus)
    while not driver.trainer.measures_next or driver.trainer.work() is None:
        driver.act()
    due = driver.trainer.next_measurement
    driver.act()
    assert driver.trainer.measured.articles == driver.trainer.next_measurement == due
    driver.trainer.commit(0.0, 0)
    assert driver.trainer.next_measurement > due
    driver.close()


def test_every_article_has_one_place_and_held_out_ones_are_never_trained(sessions, corpus):
    path = sessions("s", held_out=40)
    Driver(path, corpus).run()
    found = account(path)
    trained = [page for page, *_ in found["trained"]]
    held_out = [page for page, *_ in found["held_out"]]
    skipped = [page for page, *_ in found["skipped"]]
    assert skipped == [3, 200, 699]
    assert held_out == [page for page in range(41) if page != 3]
    assert trained == [page for page in range(41, 699) if page != 200]
    assert found["counts"] == (657, 40, 700, 0, 3)
    lengths = np.add.reduceat(
        np.append(corpus.numbers, 0), np.minimum(corpus.indptr[:-1], len(corpus.numbers))
    )
    assert found["tokens"] == sum(int(lengths[page]) for page in trained)


@pytest.mark.parametrize("limit", [1, 63, 64, 65, 129, 500, 656, 657])
def test_the_number_of_articles_is_exact_and_more_can_be_asked_for_later(sessions, corpus, limit):
    path = sessions("s")
    Driver(path, corpus, limit=limit).run()
    with SessionReader(path) as reader:
        status = reader.status()
        assert status.articles == limit
        assert status.state == "finished"
        assert status.models[0].perplexity is not None
        assert reader.curve("lda", "log_likelihood").articles[-1] == limit
    Driver(path, corpus, limit=limit).run()
    assert account(path)["counts"][0] == limit
    Driver(path, corpus).run()
    assert account(path)["counts"] == (657, 40, 700, 0, 3)


def test_a_session_has_not_finished_before_its_end_is_measured(sessions, corpus):
    path = sessions("s")
    driver = Driver(path, corpus)
    while not driver.trainer.done():
        driver.act()
    driver.trainer.commit(0.0, 0)
    with SessionReader(path) as reader:
        assert reader.status().articles == 657
        assert reader.status().state != "finished"
    driver.trainer.finish(0.0)
    driver.trainer.commit(0.0, 0)
    with SessionReader(path) as reader:
        assert reader.status().state == "finished"
        assert reader.curve("lda", "log_likelihood").articles[-1] == 657
    driver.close()


def test_fewer_articles_than_held_out_train_nothing(sessions, corpus):
    path = sessions("s", held_out=5000)
    Driver(path, corpus).run()
    assert account(path)["counts"] == (0, 697, 700, 0, 3)
    assert account(path)["metrics"] == []


def test_held_out_articles_that_come_again_are_never_trained_on(sessions, corpus):
    """Neither in the same stretch of the stream, nor later, nor after a resume."""
    path = sessions("s", held_out=40)
    driver = Driver(path, corpus)
    first = driver.file.documents(0, 30)
    driver.trainer.feed(replace(Block.concatenate([first, first]), position={"document": 30}))
    driver.trainer.feed(block(driver.file, 20, 60))
    progress = driver.trainer.progress
    assert (progress.held_out, progress.pending) == (40, 19)
    assert progress.skips == {"no known word": 2, "already held out": 29 + 10}
    driver.trainer.commit(0.0, 0)
    driver.die()
    driver.trainer.feed(block(driver.file, 0, 60))
    driver.trainer.end_of_source()
    driver.run()
    assert driver.trainer.progress.skips["already held out"] == 29 + 10 + 40
    found = account(path)
    assert {page for page, *_ in found["held_out"]}.isdisjoint(page for page, *_ in found["trained"])
    held_out = [page for page, *_ in found["held_out"]]
    assert len(held_out) == len(set(held_out)) == 40


def test_pending_counts_wait_in_the_file(sessions, corpus):
    driver = Driver(sessions("s"), corpus)
    assert not driver.trainer.dirty
    driver.trainer.feed(block(driver.file, 0, 90))
    assert not driver.trainer.ready()
    assert driver.trainer.dirty
    driver.trainer.commit(0.0, 0)
    assert not driver.trainer.dirty
    driver.die()
    assert driver.trainer.progress.pending == 49
    assert driver.trainer.missing == 64 - 49
    assert driver.next == 90
    driver.close()


def test_a_step_that_came_to_no_end_leaves_no_trace(sessions, corpus, states, assert_same_states):
    calm, rough = sessions("calm"), sessions("rough")
    Driver(calm, corpus).run()
    driver = Driver(rough, corpus)
    for start in range(0, 300, 50):
        driver.trainer.feed(block(driver.file, start, start + 50))
        driver.next = start + 50
        if start == 100:
            driver.trainer.commit(0.0, 0)
    given_up = driver.trainer
    given_up.step(lambda: 0.0)
    given_up.models[1].learn = None
    with pytest.raises(TypeError):
        given_up.step(lambda: 0.0)
    driver.trainer = given_up.as_committed()
    progress = driver.trainer.progress
    assert (progress.articles, progress.pending, progress.crawled) == (0, 300 - 40 - 2, 300)
    driver.trainer.commit(0.0, 0)
    driver.die()
    driver.run()
    assert_same_states(states(rough), states(calm))
    assert account(rough) == account(calm)
