"""The stream's account, and the promise that an interrupted run ends exactly as an undisturbed one."""

import contextlib
import random

import numpy as np
import pytest

from model import kinds
from session.options import KEEP_ARTICLES
from session.storage.documents import Block, Documents
from session.storage.reader import SessionReader
from session.storage.writer import SessionWriter
from session.training.intake.counts_npz import CountsFile
from session.training.stream import Stream

MODELS = {
    "lda": "lda:topics=4,batch_size=64",
    "scvb0": "scvb0:topics=5,batch_size=32",
    "hdp": "hdp:topics=8,batch_size=16",
}


def block(file, start, stop, skips=None):
    return Block(
        file.documents(start, stop), skips or {}, {"document": min(stop, len(file))}, stop / len(file)
    )


class Driver:
    """Feeds a counts file to a trainer as a run would; may drop dead between any two actions."""

    def __init__(self, path, corpus, *, limit=None, threads=(1,), chance=None):
        self.path, self.limit, self.threads = path, limit, threads
        self.file = CountsFile(corpus.counts, len(corpus.words))
        self.chance = chance
        self.deaths = 0
        self.open()

    def open(self):
        self.store = SessionWriter(self.path)
        threads = self.threads[self.deaths % len(self.threads)]
        self.trainer = Stream(self.store, article_limit=self.limit, threads=threads)
        self.next = (self.trainer.progress.position or {"document": 0})["document"]

    def die(self):
        self.store.close()
        self.deaths += 1
        self.open()

    def act(self):
        trainer = self.trainer
        if (work := trainer.work()) is not None:
            if work.on_committed:
                trainer.commit(0.0, 0)
            work.do(lambda: 0.0)
        elif self.next >= len(self.file):
            trainer.end_of_source()
        else:
            more = max(1, trainer.missing) if self.chance is None else self.chance.choice([1, 7, 50, 130])
            trainer.feed(block(self.file, self.next, self.next + more))
            self.next = min(self.next + more, len(self.file))
        progress = trainer.progress
        assert progress.crawled == (
            progress.articles + progress.held_out + progress.pending + progress.skipped
        )

    def run(self):
        while not self.trainer.done():
            self.act()
            if self.chance is not None:
                choice = self.chance.random()
                if choice < 0.3:
                    self.trainer.commit(0.0, 0)
                if choice < 0.1 or choice > 0.85:
                    self.die()
        self.trainer.finish(0.0)
        self.trainer.commit(0.0, 0)
        self.close()
        return self

    def close(self):
        self.store.close()
        self.file.close()


@contextlib.contextmanager
def reading(path):
    with SessionReader(path) as reader:
        yield reader


def account(path):
    """All that must not depend on interruptions, beside the models."""
    with reading(path) as reader:
        articles = [(a.page_id, a.words, a.role, a.topics) for a in reader.all_articles(trained_only=False)]
        status = reader.status()
        kept, counts = reader.trained_articles(), reader.word_counts()
        trained = [a[0] for a in articles if a[2] == "trained"]
        assert kept.page_ids.tolist() == (trained if reader.settings()[KEEP_ARTICLES] == "all" else [])
        assert counts.counts.sum() == status.tokens
        return {
            "proportions": [reader.proportions(name).to_bytes() for name in reader.models()],
            "word counts": counts.to_bytes(),
            "trained": [a for a in articles if a[2] == "trained"],
            "held_out": [a for a in articles if a[2] == "held_out"],
            "skipped": sorted(a for a in articles if a[2] == "skipped"),
            "metrics": reader.all_metrics(),
            "topics": [reader.topics(name) for name in reader.models()],
            "history": {name: reader.snapshots(name) for name in reader.models()},
            "events": reader.topic_events(),
            "log": [event.message for event in reader.events(10**6)],
            "counts": (status.articles, status.held_out, status.crawled, status.pending, status.skipped),
            "tokens": status.tokens,
            "state": status.state,
        }


@pytest.fixture
def sessions(tmp_path, corpus, new_session):
    """Makes the session under test: `sessions("name", …)`."""

    def make(name, **options):
        options = {"model": tuple(MODELS.values()), "held_out": 40, "seed": 5} | options
        return new_session(tmp_path / f"{name}.db", corpus, **options)

    return make


def test_interrupted_anywhere_equals_undisturbed(sessions, corpus, states, assert_same_states):
    assert set(MODELS) == set(kinds.names())
    calm = sessions("calm")
    Driver(calm, corpus).run()
    deaths = 0
    for seed in range(4):
        rough = sessions(f"rough{seed}")
        deaths += Driver(rough, corpus, threads=(1, 2), chance=random.Random(seed)).run().deaths
        assert_same_states(states(rough), states(calm))
        assert account(rough) == account(calm)
    assert deaths > 20
    assert account(calm)["state"] == "finished"


def test_a_commit_after_every_action_changes_nothing(sessions, corpus, states, assert_same_states):
    one, other = sessions("one"), sessions("other")
    Driver(one, corpus).run()
    driver = Driver(other, corpus)
    while not driver.trainer.done():
        driver.act()
        driver.trainer.commit(0.0, 0)
        if driver.next < len(driver.file):
            driver.die()
    driver.trainer.finish(0.0)
    driver.trainer.commit(0.0, 0)
    driver.close()
    assert_same_states(states(other), states(one))
    assert account(other) == account(one)


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
    with reading(often) as reader:
        assert len(reader.all_metrics()) > 20
    with reading(never) as reader:
        assert reader.all_metrics() == []
        assert reader.status().held_out == 0
        assert reader.status().models[0].perplexity is None


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
def test_the_number_of_articles_is_exact(sessions, corpus, limit):
    path = sessions("s")
    Driver(path, corpus, limit=limit).run()
    with reading(path) as reader:
        status = reader.status()
        assert status.articles == limit
        assert status.state == "finished"
        assert status.models[0].perplexity is not None
        assert reader.curve("lda", "log_likelihood").articles[-1] == limit
    Driver(path, corpus, limit=limit).run()
    assert account(path)["counts"][0] == limit


def test_the_end_of_the_source_trains_what_is_left_and_nothing_else_does(sessions, corpus):
    path = sessions("s")
    driver = Driver(path, corpus)
    for start in range(0, 700, 100):
        driver.trainer.feed(block(driver.file, start, start + 100))
        while driver.trainer.ready():
            driver.trainer.step(lambda: 0.0)
    left = driver.trainer.progress.pending
    assert 0 < left < 64
    assert not driver.trainer.done()
    driver.trainer.end_of_source()
    assert driver.trainer.ready()
    assert driver.trainer.step(lambda: 0.0) == left
    assert driver.trainer.done()
    driver.close()


def test_more_articles_can_be_asked_for_later(sessions, corpus):
    path = sessions("s")
    Driver(path, corpus, limit=100).run()
    Driver(path, corpus).run()
    assert account(path)["counts"] == (657, 40, 700, 0, 3)


def test_fewer_articles_than_held_out_train_nothing(sessions, corpus):
    path = sessions("s", held_out=5000)
    Driver(path, corpus).run()
    assert account(path)["counts"] == (0, 697, 700, 0, 3)
    assert account(path)["metrics"] == []


def test_what_the_source_skips_is_counted(sessions, corpus):
    driver = Driver(sessions("s"), corpus)
    driver.trainer.feed(block(driver.file, 0, 60, skips={"disambiguation": 9}))
    progress = driver.trainer.progress
    assert (progress.crawled, progress.skipped, progress.held_out, progress.pending) == (69, 10, 40, 19)
    driver.trainer.feed(Block(Documents.concatenate([]), {"redirect": 2}, {"document": 60}, None))
    assert (progress.crawled, progress.skipped) == (71, 12)
    assert progress.skips == {"disambiguation": 9, "no known word": 1, "redirect": 2}
    assert driver.trainer.dirty
    driver.close()


def test_held_out_articles_that_come_again_are_never_trained_on(sessions, corpus):
    """Neither in the same stretch of the stream, nor later, nor after a resume."""
    path = sessions("s", held_out=40)
    driver = Driver(path, corpus)
    first = driver.file.documents(0, 30)
    driver.trainer.feed(Block(Documents.concatenate([first, first]), {}, {"document": 30}, None))
    driver.trainer.feed(block(driver.file, 20, 60))
    progress = driver.trainer.progress
    assert (progress.held_out, progress.pending) == (40, 19)
    assert progress.skips == {"no known word": 2, "held out already": 29 + 10}
    driver.trainer.commit(0.0, 0)
    driver.die()
    driver.trainer.feed(block(driver.file, 0, 60))
    driver.trainer.end_of_source()
    driver.run()
    assert driver.trainer.progress.skips["held out already"] == 29 + 10 + 40
    found = account(path)
    assert {page for page, *_ in found["held_out"]}.isdisjoint(page for page, *_ in found["trained"])
    held_out = [page for page, *_ in found["held_out"]]
    assert len(held_out) == len(set(held_out)) == 40


def test_nothing_new_means_nothing_to_commit(sessions, corpus):
    driver = Driver(sessions("s"), corpus)
    assert not driver.trainer.dirty
    driver.act()
    assert driver.trainer.dirty
    driver.trainer.commit(0.0, 0)
    assert not driver.trainer.dirty
    driver.close()


def test_pending_counts_wait_in_the_file(sessions, corpus):
    driver = Driver(sessions("s"), corpus)
    driver.trainer.feed(block(driver.file, 0, 90))
    assert not driver.trainer.ready()
    driver.trainer.commit(0.0, 0)
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


@pytest.mark.parametrize("keep", ["top", "none"])
def test_articles_kept_depend_on_no_commit_and_change_no_model(
    sessions, corpus, keep, states, assert_same_states, monkeypatch
):
    monkeypatch.setattr("session.training.schedule.DROPPED_EVERY", 300)
    monkeypatch.setattr("session.storage.writer.TOP_ARTICLES", 3)
    monkeypatch.setattr("session.training.stream.renewal_due", lambda before, after: before < 256 <= after)
    everything, calm = sessions("all"), sessions("calm", keep_articles=keep)
    Driver(everything, corpus).run()
    Driver(calm, corpus).run()
    for seed in range(3):
        rough = sessions(f"rough{seed}", keep_articles=keep)
        Driver(rough, corpus, chance=random.Random(seed)).run()
        assert_same_states(states(rough), states(everything))
        assert account(rough) == account(calm)
    for same in ("counts", "metrics"):
        assert account(calm)[same] == account(everything)[same]
    assert len(account(calm)["trained"]) < len(account(everything)["trained"])
    assert (account(calm)["trained"] == []) == (keep == "none")


def test_of_many_articles_only_the_best_of_each_topic_stay_in_between(
    tmp_path, corpus_of, new_session, monkeypatch
):
    monkeypatch.setattr("session.training.schedule.DROPPED_EVERY", 400)
    monkeypatch.setattr("session.storage.writer.TOP_ARTICLES", 3)
    many = corpus_of(740)
    path = new_session(tmp_path / "s.db", many, model=(MODELS["lda"],), held_out=40, keep_articles="top")
    driver, kept = Driver(path, many), []
    while driver.trainer.progress.articles < 700:
        driver.act()
        driver.trainer.commit(0.0, 0)
        kept.append((driver.trainer.progress.articles, len(account(path)["trained"])))
    driver.close()
    best = 3 * driver.trainer.models[0].n_topics
    assert next(rows for articles, rows in kept if articles >= 200) <= best
    assert max(rows for articles, rows in kept if articles < 200) > best
    assert next(rows for articles, rows in kept if articles >= 600) <= best


def test_old_articles_end_up_as_in_an_undisturbed_run(
    tmp_path, corpus_of, new_session, states, assert_same_states, monkeypatch
):
    monkeypatch.setattr("session.training.stream.RENEWED_TOGETHER", 100)
    monkeypatch.setattr("session.storage.articles.RECENT_ARTICLES", 700)
    many = corpus_of(1500, empty=range(100, 1400, 3))
    models = (MODELS["lda"], MODELS["scvb0"])
    calm = new_session(tmp_path / "calm.db", many, model=models, held_out=40)
    Driver(calm, many).run()
    deaths = 0
    for seed in range(3):
        rough = new_session(tmp_path / f"rough{seed}.db", many, model=models, held_out=40)
        deaths += Driver(rough, many, chance=random.Random(seed)).run().deaths
        assert_same_states(states(rough), states(calm))
        assert account(rough) == account(calm)
    assert deaths > 20


def test_the_newest_articles_are_looked_at_again_each_time_the_stream_has_doubled(
    tmp_path, corpus_of, new_session
):
    many = corpus_of(1200)
    path = new_session(tmp_path / "s.db", many, model=(MODELS["lda"],), held_out=40)
    driver = Driver(path, many)
    found = []
    while not driver.trainer.done():
        before = driver.trainer.renewing, driver.trainer.progress.articles
        driver.act()
        if before[0]:
            found.append(before[1])
    driver.close()
    assert found == [1024] * 3
