"""From a plan to a running trainer: open what it needs, and run."""

import asyncio
import contextlib
import math
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from wikitopics.crawler.source import SourceKind
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage, Say
from wikitopics.session.options import ARTICLES, HELD_OUT, HOURS, MAX_MB, THREADS
from wikitopics.session.request import TrainRequest
from wikitopics.session.signals import Signals
from wikitopics.session.storage.database import closed_on_error, released, remove_database
from wikitopics.session.storage.files import make_folder
from wikitopics.session.storage.heartbeats import withdraw_requests
from wikitopics.session.storage.reader import check_alone
from wikitopics.session.storage.upgrading import upgrade
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.system import TrainerLock
from wikitopics.session.training.defaults import LEAST
from wikitopics.session.training.monitor import Monitor, Reporter
from wikitopics.session.training.new_session import (
    complete,
    create,
    end_building,
    feed_first_articles,
)
from wikitopics.session.training.opening import Opened, open_source
from wikitopics.session.training.plan import Plan, asked_language, resolve
from wikitopics.session.training.remarks import ended, remarks, too_few
from wikitopics.session.training.run import FINISHED, TIME_IS_UP, Limits, Run
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.vocabulary import Consumer, VocabularyBuild
from wikitopics.vocab.building import BadDocuments
from wikitopics.vocab.rules import Rule

T = TypeVar("T")


class Unawaited(ThreadPoolExecutor):
    """Threads for which an ending loop does not wait: they compile, or ask a name server that does
    not answer."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


def train(path: Path, request: TrainRequest, report: Reporter, say: Say) -> str:
    """Train the session at ``path`` until its end or a signal; returns why it ended.

    ``say`` takes the lines about what happens before the first report. Raises the errors of all
    rooms, each with an ``exit_code``. Nothing is created if the source cannot be opened.
    """
    with Signals() as signals:
        signals.at_once = lambda number: _insist(number, signals)
        try:
            return asyncio.run(_train(path, request, report, say, signals))
        except asyncio.CancelledError:
            return "stopped before training began"


def _insist(number: signal.Signals, signals: Signals) -> None:
    """Exit at once if an interrupt follows another signal."""
    if number == signal.SIGINT and len(signals.noted) > 1:
        # Nothing is left half done: the last commit is safe, and the file of a new session gets its
        # name only once it is complete.
        os._exit(130)


def _obey(signals: Signals) -> None:
    """Let each signal, past or future, cancel the current task; a run handles signals in its own
    way."""
    starting = asyncio.current_task()
    assert starting is not None
    signals.tell(lambda _: starting.cancel())


async def _train(
    path: Path,
    request: TrainRequest,
    report: Reporter,
    say: Say,
    signals: Signals,
) -> str:
    # From here on, slow work is done in threads, so that signals are noticed. There are few
    # threads, since each keeps some 10 MB once it has read parts of a dump.
    n_threads = max(2, os.cpu_count() or 1)
    asyncio.get_running_loop().set_default_executor(Unawaited(n_threads))
    _obey(signals)
    plan = await asyncio.to_thread(resolve, path, request)
    make_folder(path.parent)
    with TrainerLock(path):
        if not plan.is_new:
            await asyncio.to_thread(check_alone, path)
            withdraw_requests(path)
        try:
            limits = Limits(request.get(HOURS) or math.inf, request.get(MAX_MB) or math.inf)
            reason, limits = await run(plan, limits, report, say, signals)
            # With a rule alone, that run has only built the vocabulary. With the vocabulary, the
            # session is resumed: another run trains.
            if reason == FINISHED and isinstance(plan.vocabulary, Rule):
                plan = await asyncio.to_thread(resolve, path, request)
                reason, _ = await run(plan, limits, report, say, signals)
            return reason
        except BadDocuments:  # the session could never go on
            if plan.is_new:
                await asyncio.to_thread(remove_database, path)
            raise


PROMPT_SECONDS = 5.0
"""Seconds that a source may take to open even if a run's time is shorter: a local one needs no
longer."""


async def run(
    plan: Plan,
    limits: Limits,
    report: Reporter,
    say: Say,
    signals: Signals,
) -> tuple[str, Limits]:
    """Train to the end, or build the vocabulary; returns why that ended, and what is left of the
    limits.

    The hours also limit how long the source may take to open.

    Raises `BadUsage` if there was too little to train on; then a session created by this run is
    deleted.
    """
    began = time.monotonic()
    lack: BadUsage | None = None
    async with contextlib.AsyncExitStack() as opened:
        longest = max(limits.seconds, PROMPT_SECONDS)
        end = asyncio.timeout(longest if math.isfinite(longest) else None)
        try:
            async with end:
                store, stream, source = await opened.enter_async_context(open_session(plan, say))
        except TimeoutError:
            if not end.expired():
                raise
            return f"{TIME_IS_UP} before training began", limits
        if isinstance(stream, Stream):
            await _to_its_end(lambda: feed_first_articles(store, stream))
        for line in remarks(plan, store, stream, source):
            say(line)
        limits_left = limits.less(time.monotonic() - began, 0)
        training_run = Run(store, stream, source.feed, limits_left)
        signals.tell(lambda number: training_run.stop(f"stopped by {number.name}"))
        run_options = {
            option.name: plan.request[option]
            for option in sources.run_options(plan.kind)
            if option in plan.request
        }
        reason = await Monitor(plan.path, training_run, report, say, run_options).follow()
        if isinstance(stream, Stream) and reason == FINISHED:
            lack = _lack(stream, plan.kind)
            if lack is None:
                say(ended(stream))
    seconds = time.monotonic() - began
    if isinstance(stream, VocabularyBuild) and reason == FINISHED:
        _obey(signals)
        asked = asked_language(plan)
        message = await _to_its_end(
            lambda: end_building(plan.path, stream.built, seconds, source.info.language, asked)
        )
        say(message)
    if lack is not None:
        if plan.is_new:
            await asyncio.to_thread(remove_database, plan.path)
        raise lack
    return reason, limits.less(seconds, source.feed.activity.bytes_read)


def _lack(stream: Stream, kind: SourceKind) -> BadUsage | None:
    """The error if a stream has finished with too few documents; None if it had enough."""
    progress = stream.progress
    limit = stream.article_limit
    limit_reached = limit is not None and progress.articles >= limit
    if progress.documents >= LEAST or limit_reached:
        return None
    read = progress.documents + progress.held_out + progress.skipped
    return too_few(stream.settings, kind, read, progress.held_out, progress.skips)


@contextlib.asynccontextmanager
async def open_session(
    plan: Plan, say: Say
) -> AsyncGenerator[tuple[SessionWriter, Consumer, Opened]]:
    """Open the source, then the session, which is created if it is new; both are closed at the end.

    Raises the errors of both, and `BadUsage` if a new session would have too little to train on.
    """
    resuming = not (plan.is_new or plan.adds)
    settings = plan.settings
    asked = plan.request.asked(plan.kind, resuming=resuming)
    async with contextlib.AsyncExitStack() as opened:
        cluster = plan.request.cluster_address()
        source = await open_source(
            plan.kind,
            settings.source_options,
            asked,
            plan.vocabulary,
            say,
            settings.models,
            cluster,
            settings.keeps_snippets,
        )
        opened.push_async_callback(source.feed.close)
        start = source.info.start
        if plan.is_new:
            settings = complete(settings, plan.request, source)
            size = source.info.articles
            held_out = settings[HELD_OUT]
            if size is not None and size - held_out < LEAST:
                raise too_few(settings, plan.kind, size, held_out, {})
            await _to_its_end(lambda: create(plan.path, settings, plan.vocabulary, start))
        else:
            version = released(plan.path)
            if version:
                say(f"converting this session from the format of {version} (only once)")
                await _to_its_end(lambda: upgrade(plan.path))
        store = SessionWriter(plan.path)
        if plan.adds:
            with closed_on_error(store):
                await _to_its_end(lambda: store.add_source(settings.source_options, start))
        stream = await asyncio.to_thread(_read, store, plan)
        opened.callback(store.close)  # harmless if a run has already closed it
        yield store, stream, source


def _read(store: SessionWriter, plan: Plan) -> Consumer:
    """Read the contents of an open session, which is closed on an error.

    A stop does not wait for this, and leaves the session open: SQLite crashes if a connection is
    closed while another thread is reading from it.
    """
    try:
        if isinstance(plan.vocabulary, Rule):
            return VocabularyBuild(store)
        threads = plan.request.get(THREADS) or os.cpu_count() or 1
        return Stream(store, article_limit=plan.request.get(ARTICLES), threads=threads)
    except BaseException:
        store.close()
        raise


async def _to_its_end(work: Callable[[], T]) -> T:
    """The result of ``work``, which writes to the session in a thread; a stop takes effect once it
    is done.

    The session's lock must not be released while anything is still writing.
    """
    working = asyncio.ensure_future(asyncio.to_thread(work))
    stop: asyncio.CancelledError | None = None
    while not working.done():
        try:
            await asyncio.wait({working})
        except asyncio.CancelledError as error:
            stop = error
    result = working.result()
    if stop is not None:
        raise stop
    return result
