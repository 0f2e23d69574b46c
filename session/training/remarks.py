"""What a trainer says before it trains and at its end, in lines for people."""

from collections.abc import Iterator, Mapping

from wikitopics.crawler.source import PageKind, SourceKind
from wikitopics.crawler.texts.source import BEFORE
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage
from wikitopics.session.options import DOCUMENTS, HELD_OUT, PASSES, VOCAB
from wikitopics.session.records import skips_told
from wikitopics.session.seeds import stored_seeds, unknown_words
from wikitopics.session.settings import Settings
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.new_session import LEAST, other_language
from wikitopics.session.training.opening import Opened
from wikitopics.session.training.plan import Plan, asked_language
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.vocabulary import Consumer, VocabularyBuild
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


def remarks(plan: Plan, store: SessionWriter, stream: Consumer, source: Opened) -> Iterator[str]:
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


def ended(stream: Stream) -> str:
    """Why a session is finished, in a line."""
    articles, passes, limit = stream.progress.articles, stream.passes, stream.article_limit
    if limit is not None and articles >= limit:
        return f"--articles {limit:,} has been reached"
    noun = sources.noun(stream.settings.source)[:-1]
    noun = f"added {noun}" if BEFORE in stream.settings.source_options else noun
    read = f"every {noun} has been read {'once' if passes == 1 else f'{passes:,} times'}"
    return read if limit is None else f"{read}: {articles:,}, fewer than --articles {limit:,}"
