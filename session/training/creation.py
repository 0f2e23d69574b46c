"""A new session: its settings as determined by the source, its vocabulary, its models, its file."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, islice, pairwise
from pathlib import Path
from types import MappingProxyType

from wikitopics.crawler.source import Identity, SourceInfo, SourceKind, default_held_out
from wikitopics.model.options import HALF_LIFE
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.options import ARTICLES, DOCUMENTS, HELD_OUT, PASSES, SEED, VOCAB_ARTICLES
from wikitopics.session.paths import vocabulary_file
from wikitopics.session.records import skips_told
from wikitopics.session.request import TrainRequest
from wikitopics.session.settings import Settings, default_topics, load_kind, new_model
from wikitopics.session.storage import writer
from wikitopics.session.storage.counts import Block, documents_room
from wikitopics.session.storage.files import make_folder, replacing
from wikitopics.session.storage.opened import Progress
from wikitopics.session.storage.topics import model_row
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.intake.opening import Opened
from wikitopics.session.training.measuring import Measured
from wikitopics.session.training.stream import Stream
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.build import Built, VocabularyRecipe, best_words
from wikitopics.vocab.rules import Rule

LEAST = 2
"""The fewest documents to train on: the topics of a single one are nothing but its words."""
MOST_PASSES = 5
"""More passes make models of small collections worse on held-out documents as often as better."""
ENOUGH_READINGS = 20_000
DEFAULT_DOCUMENTS = 7_000_000
"""D if the source's size cannot be known: about the number of articles in English Wikipedia."""


def corpus_size(request: TrainRequest, info: SourceInfo, held_out: int) -> int:
    """The number of articles that a run like this can train on."""
    size = DEFAULT_DOCUMENTS if info.articles is None else max(1, info.articles - held_out)
    return min(size, request.get(ARTICLES) or size)


def too_few(
    name: str,
    kind: SourceKind,
    identity: Identity,
    read: int,
    held_out: int,
    skips: Mapping[str, int] = MappingProxyType({}),
) -> BadUsage:
    """Why fewer than `LEAST` of the documents that were ``read`` are left to train on, and what to do."""
    documents = read - sum(skips.values())
    held_out = min(held_out, documents)
    why = [f"skipped: {skips_told(skips)}"] if skips else []
    why += [f"held out: {held_out:,}"] if held_out else []
    of = f" (of {'; '.join([f'{read:,}', *why])})" if why else ""
    noun = "document" if kind.own else "article"
    hint = "" if read >= LEAST else kind.division(identity)
    hint = "Give more, or hold out fewer" if documents >= LEAST else hint
    left = f"{'only one' if documents > held_out else 'no'} {noun} to train on{of}"
    return BadUsage(f"{name}: {left}, and at least two are needed" + (f". {hint}" if hint else ""))


def default_passes(documents: int) -> int:
    """The number of passes over a collection of so many documents: about 20,000 readings, at most five."""
    return max(1, min(MOST_PASSES, ENOUGH_READINGS // max(1, documents)))


def complete(settings: Settings, request: TrainRequest, opened: Opened) -> Settings:
    """The settings of a new session, with what its source has told."""
    values, size = dict(settings.values), opened.info.articles
    held_out = values.setdefault(HELD_OUT.name, default_held_out(size))
    values.setdefault(DOCUMENTS.name, corpus_size(request, opened.info, held_out))
    kind, models = sources.load(settings.source), settings.models
    if size is not None:
        documents = max(1, size - held_out)
        models = tuple(one.with_usual(default_topics(load_kind(one.kind), documents)) for one in models)
        forgets = any(HALF_LIFE.name in spec.options for spec in models)
        if PASSES not in request and kind.own and not forgets:
            values[PASSES.name] = default_passes(documents)
    return replace(
        settings, values=values, models=models, source_name=opened.info.name, source_options=opened.identity
    )


def create(path: Path, settings: Settings, vocabulary: Vocabulary | Rule) -> None:
    """Create the session's file, with its models before their first article; only a rule: without words."""
    words = vocabulary.words if isinstance(vocabulary, Vocabulary) else ()
    writer.create(path, settings, words, new_models(settings, len(words)) if words else ())


def new_models(settings: Settings, n_words: int) -> list[dict[str, object]]:
    """The rows of the models before their first article."""
    models = (new_model(spec, n_words, settings[DOCUMENTS], settings[SEED]) for spec in settings.models)
    return [model_row(model) for model in models]


# A session without a vocabulary: its first articles are collected with all their words, to choose from.
#
# Until then `VocabularyBuild` takes the place of the `Stream`: a run feeds and commits it in the same way.
# The articles collected are the beginning of the stream: `feed_first_articles` passes them on, once, when the
# vocabulary is built. If there are more than about 100,000, the source is asked for the rest again. All of it
# depends only on the articles, so an interrupted session chooses the same words.


class VocabularyBuild:
    """Collects articles until there are enough, then chooses the words."""

    def __init__(self, store: SessionWriter) -> None:
        self._store = store
        self.settings: Settings = store.settings()
        self.progress: Progress = store.progress()
        self.article_limit: int | None = None
        self.next_measurement: int | None = None
        self.measured = Measured(0, {})
        self.built: Built | None = None
        self.wanted = max(self.settings[VOCAB_ARTICLES], 2 * self.settings[HELD_OUT])
        """The number of articles to collect: at least as many that count as are held out."""
        self._changes = Changes()
        self._source_ended = self._choosing = False

    @property
    def waits_for(self) -> str:
        """What training is waiting for."""
        if self._choosing:
            return "the vocabulary: choosing its words"
        counted, noun = min(self.progress.pending, self.wanted), sources.noun(self.settings.source)
        return f"the vocabulary: {counted:,} of {self.wanted:,} {noun} counted"

    @property
    def dirty(self) -> bool:
        """Whether a commit would write anything new."""
        return bool(self._changes.first_articles)

    @property
    def missing(self) -> int:
        """The number of articles still to be collected."""
        return max(0, self.wanted - self.progress.pending)

    def feed(self, block: Block) -> None:
        """Take the next stretch of the stream."""
        progress = self.progress
        for reason, number in block.skips.items():
            progress.skip(reason, number)
        progress.crawled += len(block) + sum(block.skips.values())
        progress.pending += len(block)
        progress.position, progress.lap = block.position, block.lap
        self._changes.first_articles.append(block)

    def end_of_source(self) -> None:
        """Note that no article will follow: the present number must do."""
        self._source_ended = True

    def work(self) -> None:
        """Do nothing: there is no model to train."""

    def done(self) -> bool:
        """Whether the words can be chosen."""
        return self._source_ended or not self.missing

    def finish(self, elapsed_seconds: float) -> None:
        """Choose the words, once everything is committed. Raises BadDocuments if there are too few."""
        self._choosing = True
        recipe = VocabularyRecipe.without_list(Rule.parse(self.settings.rule))
        self.built = choose_words(self._store.first_articles, self.settings[HELD_OUT], self.wanted, recipe)

    def commit(self, elapsed_seconds: float, bytes_read: int) -> None:
        """Save everything since the last commit, together."""
        self.progress.elapsed_seconds, self.progress.bytes_read = elapsed_seconds, bytes_read
        self._store.commit(self.progress, self._changes, 0)
        self._changes = Changes()

    def as_committed(self) -> "VocabularyBuild":
        """The collection as of the last commit, plus the blocks fed since."""
        beginning = VocabularyBuild(self._store)
        for block in self._changes.first_articles:
            beginning.feed(block)
        return beginning


def choose_words(
    blocks: Callable[[], Iterable[Block]], held_out: int, wanted: int, recipe: VocabularyRecipe
) -> Built:
    """The best words of the first ``wanted`` articles, without those that will be held out.

    The first articles with a word of the vocabulary are held out, so the vocabulary decides which these are:
    the choice is repeated without them until both agree. Raises BadDocuments if too few articles are left.
    """
    start = held_out
    while True:
        built = best_words(islice(_counts(blocks()), start, wanted), recipe)
        behind = _behind_held_out(_counts(blocks()), held_out, built.vocabulary)
        if behind <= start:
            return built
        start = behind


def _counts(blocks: Iterable[Block]) -> Iterator[Mapping[bytes, int]]:
    """How often each article has each of its words."""
    for block in blocks:
        words = [word.encode() for word in block.lexicon or ()]
        ids, counts = block.word_ids.tolist(), block.counts.tolist()
        for low, high in pairwise(block.indptr.tolist()):
            yield {
                words[number]: count for number, count in zip(ids[low:high], counts[low:high], strict=True)
            }


def _behind_held_out(articles: Iterable[Mapping[bytes, int]], held_out: int, vocabulary: Vocabulary) -> int:
    """The number of articles up to the last one held out."""
    words = {word.encode() for word in vocabulary.words}
    numbers = (number for number, article in enumerate(articles, start=1) if not words.isdisjoint(article))
    return next(islice(numbers, held_out - 1, None), held_out) if held_out else 0


def save_user_copy(name: str, vocabulary: Vocabulary) -> str:
    """Keep a vocabulary for other sessions, unless there is one of this name; returns a message about it."""
    path = vocabulary_file(name)
    if path.exists():
        return f"another vocabulary is already kept as {name}"
    try:
        make_folder(path.parent)
        with replacing(path) as file:
            file.write(("\n".join(vocabulary.lines) + "\n").encode())
    except SessionError as error:
        return f"it is not kept for other sessions: {error}"
    return f"it is kept for other sessions: `wikitopics vocab show {name}`"


def store_vocabulary(store: SessionWriter, vocabulary: Vocabulary) -> None:
    """Give the session its vocabulary, and its models."""
    settings = replace(store.settings(), fingerprint=vocabulary.fingerprint)
    store.build(settings, vocabulary.words, new_models(settings, len(vocabulary)))


def feed_first_articles(store: SessionWriter, stream: Stream) -> None:
    """Feed the stream the articles collected before there was a vocabulary, and commit them.

    Only as many as a session may hold untrained, with room for the next ones. The source is asked again for
    the rest, from where these end.
    """
    numbers = {word: number for number, word in enumerate(store.vocabulary())}
    room = documents_room(store.settings()) // 2
    some = False
    # The source can continue only after all blocks that share a position.
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
