"""Several passes over the documents: each has all of them once, whatever interrupts it."""

from collections import Counter

import numpy as np
import pytest

from tests.session.training.driving import MODELS, Driver, account
from wikitopics.session.errors import Damaged
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.settings import Progress
from wikitopics.session.training.stream import Stream


@pytest.fixture
def readings(monkeypatch):
    """The page ids of all documents that were trained, in order."""
    found, minibatch = [], Stream.step

    def step(self, elapsed):
        trained, take, again = [], self._take_pending, self._reread
        self._take_pending = lambda size: trained.append(take(size)) or trained[-1]
        self._reread = lambda n, rest: (both := again(n, rest), trained.append(both[1]))[0]
        minibatch(self, elapsed)
        del self._take_pending, self._reread
        found.append([page for block in trained for page in block.page_ids.tolist()])

    monkeypatch.setattr(Stream, "step", step)
    return found


@pytest.mark.parametrize("together", [2**24, 3000], ids=["all shuffled", "in rounds"])
def test_every_pass_has_each_document_once_in_another_order(
    sessions, corpus, readings, monkeypatch, together
):
    monkeypatch.setattr("wikitopics.session.training.stream.WORDS", together)
    path = sessions("s", passes=4, model=(MODELS["lda"],))
    Driver(path, corpus).run()
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


@pytest.mark.parametrize(("passes", "counted"), [(1, "documents"), (3, "readings")])
def test_the_log_dates_events_by_what_is_counted(sessions, corpus, passes, counted):
    path = sessions("s", passes=passes, model=(MODELS["lda"],))
    Driver(path, corpus).run()
    with SessionReader(path) as reader:
        told = [one.message for one in reader.events() if "born" in one.message]
    assert told
    assert all(f" {counted}, " in line for line in told)


def test_the_account_counts_readings_and_the_lists_documents(sessions, corpus):
    path = sessions("s", passes=3)
    Driver(path, corpus).run()
    found = account(path)
    assert found["counts"] == (3 * 657, 40, 3 * 657 + 43, 0, 3)
    assert Counter(page for page, *_ in found["trained"]).most_common(1)[0][1] == 1
    assert len(found["trained"]) == 657
    with SessionReader(path) as reader:
        now = reader.status()
        assert (now.documents, now.passes, now.pass_, now.lap, now.state) == (657, 3, 3, 1.0, "finished")
        assert now.tokens == 3 * reader.word_counts().counts.sum()
        assert sum(articles for _, articles in reader.kept_rows()) == 40 + 657
        ends = [657, 2 * 657]
        measured = reader.curve("lda", "log_likelihood").articles.tolist()
    assert all(any(0 <= point - end < 64 for point in measured) for end in ends)


def test_proportions_are_those_of_the_last_reading(sessions, corpus):
    once, twice = sessions("once", passes=1), sessions("twice", passes=2)
    for path in (once, twice):
        Driver(path, corpus).run()
    with SessionReader(once) as first, SessionReader(twice) as second:
        assert (first.recorded_articles().page_ids == second.recorded_articles().page_ids).all()
        for name in first.models():
            assert first.proportions(name).to_bytes() != second.proportions(name).to_bytes()
        (columns,) = list(second.all_articles(trained_only=True))
        theta = second.proportions("lda")
    starts, values = theta.indptr(), theta.values()
    *_, topics, shares, _ = columns
    for row, (topic, share) in enumerate(zip(topics, shares, strict=True)):
        at = slice(starts[row], starts[row + 1])
        assert values[at][theta.topics[at] == topic[0]] == pytest.approx([share[0]], abs=0.01)


@pytest.mark.parametrize("keep", ["all", "top", "none"])
def test_interrupted_in_any_pass_equals_undisturbed(undisturbed, keep, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.stream.WORDS", 3000)
    monkeypatch.setattr("wikitopics.session.storage.writer.TOP_ARTICLES", 3)
    calm = undisturbed(passes=3, keep_articles=keep)
    assert account(calm)["counts"][0] == 3 * 657


def test_a_collection_smaller_than_a_minibatch(corpus_of, undisturbed):
    few = corpus_of(30)
    calm = undisturbed(few, held_out=5, passes=90)
    found = account(calm)
    documents = len(found["trained"])
    assert found["counts"][0] == 90 * documents
    assert 0 < documents < 30


@pytest.mark.parametrize("limit", [100, 657, 658, 1000, 1971])
def test_a_limit_is_of_readings_and_more_can_be_asked_for_later(sessions, corpus, limit):
    path = sessions("s", passes=3)
    for _ in range(2):
        Driver(path, corpus, limit=limit).run()
        assert account(path)["counts"][0] == limit
    assert account(path)["state"] == "finished"
    Driver(path, corpus, limit=5000).run()
    assert account(path)["counts"] == (3 * 657, 40, 3 * 657 + 43, 0, 3)


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


def test_the_end_says_which_models_more_passes_made_worse(sessions, corpus):
    path = sessions("s", passes=3, model=(MODELS["lda"],))
    driver = Driver(path, corpus)
    curves = driver.trainer._curves
    curves._course[0] = [(-4.0, 600), (-3.0, 1314), (-3.5, 1971)]
    said = curves.overfitting(657, 40)
    assert said.startswith("on held-out documents lda was best after 2 passes (perplexity 20.1, now 33.1): ")
    curves._course[0][-1] = (-3.005, 1971)
    assert curves.overfitting(657, 10_000_000) == ""
    curves._course[0][-1] = (-3.05, 1971)
    assert (curves.overfitting(657, 40), curves.overfitting(657, 400) != "") == ("", True)
    driver.close()
