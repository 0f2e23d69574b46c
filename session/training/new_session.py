"""A new session: its settings, as the source determines them, its vocabulary, its models and its
file."""

from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from wikitopics.crawler.mediawiki.kinds import ENGLISH, language_of
from wikitopics.crawler.source import Identity, Position, default_held_out
from wikitopics.model.options import HALF_LIFE
from wikitopics.session import sources
from wikitopics.session.errors import SessionError
from wikitopics.session.options import (
    ARTICLES,
    DOCUMENTS,
    HELD_OUT,
    KEEP_ARTICLES,
    KEEP_COUNTS,
    LINKS,
    PASSES,
    REPLICAS,
    SEED,
    VOCAB,
)
from wikitopics.session.paths import vocabulary_file
from wikitopics.session.request import TrainRequest
from wikitopics.session.seeds import ids_of, stored_seeds
from wikitopics.session.settings import (
    ModelSpec,
    Settings,
    default_topics,
    load_kind,
    new_model,
)
from wikitopics.session.storage.counts import documents_room
from wikitopics.session.storage.files import make_folder, replacing
from wikitopics.session.storage.models import model_row
from wikitopics.session.storage.writer import Beginning, SessionWriter
from wikitopics.session.storage.writer import create as create_session
from wikitopics.session.training.defaults import (
    default_batch_sizes,
    default_passes,
    default_replicas,
)
from wikitopics.session.training.opening import Opened
from wikitopics.session.training.stream import Stream
from wikitopics.session.training.vocabulary import LEAST_SHARED
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.building import Built
from wikitopics.vocab.rules import Rule

DEFAULT_DOCUMENTS = 7_000_000
"""D if the source's size cannot be known: about the number of articles in English Wikipedia."""


def complete(settings: Settings, request: TrainRequest, opened: Opened) -> Settings:
    """The settings of a new session, completed with what its source has reported."""
    values = dict(settings.values)
    size = opened.info.articles
    held_out = values.setdefault(HELD_OUT.name, default_held_out(size))
    documents_of_source = DEFAULT_DOCUMENTS if size is None else max(1, size - held_out)
    article_limit = request.get(ARTICLES) or documents_of_source
    values.setdefault(DOCUMENTS.name, min(documents_of_source, article_limit))
    kind = sources.load(settings.source)
    is_own = kind.own
    if is_own and values[KEEP_ARTICLES.name] != "none":
        values[KEEP_COUNTS.name] = True  # for the last reading, and that of documents added later
    vocabulary = settings.vocabulary
    if settings.building:
        vocabulary = kept_name(settings, opened.identity) or vocabulary
    models = settings.models
    sizes = settings.batch_sizes
    if size is not None:
        documents = max(1, size - held_out)
        models = _with_topics_for(documents, settings)
        forgets = any(HALF_LIFE.name in spec.options for spec in models)
        if PASSES not in request and is_own and not forgets:
            values[PASSES.name] = default_passes(documents)
        if values[PASSES.name] > 1:
            sizes = default_batch_sizes(models, sizes, documents)
    if REPLICAS not in request and kind.has_replicas:
        values[REPLICAS.name] = default_replicas(models, size)
    return replace(
        settings,
        values=values,
        models=models,
        batch_sizes=sizes,
        vocabulary=vocabulary,
        source_name=opened.info.name,
        source_options=opened.identity,
    )


def _with_topics_for(documents: int, settings: Settings) -> tuple[ModelSpec, ...]:
    """The models, those whose number of topics was not given with the usual one for this many
    documents."""
    n_seeds = len(stored_seeds(settings))  # each needs a topic
    completed = []
    for spec in settings.models:
        topics = max(n_seeds, default_topics(load_kind(spec.kind), documents))
        completed.append(spec.with_usual(topics))
    return tuple(completed)


def beginning(settings: Settings, vocabulary: Vocabulary) -> Beginning:
    """The words, the untrained models with their replicas, and the names of their first topics.

    Raises `BadUsage` for seeds that no model can have.
    """
    seeds = stored_seeds(settings)
    seed_ids = ids_of(seeds, vocabulary)
    W = len(vocabulary)
    D = settings[DOCUMENTS]
    seed = settings[SEED]
    rows = []
    for replica in range(1 + settings[REPLICAS]):
        own_seed = seed_of(seed, replica)
        for spec in settings.models:  # only one model is in memory besides the rows
            model = new_model(spec, W, D, own_seed, seed_ids)
            rows.append(model_row(model, model.state()))
    return Beginning(vocabulary.words, rows, list(seeds))


def seed_of(seed: int, replica: int) -> int:
    """The random seed of a model's replica of this number, from 1; that of the model itself, for
    0."""
    if not replica:
        return seed
    (own_seed,) = np.random.SeedSequence((seed, replica)).generate_state(1)
    return int(own_seed)


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
    kind = sources.load(settings.source)
    if kind.own:
        return ""
    suffix = f"-{LINKS}" if Rule.parse(settings.rule).of_titles else ""
    name = kind.kept_vocabulary(identity, settings.vocabulary.removesuffix(suffix))
    return name + suffix if name else ""


def save_user_copy(name: str, vocabulary: Vocabulary) -> str:
    """Save a vocabulary for other sessions, unless the name is taken; returns a message about
    it."""
    path = vocabulary_file(name)
    if path.exists():
        return f"another vocabulary is already saved as {name}"
    try:
        make_folder(path.parent)
        text = "\n".join(vocabulary.lines) + "\n"
        with replacing(path) as file:
            file.write(text.encode())
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
    has_fed = False
    # The source can only continue after all blocks with the same position, so these blocks are fed
    # together. Those of the first position are fed whatever their size.
    for _, blocks in groupby(store.first_articles(), key=lambda block: block.position):
        counted = [block.over(numbers) for block in blocks]
        room -= sum(len(block.to_bytes()) for block in counted)
        if has_fed and room < 0:
            break
        has_fed = True
        for block in counted:
            stream.feed(block)
    if has_fed:
        stream.read_first_articles()
        stream.commit(stream.progress.elapsed_seconds, stream.progress.bytes_read)


def other_language(settings: Settings, language: str, asked: str | None) -> str:
    """The code of a source's ``language`` if another one is expected; otherwise "".

    The language that was ``asked`` for is expected; without ``asked``, the one that the name of the
    session's vocabulary tells. Where the expected code has three or more letters, no difference is
    reported: wikis and languages do not always have the same ones.
    """
    if asked:
        expected = asked
    elif settings.vocabulary == VOCAB.default:
        expected = ENGLISH
    else:
        expected = settings.vocabulary.removesuffix(f"-{LINKS}")
    stated, _, _ = language_of(language).partition("-")
    return stated if len(expected) == 2 and stated != expected else ""


def end_building(
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
