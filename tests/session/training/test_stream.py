"""The stream's account, its passes and the articles that stay; interrupted, it ends as an
undisturbed one."""

import contextlib
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.session.memory import status
from tests.session.rows import recorded_proportions, sql
from tests.session.training.driving import MODELS, Driver, account, block
from wikitopics.model import OnlineLDA, kinds, rotation
from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.records import Progress
from wikitopics.session.storage import decoding
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.database import connect
from wikitopics.session.storage.proportions import Proportions
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.account import Account
from wikitopics.session.training.counts_file import CountsFile
from wikitopics.session.training.stream import Stream


def test_interrupted_anywhere_equals_undisturbed(undisturbed):
    assert set(MODELS) == set(kinds.names())
    assert account(undisturbed(seeds=4))["state"] == "finished"


def test_holding_out_copies_no_article_for_each_later_block(sessions, corpus, monkeypatch):
    driver = Driver(sessions("s", held_out=400), corpus)
    copied = []
    concatenate = Block.concatenate

    def counted(parts):
        copied.append(sum(map(len, parts)))
        return concatenate(parts)

    monkeypatch.setattr(Block, "concatenate", counted)
    for start in range(0, 400, 5):
        driver.trainer.feed(block(driver.file, start, start + 5))
        driver.trainer.commit(0.0, 0)
    held_out = driver.trainer._account.held_out
    read = block(driver.file, 0, 400)
    driver.close()
    expected, _ = read.split(read.has_words)
    assert sum(copied) == len(held_out) == len(expected)
    for name in ("page_ids", "indptr", "word_ids", "counts"):
        stored = getattr(held_out, name)
        as_read = getattr(expected, name)
        assert np.array_equal(stored, as_read)
        assert stored.dtype == as_read.dtype


def test_models_side_by_side_are_the_models_alone(sessions, corpus, states):
    together = sessions("together")
    Driver(together, corpus).run()
    for place, (kind, spec) in enumerate(MODELS.items()):
        # The session's minibatches are those of the largest batch size: give it to a second model.
        models = (spec,) if kind == "lda" else (spec, "lda:name=large,topics=2,batch_size=64")
        alone = sessions(kind, model=models)
        Driver(alone, corpus).run()
        assert states(alone)[:1] == states(together)[place : place + 1]


def test_replicas_change_no_model_and_are_listed_nowhere(sessions, corpus, states):
    without = sessions("without")
    replicated = sessions("replicated", replicas=2)
    for path in (without, replicated):
        Driver(path, corpus).run()
    all_states = states(replicated)
    n_models = len(MODELS)
    assert all_states[:n_models] == states(without)
    assert len(all_states) == 3 * n_models
    assert len({str(state) for state in all_states}) == 3 * n_models  # no two alike
    with SessionReader(without) as reader, SessionReader(replicated) as other:
        assert reader.models() == other.models() == list(MODELS)
        assert len(other.status().models) == n_models
        assert other.status().replicas == 2
        for name in MODELS:
            assert [row.found for row in reader.topics(name)] == [None] * len(reader.topics(name))
            assert {row.found for row in other.topics(name)} <= {0.0, 0.5, 1.0}
        assert reader.all_metrics() == other.all_metrics()


def test_the_first_documents_are_stored_once_for_a_model_and_its_replicas(sessions, corpus):
    path = sessions("one", model=(MODELS["lda"],), replicas=2, documents=10**6)
    Driver(path, corpus).run()
    model, *replicas = sql(path, "SELECT length(arrays) FROM models ORDER BY id")
    with SessionReader(path) as reader:
        first = reader.model_state("lda")
        assert len(first["first_indptr"]) == 1 + reader.progress().articles
        first_bytes = sum(
            first[f"first_{name}"].nbytes for name in ("indptr", "word_ids", "counts")
        )
        for number, (size,) in enumerate(replicas, start=1):
            assert size < model[0] - first_bytes
            state = reader.model_state("lda", number)
            assert np.array_equal(state["first_word_ids"], first["first_word_ids"])


def test_a_commit_asks_each_model_and_each_replica_for_its_state_once(
    sessions, corpus, monkeypatch
):
    driver = Driver(sessions("s", replicas=2), corpus)
    asked = []
    for kind in map(kinds.load, MODELS):

        def state(model, of_kind=kind.state):
            asked.append(id(model))
            return of_kind(model)

        monkeypatch.setattr(kind, "state", state)
    while not driver.trainer.progress.articles:
        driver.act()
    driver.trainer.commit(0.0, 0)
    assert len(asked) == len(set(asked)) == 3 * len(MODELS)
    driver.close()


def test_interrupted_anywhere_replicas_equal_undisturbed_ones(undisturbed):
    with SessionReader(undisturbed(seeds=2, replicas=2, passes=2)) as reader:
        assert max(row.found for row in reader.topics("lda")) > 0


@pytest.fixture
def starting_over(monkeypatch):
    """Topics start over half way, however few the documents are, and after the first map."""
    monkeypatch.setattr("wikitopics.session.training.charting.FIRST", 64)
    monkeypatch.setattr("wikitopics.model.allocation.ROTATED_TEXTS", 100)
    monkeypatch.setattr(
        "wikitopics.model.schedules.WarmStart.rotated_at",
        lambda recipe, in_all, n_topics, rereads_later: in_all / 2,
    )


def test_that_topics_start_over_is_told_once_wherever_a_trainer_stopped(undisturbed, starting_over):
    path = undisturbed(seeds=3, replicas=1, documents=657)
    with SessionReader(path) as reader:
        starts = [event for event in reader.topic_events() if event.event == "started_over"]
        assert [event.model for event in starts] == ["lda", "scvb0"]
        for event in starts:
            start = reader.started_over_at(event.model)
            assert start == event.articles
            assert 320 <= start <= 400
            assert reader.started_over_at(event.model, start - 1) == 0
            assert start in reader.snapshots(event.model)
            since = {row.since for row in reader.topics(event.model)}
            assert since == {start}, "trends begin there"
            shares = [row.share for row in reader.topics(event.model, as_of=start)]
            assert shares.index(max(shares)) == event.topic
        told = [one.message for one in reader.events() if "started over" in one.message]
        assert told[0].startswith(f"lda at {starts[0].articles:,} documents: all topics started")
        assert len(told) == 2
        assert reader.started_over_at("hdp") == 0


def test_topics_that_start_over_are_told_of_while_they_do_and_meet_anew(
    sessions, corpus, starting_over, monkeypatch
):
    driver = Driver(sessions("s", replicas=1, model=(MODELS["lda"],), documents=657), corpus)
    seen = []

    def first_topics(texts, *rest):
        seen.append(driver.trainer.starting_over)
        return find(texts, *rest)

    find = rotation.first_topics
    monkeypatch.setattr(rotation, "first_topics", first_topics)
    documents = {}
    while not driver.trainer.done():
        driver.act()
        trainer = driver.trainer
        documents[trainer.progress.articles] = trainer._curves.meetings[0].documents
        assert not trainer.starting_over or trainer.progress.articles == trainer._curves.kept_at
    driver.trainer.commit(0.0, 0)
    with SessionReader(driver.path) as reader:
        start = reader.started_over_at("lda")
    assert seen == [start, start]
    assert documents[start] == pytest.approx(64)  # those of the last minibatch
    driver.close()


def test_stored_topics_are_inferred_again_even_if_topics_start_over_in_the_last_minibatch(
    sessions, corpus, starting_over
):
    options = {"model": (MODELS["lda"],), "documents": 657, "keep_articles": "top"}
    longer = sessions("longer", **options)
    Driver(longer, corpus).run()
    with SessionReader(longer) as reader:
        start = reader.started_over_at("lda")
    path = sessions("s", **options)
    Driver(path, corpus, limit=start).run()
    with SessionReader(path) as reader:
        assert reader.started_over_at("lda") == reader.progress().articles == start
        assert reader.progress().finished
        assert not reader.progress().stale


def test_all_stored_topics_are_inferred_again_when_topics_start_over(
    sessions, corpus, starting_over, monkeypatch
):
    monkeypatch.setattr("wikitopics.session.storage.articles.RECENT_ARTICLES", 64)
    driver = Driver(sessions("s", model=(MODELS["lda"],), documents=657), corpus)
    while not driver.trainer.progress.stale:
        driver.act()
        driver.trainer.commit(0.0, 0)
    driver.die()  # what is left to do is known after an interruption
    assert driver.trainer.progress.stale
    articles = driver.trainer.progress.articles
    with SessionReader(driver.path) as reader:
        seqs, documents = reader.recent(0, 10**6, articles)
    assert len(seqs) == articles > 64
    driver.act()
    assert not driver.trainer.progress.stale
    driver.trainer.commit(0.0, 0)
    with SessionReader(driver.path) as reader:
        stored = recorded_proportions(reader, "lda")
        assert len(reader.recent(0, 10**6, articles)[0]) < articles
    (model,) = driver.trainer.models
    now = Proportions.of(model.local_proportions(documents.minibatch()))
    assert stored.to_bytes() == now.to_bytes()
    driver.close()


def test_measuring_changes_no_model(sessions, corpus, states):
    often = sessions("often", documents=700)
    never = sessions("never", documents=700, held_out=0)
    Driver(often, corpus, limit=600).run()
    driver = Driver(never, corpus, limit=600)
    driver.next = 41  # behind those that the other one holds out, and an empty one
    driver.run()
    assert states(never) == states(often)
    with SessionReader(often) as reader:
        assert len(reader.all_metrics()) > 20
    with SessionReader(never) as reader:
        assert (reader.all_metrics(), reader.status().held_out) == ([], 0)
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


def test_no_measurement_is_named_beyond_the_end_of_the_source(sessions, corpus):
    driver = Driver(sessions("s"), corpus, limit=10_000)
    named = []
    while not driver.trainer.done():
        driver.act()
        driver.trainer.commit(0.0, 0)
        named.append(driver.trainer.next_measurement)
        if driver.trainer._source_ended:
            break
    last = named.pop()
    to_come = driver.trainer.progress.articles + driver.trainer.progress.pending
    assert driver.trainer.progress.pending, "the last minibatch is short"
    assert last == to_come, "the models are measured at the end"
    assert {number for number in named if number} >= {64, 128}
    assert all(number is None or number < to_come for number in named)
    while not driver.trainer.done():
        driver.act()
    driver.trainer.commit(0.0, 0)
    assert driver.trainer.next_measurement is None
    driver.close()


def test_every_article_has_one_place_and_held_out_ones_are_never_trained(sessions, corpus):
    path = sessions("s", held_out=40)
    Driver(path, corpus).run()
    found = account(path)
    trained = [page for page, *_ in found["trained"]]
    held_out = [page for page, *_ in found["held_out"]]
    assert [page for page, *_ in found["skipped"]] == [3, 200, 699]
    assert held_out == [page for page in range(41) if page != 3]
    assert trained == [page for page in range(41, 699) if page != 200]
    assert found["counts"] == (657, 40, 700, 0, 3)
    lengths = np.add.reduceat(
        np.append(corpus.numbers, 0), np.minimum(corpus.indptr[:-1], len(corpus.numbers))
    )
    assert found["tokens"] == sum(int(lengths[page]) for page in trained)


@pytest.mark.parametrize(
    ("passes", "limit"),
    [
        *((1, n) for n in (1, 63, 64, 65, 129, 500, 656, 657)),
        *((3, n) for n in (100, 657, 658, 1000, 1971)),
    ],
)
def test_the_number_of_readings_is_exact_and_more_can_be_asked_for_later(
    sessions,
    corpus,
    passes,
    limit,
):
    path = sessions("s", passes=passes)
    Driver(path, corpus, limit=limit).run()
    with SessionReader(path) as reader:
        now = reader.status()
        assert (now.articles, now.state) == (limit, "finished")
        assert now.models[0].perplexity is not None
        assert reader.curve("lda", "log_likelihood").articles[-1] == limit
    Driver(path, corpus, limit=limit).run()
    assert account(path)["counts"][0] == limit
    Driver(path, corpus, limit=5000).run()
    assert account(path)["counts"] == (passes * 657, 40, passes * 657 + 43, 0, 3)


def test_a_session_has_not_finished_before_its_end_is_measured(sessions, corpus):
    path = sessions("s")
    driver = Driver(path, corpus)
    while not driver.trainer.done():
        driver.act()
    driver.trainer.commit(0.0, 0)
    now = status(path)
    assert (now.articles, now.state != "finished") == (657, True)
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
    assert {page for page, *_ in found["held_out"]}.isdisjoint(
        page for page, *_ in found["trained"]
    )
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
    assert (driver.trainer.progress.pending, driver.trainer.missing, driver.next) == (
        49,
        64 - 49,
        90,
    )
    driver.close()


def test_a_step_that_came_to_no_end_leaves_no_trace(sessions, corpus, states):
    calm = sessions("calm")
    rough = sessions("rough")
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
    assert states(rough) == states(calm)
    assert account(rough) == account(calm)


@pytest.fixture
def renewed_at_256(monkeypatch):
    """What was inferred is inferred anew once only: after 256 articles."""
    rule = "wikitopics.session.training.schedule.renewal_due"
    monkeypatch.setattr(rule, lambda before, after: before < 256 <= after)


@pytest.fixture
def readings(monkeypatch):
    """The page ids of all documents that were trained, in order."""
    minibatches = []
    step = Stream.step
    take = Account.take
    reread = Stream._reread

    def noting_step(self, elapsed):
        minibatches.append([])
        return step(self, elapsed)

    def noting_take(self, size):
        fresh = take(self, size)
        minibatches[-1] += fresh.page_ids.tolist()
        return fresh

    def noting_reread(self, number, rest):
        seqs, again = reread(self, number, rest)
        minibatches[-1] += again.page_ids.tolist()
        return seqs, again

    monkeypatch.setattr(Stream, "step", noting_step)
    monkeypatch.setattr(Account, "take", noting_take)
    monkeypatch.setattr(Stream, "_reread", noting_reread)
    return minibatches


@pytest.mark.parametrize("together", [2**24, 3000], ids=["all shuffled", "in rounds"])
def test_every_pass_has_each_document_in_another_order(
    sessions,
    corpus,
    readings,
    monkeypatch,
    together,
):
    monkeypatch.setattr("wikitopics.session.training.passes.WORDS_OF_ROUND", together)
    Driver(sessions("s", passes=4, model=(MODELS["lda"],)), corpus).run()
    sizes = [len(batch) for batch in readings]
    assert all(size % 64 == 0 for size in sizes[:-1])
    pages = [page for batch in readings for page in batch]
    passes = [tuple(pages[start : start + 657]) for start in range(0, len(pages), 657)]
    assert len(passes) == len(set(passes)) == 4
    assert len({tuple(sorted(one)) for one in passes}) == 1
    assert len(set(passes[0])) == 657
    assert passes[0] == tuple(sorted(passes[0]))
    for one in passes[1:]:
        assert abs(np.corrcoef(one, range(657))[0, 1]) < 0.6


@pytest.mark.parametrize(("passes", "counted"), [(1, "documents"), (3, "document reads")])
def test_the_log_dates_events_by_what_is_counted(sessions, corpus, passes, counted):
    path = sessions("s", passes=passes, model=(MODELS["lda"],))
    Driver(path, corpus).run()
    with SessionReader(path) as reader:
        told = [one.message for one in reader.events() if "born" in one.message]
    assert told
    assert all(f" {counted}: " in line for line in told)


def test_the_account_counts_readings_and_the_lists_documents(sessions, corpus):
    path = sessions("s", passes=3)
    Driver(path, corpus).run()
    found = account(path)
    assert found["counts"] == (3 * 657, 40, 3 * 657 + 43, 0, 3)
    assert Counter(page for page, *_ in found["trained"]).most_common(1)[0][1] == 1
    assert len(found["trained"]) == 657
    with SessionReader(path) as reader:
        now = reader.status()
        assert (now.documents, now.passes, now.pass_, now.lap, now.state) == (
            657,
            3,
            3,
            1.0,
            "finished",
        )
        assert now.tokens == 3 * reader.word_counts().counts.sum()
        assert sum(articles for _, articles in reader.counted_rows()) == 40 + 657
        ends = [657, 2 * 657]
        measured = reader.curve("lda", "log_likelihood").articles.tolist()
    assert all(any(0 <= point - end < 64 for point in measured) for end in ends)


def test_proportions_are_those_of_the_last_reading(sessions, corpus):
    once = sessions("once", passes=1)
    twice = sessions("twice", passes=2)
    for path in (once, twice):
        Driver(path, corpus).run()
    with SessionReader(once) as first, SessionReader(twice) as second:
        assert (first.recorded_articles().page_ids == second.recorded_articles().page_ids).all()
        for name in first.models():
            of_last_reading = recorded_proportions(second, name).to_bytes()
            assert recorded_proportions(first, name).to_bytes() != of_last_reading
        (columns,) = list(second.all_articles(trained_only=True))
        theta = recorded_proportions(second, "lda")
    starts = theta.indptr()
    values = theta.values()
    *_, topics, shares, _ = columns
    for row, (topic, share) in enumerate(zip(topics, shares, strict=True)):
        at = slice(starts[row], starts[row + 1])
        assert values[at][theta.topics[at] == topic[0]] == pytest.approx([share[0]], abs=0.01)


@pytest.mark.parametrize("keep", ["all", "top", "none"])
def test_interrupted_in_any_pass_equals_undisturbed(undisturbed, keep, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.passes.WORDS_OF_ROUND", 3000)
    monkeypatch.setattr("wikitopics.session.storage.writer.TOP_ARTICLES", 3)
    assert account(undisturbed(passes=3, keep_articles=keep))["counts"][0] == 3 * 657


def test_a_collection_smaller_than_a_minibatch(corpus_of, undisturbed):
    few = corpus_of(30)
    found = account(undisturbed(few, held_out=5, passes=90))
    documents = len(found["trained"])
    assert found["counts"][0] == 90 * documents
    assert 0 < documents < 30


def test_documents_that_are_gone_are_damage(sessions, corpus):
    path = sessions("s", passes=3)
    Driver(path, corpus, limit=1000).run()
    driver = Driver(path, corpus)
    driver.store._db.execute("DELETE FROM kept_counts WHERE id = (SELECT max(id) FROM kept_counts)")
    with pytest.raises(Damaged, match="kept_counts"):
        driver.run()
    driver.close()


def test_the_pass_of_an_article():
    found = [Progress(articles=n, again=max(0, n - 10)).pass_ for n in (0, 1, 10, 11, 20, 21)]
    assert found == [1, 1, 1, 2, 2, 3]


@pytest.fixture
def committed(monkeypatch):
    """The changes of each commit, the newest last."""
    commit = SessionWriter.commit
    changes_of_all = []

    def noted(store, progress, changes, first_pending, threads):
        changes_of_all.append(changes)
        commit(store, progress, changes, first_pending, threads)

    monkeypatch.setattr(SessionWriter, "commit", noted)
    return changes_of_all


@pytest.mark.parametrize("keep", ["top", "none"])
def test_articles_kept_depend_on_no_commit_and_change_no_model(
    sessions,
    undisturbed,
    corpus,
    keep,
    states,
    monkeypatch,
    renewed_at_256,
):
    monkeypatch.setattr("wikitopics.session.training.schedule.DROPPED_EVERY", 300)
    monkeypatch.setattr("wikitopics.session.storage.writer.TOP_ARTICLES", 3)
    everything = sessions("all")
    calm = undisturbed(keep_articles=keep)
    Driver(everything, corpus).run()
    assert states(calm) == states(everything)
    for same in ("counts", "metrics"):
        assert account(calm)[same] == account(everything)[same]
    assert len(account(calm)["trained"]) < len(account(everything)["trained"])
    assert (account(calm)["trained"] == []) == (keep == "none")


def test_of_many_articles_only_the_best_of_each_topic_stay_in_between(
    sessions, corpus_of, monkeypatch
):
    monkeypatch.setattr("wikitopics.session.training.schedule.DROPPED_EVERY", 400)
    monkeypatch.setattr("wikitopics.session.storage.writer.TOP_ARTICLES", 3)
    many = corpus_of(740)
    path = sessions("s", many, model=(MODELS["lda"],), keep_articles="top")
    driver = Driver(path, many)
    kept = []
    while driver.trainer.progress.articles < 700:
        driver.act()
        driver.trainer.commit(0.0, 0)
        kept.append((driver.trainer.progress.articles, len(account(path)["trained"])))
    driver.close()
    best = 3 * driver.trainer.models[0].n_topics
    assert next(rows for articles, rows in kept if articles >= 200) <= best
    assert max(rows for articles, rows in kept if articles < 200) > best
    assert next(rows for articles, rows in kept if articles >= 600) <= best


def test_old_articles_end_up_as_in_an_undisturbed_run(undisturbed, corpus_of, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.renewal.RENEWED_TOGETHER", 100)
    monkeypatch.setattr("wikitopics.session.storage.articles.RECENT_ARTICLES", 700)
    many = corpus_of(1500, empty=range(100, 1400, 3))
    undisturbed(many, model=(MODELS["lda"], MODELS["scvb0"]))


def test_the_newest_articles_are_inferred_again_at_each_doubling(sessions, corpus_of, committed):
    """Some after each minibatch, so that neither a start nor the stream waits for all of them."""
    many = corpus_of(1700)
    path = sessions("s", many, model=(MODELS["lda"],))
    driver = Driver(path, many)
    found = []
    while not driver.trainer.done():
        before = driver.trainer.progress.articles
        driver.act()
        trained = driver.trainer.progress.articles - before
        driver.trainer.commit(0.0, 0)
        renewed = committed.pop().renewed
        if driver.trainer.progress.in_last_reading:
            break
        found += [(before, trained, len(seqs), seqs[-1]) for seqs, _ in renewed]
    driver.close()
    assert found[0][0] == 1024
    assert all(0 < renewed <= 2 * trained for _, trained, renewed, _ in found)
    assert (sum(renewed for *_, renewed, _ in found), found[-1][3]) == (1024, 1064)


def test_what_is_left_to_look_at_again_is_done_at_the_end(sessions, corpus_of):
    many = corpus_of(1100)
    path = sessions("s", many, model=(MODELS["lda"],))
    driver = Driver(path, many)
    while driver.trainer.progress.articles < 1060:
        driver.act()
    assert driver.trainer.renewal.renewing
    assert not driver.trainer.done()
    assert driver.run().trainer.progress.renew_from is None


def test_a_step_asks_the_session_for_nothing_once_it_learns(
    sessions,
    corpus,
    committed,
    renewed_at_256,
):
    """It may have been given up by then, and the session be saved and closed beside it."""
    driver = Driver(sessions("s", model=(MODELS["lda"],)), corpus)
    while not (driver.trainer.renewal.renewing and driver.trainer.ready()):
        driver.act()
    driver.trainer.commit(0.0, 0)
    model = driver.trainer.models[0]
    learn = model.learn

    def learn_meanwhile(minibatch):
        driver.store.close()
        return learn(minibatch)

    model.learn = learn_meanwhile
    trained = driver.trainer.step(lambda: 0.0)
    with pytest.raises(SessionError):
        driver.trainer.commit(0.0, 0)
    ((seqs, _),) = committed.pop().renewed
    assert len(seqs) == 2 * trained
    driver.close()


def test_a_heartbeat_is_written_while_a_commit_packs(tmp_path, corpus, new_session, monkeypatch):
    path = new_session(
        tmp_path / "s.db",
        corpus,
        model=("lda:topics=3",),
        held_out=40,
        keep_counts=True,
    )
    beating = connect(path)
    beating.execute("PRAGMA busy_timeout = 10")
    packed = []
    pack_arrays = decoding.pack_arrays

    def pack(arrays):
        beating.execute("UPDATE control SET save = 1")  # refused where a transaction has begun
        packed.append(arrays)
        return pack_arrays(arrays)

    for module in ("decoding", "block", "counts"):
        monkeypatch.setattr(f"wikitopics.session.storage.{module}.pack_arrays", pack)
    store = SessionWriter(path)
    file = CountsFile(corpus.counts, len(corpus.words))
    with contextlib.closing(store), contextlib.closing(file), contextlib.closing(beating):
        stream = Stream(store, article_limit=None, threads=1)
        stream.feed(replace(file.documents(0, 200), position={"document": 200}))
        stream.step(lambda: 0.0)
        stream.commit(0.0, 0)
    # The model, the words, what waits, the reference; what is held out and what was trained, each of
    # them twice.
    assert len(packed) == 8


def test_one_model_at_a_time_has_all_threads_unless_several_learn(sessions, corpus, monkeypatch):
    threads_of = {"learn": set(), "infer": set()}
    for method, seen in threads_of.items():
        real = getattr(OnlineLDA, method)

        def noted(self, batch, seen=seen, real=real):
            seen.add(self.threads)
            return real(self, batch)

        monkeypatch.setattr(OnlineLDA, method, noted)
    path = sessions("two", model=(MODELS["lda"], "lda:topics=3,batch_size=64,name=other"))
    Driver(path, corpus, threads=(4,)).run()
    assert threads_of == {"learn": {2}, "infer": {4}}
