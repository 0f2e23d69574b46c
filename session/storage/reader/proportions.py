"""The topics of all trained articles of a stored session, and how often its words were trained on."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.storage.blocks import page_ids_of, title_keys_of
from wikitopics.session.storage.database import SMALL, session_errors
from wikitopics.session.storage.decoding import whole
from wikitopics.session.storage.proportions import LARGEST_ARTICLE, Proportions
from wikitopics.session.storage.reader.opened import OpenedSession
from wikitopics.session.storage.tables import read_word_counts
from wikitopics.session.storage.word_counts import WordCounts

MOST_BLOCKS = 10_000_000
"""Rows of `blocks`, one per minibatch."""


@dataclass(frozen=True, slots=True)
class TrainedArticles:
    """The articles whose proportions are recorded, in the order of the stream: ``n`` articles in some
    blocks."""

    first_seqs: NDArray[np.int64]
    """Number of the first article of each block; the others follow."""
    starts: NDArray[np.int64]
    """Where each block begins among all of them."""
    page_ids: NDArray[np.int64]
    """(n,)"""
    title_keys: NDArray[np.uint16]
    """(n,) see `title_key`"""

    def seqs(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The numbers of the articles at these rows."""
        block = np.searchsorted(self.starts, rows, side="right") - 1
        return np.asarray(self.first_seqs[block] + rows - self.starts[block], np.int64)


class ProportionReader(OpenedSession):
    """Questions about all trained articles at once."""

    def check_proportions(self) -> None:
        """Raise `SessionError` if no article's proportions are recorded, and say why."""
        if self._rows("SELECT 1 FROM blocks LIMIT 1"):
            return
        if self.settings()[KEEP_ARTICLES] != "all":
            raise SessionError(
                "topic proportions are not recorded: that needs a session begun with --keep-articles all"
            )
        self.check_trained()
        raise Damaged("blocks has no row")

    def trained_articles(self) -> TrainedArticles:
        """All articles whose proportions are recorded."""
        rows = self._rows(
            "SELECT first_seq, articles, page_ids, titles FROM blocks ORDER BY first_seq",
            largest=self._room(8),
            most=MOST_BLOCKS,
        )
        firsts = np.array([whole(row[0], "blocks.first_seq", 1) for row in rows], np.int64)
        sizes = np.array([whole(row[1], "blocks.articles", 1) for row in rows], np.int64)
        if (firsts[1:] < firsts[:-1] + sizes[:-1]).any():
            raise Damaged("blocks.articles is out of range")
        none = np.empty(0, np.int64)
        return TrainedArticles(
            firsts,
            np.cumsum(sizes) - sizes,
            np.concatenate([none, *(page_ids_of(row[2], row[1]) for row in rows)]),
            title_keys_of([(row[3], row[1]) for row in rows]),
        )

    def proportions(self, model: str) -> Proportions:
        """The proportions of all `trained_articles` in one model."""
        rows = self._rows(
            "SELECT p.data, b.articles FROM blocks b LEFT JOIN proportions p"
            " ON p.first_seq = b.first_seq AND p.model = ? ORDER BY b.first_seq",
            [self._number(model)],
            largest=self._room(LARGEST_ARTICLE),
            most=MOST_BLOCKS,
        )
        blocks = [(data, whole(articles, "blocks.articles", 1)) for data, articles in rows]
        return Proportions.from_blocks(blocks, self.spec(model).topics)

    def each_block(self) -> Iterator[tuple[int, int]]:
        """(first number, articles) of every block, in the order of the stream."""
        rows = self._rows("SELECT first_seq, articles FROM blocks ORDER BY first_seq", most=MOST_BLOCKS)
        for first, articles in rows:
            yield whole(first, "blocks.first_seq", 1), whole(articles, "blocks.articles", 1)

    def proportions_of(self, model: str, first_seq: int, articles: int) -> Proportions:
        """The proportions of one block in one model."""
        rows = self._rows(
            "SELECT data FROM proportions WHERE model = ? AND first_seq = ?",
            [self._number(model), first_seq],
            largest=self._room(LARGEST_ARTICLE),
        )
        blocks = [(data, articles) for (data,) in rows or [(None,)]]
        return Proportions.from_blocks(blocks, self.spec(model).topics)

    def word_counts(self) -> WordCounts:
        """How often each word was trained on."""
        self._check_built()
        n_words = len(self.vocabulary())
        with session_errors(self.path), self.one_moment():
            return read_word_counts(self._connection, n_words)

    def _room(self, of_an_article: int) -> int:
        return SMALL + of_an_article * self.settings().batch_size
