"""From a request to a running trainer: open or create the session, make contact, run."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from crawler.kind import SourceKind, default_held_out
from crawler.source import SourceInfo
from session import sources
from session.errors import SessionError
from session.models import default_batch_size, new_model
from session.paths import user_path
from session.request import DOWNLOAD, TrainRequest, check_resumable
from session.settings import Settings, check_batch_sizes
from session.storage import writer
from session.storage.codec.progress import Progress
from session.storage.heartbeat import check_alone
from session.storage.lock import TrainerLock, trainer_lock
from session.storage.reader import SessionReader
from session.storage.wishes import forget_wishes
from session.training.opening import Opened, open_source
from session.training.running.heart import BEAT_SECONDS
from session.training.running.monitor import Report
from session.training.running.orders import watch_signals
from session.training.running.run import Limits, Run
from session.training.stream import Stream
from vocab import Vocabulary

DEFAULT_DOCUMENTS = 7_000_000
"""D where the source's size cannot be known: about the articles of English Wikipedia."""
OUTGROWN = 4
"""A run that is to go so many times beyond the D of its models is told so: D weighs against their priors."""


class Unawaited(ThreadPoolExecutor):
    """Threads that a loop at its end does not wait for: compiling, or a name server that keeps silent."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait=False, cancel_futures=True)


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


def new_vocabulary(request: TrainRequest, kind: SourceKind) -> Vocabulary:
    """The vocabulary of a new session: the one asked for, or the one that comes with its source."""
    words = kind.words(request.asked(kind)) if request.vocab is None else None
    return load_vocabulary(request.vocabulary_name()) if words is None else Vocabulary.from_words(words)


def _stored_settings(path: Path) -> Settings | None:
    if not os.path.exists(path):
        return None
    with SessionReader(path) as reader:
        return reader.settings()


def _check(path: Path, request: TrainRequest) -> Settings | None:
    """What the session was made with, if there is one; raises where the request does not go with it."""
    stored = _stored_settings(path)
    if stored is not None:
        kind = sources.load(stored.source)
        asked = request.asked(kind)
        named = any(option.scope == "session" and option.name in asked.options for option in kind.options)
        options = kind.identity(asked) if named else None
        fingerprint = load_vocabulary(request.vocab).fingerprint if request.vocab else None
        check_resumable(request, stored, source_options=options, fingerprint=fingerprint)
    else:
        specs = request.specs()  # a wrong option is told before the network is asked
        check_batch_sizes(specs, tuple(default_batch_size(spec) for spec in specs))
        sources.load(request.source_kind())
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
    kind = sources.load(stored.source if stored else request.source_kind())
    asked = request.asked(kind, resuming=stored is not None)
    identity = stored.source_options if stored else kind.identity(asked)
    if stored is None:
        vocabulary = await asyncio.to_thread(new_vocabulary, request, kind)
    else:
        vocabulary = await asyncio.to_thread(_stored_vocabulary, path)
    specs = stored.models if stored else request.specs()
    opened = await open_source(kind, identity, asked, vocabulary, say, specs)
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
        if stored is None and kind.needs_contact(identity):
            say(f"this downloads {DOWNLOAD}")
        feed = opened.feed(lambda: trainer.missing)
    except BaseException:
        await opened.close()
        raise
    try:
        reason = await Run(path, store, trainer, feed, Limits(request.hours, request.max_mb), report, say)()
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


def corpus_size(request: TrainRequest, info: SourceInfo, held_out: int) -> int:
    """Articles that a run like this can come to train on."""
    size = DEFAULT_DOCUMENTS if info.articles is None else max(1, info.articles - held_out)
    return min(size, request.articles or size)


def settle(request: TrainRequest, kind: SourceKind, vocabulary: Vocabulary, opened: Opened) -> Settings:
    """The settings of a new session: what was asked for, and defaults from what the source is."""
    info = opened.info
    held_out = request.held_out
    if held_out is None:
        held_out = default_held_out(info.articles)
    documents = request.documents
    if documents is None:
        documents = corpus_size(request, info, held_out)
    specs = request.specs()
    sizes = tuple(default_batch_size(spec) for spec in specs)
    check_batch_sizes(specs, sizes)
    return Settings(
        source=kind.name,
        source_name=info.name,
        source_options=opened.identity,
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
