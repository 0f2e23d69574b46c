"""A session without a vocabulary: its first articles are collected with all their words, to choose
from.

Meanwhile `VocabularyBuild` takes the place of the `Stream`: a run feeds and commits it in the same
way. The articles collected are the beginning of the stream: `feed_first_articles` passes them on
once the vocabulary is built. If there are more than about 100,000, the source is asked for the rest
again. Everything depends only on the articles, so an interrupted session chooses the same words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import closing
from itertools import islice, pairwise

from wikitopics.session.options import HELD_OUT, PASSES, VOCAB_ARTICLES
from wikitopics.session.records import Progress
from wikitopics.session.settings import Settings
from wikitopics.session.sources import noun
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.held_out import Measured
from wikitopics.session.training.stream import Stream
from wikitopics.vocab.building import Built, VocabularyRecipe, best_words
from wikitopics.vocab.rules import Rule

LEAST_SHARED = 2_000
"""The fewest articles of which a vocabulary is kept for other sessions: fewer are a sample, whose
words are not those of the whole wiki."""


class VocabularyBuild:
    """Collects articles until there are enough, then chooses the words."""

    def __init__(self, store: SessionWriter) -> None:
        self._store = store
        self.settings: Settings = store.settings()
        self.passes: int = self.settings[PASSES]
        self.progress: Progress = store.progress()
        self.article_limit: int | None = None
        self.next_measurement: int | None = None
        self.measured = Measured(0, {})
        self.built: Built | None = None
        self.wanted = max(self.settings[VOCAB_ARTICLES], 2 * self.settings[HELD_OUT])
        """The number of articles to collect: at least twice as many as are held out."""
        self._changes = Changes()
        self._source_ended = False
        self._choosing = False
        """Whether the words are being chosen."""

    @property
    def waits_for(self) -> str:
        """What training is waiting for."""
        if self._choosing:
            return "the vocabulary: choosing its words"
        counted = min(self.progress.pending, self.wanted)
        return (
            f"the vocabulary: {counted:,} of {self.wanted:,} {noun(self.settings.source)} counted"
        )

    @property
    def dirty(self) -> bool:
        """Whether a commit would write anything new."""
        return bool(self._changes.first_articles)

    @property
    def missing(self) -> int:
        """The number of articles still to be collected."""
        return max(0, self.wanted - self.progress.pending)

    @property
    def articles_taken(self) -> int:
        """The articles collected."""
        return self.progress.pending

    starting_over = 0
    """No topics start over: there is no model yet."""
    articles_wanted: int | None = None
    """How many the session will take by its limit: not known yet."""

    def feed(self, block: Block) -> None:
        """Take the next stretch of the stream."""
        progress = self.progress
        for reason, number in block.skips.items():
            progress.skip(reason, number)
        progress.crawled += len(block) + sum(block.skips.values())
        progress.pending += len(block)
        progress.position = block.position
        progress.lap = block.lap
        self._changes.first_articles.append(block)

    def lay_out(self) -> None:
        """Do nothing: there is no map yet."""

    def end_of_source(self) -> None:
        """Record that no articles follow: the present ones must do."""
        self._source_ended = True

    def work(self) -> None:
        """Do nothing: there is no model to train."""

    def done(self) -> bool:
        """Whether the words can be chosen."""
        return self._source_ended or not self.missing

    def finish(self, elapsed_seconds: float) -> None:
        """Choose the words, once everything is committed. Raises BadDocuments for too few
        articles."""
        self._choosing = True
        recipe = VocabularyRecipe(Rule.parse(self.settings.rule))
        # With a connection of its own: a stop during this leaves the store to others.
        with closing(SessionReader(self._store.path)) as reader:
            self.built = choose_words(
                reader.first_articles,
                self.settings[HELD_OUT],
                self.wanted,
                recipe,
            )

    def commit(self, elapsed_seconds: float, bytes_read: int) -> None:
        """Save everything since the last commit, together."""
        self.progress.elapsed_seconds = elapsed_seconds
        self.progress.bytes_read = bytes_read
        self._store.commit(self.progress, self._changes, 0)
        self._changes = Changes()

    def as_committed(self) -> "VocabularyBuild":
        """The collection as of the last commit, plus the blocks fed since."""
        beginning = VocabularyBuild(self._store)
        for block in self._changes.first_articles:
            beginning.feed(block)
        return beginning


Consumer = Stream | VocabularyBuild
"""What a run feeds with blocks."""


def choose_words(
    blocks: Callable[[], Iterable[Block]],
    held_out: int,
    wanted: int,
    recipe: VocabularyRecipe,
) -> Built:
    """The best words of the first ``wanted`` articles, without those that will be held out.

    The first articles with a word of the vocabulary are held out, so the vocabulary determines
    which ones these are. The choice is repeated without them until both agree. Raises BadDocuments
    if too few are left.
    """
    start = held_out
    while True:
        built = best_words(islice(_counts(blocks()), start, wanted), recipe)
        words = {word.encode() for word in built.vocabulary.words}
        read = _articles_read(_counts(blocks()), words, held_out)
        if read <= start:
            return built
        start = read


def _articles_read(
    articles: Iterable[Mapping[bytes, int]],
    words: Set[bytes],
    wanted: int,
) -> int:
    """How many articles are read until ``wanted`` of them have one of these words; ``wanted`` if
    there are fewer with one."""
    if wanted == 0:
        return 0
    found = 0
    for number, article in enumerate(articles, start=1):
        if not words.isdisjoint(article):
            found += 1
        if found == wanted:
            return number
    return wanted


def _counts(blocks: Iterable[Block]) -> Iterator[Mapping[bytes, int]]:
    """How often each article has each of its words."""
    for block in blocks:
        words = [word.encode() for word in block.lexicon or ()]
        words_of_articles = [words[number] for number in block.word_ids.tolist()]
        counts = block.counts.tolist()
        for low, high in pairwise(block.indptr.tolist()):
            yield dict(zip(words_of_articles[low:high], counts[low:high], strict=True))
