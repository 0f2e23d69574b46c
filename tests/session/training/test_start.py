"""A session and its source, opened: what is said meanwhile, and what a stop or an error leaves
behind."""

import asyncio
import gc
import os
import signal
import threading
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import AsyncMock, Mock

import pytest
from aiohttp import web

from benchmarks.served import serving as served_app
from tests import waiting
from tests.crawler import dump_server
from tests.crawler.conftest import siteinfo
from tests.crawler.dumps import multistream
from tests.waiting import until_true
from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.source import Activity
from wikitopics.session import sources
from wikitopics.session.errors import Damaged
from wikitopics.session.request import TrainRequest
from wikitopics.session.signals import Signals
from wikitopics.session.training import opening, remarks, start
from wikitopics.session.training.opening import open_with_retries
from wikitopics.session.training.plan import resolve
from wikitopics.vocab import Vocabulary


@pytest.mark.parametrize(
    ("end", "seconds", "says"),
    [
        ("trying_until", 30, "no address; trying until "),
        ("waiting_until", 3600, "no address; next request at "),
        (None, 0, "no address"),
    ],
)
async def test_how_long_a_wait_will_be_is_told_as_it_is(end, seconds, says):
    ends = {end: time.time() + seconds} if end else {}
    told = asyncio.Event()
    said = []
    source = Mock(activity=Activity(waiting_for="no address", **ends), open=told.wait)

    def say(line):
        said.append(line)
        told.set()

    assert await open_with_retries(source, say)
    assert said[0].startswith(says)
    assert ("trying" in said[0]) == (end == "trying_until")


async def test_while_a_source_opens_only_some_percentages_are_told(monkeypatch):
    monkeypatch.setattr(opening, "LONG_TO_OPEN", 0.01)
    activity = Activity()
    said = []

    async def read():
        for percent in range(20):
            activity.waiting_for = f"reading the ids ({percent}%)"
            await asyncio.sleep(0.02)
        activity.note(time.time(), "2 repeat an id")
        await until_true(lambda: len(said) > 1)
        return "opened"

    assert await open_with_retries(Mock(activity=activity, open=read), said.append)
    assert len(said) == 2, "an error is told at once"
    assert said[0].startswith("reading the ids (")
    assert said[1] == "2 repeat an id"


@pytest.mark.parametrize(
    ("articles", "files", "says"),
    [
        (7_200_000, 8, " (7,200,000 documents in 8 files)"),
        (3_000, 1, " (3,000 documents)"),
        (3_000, None, " (3,000 documents)"),
        (None, 8, ""),
    ],
)
def test_the_first_line_says_how_much_there_is(articles, files, says):
    settings = Mock(source="texts")
    assert remarks._size(settings, SourceInfo("t", articles, files=files)) == says


@pytest.fixture
def planned(tmp_path, corpus):
    """Makes the plan of a new session over the corpus."""

    def make(**options):
        source = {"source": "counts", "counts": str(corpus.counts), "vocab": str(corpus.vocabulary)}
        return resolve(
            tmp_path / "s.db", TrainRequest(model=("lda:topics=3",), **source, **options)
        )

    return make


@pytest.fixture
def trained(tmp_path, monkeypatch, corpus):
    """Trains for a second at most, unless hours are given: why it ended, and whether there is a
    session."""
    monkeypatch.setattr(start, "PROMPT_SECONDS", 0.5)

    def train(**options):
        settings = {"model": ("lda:topics=3",), "held_out": 5, "hours": 1 / 3600, **options}
        path = tmp_path / "s.db"
        return start.train(
            path,
            TrainRequest(**settings),
            lambda _: None,
            lambda _: None,
        ), path.exists()

    return train


@pytest.mark.parametrize(
    "act",
    [
        dump_server.says(206, "nonsense"),
        dump_server.says(429, Retry_After="600"),
        dump_server.says(500),
    ],
)
def test_hours_are_obeyed_while_a_dump_is_opened(trained, corpus, monkeypatch, act):
    """Its server has answered once, and would be tried for a day."""
    for name, size in dump_server.SMALL.items():
        monkeypatch.setattr(f"wikitopics.crawler.{name}", size)
    with dump_server.served({"/d.xml.bz2": multistream(range(1, 2000))}) as server:
        server.acts = [None]
        server.always = act
        vocabulary = str(corpus.vocabulary)
        reason, exists = trained(
            source="dump",
            dump=(f"{server.url}/d.xml.bz2",),
            yes=True,
            vocab=vocabulary,
        )
    assert reason == "the time given with --hours is up before training began"
    assert not exists


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("lang", [None, "de"])
def test_hours_are_obeyed_while_a_wiki_says_to_wait(trained, corpus, after, lang):
    """From the beginning, or from the first article on; also while a vocabulary is built."""
    sent = [siteinfo(700)] * after

    async def answer(request):
        if sent:
            return web.json_response(sent.pop())
        return web.Response(status=429, headers={"Retry-After": "600"})

    app = web.Application()
    app.router.add_get("/w/api.php", answer)
    words = {"vocab": str(corpus.vocabulary)} if lang is None else {"lang": lang}
    with served_app(app) as url:
        seconds = 6 if after else 1  # in which a busy machine, too, has made a session
        reason, exists = trained(api_url=url, hours=seconds / 3600, **words)
    too_early = "" if after else " before training began"
    assert reason == f"the time given with --hours is up{too_early}"
    assert exists == bool(after)


@pytest.fixture
def slow_creation(monkeypatch):
    """The events that a session is about to be written, and that it may be."""
    create = start.create
    began = threading.Event()
    held = threading.Event()

    def slowly(*arguments):
        began.set()
        held.wait(600)
        create(*arguments)

    monkeypatch.setattr(start, "create", slowly)
    return began, held


async def test_a_stop_waits_for_what_is_being_written(planned, slow_creation):
    """The lock is let go behind it: another trainer would find half a session."""
    plan = planned()
    (began, held) = slow_creation
    opening = asyncio.create_task(start.open_session(plan, print).__aenter__())
    await until_true(began.is_set)
    for _ in range(2):
        opening.cancel()
        await asyncio.sleep(0.05)
    early = opening.done()
    held.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert not early
    assert plan.path.exists()


async def test_a_stop_closes_no_session_that_is_being_read(planned, monkeypatch):
    """SQLite crashes if a connection is closed while another thread reads from it."""
    plan = planned()
    (began, held, ended) = (threading.Event() for _ in range(3))
    read = []

    def slowly(store, **_):
        began.set()
        held.wait(600)
        try:
            read.append(store.progress().articles)
        finally:
            store.close()  # The stop does not, and from Python 3.13 the collector warns of it.
            ended.set()

    monkeypatch.setattr(start, "Stream", slowly)
    opening = asyncio.create_task(start.open_session(plan, print).__aenter__())
    await until_true(began.is_set)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    held.set()
    await until_true(ended.is_set)
    assert read == [0]


def test_a_second_interrupt_does_not_wait_for_what_is_being_written(
    planned, slow_creation, monkeypatch
):
    plan = planned()
    (began, held) = slow_creation
    codes = []
    insist = start._insist
    heard = []

    def hear(number, signals):
        heard.append(number)
        insist(number, signals)

    def interrupt():
        """Two of them: one that came late would end the tests, and two at once are one."""
        for before, ready in enumerate([began.is_set, lambda: heard]):
            waiting.until(ready)
            assert len(heard) == before
            os.kill(os.getpid(), signal.SIGINT)

    def end(code):
        codes.append((code, plan.path.exists()))
        held.set()

    monkeypatch.setattr("os._exit", end)
    monkeypatch.setattr(start, "_insist", hear)
    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    start.train(plan.path, plan.request, print, print)
    interrupting.join()
    assert codes == [(130, False)]


@pytest.mark.parametrize("when", ["as the run ends", "while the words are stored"])
async def test_a_signal_while_a_vocabulary_is_finished_is_obeyed_then(planned, monkeypatch, when):
    plan = planned()
    built = []

    async def follow():
        """A run that has come to its end."""
        if when == "as the run ends":
            os.kill(os.getpid(), signal.SIGTERM)
        return start.FINISHED

    def build(*_):
        if when == "while the words are stored":
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
        built.append(True)
        return "built"

    @asynccontextmanager
    async def opened(*_):
        yield (
            Mock(),
            Mock(spec=start.VocabularyBuild, built=None, progress=Mock()),
            Mock(feed=AsyncMock()),
        )

    ended = Mock(return_value=Mock(follow=follow))
    for name, made in {"Monitor": ended, "end_building": build, "open_session": opened}.items():
        monkeypatch.setattr(start, name, made)
    monkeypatch.setattr(start, "remarks", lambda *_: [])
    with Signals() as signals:
        beginning = asyncio.create_task(start.run(plan, start.Limits(), print, print, signals))
        with pytest.raises(asyncio.CancelledError):
            await beginning
    assert built


async def test_a_session_that_cannot_go_on_is_closed(planned, monkeypatch):
    def damaged(store, **_):
        raise Damaged("x")

    monkeypatch.setattr(start, "Stream", damaged)
    plan = planned()
    with pytest.raises(Damaged):
        async with start.open_session(plan, print):
            pass
    assert os.listdir(plan.path.parent) == [plan.path.name]


async def test_a_session_to_which_no_source_can_be_added_is_closed(planned, monkeypatch):
    def damaged(store, *_):
        raise Damaged("x")

    plan = planned()
    async with start.open_session(plan, print):
        pass
    monkeypatch.setattr(start.SessionWriter, "add_source", damaged)
    added = replace(plan, is_new=False, adds=True)
    with pytest.raises(Damaged) as error:
        async with start.open_session(added, print):
            pass
    # The error refers to all that was open, which the collector therefore has not closed.
    assert os.listdir(plan.path.parent) == [plan.path.name], error


@pytest.mark.parametrize(
    ("rpm", "done", "says"),
    [(10, 0, "in about 2 min at 10 requests a minute"), (10, 1_000, ""), (None, 0, "")],
)
def test_how_long_a_vocabulary_takes_is_told_where_that_is_known(rpm, done, says):
    settings = SimpleNamespace(source="api", source_name="memory", vocabulary="own")
    beginning = SimpleNamespace(
        settings=settings, wanted=1_000, progress=SimpleNamespace(pending=done)
    )
    feed = SimpleNamespace(activity=Activity(allowed_per_minute=rpm, batch_pages=50))
    source = SimpleNamespace(feed=feed, info=SimpleNamespace(articles=None))
    line = remarks._builds(beginning, source)
    assert says in line
    assert (" min " in line) == bool(says)


async def test_a_model_that_cannot_be_made_is_reported_once(corpus, tmp_path, monkeypatch):
    """The warm-up meets the error first, and says nothing."""
    met = threading.Event()
    unheard = []

    def warm_up(_):
        met.set()
        raise Damaged("x")

    monkeypatch.setattr(opening, "warm_up", warm_up)
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context))
    (tmp_path / "a.txt").write_text("some text")
    kind = sources.load("texts")
    asked = TrainRequest(source="texts", texts=(str(tmp_path / "a.txt"),)).asked(kind)
    vocabulary = Vocabulary.from_lines(corpus.words)
    opened = await opening.open_source(kind, kind.identity(asked), asked, vocabulary, print)
    await opened.feed.close()
    await until_true(met.is_set)
    await asyncio.sleep(0.05)
    gc.collect()
    assert unheard == []
