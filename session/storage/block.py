"""A block: articles of the stream as word counts, with just enough to identify each one again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikitopics.crawler.page import Page, Skips
from wikitopics.model.minibatch import Minibatch
from wikitopics.session.errors import Damaged
from wikitopics.session.records import Text
from wikitopics.session.storage.decoding import from_json, pack_arrays, unpack_arrays
from wikitopics.session.wording import LONGEST_SNIPPET
from wikitopics.vocab.counting import Counted


@dataclass(frozen=True, slots=True)
class Block:
    """``n`` consecutive articles of the stream, as compressed sparse rows beside columns.

    Articles travel in blocks from counting to the models and into the session. Only a whole block
    as it comes from a source has a place in the stream, with ``skips``, ``position``, ``lap`` and
    ``warnings``; parts of it have none.
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
    """The articles' ids in their own collection, "" for a document without one; None: the source
    has no ids."""
    snippets: tuple[str, ...] | None = None
    """The first `LONGEST_SNIPPET` characters of each text; None: nothing is kept of the texts."""
    lexicon: tuple[str, ...] | None = None
    """If there is no vocabulary yet: the words that ``word_ids`` refer to, and maybe others. None:
    the ids refer to the session's vocabulary."""
    unread: frozenset[int] = frozenset()
    """Page ids of articles that have no words since they could not be counted; may also hold ids of
    articles in other blocks."""
    skips: Skips = field(default_factory=dict)
    """How many pages of this stretch gave no article, by reason."""
    position: dict[str, Any] | None = None
    """JSON values; opaque here. A source resumed from it continues right after these articles."""
    lap: float | None = None
    """The share of the source that has been read after these articles, if that is known."""
    warnings: tuple[str, ...] = ()
    """Lines for the log."""

    def __len__(self) -> int:
        return len(self.titles)

    def __getitem__(self, rows: slice) -> "Block":
        """These articles, without the block's place in the stream."""
        if rows.step is not None or rows.indices(len(self))[:2] != (0, len(self)):
            return self.take(np.arange(len(self))[rows])
        return replace(self, skips={}, position=None, lap=None, warnings=())

    def take(self, order: Sequence[int] | NDArray[np.intp]) -> "Block":
        """These articles, in this order."""
        rows = np.asarray(order, np.intp)
        chosen = rows.tolist()
        indptr, elements = gather(self.indptr, rows)
        titles = tuple([self.titles[row] for row in chosen])
        ids = None
        if self.ids is not None:
            ids = tuple([self.ids[row] for row in chosen])
        snippets = None
        if self.snippets is not None:
            snippets = tuple([self.snippets[row] for row in chosen])
        return Block(
            self.page_ids[rows],
            self.revision_ids[rows],
            titles,
            indptr,
            self.word_ids[elements],
            self.counts[elements],
            ids,
            snippets,
            self.lexicon,
            self.unread,
        )

    def split(self, chosen: NDArray[np.bool_]) -> "tuple[Block, Block]":
        """(the articles for which ``chosen``, (n,), is true, the others)."""
        if chosen.all():
            return self, self[:0]
        return self.take(np.flatnonzero(chosen)), self.take(np.flatnonzero(~chosen))

    def nameless(self) -> "Block":
        """The same articles without titles and ids, which `articles` has, and without snippets."""
        return replace(self, titles=("",) * len(self), ids=None, snippets=None)

    def minibatch(self) -> Minibatch:
        """The word counts in the form that models take."""
        return Minibatch(self.indptr, self.word_ids, self.counts)

    def entries(self, row: int) -> Counted:
        """The words of one article."""
        elements = slice(self.indptr[row], self.indptr[row + 1])
        return self.word_ids[elements], self.counts[elements]

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
        if not self.unread:
            return 0
        empty: list[int] = self.page_ids[~self.has_words].tolist()
        return len([page_id for page_id in empty if page_id in self.unread])

    @staticmethod
    def of_pages(
        pages: Sequence[Page],
        counted: Sequence[Counted],
        lexicon: tuple[str, ...] | None = None,
        snippets: tuple[str, ...] | None = None,
    ) -> "Block":
        """A block of these pages; ``counted``: for each page the ids of its words, and their
        counts."""
        nothing = np.empty(0, np.int32)
        ids = None
        if pages and pages[0].id is not None:
            ids = tuple(page.id or "" for page in pages)
        return Block(
            np.array([page.page_id for page in pages], np.int64),
            np.array([page.revision_id for page in pages], np.int64),
            tuple(page.title for page in pages),
            from_zero([len(word_ids) for word_ids, _ in counted]),
            np.concatenate([nothing, *(word_ids for word_ids, _ in counted)]),
            np.concatenate([nothing, *(counts for _, counts in counted)]),
            ids,
            snippets,
            lexicon,
        )

    @staticmethod
    def uncounted(page: Page) -> "Block":
        """A block of one page that could not be counted."""
        no_words = np.empty(0, np.int32)
        block = Block.of_pages([page], [(no_words, no_words)])
        return replace(block, unread=frozenset({page.page_id}))

    def to_bytes(self) -> bytes:
        """The stored form: .npz without pickle."""
        arrays = {
            "page_ids": narrow(self.page_ids),
            "revision_ids": narrow(self.revision_ids),
            "titles": _as_json(self.titles),
            "lengths": narrow(np.diff(self.indptr)),
            "word_ids": narrow(self.word_ids),
            "counts": narrow(self.counts),
        }
        if self.ids is not None:
            arrays["ids"] = _as_json(self.ids)
        if self.snippets is not None:
            arrays["snippets"] = _as_json(self.snippets)
        return pack_arrays(arrays)

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
        snippets = _texts(arrays, "snippets", place) if "snippets" in arrays else None
        if snippets is not None:
            check_snippets(snippets, len(titles), place)
        n = len(titles)
        any_number = np.iinfo(np.int64)
        most = np.iinfo(np.int32).max
        lengths = whole_numbers(arrays, "lengths", place, n, 0, most)
        indptr = from_zero(lengths)
        total = int(indptr[-1])
        page_ids = whole_numbers(arrays, "page_ids", place, n, any_number.min, any_number.max)
        revision_ids = whole_numbers(
            arrays,
            "revision_ids",
            place,
            n,
            any_number.min,
            any_number.max,
        )
        word_ids = whole_numbers(arrays, "word_ids", place, total, 0, n_words - 1)
        counts = whole_numbers(arrays, "counts", place, total, 1, most)
        return Block(
            page_ids,
            revision_ids,
            titles,
            indptr,
            word_ids.astype(np.int32),
            counts.astype(np.int32),
            ids,
            snippets,
            lexicon,
        )

    def over(self, numbers: Mapping[str, int]) -> "Block":
        """The same articles over a vocabulary, given as the number of each of its words. All other
        words are left out."""
        assert self.lexicon is not None
        # For each element of the sparse rows: the article that it is of, and its word's number in
        # the vocabulary, -1 for one that is left out.
        article = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        number = np.array([numbers.get(word, -1) for word in self.lexicon], np.int32)
        word_ids = number[self.word_ids] if len(number) else self.word_ids
        kept = np.flatnonzero(word_ids >= 0)
        by_article_and_word = kept[np.lexsort((word_ids[kept], article[kept]))]
        return replace(
            self,
            indptr=from_zero(np.bincount(article[kept], minlength=len(self))),
            word_ids=word_ids[by_article_and_word],
            counts=self.counts[by_article_and_word],
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
            for word in chain.from_iterable(part.lexicon or () for part in parts):
                numbers.setdefault(word, len(numbers))
            numbered = [part if part.lexicon is None else part.over(numbers) for part in parts]
            return replace(Block.concatenate(numbered), lexicon=tuple(numbers))
        lengths = [np.diff(part.indptr) for part in parts]
        return Block(
            np.concatenate([part.page_ids for part in parts]),
            np.concatenate([part.revision_ids for part in parts]),
            tuple(chain.from_iterable(part.titles for part in parts)),
            from_zero(np.concatenate(lengths)),
            np.concatenate([part.word_ids for part in parts]),
            np.concatenate([part.counts for part in parts]),
            _one_column([part.ids for part in parts], parts),
            _one_column([part.snippets for part in parts], parts),
            unread=frozenset().union(*(part.unread for part in parts)),
        )


def _one_column(
    columns: Sequence[tuple[str, ...] | None], parts: Sequence[Block]
) -> tuple[str, ...] | None:
    """The columns of several parts, one after another, with "" for the articles of a part that
    lacks its column, as an empty one may; None if all lack it."""
    if all(column is None for column in columns):
        return None
    texts: list[str] = []
    for column, part in zip(columns, parts, strict=True):
        texts += column or [""] * len(part)
    return tuple(texts)


def from_zero(lengths: ArrayLike) -> NDArray[np.int64]:
    """(n + 1,) where each of these ``lengths``, (n,), begins, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def gather(
    indptr: NDArray[np.int64], rows: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose ``rows`` of sparse rows that begin at ``indptr``: (where each of the chosen rows will
    begin, where the elements of the chosen rows are now, one after another)."""
    lengths = np.diff(indptr)[rows]
    starts = from_zero(lengths)
    shifts = indptr[rows] - starts[:-1]  # from a row's elements in the result to those of now
    return starts, np.arange(starts[-1]) + np.repeat(shifts, lengths)


def ascends(values: NDArray[Any], indptr: NDArray[np.int64]) -> bool:
    """Whether the elements of each of these sparse rows ascend."""
    rises = values[1:] > values[:-1]
    inner_starts = indptr[(indptr > 0) & (indptr < len(values))]
    rises[inner_starts - 1] = True  # from the end of a row to the start of the next
    return bool(rises.all())


def check_snippets(snippets: Sequence[str], n: int, place: str) -> None:
    """Raise `Damaged` unless these are ``n`` snippets."""
    if len(snippets) != n:
        raise Damaged(f"{place} has snippets of another number of articles")
    if max(map(len, snippets), default=0) > LONGEST_SNIPPET:
        raise Damaged(f"{place} has a snippet that is too long")
    if any("\n" in snippet for snippet in snippets):  # `snippets.data` has one a line
        raise Damaged(f"{place} has a snippet of several lines")


def _as_json(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)


def _texts(arrays: Mapping[str, NDArray[Any]], name: str, place: str) -> tuple[str, ...]:
    """The inverse of `_as_json`, for the array of this name."""
    stored = arrays.get(name)
    if stored is None or stored.dtype != np.uint8:
        raise Damaged(f"{place} is missing")
    encoded = stored.tobytes().decode("ascii", "replace")
    texts: tuple[str, ...] = from_json(encoded, tuple[Text, ...], place, longest=2**30)
    return texts


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
    holds_least = np.min_scalar_type(values.min())
    holds_most = np.min_scalar_type(values.max())
    return values.astype(np.promote_types(holds_least, holds_most))
