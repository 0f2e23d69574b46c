"""What the screen keeps of a session between two looks is never older than what was committed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.session.rows import documents, largest, settings
from tests.tui import canned
from wikitopics.session.analysis.topics import topic_tree
from wikitopics.session.errors import SessionError
from wikitopics.session.storage import writer as stores
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.trainer import HeartbeatWriter
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.start import feed_first_articles, store_vocabulary
from wikitopics.session.training.stream import Stream, VocabularyBuild
from wikitopics.tui import chart
from wikitopics.tui.follow import Follower
from wikitopics.tui.look import Beside, SessionView
from wikitopics.vocab import Vocabulary

METRICS = ("perplexity",)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return canned.build(tmp_path / "s.db", canned.Recipe(state="finished"))


@pytest.fixture
async def feed(path: Path) -> AsyncIterator[Follower]:
    feed = Follower(path)
    yield feed
    feed.close()


async def until(feed: Follower, true: Callable[[SessionView], bool]) -> None:
    async with asyncio.timeout(60):
        while not true(await feed.look(METRICS)):
            await asyncio.sleep(0.05)


def commit(path: Path, changes: Changes) -> None:
    """What a trainer does at the end of a run: no article more than before."""
    store = SessionWriter(path)
    store.commit(store.progress(), changes, 0)
    store.close()


async def test_a_measurement_that_is_committed_alone_is_seen(path: Path, feed: Follower) -> None:
    before = await feed.look(METRICS)
    assert before.curves["lda", "perplexity"].values[-1] < 2000
    commit(path, Changes(metrics=[(0, 12_480, 10**6, 6_000.0, "log_likelihood", -float(np.log(2000)))]))
    await until(feed, lambda look: look.curves["lda", "perplexity"].values[-1] == pytest.approx(2000))


async def test_a_snapshot_that_is_committed_alone_is_seen(path: Path, feed: Follower) -> None:
    await feed.look(METRICS)
    before = canned.snapshot(0, 12_480)
    snapshot = replace(before, shares=before.shares[::-1].copy())
    commit(path, Changes(snapshots=[snapshot]))
    await until(feed, lambda look: look.topics["lda"][0].share == pytest.approx(float(snapshot.shares[0])))


async def test_what_could_not_be_read_once_is_read_the_next_time(
    path: Path, feed: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    await feed.look(METRICS)
    pulse = HeartbeatWriter(path)
    pulse.event("warning", "something has happened")
    pulse.close()

    def locked(self: SessionReader, newest: int) -> list[object]:
        raise SessionError("the session is locked")

    with monkeypatch.context() as broken:
        broken.setattr(SessionReader, "events", locked)
        with pytest.raises(SessionError):
            await feed.look(METRICS)
    await until(feed, lambda look: look.events[-1].message == "something has happened")


async def test_topics_inferred_anew_are_seen_and_curves_stay(path: Path, feed: Follower) -> None:
    before = await feed.look(METRICS)
    newest = before.recent[0]
    commit(path, Changes(renewed=[([newest.seq], largest(([49], [0.99])))]))
    await until(feed, lambda look: look.recent[0].topics == (("lda", 49, 0.99),))
    after = await feed.look(METRICS)
    assert after.curves is before.curves
    assert after.topics is before.topics


async def test_a_screen_that_saw_the_vocabulary_being_built_shows_the_topics_over_it(tmp_path: Path) -> None:
    path, words = tmp_path / "s.db", Vocabulary.from_words(["aa", "bb", "cc"])
    stores.create(path, replace(settings(), fingerprint=""), (), ())
    store, feed = SessionWriter(path), Follower(path)
    found = replace(
        documents(*range(1, 11)),
        indptr=np.arange(0, 33, 3),
        word_ids=np.tile(np.arange(3, dtype=np.int32), 10),
        counts=np.ones(30, np.int32),
        lexicon=words.words,
    )
    beginning = VocabularyBuild(store)
    beginning.feed(replace(found, position={"page": 10}, lap=0.5))
    beginning.commit(1.0, 100)
    before = await feed.look(METRICS)
    assert (before.status.articles, before.topics, before.settings["fingerprint"]) == (0, {"lda": ()}, "")
    assert await feed.ask(lambda reader: topic_tree(reader, "lda")) == ()
    store_vocabulary(store, words)
    stream = Stream(store, article_limit=None, threads=1)
    feed_first_articles(store, stream)
    stream.end_of_source()
    while stream.ready():
        stream.step(lambda: 2.0)
    stream.finish(2.0)
    stream.commit(2.0, 100)
    await until(feed, lambda look: look.status.articles == 8)
    await until(feed, lambda look: bool(look.curves["lda", "perplexity"].values.size))
    look = await feed.look(METRICS)
    assert sorted(word for word, _ in look.topics["lda"][0].words) == ["aa", "bb", "cc"]
    assert len(await feed.ask(lambda reader: topic_tree(reader, "lda"))) == 3
    assert await feed.ask(lambda reader: reader.counter().words) == words.words
    other = Beside("other", (words.fingerprint, str(words.rule)), ("lda",), {})
    assert chart.warning(replace(look, others=(other,))) == ""
    feed.close(wait=True)
    store.close()
