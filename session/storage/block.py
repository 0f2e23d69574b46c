"""A block: articles of the stream as word counts, with just enough to identify each article again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikitopics.crawler.source import Page, Skips
from wikitopics.session.errors import Damaged
from wikitopics.session.storage.decoding import from_json, listed, text
from wikitopics.session.storage.npz import pack_arrays, unpack_arrays

Counted = tuple[NDArray[np.int32], NDArray[np.int32]]
"""The word ids of an article, and their counts."""


@dataclass(frozen=True, slots=True)
class Block:
    """``n`` consecutive articles of the stream, as compressed sparse rows beside columns.

    Articles travel so from counting to the models and into the session. A block that comes from a source has
    a place in the stream, too: ``skips``, ``position``, ``lap`` and ``warnings``. Its parts have none.
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
    """Their ids in their own collection, "" for a document without one; None: the source has none."""
    lexicon: tuple[str, ...] | None = None
    """The words that ``word_ids`` refer to, and maybe others, if there is no vocabulary yet; None: they are
    the session's."""
    unread: frozenset[int] = frozenset()
    """Page ids of articles that could not be counted, and maybe others; these articles have no words."""
    skips: Skips = field(default_factory=dict)
    """How many pages of this stretch give no article, by reason."""
    position: dict[str, Any] | None = None
    """JSON values; opaque here. A source resumed from it continues right after these articles."""
    lap: float | None = None
    warnings: tuple[str, ...] = ()
    """Lines for the log."""

    def __len__(self) -> int:
        return len(self.titles)

    def __getitem__(self, rows: slice) -> "Block":
        start, stop, _ = rows.indices(len(self))
        stop = max(start, stop)
        low, high = int(self.indptr[start]), int(self.indptr[stop])
        return Block(
            self.page_ids[start:stop],
            self.revision_ids[start:stop],
            self.titles[start:stop],
            self.indptr[start : stop + 1] - low,
            self.word_ids[low:high],
            self.counts[low:high],
            None if self.ids is None else self.ids[start:stop],
            self.lexicon,
            self.unread,
        )

    def take(self, order: Sequence[int] | NDArray[np.intp]) -> "Block":
        """These articles, in this order."""
        rows = np.asarray(order, np.intp)
        lengths = np.diff(self.indptr)[rows]
        indptr = _from_zero(lengths)
        words = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
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

    @property
    def words(self) -> NDArray[np.int64]:
        """(n,) the words of each article that are in the vocabulary."""
        sums = _from_zero(self.counts)
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
        """Pages, and for each of them the ids of its words and how often they occur."""
        empty = [np.empty(0, np.int32)]
        has_ids = bool(pages) and pages[0].id is not None
        return Block(
            np.array([page.page_id for page in pages], np.int64),
            np.array([page.revision_id for page in pages], np.int64),
            tuple(page.title for page in pages),
            _from_zero([len(word_ids) for word_ids, _ in counted]),
            np.concatenate([word_ids for word_ids, _ in counted] or empty),
            np.concatenate([counts for _, counts in counted] or empty),
            tuple(page.id or "" for page in pages) if has_ids else None,
            lexicon,
        )

    @staticmethod
    def uncounted(page: Page) -> "Block":
        """A page that could not be counted."""
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
    def from_bytes(data: object, place: str, n_words: int, lexicon: tuple[str, ...] | None = None) -> "Block":
        """The inverse of `to_bytes`, for a vocabulary, or this lexicon, of ``n_words``.

        Raises `Damaged`.
        """
        arrays = unpack_arrays(data, place)
        titles = _texts(arrays, "titles", place)
        ids = _texts(arrays, "ids", place) if "ids" in arrays else None
        if ids is not None and len(ids) != len(titles):
            raise Damaged(f"{place} has ids of another number of articles")
        n, limits = len(titles), np.iinfo(np.int64)
        lengths = whole_numbers(arrays, "lengths", place, (n,), 0, 2**31 - 1, np.int64)
        indptr = _from_zero(lengths)
        total = int(indptr[-1])
        return Block(
            whole_numbers(arrays, "page_ids", place, (n,), limits.min, limits.max, np.int64),
            whole_numbers(arrays, "revision_ids", place, (n,), limits.min, limits.max, np.int64),
            titles,
            indptr,
            whole_numbers(arrays, "word_ids", place, (total,), 0, n_words - 1, np.int32),
            whole_numbers(arrays, "counts", place, (total,), 1, np.iinfo(np.int32).max, np.int32),
            ids,
            lexicon,
        )

    def over(self, numbers: Mapping[str, int]) -> "Block":
        """The same over a vocabulary, given as the number of each of its words; all other words are left
        out."""
        assert self.lexicon is not None
        known = np.array([numbers.get(word, -1) for word in self.lexicon], np.int32)
        article = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        word_ids = known[self.word_ids] if len(known) else self.word_ids
        kept = np.flatnonzero(word_ids >= 0)
        order = kept[np.lexsort((word_ids[kept], article[kept]))]
        lengths = np.bincount(article[kept], minlength=len(self))
        return replace(
            self,
            indptr=_from_zero(lengths),
            word_ids=word_ids[order],
            counts=self.counts[order],
            lexicon=None,
        )

    def with_own_words(self) -> "Block":
        """These documents with a lexicon of only the words in them; unchanged if they have no lexicon."""
        if self.lexicon is None:
            return self
        used, word_ids = np.unique(self.word_ids, return_inverse=True)
        words = tuple(self.lexicon[number] for number in used.tolist())
        return replace(self, word_ids=word_ids.astype(np.int32), lexicon=words)

    @staticmethod
    def concatenate(parts: Sequence["Block"]) -> "Block":
        """One run made of several, in order."""
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
        no_ids = all(part.ids is None for part in parts)  # an empty part does not decide it
        return Block(
            np.concatenate([part.page_ids for part in parts]),
            np.concatenate([part.revision_ids for part in parts]),
            tuple(title for part in parts for title in part.titles),
            _from_zero(np.concatenate([np.diff(part.indptr) for part in parts])),
            np.concatenate([part.word_ids for part in parts]),
            np.concatenate([part.counts for part in parts]),
            None if no_ids else tuple(one for part in parts for one in part.ids or ("",) * len(part)),
            unread=frozenset().union(*(part.unread for part in parts)),
        )


def _from_zero(lengths: ArrayLike) -> NDArray[np.int64]:
    """(n + 1,) where each of these ``lengths``, (n,), begins, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def _as_json(texts: tuple[str, ...]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8)


def _texts(arrays: Mapping[str, NDArray[Any]], name: str, place: str) -> tuple[str, ...]:
    """The inverse of `_as_json`, for the array of this name."""
    stored = arrays.get(name)
    if stored is None or stored.dtype != np.uint8:
        raise Damaged(f"{place} is missing")
    return listed(from_json(stored.tobytes().decode("ascii", "replace"), place, longest=2**30), place, text)


def whole_numbers(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    place: str,
    shape: tuple[int, ...],
    low: int,
    high: int,
    dtype: type[np.signedinteger[Any]],
) -> NDArray[Any]:
    """The array of this name and shape, its whole numbers from ``low`` to ``high``."""
    found = arrays.get(name)
    if found is None or found.shape != shape or found.dtype.kind not in "iu":
        raise Damaged(f"{place} lacks {name}, or has unexpected ones")
    if found.size and not low <= int(found.min()) <= int(found.max()) <= high:
        raise Damaged(f"{place} has {name} that are out of range")
    return found.astype(dtype)


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the narrowest type that holds them."""
    if not values.size:
        return values
    return values.astype(np.promote_types(np.min_scalar_type(values.min()), np.min_scalar_type(values.max())))
