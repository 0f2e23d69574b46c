"""What a trainer says before it trains and at its end, in lines for people."""

import math
from collections.abc import Iterator, Mapping

from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.source import PageKind, SourceKind
from wikitopics.crawler.texts.kinds import BEFORE
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage
from wikitopics.session.options import HELD_OUT, PASSES, REPLICAS, VOCAB
from wikitopics.session.seeds import stored_seeds, unknown_words
from wikitopics.session.settings import ModelSpec, Settings
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.defaults import LEAST, chosen_by_size, why_no_replicas
from wikitopics.session.training.new_session import other_language
from wikitopics.session.training.opening import Opened
from wikitopics.session.training.plan import Plan, asked_language
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.vocabulary import Consumer, VocabularyBuild
from wikitopics.session.wording import skips_told
from wikitopics.vocab import Vocabulary


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
    noun = "document" if kind.own else "article"
    parts = [f"{read:,}"]
    if skips:
        parts.append(f"skipped: {skips_told(skips)}")
    if held_out:
        parts.append(f"held out: {held_out:,}")
    left = f"only one {noun}" if documents > held_out else f"no {noun}"
    of_which = f" (of {'; '.join(parts)})" if len(parts) > 1 else ""
    message = f"{settings.source_name}: {left} to train on{of_which}, and at least two are needed"
    if documents >= LEAST:  # enough if none were held out
        hint = "Give more, or hold out fewer"
    elif read < LEAST:  # perhaps one text was to be divided into several documents
        hint = kind.division(settings.source_options)
    elif held_out:  # too many are skipped, and holding out fewer would leave too few, too
        hint = f"Give more {noun}s with words of the vocabulary, or another vocabulary"
    else:
        hint = ""
    return BadUsage(f"{message}. {hint}" if hint else message)


def remarks(plan: Plan, store: SessionWriter, stream: Consumer, source: Opened) -> Iterator[str]:
    """Messages about what is going to happen."""
    if isinstance(stream, VocabularyBuild):
        yield _builds(stream, source)
    else:
        if plan.remark:
            yield plan.remark
        yield _begins(stream, source.info)
        if plan.adds:
            yield (
                f"adding the documents of {source.info.name}; those whose id the session has are "
                "skipped"
            )
        if not stream.progress.articles:
            yield from unknown_words(stored_seeds(stream.settings), store.counter())
    if not plan.is_new:
        return
    chosen = chosen_by_size(plan.settings, stream.settings)
    if chosen:
        yield chosen
    if REPLICAS not in plan.request and plan.kind.has_replicas:
        why_not = why_no_replicas(stream.settings.models, source.info.articles)
        if why_not:
            yield (
                f"no replicas (they tell which topics come back), since {why_not}; "
                f"{REPLICAS.flag} changes that"
            )
    if VOCAB not in plan.request:
        words = f"the words of the vocabulary {stream.settings.vocabulary!r}"
        are_own_texts = plan.kind.own and isinstance(plan.kind, PageKind)
        if are_own_texts and isinstance(plan.vocabulary, Vocabulary):
            how = "`wikitopics vocab build` makes one from your own texts"
            yield f"counting {words}, which come from Wikipedia; {how}"
        language = other_language(stream.settings, source.info.language, asked_language(plan))
        if language:
            how = f"start a new --session with --lang {language}"
            yield f"{source.info.name} is in {language!r}, but the session counts {words}: {how}"
    download = plan.kind.download(source.identity)
    if download:
        yield f"this downloads {download}"


def _builds(build: VocabularyBuild, source: Opened) -> str:
    """How a vocabulary is going to be built, and how long that takes."""
    settings = build.settings
    activity = source.feed.activity
    done = build.progress.pending
    number = build.wanted
    if source.info.articles is not None:
        number = min(number, source.info.articles)
    duration = ""
    articles_per_minute = (activity.allowed_per_minute or 0) * (activity.batch_pages or 0)
    if articles_per_minute and number > done:
        minutes = math.ceil((number - done) / articles_per_minute)
        requests = activity.allowed_per_minute
        duration = f", in about {minutes} min at {requests} requests a minute"
    noun = sources.noun(settings.source)
    if done:
        how = f"is still being built: {done:,} of {number:,} {noun} are counted"
    else:
        how = f"is built first, from the first {number:,} {noun}"
    return (
        f"{settings.source_name}{_size(settings, source.info)}: the vocabulary "
        f"{settings.vocabulary!r} {how}{duration}; these "
        f"{noun} then come first in the stream"
    )


def _size(settings: Settings, info: SourceInfo) -> str:
    """How much there is to read: " (7,200,000 documents in 8 files)"; "" if that is not known."""
    if info.articles is None:
        return ""
    noun = sources.noun(settings.source)
    if info.articles == 1:
        noun = sources.singular(noun)
    several = f" in {info.files:,} files" if info.files is not None and info.files > 1 else ""
    return f" ({info.articles:,} {noun}{several})"


def _model(spec: ModelSpec) -> str:
    """A model with its kind, unless that is its name, and its topics: "lda (100 topics)"."""
    topics = "1 topic" if spec.topics == 1 else f"{spec.topics:,} topics"
    what = topics if spec.name == spec.kind else f"{spec.kind}, {topics}"
    return f"{spec.name} ({what})"


def _begins(stream: Stream, info: SourceInfo) -> str:
    """Which models are trained, with how many replicas, and from which article on."""
    settings = stream.settings
    done = stream.progress.articles
    names = ", ".join(map(_model, settings.models))
    if settings[REPLICAS]:
        replicas = "1 replica" if settings[REPLICAS] == 1 else f"{settings[REPLICAS]:,} replicas"
        each = " each" if len(settings.models) > 1 else ""
        names += f", with {replicas}{each}"
    if done:
        start = f"resuming at {done:,} {sources.unit_noun(settings.source, settings[PASSES])}"
    else:
        noun = sources.noun(settings.source)
        start = f"{settings[HELD_OUT]:,} {noun} are held out first"
        if settings[HELD_OUT] == 1:
            start = f"1 {sources.singular(noun)} is held out first"
    # Documents that were added to a session's first ones have another name, and are read once.
    name = info.name if BEFORE in settings.source_options else settings.source_name
    passes = f", in {stream.passes:,} passes" if stream.passes > 1 else ""
    size = _size(settings, info)
    return f"{name}{size}: training {names}{passes}; {start}"


def ended(stream: Stream) -> str:
    """Why a session is finished, in a line."""
    articles = stream.progress.articles
    limit = stream.article_limit
    if limit is not None and articles >= limit:
        return f"--articles {limit:,} has been reached"
    noun = sources.singular(sources.noun(stream.settings.source))
    if BEFORE in stream.settings.source_options:
        noun = f"added {noun}"
    times = "once" if stream.passes == 1 else f"{stream.passes:,} times"
    read = f"every {noun} has been read {times}"
    if limit is None:
        return read
    return f"{read}: {articles:,}, fewer than --articles {limit:,}"
