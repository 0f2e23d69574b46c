"""The word counts of a session.

The tables are `pending`, `held_out`, `reference`, `first_articles`, `kept_counts` and
`word_counts`.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import HELD_OUT
from wikitopics.session.records import JSON, ArticleRow, Count, PositiveCount, Rate, Text
from wikitopics.session.settings import Settings
from wikitopics.session.storage.block import (
    Block,
    ascends,
    from_zero,
    narrow,
    whole_numbers,
)
from wikitopics.session.storage.database import (
    IS_HELD_OUT,
    SMALL,
    WITH_REFERENCE,
    closed_on_error,
)
from wikitopics.session.storage.decoding import MOST_WORD_BYTES, pack_arrays, unpack_arrays, whole
from wikitopics.session.storage.opened import OpenedSession
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.counting import Counted

MOST_BLOCKS = 10_000_000
"""The most rows of `kept_counts` and of `blocks`: one per minibatch."""
REFERENCE_ARTICLES = 5000
"""The number of first trained articles in which the words of topics are counted together."""
MOST_ROW_BYTES = 16 * 2**20
"""A row of `first_articles` takes at most so many bytes of words and counts, and those of one more
article: far below what may be read of a row."""
MOST_COMPARED = 2**26
"""The most bytes of word counts that are read to compare articles: those of 150,000 articles of 100
different words."""
_ENTRY = 9
"""The bytes that a word of an article takes besides its letters: its number, its count, and the end
of its line."""


def documents_room(settings: Settings) -> int:
    """The most bytes of one value of word counts, or of a table that is read at once.

    That is far more than needed: 64 kB per article of a minibatch, per held-out article and per
    reference article.
    """
    articles = settings.batch_size + settings[HELD_OUT] + REFERENCE_ARTICLES
    return 2**26 + 2**16 * articles


def encode_block(block: Block) -> Iterator[dict[str, object]]:
    """The columns of the block's rows; `decode_block` is the inverse.

    A block of long articles may give several rows, each with the position after all of them. The
    rows are committed together.
    """
    skips = block.skips
    for whole_articles in _cut(block.with_own_words()):
        part = whole_articles.with_own_words()
        yield {
            "documents": part.to_bytes(),
            "words": "\n".join(part.lexicon or ()),
            "skips": json.dumps(skips),
            "unread": part.n_unread,
            "position": json.dumps(block.position),
            "lap": block.lap,
        }
        skips = {}  # only the first row has those of the block


def _cut(block: Block) -> Iterator[Block]:
    """Whole articles, together up to the size of a row plus one article."""
    sizes = np.array([len(word.encode()) + _ENTRY for word in block.lexicon or ()], np.int64)
    before_word = from_zero(sizes[block.word_ids])
    before_article = before_word[block.indptr[:-1]]
    row_of_article = before_article // MOST_ROW_BYTES
    firsts_of_rows = np.flatnonzero(np.diff(row_of_article)) + 1
    for start, stop in pairwise([0, *firsts_of_rows.tolist(), len(block)]):
        yield block[start:stop]


FIRST_ARTICLES: Mapping[str, Any] = {
    "documents": Any,
    "words": Annotated[str, Meta(max_length=MOST_WORD_BYTES)],
    "skips": Annotated[dict[Text, Count], JSON],
    "unread": Count,
    "position": Annotated[dict[str, Any], JSON],
    "lap": Rate | None,
}
"""The columns of `first_articles` for `decode_block`."""


def decode_block(row: tuple[Any, ...]) -> Block:
    """The block in a row of `first_articles`, with the columns `FIRST_ARTICLES`. Raises
    `Damaged`."""
    documents, words, skips, n_unread, position, lap = row
    lexicon = tuple(words.split("\n")) if words else ()
    if len(set(lexicon)) < len(lexicon):
        raise Damaged("first_articles.words has a word twice")
    block = Block.from_bytes(documents, "first_articles.documents", len(lexicon), lexicon)
    n_unread = whole(n_unread, "first_articles.unread", high=len(block))
    # Any of the articles without words will do, since these are only counted.
    without_words = block.page_ids[~block.has_words]
    unread = frozenset(without_words[:n_unread].tolist())
    return replace(block, unread=unread, skips=skips, position=position, lap=lap)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """Counts over all articles that were trained on, each article once."""

    counts: NDArray[np.int64]
    """(W,)"""
    articles: NDArray[np.int64]
    """(W,) the number of articles in which the word occurs."""

    @staticmethod
    def none(n_words: int) -> "WordCounts":
        """The counts before the first article."""
        return WordCounts(np.zeros(n_words, np.int64), np.zeros(n_words, np.int64))

    def add(self, block: Block) -> None:
        """Add the words of trained articles."""
        W = len(self.counts)
        # The sums over a minibatch are whole numbers, which a float represents exactly.
        self.counts[:] += np.bincount(block.word_ids, block.counts, W).astype(np.int64)
        self.articles[:] += np.bincount(_once_an_article(block, W), minlength=W)

    def to_bytes(self) -> bytes:
        """The stored form."""
        return pack_arrays({"counts": narrow(self.counts), "articles": narrow(self.articles)})

    @staticmethod
    def from_bytes(
        data: object,
        n_words: int,
        articles: int,
        tokens: int,
        *,
        again: bool = False,
    ) -> "WordCounts":
        """The inverse of `to_bytes`, after this many articles and words. Raises `Damaged`.

        ``again``: whether ``tokens`` includes those of articles that were read again.
        """
        place = "word_counts.arrays"
        arrays = unpack_arrays(data, place)
        result = WordCounts(
            whole_numbers(arrays, "counts", place, n_words, 0, tokens),
            whole_numbers(arrays, "articles", place, n_words, 0, articles),
        )
        total = int(result.counts.sum())
        fits_progress = total <= tokens if again else total == tokens
        if not fits_progress or (result.articles > result.counts).any():
            raise Damaged(f"{place} and progress do not match")
        return result


def _once_an_article(block: Block, n_words: int) -> NDArray[np.integer[Any]]:
    """The words of each article, once each. A file of word counts may list a word of an article
    twice."""
    if ascends(block.word_ids, block.indptr):
        return block.word_ids
    article = np.repeat(np.arange(len(block), dtype=np.int64), np.diff(block.indptr))
    article_and_word = np.unique(article * n_words + block.word_ids)
    return article_and_word % n_words


class CountsReader(OpenedSession):
    """Questions about word counts."""

    def pending(self) -> list[tuple[int, Block]]:
        """(number, block) of each stretch that is crawled but not completely trained, oldest
        first."""
        return self._counts("pending")

    def held_out(self) -> Block:
        """The held-out articles so far."""
        return Block.concatenate([block for _, block in self._counts("held_out")])

    def reference(self) -> Block:
        """The first trained articles, without titles, in which the words of topics are counted
        together; none in a session of an earlier version that has not gone on yet."""
        if self._format() < WITH_REFERENCE:
            return Block.concatenate([])
        articles = Block.concatenate([block for _, block in self._counts("reference")])
        if len(articles) > REFERENCE_ARTICLES:
            raise Damaged(f"reference has over {REFERENCE_ARTICLES:,} articles")
        return articles

    def words_of(self, article: ArticleRow) -> Counted | None:
        """The words of one article; None if they are not stored, which is usual for older
        articles."""
        for _, counted in self.words_of_each([article]):
            return counted
        return None

    def words_of_each(self, articles: Iterable[ArticleRow]) -> Iterator[tuple[int, Counted]]:
        """(number, words) of those of these articles whose words are stored, in the order of the
        stream except that held-out ones come first."""
        in_order = sorted(articles, key=lambda article: article.seq)
        held_out = [article for article in in_order if article.role == "held_out"]
        if held_out:
            block = self.held_out()
            for article in held_out:
                for place in np.flatnonzero(block.page_ids == article.page_id).tolist()[:1]:
                    yield article.seq, block.entries(place)
        stored: tuple[int, Block] | None = None
        for article in in_order:
            if article.role == "held_out":
                continue
            if stored is None or article.seq >= stored[0] + len(stored[1]):
                stored = self._block_with(article.seq)
            if stored is not None:
                first, block = stored
                place = article.seq - first
                # 1.0.0 numbered the rows of `kept_counts` from 1 on.
                if block.page_ids[place] == article.page_id:
                    yield article.seq, block.entries(place)

    def _block_with(self, seq: int) -> tuple[int, Block] | None:
        """(number of its first article, the stored block of trained articles that includes this
        number)."""
        for table, key in (("recent", "first_seq"), ("kept_counts", "id")):
            last_row_up_to_it = self.select(
                table,
                {key: Count, "articles": PositiveCount},
                f"WHERE {key} <= ? ORDER BY {key} DESC LIMIT 1",
                [seq],
            )
            for first, articles in last_row_up_to_it:
                if seq < first + articles:
                    return first, stored_block(self, table, key, first, articles)
        return None

    def _counts(self, table: str) -> list[tuple[int, Block]]:
        """(number, block) of each row of a table with the columns `id` and `documents`."""
        room = documents_room(self.settings())
        n_words = len(self.vocabulary())
        ((size,),) = self._rows(f"SELECT total(length(documents)) FROM {table}")
        if size > room:
            raise Damaged(f"{table} takes over {room >> 20:,} MB")
        rows = self.select(table, {"id": Count, "documents": Any}, "ORDER BY id", largest=room)
        return [
            (row_id, Block.from_bytes(data, f"{table}.documents", n_words)) for row_id, data in rows
        ]

    def first_articles(self) -> Iterator[Block]:
        """The blocks from which the vocabulary is built and with which the stream begins, one at a
        time."""
        room = documents_room(self.settings())
        for (row_id,) in self.select("first_articles", {"id": Count}, "ORDER BY id"):
            (row,) = self.select(
                "first_articles",
                FIRST_ARTICLES,
                "WHERE id = ?",
                [row_id],
                largest=room,
            )
            yield decode_block(row)

    def word_counts(self) -> WordCounts:
        """How often each word was trained on."""
        self._check_built()
        n_words = len(self.vocabulary())
        with self.one_moment():
            rows = self._rows(
                "SELECT arrays FROM word_counts", largest=SMALL + 16 * n_words, most=1
            )
            progress = self.progress()
        if not rows:
            raise Damaged("word_counts has no row")
        ((arrays,),) = rows
        return WordCounts.from_bytes(
            arrays,
            n_words,
            progress.documents,
            progress.tokens,
            again=progress.again > 0,
        )

    def counted_vocabulary(self) -> Vocabulary:
        """The vocabulary, with the number of trained articles that have each of its words."""
        with self.one_moment():
            documents = self.progress().documents
            articles = self.word_counts().articles
        return self.counter().counted_in(documents, articles.tolist())

    def counted_rows(self) -> list[tuple[int, int]]:
        """(number of the first, how many) of the articles in each row of word counts, in the order
        of the stream: of all, held-out ones first, or only of the newest trained ones if the
        session does not keep its word counts."""
        table, key = self._table_of_counts()
        columns = {key: PositiveCount, "articles": PositiveCount}
        return self.select(table, columns, f"ORDER BY {key}", most=MOST_BLOCKS)

    def counted_documents(self, number: int, articles: int) -> Block:
        """The word counts of one of these rows."""
        table, key = self._table_of_counts()
        return stored_block(self, table, key, number, articles)

    def _table_of_counts(self) -> tuple[str, str]:
        """The table with the word counts of trained articles, and its key."""
        if self.settings().keeps_counts:
            return "kept_counts", "id"
        return "recent", "first_seq"

    def trained_rows(self) -> list[tuple[int, int]]:
        """The `counted_rows` of trained articles. Raises `Damaged`."""
        rows = self.counted_rows()
        if not self.settings().keeps_counts:
            return rows
        lengths = [articles for _, articles in rows]
        starts = list(accumulate(lengths, initial=0))
        held_out = self.progress().held_out  # these come first
        if held_out not in starts:
            raise Damaged("kept_counts and progress.held_out do not match")
        return rows[starts.index(held_out) :]

    def counts_of(self, seqs: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], Block]]:
        """The word counts of at least the articles with these numbers, and maybe of others:
        (numbers, block) for some at a time; nothing if those of some are not stored, as of older
        articles without `--keep-counts`, or if all take over `MOST_COMPARED` bytes."""
        kept = self.settings().keeps_counts
        rows = self.counted_rows()
        n_stored = sum(articles for _, articles in rows)
        if not kept:
            n_stored += self.progress().held_out
        table, _ = self._table_of_counts()
        ((size,),) = self._rows(f"SELECT total(length(documents)) FROM {table}")
        if n_stored < len(seqs) or size > MOST_COMPARED:
            return
        for first, articles in rows:
            documents = self.counted_documents(first, articles)
            yield first + np.arange(len(documents)), documents
        if kept:
            return
        held_out = self.held_out()
        of_held_out = self.select(
            "articles",
            {"seq": PositiveCount},
            f"WHERE {IS_HELD_OUT} ORDER BY seq",
            most=len(held_out),
        )
        if len(of_held_out) == len(held_out):
            yield np.array([seq for (seq,) in of_held_out], np.int64), held_out


def stored_block(
    session: OpenedSession,
    table: str,
    key: str,
    number: int,
    articles: object,
) -> Block:
    """The word counts of this many articles in the row of this number. Raises `Damaged`."""
    room = documents_room(session.settings())
    rows = session.select(table, {"documents": Any}, f"WHERE {key} = ?", [number], largest=room)
    data = rows[0][0] if rows else None
    block = Block.from_bytes(data, f"{table}.documents", len(session.vocabulary()))
    if len(block) != articles:
        raise Damaged(f"{table}.articles differs from the number of documents")
    return block


class KeptCounts(CountsReader):
    """The documents of the session at ``path`` in the order of its stream, held-out articles first.

    Read block by block, so that memory does not grow with their number. Raises `BadUsage` if that
    session kept none, or counted words other than those of these vocabulary lines.
    """

    def __init__(self, path: Path, words: Sequence[str] | None = None) -> None:
        super().__init__(path)
        self.name = path.name
        with closed_on_error(self):
            if words is not None and self.counter().lines != tuple(words):
                raise BadUsage(
                    f"--counts {path}: that session has another vocabulary; leave --vocab out to "
                    "use its own"
                )
            if not self.settings().keeps_counts:
                raise BadUsage(
                    f"the session {path} kept no word counts: train one in several passes, or with "
                    "`--keep-counts`"
                )
            self._kept = self.counted_rows()
        lengths = [articles for _, articles in self._kept]
        self._starts = list(accumulate(lengths, initial=0))
        self._block: tuple[int, Block] | None = None
        """The place in ``_kept`` of the row read last, and its documents."""

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def identity(self) -> dict[str, str]:
        """Identifies the stream. It stays the same when that session trains on."""
        fingerprint = self.settings().fingerprint.encode()
        first = self._read(0).to_bytes() if self._kept else b""
        checksum = hashlib.blake2b(fingerprint + first, digest_size=16)
        return {"checksum": checksum.hexdigest()}

    def documents(self, start: int, stop: int) -> Block:
        """Documents ``start`` to ``stop`` (fewer at the end)."""
        parts = []
        stop = min(stop, len(self))
        while start < stop:
            place = bisect_right(self._starts, start) - 1
            before = self._starts[place]
            part = self._read(place)[start - before : stop - before]
            parts.append(part)
            start += len(part)
        return Block.concatenate(parts)

    def _read(self, place: int) -> Block:
        """The documents of the row at this place in ``_kept``."""
        if self._block is not None:
            read_last, block = self._block
            if read_last == place:
                return block
        row_id, articles = self._kept[place]
        block = self.counted_documents(row_id, articles)
        self._block = (place, block)
        return block

    close = OpenedSession.leave
