"""From a request to a running trainer: resolve the request, open what it needs, run."""

import asyncio
import contextlib
import math
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from wikitopics.crawler.mediawiki.kinds import ENGLISH, language_of
from wikitopics.crawler.source import Identity, PageKind, Position, SourceKind, default_held_out
from wikitopics.crawler.texts.kind import BEFORE, TEXTS
from wikitopics.model.options import HALF_LIFE
from wikitopics.option import flag
from wikitopics.session import sources
from wikitopics.session.config import with_contact
from wikitopics.session.errors import BadUsage, MissingKind, Say, SessionError
from wikitopics.session.options import (
    ARTICLES,
    DOCUMENTS,
    HELD_OUT,
    HOURS,
    KEEP_ARTICLES,
    LINKS,
    MAX_MB,
    PASSES,
    SEED,
    THREADS,
    VOCAB,
)
from wikitopics.session.paths import DEFAULT_SESSION, session_name, vocabulary_file
from wikitopics.session.records import skips_told
from wikitopics.session.request import (
    TrainRequest,
    added_texts,
    check_resumable,
    load_vocabulary,
    new_settings,
)
from wikitopics.session.seeds import ids_of, stored_seeds, unknown_words
from wikitopics.session.settings import Settings, default_topics, load_kind, new_model
from wikitopics.session.storage.counts import documents_room
from wikitopics.session.storage.database import released, remove_database
from wikitopics.session.storage.files import make_folder, replacing
from wikitopics.session.storage.reader import SessionReader, check_alone
from wikitopics.session.storage.topics import model_row
from wikitopics.session.storage.writer import Beginning, SessionWriter, request_control, upgrade
from wikitopics.session.storage.writer import create as create_session
from wikitopics.session.system import Signals, TrainerLock
from wikitopics.session.training.monitor import Monitor, Reporter
from wikitopics.session.training.opening import Opened, open_source
from wikitopics.session.training.run import FINISHED, TIME_IS_UP, Limits, Run
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.vocabulary import LEAST_SHARED, Consumer, VocabularyBuild
from wikitopics.vocab import Vocabulary, segmenters
from wikitopics.vocab.building import BadDocuments, Built
from wikitopics.vocab.rules import BY_DICTIONARY, Rule

T = TypeVar("T")


# A new session: its settings, as the source determines them, its vocabulary, its models and its
# file.

LEAST = 2
"""The fewest documents to train on: the topics of a single one are nothing but its words."""
MOST_PASSES = 5
"""More passes make the models of small collections worse on held-out documents as often as
better."""
ENOUGH_READINGS = 20_000
DEFAULT_DOCUMENTS = 7_000_000
"""D if the source's size cannot be known: about the number of articles in English Wikipedia."""


def too_few(
    settings: Settings,
    kind: SourceKind,
    read: int,
    held_out: int,
    skips: Mapping[str, int],
) -> BadUsage:
    """Why fewer than `LEAST` of the documents that were ``read`` are left to train on, and what to
    do."""
    documents = read - sum(skips.values())
    held_out = min(held_out, documents)
    why = [f"skipped: {skips_told(skips)}"] if skips else []
    why += [f"held out: {held_out:,}"] if held_out else []
    of = f" (of {'; '.join([f'{read:,}', *why])})" if why else ""
    noun = "document" if kind.own else "article"
    hint = "" if read >= LEAST else kind.division(settings.source_options)
    if documents >= LEAST:
        hint = "Give more, or hold out fewer"
    elif read >= LEAST and held_out:  # holding out fewer would leave too few, too
        hint = f"Give more {noun}s with words of the vocabulary, or another vocabulary"
    lack = f"{'only one' if documents > held_out else 'no'} {noun} to train on{of}"
    return BadUsage(
        f"{settings.source_name}: {lack}, and at least two are needed"
        + (f". {hint}" if hint else "")
    )


def default_passes(documents: int) -> int:
    """The number of passes over this many documents, for about 20,000 readings; at most five."""
    return max(1, min(MOST_PASSES, ENOUGH_READINGS // max(1, documents)))


def complete(settings: Settings, request: TrainRequest, opened: Opened) -> Settings:
    """The settings of a new session, completed with what its source has reported."""
    values, size = dict(settings.values), opened.info.articles
    held_out = values.setdefault(HELD_OUT.name, default_held_out(size))
    most = DEFAULT_DOCUMENTS if size is None else max(1, size - held_out)
    values.setdefault(DOCUMENTS.name, min(most, request.get(ARTICLES) or most))
    kind, models = sources.load(settings.source), settings.models
    vocabulary = settings.vocabulary
    if settings.building:
        vocabulary = kept_name(settings, opened.identity) or vocabulary
    if size is not None:
        documents = max(1, size - held_out)
        seeded = len(stored_seeds(settings))  # the fewest topics
        models = tuple(
            one.with_usual(max(seeded, default_topics(load_kind(one.kind), documents)))
            for one in models
        )
        forgets = any(HALF_LIFE.name in spec.options for spec in models)
        if PASSES not in request and kind.own and not forgets:
            values[PASSES.name] = default_passes(documents)
    return replace(
        settings,
        values=values,
        models=models,
        vocabulary=vocabulary,
        source_name=opened.info.name,
        source_options=opened.identity,
    )


def chosen_by_size(before: Settings, after: Settings) -> str:
    """What the size of a new session's source has determined; "" if nothing.

    ``before``: its settings as requested, ``after``: as they are stored.
    """
    chosen = {}
    if before.models != after.models:
        specs = [
            spec for was, spec in zip(before.models, after.models, strict=True) if was.usual_topics
        ]
        numbers = [
            f"{one.topics:,} topics" + f" for {one.name}" * (len(specs) > 1) for one in specs
        ]
        is_root = all(
            spec.topics**2 < 2 * after[DOCUMENTS] for spec in specs
        )  # the HDP: three times that
        rule = (
            f"{'about' if is_root else 'from'} the square root of its {sources.noun(after.source)}"
        )
        chosen["--topics"] = f"{' and '.join(numbers)} ({rule})"
    if before[PASSES] != after[PASSES]:
        chosen[PASSES.flag] = f"{after[PASSES]} passes"
    if not chosen:
        return ""
    verb = "change" if len(chosen) > 1 else "changes"
    return f"Small collection: {', '.join(chosen.values())}; {' and '.join(chosen)} {verb} that"


def beginning(settings: Settings, vocabulary: Vocabulary) -> Beginning:
    """The words, the untrained models, and the names of their first topics.

    Raises `BadUsage` for seeds that no model can have.
    """
    seeds = stored_seeds(settings)
    sizes, ids = (len(vocabulary), settings[DOCUMENTS], settings[SEED]), ids_of(seeds, vocabulary)
    models = [model_row(new_model(spec, *sizes, ids), None) for spec in settings.models]
    return Beginning(vocabulary.words, models, list(seeds))


def create(
    path: Path,
    settings: Settings,
    vocabulary: Vocabulary | Rule,
    start: Position | None = None,
) -> None:
    """Create the session's file, with untrained models; if there is only a rule, without words.

    ``start``: the position before the source's first article."""
    begun = beginning(settings, vocabulary) if isinstance(vocabulary, Vocabulary) else None
    create_session(path, settings, begun, start)


def kept_name(settings: Settings, identity: Identity) -> str:
    """The name under which other sessions find the vocabulary that a session builds; "" if they do
    not.

    ``identity``: that of the source, which is open.
    """
    titles = f"-{LINKS}" if Rule.parse(settings.rule).of_titles else ""
    kind = sources.load(settings.source)
    name = (
        "" if kind.own else kind.kept_vocabulary(identity, settings.vocabulary.removesuffix(titles))
    )
    return name + titles if name else ""


def other_language(settings: Settings, language: str, asked: str | None = None) -> str:
    """The code of a source's ``language`` if another one was ``asked`` for, or is said by the name
    of the session's vocabulary; otherwise "".

    Codes of three and more letters are ignored: wikis and languages do not always have the same
    ones.
    """
    named = (
        ENGLISH
        if settings.vocabulary == VOCAB.default
        else settings.vocabulary.removesuffix(f"-{LINKS}")
    )
    code = asked or named
    stated = language_of(language).partition("-")[0]
    return stated if stated and len(code) == 2 and stated != code else ""


def save_user_copy(name: str, vocabulary: Vocabulary) -> str:
    """Save a vocabulary for other sessions, unless the name is taken; returns a message about
    it."""
    path = vocabulary_file(name)
    if path.exists():
        return f"another vocabulary is already saved as {name}"
    try:
        make_folder(path.parent)
        with replacing(path) as file:
            file.write(("\n".join(vocabulary.lines) + "\n").encode())
    except SessionError as error:
        return f"it could not be saved for other sessions: {error}"
    return f"it is saved for other sessions: `wikitopics vocab show {name}`"


def store_vocabulary(store: SessionWriter, vocabulary: Vocabulary) -> None:
    """Give the session its vocabulary and its models."""
    settings = replace(store.settings(), fingerprint=vocabulary.fingerprint)
    store.build(settings, beginning(settings, vocabulary))


def feed_first_articles(store: SessionWriter, stream: Stream) -> None:
    """Feed the stream the articles collected before there was a vocabulary, and commit them.

    Only as many are fed as a session may hold untrained, with room for the next ones. The source is
    asked again for the rest.
    """
    numbers = {word: number for number, word in enumerate(store.vocabulary())}
    room = documents_room(store.settings()) // 2
    some = False
    # The source can only continue after all blocks with the same position.
    for _, rows in groupby(store.first_articles(), key=lambda block: block.position):
        counted = [block.over(numbers) for block in rows]
        room -= sum(len(block.to_bytes()) for block in counted)
        if some and room < 0:
            break
        some = True
        for block in counted:
            stream.feed(block)
    if some:
        stream.read_first_articles()
        stream.commit(stream.progress.elapsed_seconds, stream.progress.bytes_read)


# The run: resolving the request, opening, and training to the end.


class Unawaited(ThreadPoolExecutor):
    """Threads for which an ending loop does not wait: they compile, or ask a name server that does
    not answer."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train, determined before anything is opened."""

    path: Path
    request: TrainRequest
    settings: Settings
    """The settings of the existing session, or those known so far of a new one."""
    is_new: bool
    kind: SourceKind
    vocabulary: Vocabulary | Rule
    """The vocabulary; only a rule if the session has yet to build one."""
    adds: bool = False
    """Whether the source has texts that the session has not read before."""
    remark: str = ""
    """A message about the vocabulary; "" if there is none."""


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
        os._exit(130)  # the last commit is safe, and a new session gets its name last


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
    asyncio.get_running_loop().set_default_executor(Unawaited(max(2, os.cpu_count() or 1)))
    _obey(signals)
    plan = await asyncio.to_thread(resolve, path, request)
    make_folder(path.parent)
    with TrainerLock(path):
        if not plan.is_new:
            await asyncio.to_thread(check_alone, path)
            request_control(path, paused=False, save=False, stop=False)
        try:
            limits = Limits(request.get(HOURS) or math.inf, request.get(MAX_MB) or math.inf)
            reason, limits = await run(plan, limits, report, say, signals)
            if reason == FINISHED and isinstance(plan.vocabulary, Rule):
                plan = await asyncio.to_thread(resolve, path, request)
                reason, _ = await run(plan, limits, report, say, signals)
            return reason
        except BadDocuments:  # the session could never go on
            if plan.is_new:
                await asyncio.to_thread(remove_database, path)
            raise


def resolve(path: Path, request: TrainRequest) -> Plan:
    """What the request means for the session at ``path``: a new one is created, an existing one
    resumed.

    Raises for every error that can be found before the source is contacted.
    """
    request.cluster_address()  # raises if the address is wrong
    is_new, adds = not os.path.exists(path), False
    if is_new:
        kind = request.kind()
        settings, vocabulary = new_settings(request, kind)
    else:
        with SessionReader(path) as reader:
            settings = reader.settings()
            if settings.source not in sources.names():
                raise MissingKind("kind of source", settings.source)
            kind = sources.load(settings.source)
            sources.check_identity(kind, settings.source_options)
            of_texts = isinstance(kind, PageKind)
            requested = (
                load_vocabulary(request[VOCAB], of_texts=of_texts) if VOCAB in request else None
            )
            progress = reader.progress()
            read_all = progress.finished and progress.lap == 1  # not just up to --articles
            if read_all and (added := added_texts(request, settings)) is not None:
                if settings[KEEP_ARTICLES] != "all":
                    raise BadUsage(
                        f"{TEXTS.flag}: this session did not record which documents it has read "
                        f"({flag(KEEP_ARTICLES.name)} {settings[KEEP_ARTICLES]}), so none can be "
                        "added"
                    )
                adds, before = True, reader.last_page_id()
                settings = replace(settings, source_options={**added, BEFORE: before})
                sources.check_identity(kind, settings.source_options)  # page ids may be damaged
            try:
                check_resumable(request, settings, requested, adds=adds)
            except BadUsage as error:
                if session_name(path) != DEFAULT_SESSION:
                    raise
                told = f"session default holds {reader.holdings()} (`--session NAME` makes another)"
                raise BadUsage(f"{told}. {error}") from None
            vocabulary = Rule.parse(settings.rule) if settings.building else reader.counter()
    rule = vocabulary if isinstance(vocabulary, Rule) else vocabulary.rule
    remark = _of_other_versions(rule) if isinstance(kind, PageKind) else ""
    request = with_contact(request, kind, settings.source_options)
    return Plan(path, request, settings, is_new, kind, vocabulary, adds, remark)


def _of_other_versions(rule: Rule) -> str:
    """A message if the words of a vocabulary were separated by versions other than those installed;
    otherwise "". Raises `UnseparatedWords`."""
    now = segmenters.versions(rule.language) if rule.number == BY_DICTIONARY else ""
    if rule.versions in ("", now):
        return ""
    return (
        f"the words of this vocabulary were separated by {rule.versions}, but those of articles "
        f"are now separated by {now}, so a few are counted differently; install the former to "
        "prevent that"
    )


def asked_language(plan: Plan) -> str | None:
    """The language asked for, if the source must say the same one; None: it need not.

    Whoever asks a wiki of another host knows its language better than its settings, which often say
    English.
    """
    return None if plan.kind.asks_server else plan.kind.language(plan.request.asked(plan.kind))


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
        end = asyncio.timeout(None if math.isinf(longest) else longest)
        try:
            async with end:
                store, stream, source = await opened.enter_async_context(open_session(plan, say))
        except TimeoutError:
            if not end.expired():
                raise
            return f"{TIME_IS_UP} before training began", limits
        if isinstance(stream, Stream):
            await _to_its_end(lambda: feed_first_articles(store, stream))
        for line in _remarks(plan, store, stream, source):
            say(line)
        this = Run(store, stream, source.feed, limits.less(time.monotonic() - began, 0))
        signals.tell(lambda number: this.stop(f"stopped by {number.name}"))
        options = (option for option in sources.run_options(plan.kind) if option in plan.request)
        given = {option.name: plan.request[option] for option in options}
        reason = await Monitor(plan.path, this, report, say, given).follow()
        if isinstance(stream, Stream) and reason == FINISHED:
            limit, progress = stream.article_limit, stream.progress
            if progress.documents >= LEAST or (limit is not None and progress.articles >= limit):
                say(_ended(stream))
            else:
                read = progress.documents + progress.held_out + progress.skipped
                lack = too_few(stream.settings, plan.kind, read, progress.held_out, progress.skips)
    seconds = time.monotonic() - began
    if isinstance(stream, VocabularyBuild) and reason == FINISHED:
        _obey(signals)
        asked = asked_language(plan)
        say(
            await _to_its_end(
                lambda: _build(plan.path, stream.built, seconds, source.info.language, asked)
            )
        )
    if lack is not None:
        if plan.is_new:
            await asyncio.to_thread(remove_database, plan.path)
        raise lack
    return reason, limits.less(seconds, source.feed.activity.bytes_read)


def _build(
    path: Path,
    built: Built | None,
    seconds: float,
    language: str,
    asked: str | None,
) -> str:
    """Give the session its new vocabulary; returns a message about it. It is saved for other
    sessions, unless it comes from the user's own texts, from too few articles or from a wiki that
    is not known, or the source's ``language`` is not the one ``asked`` for."""
    assert built is not None
    store = SessionWriter(path)
    try:
        settings = store.settings()
        copy = "it is not saved for other sessions"
        name = kept_name(settings, settings.source_options)
        if name and not other_language(settings, language, asked):
            if built.documents < LEAST_SHARED:
                copy += f", for which it would have to come from at least {LEAST_SHARED:,} articles"
            else:
                copy = save_user_copy(name, built.vocabulary)
        store_vocabulary(store, built.vocabulary)
    finally:
        store.close()
    noun = "titles" if built.vocabulary.rule.of_titles else "words"
    return (
        f"the vocabulary was built in {seconds:.0f} s: {len(built.vocabulary):,} {noun} out of "
        f"{built.distinct_words:,}, from {built.documents:,} {sources.noun(settings.source)}; "
        f"{copy}"
    )


@contextlib.asynccontextmanager
async def open_session(
    plan: Plan, say: Say
) -> AsyncGenerator[tuple[SessionWriter, Consumer, Opened]]:
    """Open the source, then the session, which is created if it is new; both are closed at the end.

    Raises the errors of both, and `BadUsage` if a new session would have too little to train on.
    """
    resuming = not (plan.is_new or plan.adds)
    settings, asked = plan.settings, plan.request.asked(plan.kind, resuming=resuming)
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
        )
        opened.push_async_callback(source.feed.close)
        start = source.info.start
        if plan.is_new:
            settings = complete(settings, plan.request, source)
            size, held_out = source.info.articles, settings[HELD_OUT]
            if size is not None and size - held_out < LEAST:
                raise too_few(settings, plan.kind, size, held_out, {})
            await _to_its_end(lambda: create(plan.path, settings, plan.vocabulary, start))
        elif version := released(plan.path):
            say(f"converting this session from the format of {version} (only once)")
            await _to_its_end(lambda: upgrade(plan.path))
        store = SessionWriter(plan.path)
        if plan.adds:
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
        return Stream(
            store, article_limit=plan.request.get(ARTICLES), threads=plan.request[THREADS]
        )
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


def _remarks(plan: Plan, store: SessionWriter, stream: Consumer, source: Opened) -> Iterator[str]:
    """Messages about what is going to happen."""
    if isinstance(stream, VocabularyBuild):
        yield _builds(stream, source)
    else:
        if plan.remark:
            yield plan.remark
        yield _begins(stream)
        if plan.adds:
            yield (
                f"adding the documents of {source.info.name}; those whose id the session has are "
                "skipped"
            )
        if not stream.progress.articles:
            yield from unknown_words(stored_seeds(stream.settings), store.counter())
    if not plan.is_new:
        return
    if chosen := chosen_by_size(plan.settings, stream.settings):
        yield chosen
    if VOCAB not in plan.request:
        words = f"the words of the vocabulary {stream.settings.vocabulary!r}"
        own_texts = plan.kind.own and isinstance(plan.kind, PageKind)
        if own_texts and isinstance(plan.vocabulary, Vocabulary):
            how = "`wikitopics vocab build` makes one from your own texts"
            yield f"counting {words}, which come from Wikipedia; {how}"
        if language := other_language(stream.settings, source.info.language, asked_language(plan)):
            how = f"start a new --session with --lang {language}"
            yield f"{source.info.name} is in {language!r}, but the session counts {words}: {how}"
    if download := plan.kind.download(source.identity):
        yield f"this downloads {download}"


def _builds(build: VocabularyBuild, source: Opened) -> str:
    """How a vocabulary is going to be built, and how long that takes."""
    settings, info, activity = build.settings, source.info, source.feed.activity
    done = build.progress.pending
    number = build.wanted if info.articles is None else min(build.wanted, info.articles)
    rate = (activity.allowed_per_minute or 0) * (activity.batch_pages or 0)
    minutes = -(-(number - done) // rate) if rate and number > done else 0
    long = (
        f", in about {minutes} min at {activity.allowed_per_minute} requests a minute"
        if minutes
        else ""
    )
    noun = sources.noun(settings.source)
    if done:
        how = f"is still being built: {done:,} of {number:,} {noun} are counted"
    else:
        how = f"is built first, from the first {number:,} {noun}"
    return (
        f"{settings.source_name}: the vocabulary {settings.vocabulary!r} {how}{long}; these {noun} "
        "then come first in the stream"
    )


def _begins(stream: Stream) -> str:
    """Which models are trained, and from which article on."""
    settings, done = stream.settings, stream.progress.articles
    names = ", ".join(
        f"{spec.name} ({spec.kind}, {spec.topics} topics)" for spec in settings.models
    )
    if done:
        start = f"resuming at {done:,} {sources.unit_noun(settings.source, settings[PASSES])}"
    else:
        start = f"{settings[HELD_OUT]:,} {sources.noun(settings.source)} are held out first"
    passes = f", in {settings[PASSES]:,} passes" if settings[PASSES] > 1 else ""
    return f"{settings.source_name}: training {names}{passes}; {start}"


def _ended(stream: Stream) -> str:
    """Why a session is finished, in a line."""
    articles, passes, limit = stream.progress.articles, stream.passes, stream.article_limit
    if limit is not None and articles >= limit:
        return f"--articles {limit:,} has been reached"
    noun = sources.noun(stream.settings.source)[:-1]
    noun = f"added {noun}" if BEFORE in stream.settings.source_options else noun
    read = f"every {noun} has been read {'once' if passes == 1 else f'{passes:,} times'}"
    return read if limit is None else f"{read}: {articles:,}, fewer than --articles {limit:,}"
