"""Articles as word counts: blocks of the stream, and the tables that keep them.

The tables are `pending`, `held_out`, `first_articles`, `kept_counts` and `word_counts`.
"""

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import ArrayLike, NDArray

from wikitopics.crawler.page import Page, Skips
from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import HELD_OUT
from wikitopics.session.records import JSON, ArticleRow, Count, PositiveCount, Rate, Text
from wikitopics.session.settings import Settings
from wikitopics.session.storage.database import SMALL, closed_on_error
from wikitopics.session.storage.decoding import (
    MOST_WORD_BYTES,
    from_json,
    pack_arrays,
    unpack_arrays,
    whole,
)
from wikitopics.session.storage.opened import OpenedSession

# A block: articles of the stream as word counts, with just enough to identify each article again.

Counted = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The word ids of an article, and their counts."""


@dataclass(frozen=True, slots=True)
class Block:
    """``n`` consecutive articles of the stream, as compressed sparse rows beside columns.

    Articles travel in blocks from counting to the models and into the session. Only a block that
    comes from a
    source, not a part of one, has a place in the stream: ``skips``, ``position``, ``lap`` and
    ``warnings``.
    """

    page_ids: NDArray[np.int64]
    """(n,)"""
    revision_ids: NDArray[np.int64]
    """(n,)"""
    titles: tuple[str, ...]
    indptr: NDArray[np.int64]
    """(n + 1,), starting at 0"""
    word_ids: NDArray[np.int32]
    counts: NDArray[np.int32]
    ids: tuple[str, ...] | None = None
    """Their ids in their own collection, "" for a document without one; None: the source has no
    ids."""
    lexicon: tuple[str, ...] | None = None
    """If there is no vocabulary yet: the words that ``word_ids`` refer to, and maybe others. None:
    the ids refer to the session's vocabulary."""
    unread: frozenset[int] = frozenset()
    """Page ids of articles without words, since they could not be counted; maybe also ids in other
    blocks."""
    skips: Skips = field(default_factory=dict)
    """How many pages of this stretch gave no article, by reason."""
    position: dict[str, Any] | None = None
    """JSON values; opaque here. A source resumed from it continues right after these articles."""
    lap: float | None = None
    warnings: tuple[str, ...] = ()
    """Lines for the log."""

    def __len__(self) -> int:
        return len(self.titles)

    def __getitem__(self, rows: slice) -> "Block":
        return self.take(np.arange(len(self))[rows])

    def take(self, order: Sequence[int] | NDArray[np.intp]) -> "Block":
        """These articles, in this order."""
        rows = np.asarray(order, np.intp)
        indptr, words = gather(self.indptr, rows)
        chosen = rows.tolist()
        return Block(
            self.page_ids[rows],
            self.revision_ids[rows],
            tuple([self.titles[row] for row in chosen]),
            indptr,
            self.word_ids[words],
            self.counts[words],
            None if self.ids is None else tuple([self.ids[row] for row in chosen]),
            self.lexicon,
            self.unread,
        )

    def split(self, chosen: NDArray[np.bool_]) -> "tuple[Block, Block]":
        """(the articles for which ``chosen``, (n,), is true, the others)."""
        if chosen.all():
            return self, self[:0]
        return self.take(np.flatnonzero(chosen)), self.take(np.flatnonzero(~chosen))

    def entries(self, row: int) -> Counted:
        """The words of one article."""
        part = slice(self.indptr[row], self.indptr[row + 1])
        return self.word_ids[part], self.counts[part]

    @property
    def words(self) -> NDArray[np.int64]:
        """(n,) the number of words of each article that are in the vocabulary."""
        sums = from_zero(self.counts)
        return np.asarray(sums[self.indptr[1:]] - sums[self.indptr[:-1]], dtype=np.int64)

    @property
    def has_words(self) -> NDArray[np.bool_]:
        """(n,) whether each article has a word of the vocabulary."""
        return np.diff(self.indptr) > 0

    @property
    def n_unread(self) -> int:
        """How many of the articles could not be counted."""
        empty = self.page_ids[~self.has_words].tolist() if self.unread else ()
        return sum(page_id in self.unread for page_id in empty)

    @staticmethod
    def of_pages(
        pages: Sequence[Page], counted: Sequence[Counted], lexicon: tuple[str, ...] | None = None
    ) -> "Block":
        """A block of these pages; ``counted``: for each page the ids of its words, and their
        counts."""
        empty = [np.empty(0, np.int32)]
        has_ids = bool(pages) and pages[0].id is not None
        return Block(
            np.array([page.page_id for page in pages], np.int64),
            np.array([page.revision_id for page in pages], np.int64),
            tuple(page.title for page in pages),
            from_zero([len(word_ids) for word_ids, _ in counted]),
            np.concatenate([word_ids for word_ids, _ in counted] or empty),
            np.concatenate([counts for _, counts in counted] or empty),
            tuple(page.id or "" for page in pages) if has_ids else None,
            lexicon,
        )

    @staticmethod
    def uncounted(page: Page) -> "Block":
        """A block of one page that could not be counted."""
        none = np.empty(0, np.int32)
        return replace(Block.of_pages([page], [(none, none)]), unread=frozenset({page.page_id}))

    def to_bytes(self) -> bytes:
        """The stored form: .npz without pickle."""
        ids = {} if self.ids is None else {"ids": _as_json(self.ids)}
        return pack_arrays(
            {
                "page_ids": narrow(self.page_ids),
                "revision_ids": narrow(self.revision_ids),
                "titles": _as_json(self.titles),
                "lengths": narrow(np.diff(self.indptr)),
                "word_ids": narrow(self.word_ids),
                "counts": narrow(self.counts),
                **ids,
            }
        )

    @staticmethod
    def from_bytes(
        data: object,
        place: str,
        n_words: int,
        lexicon: tuple[str, ...] | None = None,
    ) -> "Block":
        """The inverse of `to_bytes`, for a vocabulary, or this lexicon, of ``n_words``.

        Raises `Damaged`.
        """
        arrays = unpack_arrays(data, place)
        titles = _texts(arrays, "titles", place)
        ids = _texts(arrays, "ids", place) if "ids" in arrays else None
        if ids is not None and len(ids) != len(titles):
            raise Damaged(f"{place} has ids of another number of articles")
        n, limits = len(titles), np.iinfo(np.int64)
        lengths = whole_numbers(arrays, "lengths", place, n, 0, 2**31 - 1)
        indptr = from_zero(lengths)
        total = int(indptr[-1])
        return Block(
            whole_numbers(arrays, "page_ids", place, n, limits.min, limits.max),
            whole_numbers(arrays, "revision_ids", place, n, limits.min, limits.max),
            titles,
            indptr,
            whole_numbers(arrays, "word_ids", place, total, 0, n_words - 1).astype(np.int32),
            whole_numbers(arrays, "counts", place, total, 1, 2**31 - 1).astype(np.int32),
            ids,
            lexicon,
        )

    def over(self, numbers: Mapping[str, int]) -> "Block":
        """The same articles over a vocabulary, given as the number of each of its words. All other
        words are left out."""
        assert self.lexicon is not None
        known = np.array([numbers.get(word, -1) for word in self.lexicon], np.int32)
        article = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        word_ids = known[self.word_ids] if len(known) else self.word_ids
        kept = np.flatnonzero(word_ids >= 0)
        order = kept[np.lexsort((word_ids[kept], article[kept]))]
        indptr = from_zero(np.bincount(article[kept], minlength=len(self)))
        return replace(
            self,
            indptr=indptr,
            word_ids=word_ids[order],
            counts=self.counts[order],
            lexicon=None,
        )

    def with_own_words(self) -> "Block":
        """These documents with a lexicon of only the words in them; unchanged if they have no
        lexicon."""
        if self.lexicon is None:
            return self
        used, word_ids = np.unique(self.word_ids, return_inverse=True)
        words = tuple(self.lexicon[number] for number in used.tolist())
        return replace(self, word_ids=word_ids.astype(np.int32), lexicon=words)

    @staticmethod
    def concatenate(parts: Sequence["Block"]) -> "Block":
        """One block made of several, in order."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Block.of_pages([], [])
        if any(part.lexicon is not None for part in parts):
            numbers: dict[str, int] = {}
            for word in (word for part in parts for word in part.lexicon or ()):
                numbers.setdefault(word, len(numbers))
            joined = Block.concatenate(
                [part if part.lexicon is None else part.over(numbers) for part in parts]
            )
            return replace(joined, lexicon=tuple(numbers))
        no_ids = all(part.ids is None for part in parts)  # an empty part may lack them
        return Block(
            np.concatenate([part.page_ids for part in parts]),
            np.concatenate([part.revision_ids for part in parts]),
            tuple(title for part in parts for title in part.titles),
            from_zero(np.concatenate([np.diff(part.indptr) for part in parts])),
            np.concatenate([part.word_ids for part in parts]),
            np.concatenate([part.counts for part in parts]),
            None
            if no_ids
            else tuple(one for part in parts for one in part.ids or ("",) * len(part)),
            unread=frozenset().union(*(part.unread for part in parts)),
        )


def from_zero(lengths: ArrayLike) -> NDArray[np.int64]:
    """(n + 1,) where each of these ``lengths``, (n,), begins, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def gather(
    indptr: NDArray[np.int64], rows: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(where each of these sparse rows will begin, where their elements are now)."""
    starts = from_zero(np.diff(indptr)[rows])
    return starts, np.arange(starts[-1]) + np.repeat(indptr[rows] - starts[:-1], np.diff(starts))


def ascends(values: NDArray[Any], indptr: NDArray[np.int64]) -> bool:
    """Whether the elements of each of these sparse rows ascend."""
    rises = values[1:] > values[:-1]
    ends = indptr[(indptr > 0) & (indptr < len(values))]
    rises[ends - 1] = True
    return bool(rises.all())


def _as_json(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)


def _texts(arrays: Mapping[str, NDArray[Any]], name: str, place: str) -> tuple[str, ...]:
    """The inverse of `_as_json`, for the array of this name."""
    stored = arrays.get(name)
    if stored is None or stored.dtype != np.uint8:
        raise Damaged(f"{place} is missing")
    return tuple(
        from_json(
            stored.tobytes().decode("ascii", "replace"),
            tuple[Text, ...],
            place,
            longest=2**30,
        )
    )


def whole_numbers(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    place: str,
    size: int,
    low: int,
    high: int,
) -> NDArray[np.int64]:
    """The array of this name: a row of ``size`` whole numbers from ``low`` to ``high``."""
    array = arrays.get(name)
    if array is None or array.shape != (size,) or array.dtype.kind not in "iu":
        raise Damaged(f"{place} lacks {name}, or has unexpected ones")
    if size and not low <= int(array.min()) <= int(array.max()) <= high:
        raise Damaged(f"{place} has {name} that are out of range")
    return array.astype(np.int64)


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the narrowest type that holds them."""
    if not values.size:
        return values
    return values.astype(
        np.promote_types(np.min_scalar_type(values.min()), np.min_scalar_type(values.max()))
    )


# Word counts: the tables `pending`, `held_out`, `first_articles`, `kept_counts` and `word_counts`.

MOST_BLOCKS = 10_000_000
"""Rows of `kept_counts` and of `blocks`, one per minibatch."""
MOST_ROW_BYTES = 16 * 2**20
"""A row's words and counts take at most this and one more article: far below what may be read of a
row."""
_ENTRY = 9
"""Bytes per word of an article besides its letters: its number, its count, and the end of its
line."""


def documents_room(settings: Settings) -> int:
    """The most bytes of one value of word counts, or of a table that is read at once.

    That is far more than needed: 64 kB per article of a minibatch and per held-out article.
    """
    return 2**26 + 2**16 * (settings.batch_size + settings[HELD_OUT])


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
        skips = {}


def _cut(block: Block) -> Iterator[Block]:
    """Whole articles, together up to the size of a row plus one article."""
    sizes = np.array([len(word.encode()) + _ENTRY for word in block.lexicon or ()], np.int64)
    before = np.concatenate(([0], np.cumsum(sizes[block.word_ids])))[block.indptr[:-1]]
    cuts = np.flatnonzero(np.diff(before // MOST_ROW_BYTES)) + 1
    for start, stop in pairwise([0, *cuts.tolist(), len(block)]):
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
    missed = whole(n_unread, "first_articles.unread", high=len(block))
    # It makes no difference which of the articles without words these are.
    unread = frozenset(block.page_ids[~block.has_words][:missed].tolist())
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
        place, arrays = "word_counts.arrays", unpack_arrays(data, "word_counts.arrays")
        result = WordCounts(
            whole_numbers(arrays, "counts", place, n_words, 0, tokens),
            whole_numbers(arrays, "articles", place, n_words, 0, articles),
        )
        total = int(result.counts.sum())
        if (
            total > tokens
            or (total < tokens and not again)
            or (result.articles > result.counts).any()
        ):
            raise Damaged(f"{place} and progress do not match")
        return result


def _once_an_article(block: Block, n_words: int) -> NDArray[np.integer[Any]]:
    """The words of each article, once each. A file of word counts may list a word of an article
    twice."""
    if ascends(block.word_ids, block.indptr):
        return block.word_ids
    article = np.repeat(np.arange(len(block), dtype=np.int64), np.diff(block.indptr))
    return np.unique(article * n_words + block.word_ids) % n_words


class CountsReader(OpenedSession):
    """Questions about word counts."""

    def pending(self) -> list[tuple[int, Block]]:
        """(number, block) of each stretch that is crawled but not completely trained, oldest
        first."""
        return self._counts("pending")

    def held_out(self) -> Block:
        """The held-out articles so far."""
        return Block.concatenate([block for _, block in self._counts("held_out")])

    def words_of(self, article: ArticleRow) -> Counted | None:
        """The words of one article; None if they are not stored, which is usual for older
        articles."""
        if article.role == "held_out":
            block = self.held_out()
            return next(
                map(block.entries, np.flatnonzero(block.page_ids == article.page_id).tolist()), None
            )
        for table, key in (("recent", "first_seq"), ("kept_counts", "id")):
            last_before = f"WHERE {key} <= ? ORDER BY {key} DESC LIMIT 1"
            rows = self.select(
                table,
                {key: Count, "articles": PositiveCount},
                last_before,
                [article.seq],
            )
            for first, articles in rows:
                if article.seq < first + articles:
                    return stored_block(self, table, key, first, articles).entries(
                        article.seq - first
                    )
        return None

    def _counts(self, table: str) -> list[tuple[int, Block]]:
        room, n_words = documents_room(self.settings()), len(self.vocabulary())
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
        for row_id in self.select("first_articles", {"id": Count}, "ORDER BY id"):
            (row,) = self.select(
                "first_articles",
                FIRST_ARTICLES,
                "WHERE id = ?",
                row_id,
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
        again = progress.again > 0
        return WordCounts.from_bytes(
            rows[0][0],
            n_words,
            progress.documents,
            progress.tokens,
            again=again,
        )

    def kept_rows(self) -> list[tuple[int, int]]:
        """(number, number of articles) of each row of kept word counts, in the order of the
        stream."""
        columns = {"id": Count, "articles": PositiveCount}
        return self.select("kept_counts", columns, "ORDER BY id", most=MOST_BLOCKS)

    def kept_documents(self, row_id: int, articles: int) -> Block:
        """The word counts of one of these rows."""
        return stored_block(self, "kept_counts", "id", row_id, articles)


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
            self._kept = self.kept_rows()
        self._starts = list(accumulate((articles for _, articles in self._kept), initial=0))
        self._block: tuple[int, Block] | None = None

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def identity(self) -> dict[str, str]:
        """Identifies the stream. It stays the same when that session trains on."""
        fingerprint = self.settings().fingerprint.encode()
        first = self._read(0).to_bytes() if self._kept else b""
        return {"checksum": hashlib.blake2b(fingerprint + first, digest_size=16).hexdigest()}

    def documents(self, start: int, stop: int) -> Block:
        """Documents ``start`` to ``stop`` (fewer at the end)."""
        parts = []
        stop = min(stop, len(self))
        while start < stop:
            number = bisect_right(self._starts, start) - 1
            low = self._starts[number]
            part = self._read(number)[start - low : stop - low]
            parts.append(part)
            start += len(part)
        return Block.concatenate(parts)

    def _read(self, number: int) -> Block:
        if self._block is None or self._block[0] != number:
            self._block = number, self.kept_documents(*self._kept[number])
        return self._block[1]

    close = OpenedSession.leave
