"""What the screen keeps of a session between two readings; a file that is slow, or cannot be read any
more."""

import asyncio
import contextlib
import shutil
import sqlite3
import threading
from dataclasses import replace

import numpy as np
import pytest

from tests.session.rows import documents, largest, settings, sql
from tests.tui import canned, seeing
from wikitopics.session.analysis.areas import topic_tree
from wikitopics.session.errors import NoSession, SessionError
from wikitopics.session.records import TopicEvent
from wikitopics.session.storage import writer as stores
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.new_session import feed_first_articles, store_vocabulary
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.vocabulary import VocabularyBuild
from wikitopics.tui import curves, follow
from wikitopics.tui.bars import pieces
from wikitopics.tui.follow import Follower, Trainers, Watch, told_in_brief
from wikitopics.tui.questions import Question
from wikitopics.tui.session_view import Beside
from wikitopics.vocab import Vocabulary

# What the screen keeps of a session between two readings is never older than what was committed.


METRICS = ("perplexity",)


@pytest.fixture
def path(tmp_path):
    return canned.build(tmp_path / "s.db", canned.Recipe(state="finished"))


@pytest.fixture
async def feed(path):
    feed = Follower(path)
    yield feed
    feed.close()


async def until(feed, true):
    async with asyncio.timeout(60):
        while not true(await feed.read_session(METRICS)):
            await asyncio.sleep(0.05)


def commit(path, changes):
    """What a trainer does at the end of a run: no article more than before."""
    store = SessionWriter(path)
    store.commit(store.progress(), changes, 0)
    store.close()


async def test_skipped_articles_wait_for_those_read_before_them(path, feed):
    """A trainer records the skipped ones of a block long before it has learnt the others."""
    newest = sql(path, "SELECT max(seq) FROM articles WHERE role <> 2")[0][0]
    for seq in range(newest + 30, newest + 90):
        sql(path, "INSERT INTO articles (seq, title, words, role) VALUES (?, 'A', 0, 2)", seq)
    session = await feed.read_session(METRICS)
    assert session.recent[0].seq == newest


async def test_a_replay_shows_added_documents_when_they_were_read(path, feed):
    """100 documents were read three times, then 50 others once; the first has the number 6."""
    sql(path, "UPDATE progress SET articles = 350, again = 200")
    sql(path, "INSERT OR REPLACE INTO settings VALUES ('passes', '3')")
    added = "json_set(value, '$.documents_before', 100)"
    sql(path, f"UPDATE settings SET value = {added} WHERE key = 'source_options'")
    newest = []
    for as_of in (50, 100, 250, 300, 301, 350):
        session = await feed.read_session(METRICS, as_of)
        newest.append(session.recent[0].seq - 5)
    assert newest == [50, 100, 100, 100, 101, 150]


async def test_what_is_committed_without_an_article_is_seen(path, feed):
    before = await feed.read_session(METRICS)
    assert before.curves["lda", "perplexity"].values[-1] < 2000
    commit(
        path, Changes(metrics=[(0, 12_480, 10**6, 6_000.0, "log_likelihood", -float(np.log(2000)))])
    )
    await until(
        feed, lambda session: session.curves["lda", "perplexity"].values[-1] == pytest.approx(2000)
    )
    before = canned.snapshot(0, 12_480)
    snapshot = replace(before, shares=before.shares[::-1].copy())
    commit(path, Changes(snapshots=[snapshot]))
    await until(
        feed,
        lambda session: session.topics["lda"][0].share == pytest.approx(float(snapshot.shares[0])),
    )
    before = await feed.read_session(METRICS)
    commit(path, Changes(renewed=[([before.recent[0].seq], largest(([49], [0.99])))]))
    await until(feed, lambda session: session.recent[0].topics == (("lda", 49, 0.99),))
    after = await feed.read_session(METRICS)
    assert after.curves is before.curves
    assert after.topics is before.topics
    assert after.atlases is before.atlases
    assert after.areas_of("lda")[3].name == "film, directed"
    assert not after.areas_of("none")


async def test_what_happened_to_topics_is_read_once(path, feed, monkeypatch):
    before = await feed.read_session(METRICS)
    read = []
    topic_events = SessionReader.topic_events

    def noted(reader, after=0):
        read.append(topic_events(reader, after))
        return read[-1]

    monkeypatch.setattr(SessionReader, "topic_events", noted)
    event = TopicEvent("lda", 12_480, "born", 3, None, "film")
    commit(path, Changes(snapshots=[canned.snapshot(0, 12_480)], topic_events=[(0, event)]))
    await until(feed, lambda session: session.changes == (*before.changes, event))
    assert before.changes
    assert read == [[event]]


async def test_what_could_not_be_read_once_is_read_the_next_time(path, feed, monkeypatch):
    await feed.read_session(METRICS)
    pulse = HeartbeatWriter(path)
    pulse.event("warning", "something has happened")
    pulse.close()

    def locked(self, newest):
        raise SessionError("the session is locked")

    with monkeypatch.context() as broken:
        broken.setattr(SessionReader, "events", locked)
        with pytest.raises(SessionError):
            await feed.read_session(METRICS)
    await until(feed, lambda session: session.events[-1].message == "something has happened")


async def test_a_screen_that_saw_the_vocabulary_being_built_shows_the_topics_over_it(tmp_path):
    path = tmp_path / "s.db"
    words = Vocabulary.from_words(["aa", "bb", "cc"])
    stores.create(path, replace(settings(), fingerprint=""))
    store = SessionWriter(path)
    feed = Follower(path)
    read = {"word_ids": np.tile(np.arange(3, dtype=np.int32), 10), "counts": np.ones(30, np.int32)}
    found = replace(
        documents(*range(1, 11)),
        indptr=np.arange(0, 33, 3),
        lexicon=words.words,
        **read,
    )
    beginning = VocabularyBuild(store)
    beginning.feed(replace(found, position={"page": 10}, lap=0.5))
    beginning.commit(1.0, 100)
    before = await feed.read_session(METRICS)
    assert (before.status.articles, before.topics, before.settings["fingerprint"]) == (
        0,
        {"lda": ()},
        "",
    )
    assert await feed.read(feed._path, lambda reader: topic_tree(reader, "lda")) == ()
    store_vocabulary(store, words)
    stream = Stream(store, article_limit=None, threads=1)
    feed_first_articles(store, stream)
    stream.end_of_source()
    while stream.ready():
        stream.step(lambda: 2.0)
    stream.finish(2.0)
    stream.commit(2.0, 100)
    await until(feed, lambda session: session.status.articles == 8)
    await until(feed, lambda session: bool(session.curves["lda", "perplexity"].values.size))
    session = await feed.read_session(METRICS)
    assert sorted(word for word, _ in session.topics["lda"][0].words) == ["aa", "bb", "cc"]
    assert len(await feed.read(feed._path, lambda reader: topic_tree(reader, "lda"))) == 3
    assert await feed.read(feed._path, lambda reader: reader.counter().words) == words.words
    other = Beside("other", (words.fingerprint, str(words.rule)), ("lda",), {})
    assert curves.warning(replace(session, others=(other,))) == ""
    feed.close(wait=True)
    store.close()


# A session file that is slow, or cannot be read any more.


async def test_the_screen_answers_while_the_file_is_slow(shown, live, monkeypatch):
    reading = threading.Event()
    answered = threading.Event()
    waits = []
    real = SessionReader.status

    def slow(self):
        reading.set()
        waits.append(answered.wait(60))
        return real(self)

    async with shown(live, size=(100, 30), words="lda 1,3") as (app, pilot):
        monkeypatch.setattr(SessionReader, "status", slow)
        while not reading.is_set():
            await pilot.pause(0.05)
        try:
            await pilot.press("5", "1", "x")
            assert "? Help" in seeing.text(app)
        finally:
            answered.set()
    assert all(waits), "keys do not wait for the file"


async def test_a_list_that_could_not_be_read_once_is_read_the_next_time(shown, live, monkeypatch):
    asked = 0
    real = SessionReader.find_articles

    def locked_once(self, text, limit=50):
        nonlocal asked
        asked += 1
        if asked == 1:
            raise SessionError("the session is locked")
        return real(self, text, limit)

    monkeypatch.setattr(SessionReader, "find_articles", locked_once)
    async with shown(live, size=(120, 30)) as (app, pilot):
        await seeing.press(pilot, "3", shows="Bauhaus")
        app.screen.view.find("Unix")
        await seeing.until(pilot, "1 article with “Unix” in the title")
    assert asked > 1


async def test_a_file_that_cannot_be_read_is_named(shown, live, monkeypatch):
    def gone(self):
        raise SessionError("disk I/O error [/x]")

    async with shown(live, size=(160, 30), words="lda 1,3") as (_, pilot):
        monkeypatch.setattr(SessionReader, "status", gone)
        await seeing.until(pilot, "cannot read the session: disk I/O error [/x]")


async def test_a_file_that_is_removed_is_no_session_any_more(shown, tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe())
    async with shown(path, size=(160, 40)) as (app, pilot):
        with canned.live(path):
            assert "saved" in await seeing.until(pilot, "LIVE")
            assert app.latest.status.lively
            path.unlink()
            seen = await seeing.until(
                pilot, "cannot read the session: its file was removed or replaced"
            )
            assert "LIVE" not in seen
            assert "saved" not in seen
            await seeing.until(pilot, "these are its last")
            assert not app.latest.status.lively
        canned.build(path, canned.Recipe(state="stopped", articles=5_000, restarts=()))
        seen = await seeing.until(pilot, "STOPPED")
        assert "5,000 articles" in seen
        assert "cannot read" not in seen


async def test_no_question_goes_to_a_file_that_was_replaced(path, feed, tmp_path):
    old = await feed.read(feed._path, lambda reader: reader)
    shutil.copy(path, tmp_path / "other.db").replace(path)
    with pytest.raises(NoSession):
        await feed.read(feed._path, lambda reader: reader)
    assert await feed.read(feed._path, lambda reader: reader) is not old


async def test_whatever_ends_the_screen_it_lets_go_of_the_file(shown, live, monkeypatch):
    opened: list[SessionReader] = []
    left: list[SessionReader] = []
    really_open = SessionReader.__init__
    really_leave = SessionReader.leave

    def open_session(self, path):
        really_open(self, path)
        opened.append(self)

    def leave(self):
        really_leave(self)
        left.append(self)

    monkeypatch.setattr(SessionReader, "__init__", open_session)
    monkeypatch.setattr(SessionReader, "leave", leave)
    async with shown(live, words="LIVE") as (app, _):
        pass
    await seeing.until_true(lambda: opened and {*left} == {*opened})
    app.show_status()  # a reading that ends after the screen is no fault
    await app.watched.compare((), ())


async def test_a_tampered_session_is_listed_and_deleted(shown, live, home):
    home.mkdir()
    bad = canned.build(home / "bad.db", canned.Recipe(state="finished"))
    with contextlib.closing(sqlite3.connect(bad)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = CAST(sql AS BLOB)")
    async with shown(live, size=(250, 30)) as (app, pilot):
        await seeing.press(pilot, "6", shows="the session is damaged ('")
        await seeing.in_front(pilot, Question, "D")
        await pilot.press("d")
        await seeing.until_true(
            lambda: any("bad was deleted" in one for one in seeing.notices(app))
        )
    assert not bad.exists()


async def test_what_is_read_for_a_slow_question_is_told_until_it_is_answered(trained, monkeypatch):
    monkeypatch.setattr(follow, "LONG_SECONDS", -1.0)
    watch = Watch(trained, Trainers())
    told = []
    real = Watch._advance

    def advance(self, what, done, total):
        real(self, what, done, 2 * total)
        told.append(self.reading)
        real(self, what, done, total)
        assert (self.reading == "") == (done == total), "nothing at the end"

    monkeypatch.setattr(Watch, "_advance", advance)
    try:

        def seek(reader):
            finder = watch.answering(reader, reader.models()[0], 0.0).finder
            return finder.documents(reader, finder.sought("city"), 5)

        await watch.ask(seek, aside=True)
    finally:
        watch.close(wait=True)
    assert {"reading topics: 50%", "reading titles: 50%"} <= set(told)
    assert watch.reading == ""


async def test_what_takes_no_second_to_read_is_not_told(path):
    watch = Watch(path, Trainers())
    try:
        await watch.ask(lambda reader: watch._advance("titles", 1, 2) or watch.reading, aside=True)
        assert watch.reading == ""
    finally:
        watch.close(wait=True)


def test_the_status_line_says_what_is_read(path):
    with SessionReader(path) as reader:
        status = reader.status()
    words = told_in_brief("topics of articles read", 3, 9)
    assert words == "reading topics: 33%"
    assert told_in_brief("topics of articles read", 9, 9) == ""
    before = pieces(status, "", None, None, 120)
    *parts, told = pieces(status, "", None, None, 120, reading=words)
    assert told == (0, [(words, "accent")])
    assert parts == before[: len(parts)], "nothing moves"
    assert len(before) - len(parts) == 1, "only the last save makes room"
