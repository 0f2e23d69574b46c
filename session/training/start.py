"""From a request to a running trainer: resolve the request, open what it needs, run."""

import asyncio
import contextlib
import math
import os
import shutil
import signal
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from wikitopics.crawler.source import PageKind, SourceKind
from wikitopics.session import sources
from wikitopics.session.config import with_contact
from wikitopics.session.errors import BadUsage
from wikitopics.session.options import (
    ARTICLES,
    DOCUMENTS,
    HELD_OUT,
    HOURS,
    KEEP_ARTICLES,
    MAX_MB,
    PASSES,
    THREADS,
    VOCAB,
)
from wikitopics.session.request import TrainRequest, check_resumable, load_vocabulary, new_settings
from wikitopics.session.settings import Settings
from wikitopics.session.storage import writer
from wikitopics.session.storage.database import remove_database
from wikitopics.session.storage.files import make_folder
from wikitopics.session.storage.reader import SessionReader, check_alone
from wikitopics.session.storage.released import is_released, upgrade_from_1_0
from wikitopics.session.storage.trainer import request_control
from wikitopics.session.storage.writer import file_bytes
from wikitopics.session.system import Signals, TrainerLock
from wikitopics.session.training.creation import (
    LEAST,
    VocabularyBuild,
    complete,
    corpus_size,
    create,
    feed_first_articles,
    save_user_copy,
    store_vocabulary,
    too_few,
)
from wikitopics.session.training.intake.opening import Opened, cluster_address, open_source
from wikitopics.session.training.monitor import BEAT_SECONDS, Monitor, Report
from wikitopics.session.training.run import FINISHED, Limits, Run
from wikitopics.session.training.stream import Stream
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.build import Built
from wikitopics.vocab.rules import Rule

Say = Callable[[str], None]
Tell = Callable[[Report], None]
OUTGROWN = 4
"""A run this many times larger than the D of its models is warned: D is weighed against their priors."""


class Unawaited(ThreadPoolExecutor):
    """Threads that a loop does not wait for when it ends: compiling, or a name server that does not
    answer."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train, known before anything is opened."""

    path: Path
    request: TrainRequest
    settings: Settings
    """Those of the existing session, or what is known of a new one's."""
    is_new: bool
    kind: SourceKind
    vocabulary: Vocabulary | Rule
    """The vocabulary that counts the words; only a rule if the session still has to build it."""


T = TypeVar("T")


def train(path: Path, request: TrainRequest, report: Tell, say: Say) -> str:
    """Train the session at ``path`` until its end or a signal; returns why it ended.

    ``say`` takes the few lines about what happens before the first report. Raises the errors of the rooms,
    each with an ``exit_code``; nothing is created if the source cannot be opened.
    """
    with Signals() as signals:
        signals.at_once = lambda number: _insist(number, signals)
        try:
            return asyncio.run(_train(path, request, report, say, signals))
        except asyncio.CancelledError:
            return "stopped before training began"


def _insist(number: signal.Signals, signals: Signals) -> None:
    """Exit at once on an interrupt that follows another signal."""
    if number == signal.SIGINT and len(signals.noted) > 1:
        os._exit(130)  # the last commit stands, and a new session gets its name last


def _obey(signals: Signals) -> None:
    """Have each signal, past or future, cancel the current task; a run handles signals in its own way."""
    starting = asyncio.current_task()
    assert starting is not None
    signals.tell(lambda _: starting.cancel())


async def _train(path: Path, request: TrainRequest, report: Tell, say: Say, signals: Signals) -> str:
    asyncio.get_running_loop().set_default_executor(Unawaited())
    # From here on, slow work is done in threads, so that signals are noticed.
    _obey(signals)
    plan = await asyncio.to_thread(resolve, path, request)
    make_folder(path.parent)
    with TrainerLock(path) as lock:
        if not plan.is_new:
            await asyncio.to_thread(check_alone, path)
            request_control(path, paused=False, save=False, stop=False)
        keeping = asyncio.create_task(_keep(lock))
        try:
            limits = Limits(request.get(HOURS) or math.inf, request.get(MAX_MB) or math.inf)
            reason, left = await run(plan, limits, report, say, signals)
            if reason == FINISHED and isinstance(plan.vocabulary, Rule):
                plan = await asyncio.to_thread(resolve, path, request)
                reason, _ = await run(plan, left, report, say, signals)
            return reason
        finally:
            keeping.cancel()


async def _keep(lock: TrainerLock) -> None:
    """Keep holding the session even if the lock's file is deleted."""
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        lock.renew()


def resolve(path: Path, request: TrainRequest) -> Plan:
    """What the request means for the session at ``path``: a new one is created, an existing one resumed.

    Raises for every error that can be found before the source is contacted.
    """
    cluster_address(request)  # raises where there can be no cluster
    is_new = not os.path.exists(path)
    if is_new:
        kind = request.kind()
        settings, vocabulary = new_settings(request, kind)
    else:
        with SessionReader(path) as reader:
            settings = reader.settings()
            kind = sources.load_stored(settings.source)
            sources.check_identity(kind, settings.source_options)
            vocabulary_given = load_vocabulary(request[VOCAB], kind) if VOCAB in request else None
            check_resumable(request, settings, vocabulary_given)
            vocabulary = Rule.parse(settings.rule) if settings.building else reader.counter()
    request = with_contact(request, kind, settings.source_options)
    return Plan(path, request, settings, is_new, kind, vocabulary)


async def run(plan: Plan, limits: Limits, report: Tell, say: Say, signals: Signals) -> tuple[str, Limits]:
    """Train to the end, or build the vocabulary; returns why that ended, and what is left of the limits.

    Raises `BadUsage` if there was too little to train on; a session created for that is deleted again.
    """
    began = time.monotonic()
    lack: BadUsage | None = None
    async with open_session(plan, say) as (store, stream, source):
        if isinstance(stream, Stream):
            await _to_its_end(lambda: feed_first_articles(store, stream))
        for line in _remarks(plan, store, stream, source):
            say(line)
        this = Run(store, stream, source.feed, limits)
        signals.tell(lambda number: this.stop(f"stopped by {number.name}"))
        reason = await Monitor(plan.path, this, report, say, plan.request.of_this_run(plan.kind)).follow()
        if isinstance(stream, Stream) and reason == FINISHED:
            lack = _lack(plan, stream)
            if lack is None:
                say(_ended(stream))
            if stream.overfitting:
                say(stream.overfitting)
    seconds = time.monotonic() - began
    if isinstance(stream, VocabularyBuild) and reason == FINISHED:
        _obey(signals)
        say(await _to_its_end(lambda: _build(plan.path, stream.built, seconds)))
    if lack is not None:
        if plan.is_new:
            await asyncio.to_thread(remove_database, plan.path)
        raise lack
    return reason, limits.less(seconds, source.feed.activity.bytes_read)


def _lack(plan: Plan, stream: Stream) -> BadUsage | None:
    """The error if a source that has been read to its end has too few documents to train on."""
    settings, progress, limit = stream.settings, stream.progress, stream.article_limit
    if progress.documents >= LEAST or (limit is not None and progress.articles >= limit):
        return None
    read = progress.documents + progress.held_out + progress.skipped
    source = settings.source_name, plan.kind, settings.source_options
    return too_few(*source, read, progress.held_out, progress.skips)


def _build(path: Path, built: Built | None, seconds: float) -> str:
    """Give the session the vocabulary that was built, and keep it; returns a message about it."""
    assert built is not None
    store = writer.SessionWriter(path)
    try:
        settings = store.settings()
        copy = save_user_copy(settings.vocabulary, built.vocabulary)
        store_vocabulary(store, built.vocabulary)
    finally:
        store.close()
    noun = "titles" if built.vocabulary.rule.of_titles else "words"
    return (
        f"the vocabulary was built in {seconds:.0f} s: {len(built.vocabulary):,} {noun} out of "
        f"{built.distinct_words:,}, from {built.documents:,} {sources.noun(settings.source)}; {copy}"
    )


@contextlib.asynccontextmanager
async def open_session(
    plan: Plan, say: Say
) -> AsyncGenerator[tuple[writer.SessionWriter, Stream | VocabularyBuild, Opened]]:
    """Open the source, then the session, which is created if it is new; both are closed at the end.

    Raises the errors of both, and `BadUsage` if a new one would have too little to train on.
    """
    settings, options = plan.settings, plan.request.asked(plan.kind, resuming=not plan.is_new)
    async with contextlib.AsyncExitStack() as opened:
        cluster = cluster_address(plan.request)
        source = await open_source(
            plan.kind, settings.source_options, options, plan.vocabulary, say, settings.models, cluster
        )
        opened.push_async_callback(source.feed.close)
        if plan.is_new:
            settings = complete(settings, plan.request, source)
            size, held_out = source.info.articles, settings[HELD_OUT]
            if size is not None and size - held_out < LEAST:
                raise too_few(source.info.name, plan.kind, source.identity, size, held_out)
            await _to_its_end(lambda: create(plan.path, settings, plan.vocabulary))
        elif is_released(plan.path):
            say("converting this session from the format of 1.0.0, once")
            await _to_its_end(lambda: upgrade_from_1_0(plan.path))
        store = writer.SessionWriter(plan.path)
        stream = await asyncio.to_thread(_read, store, plan)
        opened.callback(store.close)  # a run has already closed it, which does no harm
        yield store, stream, source


def _read(store: writer.SessionWriter, plan: Plan) -> Stream | VocabularyBuild:
    """What an open session holds; it is closed on an error.

    A stop does not wait for it, and leaves the session open: SQLite crashes if a connection is closed while
    another thread reads from it.
    """
    try:
        if isinstance(plan.vocabulary, Rule):
            return VocabularyBuild(store)
        return Stream(store, article_limit=plan.request.get(ARTICLES), threads=plan.request[THREADS])
    except BaseException:
        store.close()
        raise


async def _to_its_end(work: Callable[[], T]) -> T:
    """The result of ``work``, which writes to the session in a thread; a stop is obeyed once it is done.

    The session's lock must not be released while anything still writes.
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


def _remarks(
    plan: Plan, store: writer.SessionWriter, stream: Stream | VocabularyBuild, source: Opened
) -> Iterator[str]:
    """What is about to be done, and what else there is to say of it."""
    if isinstance(stream, VocabularyBuild):
        yield _builds(stream, source)
    else:
        yield _begins(stream)
        yield from _derived(plan, stream.settings, source)
        yield from _counts(plan)
    yield from _size(plan, source)
    if isinstance(stream, Stream):
        yield from _room(plan, store, source)


def _builds(build: VocabularyBuild, source: Opened) -> str:
    """How a vocabulary will be built, and how long that will take."""
    settings, info, activity = build.settings, source.info, source.feed.activity
    done = build.progress.pending
    number = build.wanted if info.articles is None else min(build.wanted, info.articles)
    rate = (activity.allowed_per_minute or 0) * (activity.batch_pages or 0)
    minutes = -(-(number - done) // rate) if rate and number > done else 0
    long = f", in about {minutes} min at {activity.allowed_per_minute} requests a minute" if minutes else ""
    noun = sources.noun(settings.source)
    if done:
        how = f"is still being built: {done:,} of {number:,} {noun} are counted"
    else:
        how = f"is built first, from the first {number:,} {noun}"
    return (
        f"{settings.source_name}: the vocabulary {settings.vocabulary!r} {how}{long}; these {noun} are "
        "then the first of the stream"
    )


def _begins(stream: Stream) -> str:
    """Which models are trained, and from where on."""
    settings, done = stream.settings, stream.progress.articles
    names = ", ".join(f"{spec.name} ({spec.kind}, {spec.topics} topics)" for spec in settings.models)
    if done:
        start = f"resuming at {done:,} {sources.unit_noun(settings.source, settings[PASSES])}"
    else:
        start = f"{settings[HELD_OUT]:,} {sources.noun(settings.source)} are held out first"
    passes = f", in {settings[PASSES]:,} passes" if settings[PASSES] > 1 else ""
    return f"{settings.source_name}: training {names}{passes}; {start}"


def _derived(plan: Plan, settings: Settings, source: Opened) -> Iterator[str]:
    """What was chosen for a new session because its source is small."""
    defaults = {}
    if settings.models != plan.settings.models:
        defaults["--topics"] = "the number of topics follows from their square root"
    if settings[PASSES] != plan.settings[PASSES]:
        defaults[PASSES.flag] = f"they are read {settings[PASSES]} times"
    if plan.is_new and defaults:
        assert source.info.articles is not None
        yield (
            f"with only {source.info.articles - settings[HELD_OUT]:,} {sources.noun(settings.source)}, "
            f"{' and '.join(defaults.values())}; to choose otherwise, use {' and '.join(defaults)}"
        )


def _counts(plan: Plan) -> Iterator[str]:
    """Whose words a new session over the user's own texts counts, if that was not chosen; of words that were
    counted elsewhere, how many no text has."""
    if not plan.is_new or not plan.kind.own:
        return
    if isinstance(plan.kind, PageKind):
        if VOCAB not in plan.request:
            yield (
                f"counting the words of the vocabulary {plan.settings.vocabulary!r}, which are Wikipedia's; "
                "`wikitopics vocab build` makes one of your own"
            )
        return
    assert isinstance(plan.vocabulary, Vocabulary)
    if never := plan.vocabulary.unmatched():
        yield (
            f"{len(never):,} of the {len(plan.vocabulary):,} words, such as {never[0]!r}, are no words by "
            f"rule {plan.vocabulary.rule}: topics have them, but `infer` never finds them in a text"
        )


def _size(plan: Plan, source: Opened) -> Iterator[str]:
    """How much a new session downloads, or that the source has outgrown an old one."""
    if plan.is_new:
        if download := plan.kind.download(source.identity):
            yield f"this downloads {download}"
        return
    if DOCUMENTS in plan.request or source.info.articles is None:
        return
    size = corpus_size(plan.request, source.info, plan.settings[HELD_OUT])
    made_for = plan.settings[DOCUMENTS]
    if size > OUTGROWN * made_for:
        yield (
            f"these models were made for a corpus of {made_for:,} {sources.noun(plan.settings.source)}: "
            f"for {size:,}, a new --session gives better topics"
        )


def _room(plan: Plan, store: writer.SessionWriter, source: Opened) -> Iterator[str]:
    """The space that the file will need, if it exceeds the free space and the length of the stream is
    known."""
    if source.info.articles is None and ARTICLES not in plan.request:
        return
    settings = store.settings()
    articles = corpus_size(plan.request, source.info, settings[HELD_OUT])
    try:
        needed = file_bytes(settings, len(store.vocabulary()), articles) - plan.path.stat().st_size
        free = shutil.disk_usage(plan.path.parent).free
    except OSError:  # only a remark is lost
        return
    if needed > free:
        keeps = settings[KEEP_ARTICLES] != "none"
        other = ", or start a new --session with --keep-articles none" if keeps else ""
        yield (
            f"{articles:,} {sources.noun(settings.source)} need about {needed / 1e9:,.1f} GB more in "
            f"{plan.path.parent}, but only {free / 1e9:,.1f} GB is free: make room{other}"
        )


def _ended(stream: Stream) -> str:
    """Why a session is finished, in a line."""
    articles, passes, limit = stream.progress.articles, stream.settings[PASSES], stream.article_limit
    if limit is not None and articles >= limit:
        return f"--articles {limit:,} is reached"
    noun = sources.noun(stream.settings.source)[:-1]
    read = f"every {noun} has been read {'once' if passes == 1 else f'{passes:,} times'}"
    return read if limit is None else f"{read}: {articles:,}, fewer than --articles {limit:,}"
