"""The stored topics of articles, inferred again without learning: those of the newest articles each
time the stream has doubled, and those of all the user's own documents when all is learnt."""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import OnlineModel
from wikitopics.model.threads import Threads
from wikitopics.session.errors import Damaged
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.records import Progress
from wikitopics.session.settings import Settings
from wikitopics.session.sources import kind_named
from wikitopics.session.storage.articles import ArticleTopics
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training.held_out import checked_rows
from wikitopics.session.training.schedule import last_doubling

RENEWED_TOGETHER = 512
"""The number of articles inferred again at a time when there is no minibatch left to train on."""
RENEWED_BESIDE = 2
"""The number of articles inferred again for each one trained: enough to outpace the dropping of
counts."""
READ_TOGETHER = 1024
"""The fewest documents that the last reading infers together, unless they are its last."""
PACKED_TOGETHER = 512
"""The number of documents of a block of work, where their topics are made ready to be stored."""
LAST_READING = 0.1
"""What the last reading adds to `lap`, in passes: it is far quicker than learning."""


class Old(NamedTuple):
    """Articles to infer again."""

    seqs: Sequence[int]
    """Their numbers in the session."""
    documents: Block
    go_on_from: int | None
    """The number from which to continue; None: these are the last."""


class Renewal:
    """Renews the stored topics of articles. `Progress.renew_from` says how far it is, so that after
    a kill the same models infer the same articles."""

    def __init__(
        self,
        store: SessionWriter,
        models: Sequence[OnlineModel],
        progress: Progress,
        passes: int,
        threads: Threads,
    ) -> None:
        """``progress``: the stream's, kept up to date here; ``passes``: how often the stream learns
        its documents; ``threads``: those that pack topics.

        Raises `Damaged`.
        """
        self._store = store
        self._models = models
        self._progress = progress
        self._passes = passes
        self._threads = threads
        self._settings = store.settings()
        is_own = kind_named(self._settings.source).own
        self._has_last_reading: bool = is_own and self._settings[KEEP_ARTICLES] != "none"
        """Whether the trained documents are read once more when all is learnt."""
        self._last_reading: LastReading | None = None
        """The last reading, once it goes on in this process."""
        self._read_all = progress.finished
        """Whether the last reading has come to its end since the last step."""
        if progress.renew_from is not None and not progress.articles:
            raise Damaged("progress.renew_from is set, but no article is trained")
        if progress.in_last_reading and not self._has_last_reading:
            raise Damaged("progress.renew_from is negative, but nothing is read once more")
        if abs(progress.renew_from or 0) > progress.next_seq:
            raise Damaged("progress.renew_from is out of range")

    @property
    def readings(self) -> float:
        """How often all documents are read; the last reading counts as part of one, since it takes
        less time."""
        return self._passes + LAST_READING if self._has_last_reading else self._passes

    @property
    def renewing(self) -> bool:
        """Whether some of the newest articles are left to infer again."""
        return self._progress.renew_from is not None and not self._progress.in_last_reading

    @property
    def is_left(self) -> bool:
        """Whether anything is left to infer again when all is learnt."""
        if not self._has_last_reading:
            return self.renewing
        return self._progress.articles > 0 and not self._read_all

    @property
    def needs_commit(self) -> bool:
        """Whether everything must be committed before `infer_next`, which reads word counts from
        the file."""
        return self._last_reading is None

    def infer_next(self, changes: Changes) -> None:
        """Infer the next articles, now that all is learnt."""
        if self._has_last_reading:
            self._read_once_more(changes)
        else:
            self.replace_topics(self._newest(RENEWED_TOGETHER), changes)

    def beside(self, size: int) -> Old | None:
        """Read the articles to infer again beside a minibatch of this size; None if there are none.

        Each step infers some, so that no start or pause takes long.
        """
        return self._newest(RENEWED_BESIDE * size) if self.renewing else None

    def renew_all(self, changes: Changes) -> None:
        """Infer all articles so far again, since the models' topics have started over."""
        # Read before anything slow: a stop meanwhile leaves the store to others. The models have
        # had all these documents in memory, too.
        parts: list[tuple[list[int], Block]] = []
        first = 0
        last_part = False
        while not last_part:
            seqs, documents = self._store.recent(first, RENEWED_TOGETHER, self._progress.articles)
            last_part = len(seqs) < RENEWED_TOGETHER
            if seqs:
                parts.append((seqs, documents))
                first = seqs[-1] + 1
        for seqs, documents in parts:
            changes.renewed.append((seqs, self._inferred_now(documents)))
        self._progress.stale = False

    def _inferred_now(self, documents: Block) -> ArticleTopics:
        """What is stored of documents as the models infer them while they learn."""
        batch = documents.minibatch()
        thetas = [checked_rows(model, "local_proportions", batch) for model in self._models]
        return stored_topics(self._settings, thetas, self._threads)

    def _newest(self, most: int) -> Old:
        """Read up to this many of those articles that were the newest when the stream last
        doubled."""
        progress = self._progress
        assert progress.renew_from is not None
        doubled_at = last_doubling(progress.articles)
        seqs, documents = self._store.recent(progress.renew_from, most, doubled_at)
        go_on_from = seqs[-1] + 1 if len(seqs) == most else None
        return Old(seqs, documents, go_on_from)

    def replace_topics(self, old: Old, changes: Changes) -> None:
        """Infer some of the newest articles again with the models as they are now."""
        if old.seqs:
            changes.renewed.append((old.seqs, self._inferred_now(old.documents)))
        self._progress.renew_from = old.go_on_from
        if old.go_on_from is None:
            changes.drops_articles = True

    def _read_once_more(self, changes: Changes) -> None:
        """Infer the next documents of the last reading with the finished models."""
        progress = self._progress
        if self._last_reading is None:
            self._last_reading = LastReading(self._store)
        first = 1
        if progress.renew_from is not None:
            first = max(1, -progress.renew_from)
        old = self._last_reading.take(first)
        if old.seqs:
            changes.renewed.append((old.seqs, self.inferred(old.documents)))
        learnt = self._passes / self.readings
        if progress.lap is not None and progress.lap >= learnt:  # the source has been read
            share = self._last_reading.share_before(old.go_on_from)
            progress.lap = (self._passes + LAST_READING * share) / self.readings
        go_on_from = old.go_on_from
        if go_on_from is None:
            self._read_all = True
            changes.drops_articles = True
            go_on_from = old.seqs[-1] + 1 if old.seqs else first
        progress.renew_from = -go_on_from

    def give_up_last_reading(self) -> None:
        """Begin the last reading anew when more is learnt."""
        progress = self._progress
        self._last_reading = None
        self._read_all = False
        if progress.in_last_reading:
            progress.renew_from = None
        if progress.lap is not None and self._has_last_reading:
            progress.lap = min(progress.lap, self._passes / self.readings)

    def inferred(self, documents: Block) -> ArticleTopics:
        """What is stored of documents as the finished models infer them, which is what they infer
        of the same texts later."""
        batch = documents.minibatch()
        thetas = [checked_rows(model, "infer", batch) for model in self._models]
        return stored_topics(self._settings, thetas, self._threads, fine=True)


class LastReading:
    """The documents once more, in the order of the stream, when all is learnt.

    The finished models infer them, so that what is stored of them is what `infer` gives, and not
    what the models made of them at the time.
    """

    def __init__(self, store: SessionWriter) -> None:
        """Raises `Damaged`."""
        self._store = store
        self._rows = store.trained_rows()
        """Of each row, the number in the session of its first document, and how many it has."""
        self._firsts = [first for first, _ in self._rows]
        lengths = [articles for _, articles in self._rows]
        self._starts = list(accumulate(lengths, initial=0))

    def take(self, first_seq: int) -> Old:
        """The next documents from number ``first_seq`` on.

        They are whole rows, so that they are the same after an interruption.
        """
        row = bisect_left(self._firsts, first_seq)
        seqs: list[int] = []
        parts: list[Block] = []
        while row < len(self._rows) and len(seqs) < READ_TOGETHER:
            first, articles = self._rows[row]
            parts.append(self._store.counted_documents(first, articles))
            seqs += range(first, first + articles)
            row += 1
        go_on_from = self._firsts[row] if row < len(self._rows) else None
        return Old(seqs, Block.concatenate(parts), go_on_from)

    def share_before(self, first_seq: int | None) -> float:
        """The share of the documents that come before this number; None: all of them."""
        row = len(self._rows) if first_seq is None else bisect_left(self._firsts, first_seq)
        return self._starts[row] / max(1, self._starts[-1])


def stored_topics(
    settings: Settings,
    thetas: Sequence[NDArray[np.float32]],
    threads: Threads,
    *,
    fine: bool = False,
) -> ArticleTopics:
    """What a session stores of each model's (n, K) proportions, of one article or more; ``fine``:
    in the fine form."""
    keeps_all = settings[KEEP_ARTICLES] == "all"

    def of_block(start: int, stop: int) -> ArticleTopics:
        rows = [theta[start:stop] for theta in thetas]
        return ArticleTopics.of(rows, with_proportions=keeps_all, fine=fine)

    return ArticleTopics.concatenate(threads.map(of_block, len(thetas[0]), PACKED_TOGETHER))
