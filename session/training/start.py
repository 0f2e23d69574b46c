"""From a request to a running trainer: open or create the session, make contact, run."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawler.source import Activity, Source, SourceInfo
from session.errors import BadUsage, SessionError
from session.models import default_batch_size, new_model
from session.paths import user_path
from session.request import DOWNLOAD, TrainRequest, check_resumable
from session.settings import Settings, check_batch_sizes
from session.specs import ModelSpec
from session.storage import writer
from session.storage.codec.progress import Progress
from session.storage.database import is_sqlite
from session.storage.heartbeat import check_alone
from session.storage.kept_counts import KeptCounts
from session.storage.lock import TrainerLock, trainer_lock
from session.storage.reader import SessionReader
from session.storage.wishes import forget_wishes
from session.training.compiling import warm_up
from session.training.counts import CountedBlocks, CountsFile
from session.training.crawl import Blocks, CrawledBlocks
from session.training.running.heart import BEAT_SECONDS
from session.training.running.monitor import Report
from session.training.running.orders import watch_signals
from session.training.running.run import Limits, Run
from session.training.sources import make_source, needs_contact, source_options
from session.training.stream import Stream
from vocab import Vocabulary

DEFAULT_DOCUMENTS = 7_000_000
"""D where the source's size cannot be known: about the articles of English Wikipedia."""
DEFAULT_HELD_OUT = 1000
OUTGROWN = 4
"""A run that is to go so many times beyond the D of its models is told so: D weighs against their priors."""


class Unawaited(ThreadPoolExecutor):
    """Threads that a loop at its end does not wait for: compiling, or a name server that keeps silent."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Opened:
    """A source that has been opened, and how to read it."""

    info: SourceInfo
    options: dict[str, Any]
    """What names the source, as the session keeps it."""
    feed: Callable[[Callable[[], int]], Blocks]
    """Makes the feed; takes the trainer's "how many are missing"."""
    close: Callable[[], Awaitable[None]]


def train(
    path: Path, request: TrainRequest, report: Callable[[Report], None], say: Callable[[str], None]
) -> str:
    """Train the session at ``path`` until its end or a signal; returns why it ended.

    ``say`` takes the few lines that tell what is going on before the first report. Raises the errors of
    the rooms, each with an ``exit_code``; nothing is created where the source cannot be opened.
    """
    try:
        return asyncio.run(_train(path, request, report, say))
    except asyncio.CancelledError:
        return "stopped before training began"


def load_vocabulary(name: str) -> Vocabulary:
    """A shipped vocabulary by name, or a file."""
    if "/" in name or "." in name:
        return Vocabulary.from_file(user_path(name))
    return Vocabulary.load(name)


def new_vocabulary(request: TrainRequest) -> Vocabulary:
    """The vocabulary of a new session: the one asked for, or that of the session whose counts it reads."""
    if request.vocab is None and request.counts and is_sqlite(user_path(request.counts)):
        return _stored_vocabulary(user_path(request.counts))
    return load_vocabulary(request.vocabulary_name())


def _names_source(request: TrainRequest) -> bool:
    # A counts file is compared by its content, when it is opened.
    return bool(request.api_url or request.lang or request.dump or request.wiki_size)


def _stored_settings(path: Path) -> Settings | None:
    if not os.path.exists(path):
        return None
    with SessionReader(path) as reader:
        return reader.settings()


def _check(path: Path, request: TrainRequest) -> Settings | None:
    """What the session was made with, if there is one; raises where the request does not go with it."""
    stored = _stored_settings(path)
    if stored is not None:
        options = source_options(request, stored) if _names_source(request) else None
        fingerprint = load_vocabulary(request.vocab).fingerprint if request.vocab else None
        check_resumable(request, stored, source_options=options, fingerprint=fingerprint)
    else:
        specs = request.specs()  # a wrong option is told before the network is asked
        check_batch_sizes(specs, tuple(default_batch_size(spec) for spec in specs))
        request.source_kind()
    return stored


async def _train(
    path: Path, request: TrainRequest, report: Callable[[Report], None], say: Callable[[str], None]
) -> str:
    asyncio.get_running_loop().set_default_executor(Unawaited())
    starting = asyncio.current_task()
    assert starting is not None
    # What takes long from here on is done in threads, so that signals are heard.
    watch_signals(lambda _: starting.cancel())
    stored = await asyncio.to_thread(_check, path, request)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SessionError(f"cannot make the folder {path.parent}: {error.strerror}") from None
    with trainer_lock(path) as lock:
        if stored is not None:
            await asyncio.to_thread(check_alone, path)
            forget_wishes(path)
        keeping = asyncio.create_task(_keep(lock))
        try:
            return await _train_alone(path, request, stored, report, say)
        finally:
            keeping.cancel()


async def _keep(lock: TrainerLock) -> None:
    """Whoever deletes the lock's file does not free the session."""
    while True:
        await asyncio.sleep(BEAT_SECONDS)
        lock.renew()


async def _train_alone(
    path: Path,
    request: TrainRequest,
    stored: Settings | None,
    report: Callable[[Report], None],
    say: Callable[[str], None],
) -> str:
    """With the session locked."""
    if stored is None:
        vocabulary = await asyncio.to_thread(new_vocabulary, request)
        kind, options = request.source_kind(), source_options(request, None)
    else:
        vocabulary = await asyncio.to_thread(_stored_vocabulary, path)
        kind, options = stored.source, stored.source_options
    specs = stored.models if stored else request.specs()
    opened = await open_source(
        kind, options, request, vocabulary, say, resuming=stored is not None, specs=specs
    )
    try:
        if stored is None:
            settings = settle(request, kind, vocabulary, opened)
            models = await asyncio.to_thread(_new_models, settings, vocabulary)
            await asyncio.to_thread(writer.create, path, settings, vocabulary.words, models)
        store = writer.SessionWriter(path)
        trainer = await asyncio.to_thread(
            Stream, store, article_limit=request.articles, threads=request.threads
        )
        say(_begins(store.settings, trainer))
        if stored is not None and request.documents is None and opened.info.articles is not None:
            size, made_for = corpus_size(request, opened.info, stored.held_out), stored.documents
            if size > OUTGROWN * made_for:
                say(
                    f"these models were made for a corpus of {made_for:,} articles: "
                    f"one of {size:,} gives better topics in a new --session"
                )
        if stored is None and needs_contact(kind, options):
            say(f"this downloads {DOWNLOAD}")
        feed = opened.feed(lambda: trainer.missing)
    except BaseException:
        await opened.close()
        raise
    try:
        reason = await Run(
            path, store, trainer, feed, Limits(request.articles, request.hours, request.max_mb), report, say
        )()
        if reason == "finished":
            say(_ended(trainer.progress, request.articles))
        return reason
    finally:
        await feed.close()


def _ended(progress: Progress, limit: int | None) -> str:
    """Why a session is finished, in a line."""
    if progress.articles == 0 and progress.held_out:
        return (
            f"all articles ({progress.held_out:,}) are held out, none is left to train on: "
            "make a new --session with a smaller --held-out"
        )
    if limit is None:
        return "every article has been read once"
    if progress.articles < limit:
        return f"every article has been read once: {progress.articles:,}, fewer than --articles {limit:,}"
    return f"--articles {limit:,} is reached"


async def open_source(
    kind: str,
    options: dict[str, Any],
    request: TrainRequest,
    vocabulary: Vocabulary,
    say: Callable[[str], None],
    *,
    resuming: bool = False,
    specs: Sequence[ModelSpec] = (),
) -> Opened:
    """Make contact with the source; raises its errors. Models like ``specs`` are compiled meanwhile."""
    if kind == "counts":
        path = user_path(request.counts or options["counts"])
        file = await asyncio.to_thread(open_counts, path, vocabulary, options)
        found = {"counts": str(file.path.absolute()), **file.identity}
        if found["checksum"] != options.get("checksum", found["checksum"]):
            file.close()
            raise BadUsage(f"--counts {file.path}: other word counts than the session was made with")

        async def close() -> None:
            file.close()

        return Opened(
            SourceInfo(file.path.name, len(file)), found, lambda missing: CountedBlocks(file, missing), close
        )
    source = make_source(kind, options, request, resuming=resuming)
    asyncio.get_running_loop().run_in_executor(None, warm_up, specs)
    try:
        info = await _patiently(source, say)
    except BaseException:
        await source.close()
        raise
    return Opened(info, options, lambda missing: CrawledBlocks(source, info, vocabulary.words), source.close)


def open_counts(path: Path, vocabulary: Vocabulary, known: Mapping[str, Any]) -> CountsFile | KeptCounts:
    """Word counts from an .npz, or from a session that kept them; ``known`` is told of them before."""
    if not is_sqlite(path):
        return CountsFile(path, len(vocabulary), known)
    kept = KeptCounts(path)
    if kept.words != vocabulary.words:
        kept.close()
        raise BadUsage(
            f"--counts {path}: that session counted other words; leave --vocab out to take its own"
        )
    return kept


async def _patiently(source: Source, say: Callable[[str], None]) -> SourceInfo:
    """Open the source; whoever waits longer than a moment for it is told what for."""
    opening = asyncio.ensure_future(source.open())
    told = None
    try:
        while not (await asyncio.wait({opening}, timeout=2.0))[0]:
            errors = source.activity.errors
            waiting = errors[-1].text if errors else source.activity.waiting_for
            if waiting and waiting != told:
                told = waiting
                say(waiting + _for_how_long(source.activity))
    finally:
        opening.cancel()
    return await opening


def _for_how_long(activity: Activity) -> str:
    """How a wait will end, where that is known."""
    if activity.trying_until is not None:
        return f"; trying for another {max(0.0, activity.trying_until - time.time()):.0f} s"
    if activity.waiting_until is not None:
        return f"; next request at {time.strftime('%H:%M:%S', time.localtime(activity.waiting_until))}"
    return ""


def corpus_size(request: TrainRequest, info: SourceInfo, held_out: int) -> int:
    """Articles that a run like this can come to train on."""
    size = DEFAULT_DOCUMENTS if info.articles is None else max(1, info.articles - held_out)
    return min(size, request.articles or size)


def settle(request: TrainRequest, kind: str, vocabulary: Vocabulary, opened: Opened) -> Settings:
    """The settings of a new session: what was asked for, and defaults from what the source is."""
    info = opened.info
    held_out = request.held_out
    if held_out is None:
        held_out = DEFAULT_HELD_OUT if info.articles is None else min(DEFAULT_HELD_OUT, info.articles // 10)
    documents = request.documents
    if documents is None:
        documents = corpus_size(request, info, held_out)
    specs = request.specs()
    sizes = tuple(default_batch_size(spec) for spec in specs)
    check_batch_sizes(specs, sizes)
    return Settings(
        source=kind,
        source_name=info.name,
        source_options=opened.options,
        vocabulary=request.vocabulary_name(),
        fingerprint=vocabulary.fingerprint,
        seed=request.seed or 0,
        held_out=held_out,
        documents=documents,
        models=specs,
        batch_sizes=sizes,
        keep_articles=request.keep_articles or "all",
        keep_counts=bool(request.keep_counts),
    )


def _stored_vocabulary(path: Path) -> Vocabulary:
    with SessionReader(path) as reader:
        return Vocabulary.from_words(reader.vocabulary())


def _new_models(settings: Settings, vocabulary: Vocabulary) -> list[writer.ModelRow]:
    return [
        writer.ModelRow.of(new_model(spec, len(vocabulary), settings.documents, settings.seed), None)
        for spec in settings.models
    ]


def _begins(settings: Settings, trainer: Stream) -> str:
    names = ", ".join(f"{spec.name} ({spec.kind}, {spec.topics} topics)" for spec in settings.models)
    done = trainer.progress.articles
    start = f"going on at {done:,} articles" if done else f"{settings.held_out:,} articles are held out first"
    return f"{settings.source_name}: training {names}; {start}"
