"""Articles as the trainer sees them: word counts, and just enough to name each article again."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crawler.page import Skip
from session.blobs import damaged_told


@dataclass(frozen=True, slots=True)
class Documents:
    """A run of ``n`` consecutive articles of the stream, as compressed sparse rows."""

    page_ids: NDArray[np.int64]
    """(n,)"""
    revision_ids: NDArray[np.int64]
    """(n,)"""
    titles: tuple[str, ...]
    indptr: NDArray[np.int64]
    """(n + 1,), starting at 0"""
    word_ids: NDArray[np.int32]
    counts: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.titles)

    def __getitem__(self, rows: slice) -> "Documents":
        start, stop, _ = rows.indices(len(self))
        stop = max(start, stop)
        low, high = int(self.indptr[start]), int(self.indptr[stop])
        return Documents(
            self.page_ids[start:stop],
            self.revision_ids[start:stop],
            self.titles[start:stop],
            self.indptr[start : stop + 1] - low,
            self.word_ids[low:high],
            self.counts[low:high],
        )

    @property
    def words(self) -> NDArray[np.int64]:
        """(n,) words of each article that are in the vocabulary."""
        sums = np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))
        return np.asarray(sums[self.indptr[1:]] - sums[self.indptr[:-1]], dtype=np.int64)

    def split_empty(self) -> "tuple[Documents, Documents]":
        """(the articles that hold a word of the vocabulary, those that hold none)."""
        return self.split(np.diff(self.indptr) > 0)

    def split(self, chosen: NDArray[np.bool_]) -> "tuple[Documents, Documents]":
        """(the articles where ``chosen``, (n,), is true, the others)."""
        if chosen.all():
            return self, self[:0]
        return self._where(chosen), self._where(~chosen)

    def _where(self, chosen: NDArray[np.bool_]) -> "Documents":
        lengths = np.diff(self.indptr)
        words = np.repeat(chosen, lengths)
        return Documents(
            self.page_ids[chosen],
            self.revision_ids[chosen],
            tuple(compress(self.titles, chosen)),
            np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths[chosen]))),
            self.word_ids[words],
            self.counts[words],
        )

    @staticmethod
    def without_words(page_id: int, revision_id: int, title: str) -> "Documents":
        """One article that holds no word of the vocabulary."""
        none = np.empty(0, np.int32)
        return Documents(
            np.array([page_id]), np.array([revision_id]), (title,), np.zeros(2, np.int64), none, none
        )

    def to_bytes(self) -> bytes:
        """As the store keeps them: .npz without pickle."""
        buffer = io.BytesIO()
        np.savez(
            buffer,
            page_ids=_small(self.page_ids),
            revision_ids=_small(self.revision_ids),
            titles=np.frombuffer(json.dumps(self.titles).encode(), dtype=np.uint8),
            lengths=_small(np.diff(self.indptr)),
            word_ids=_small(self.word_ids),
            counts=_small(self.counts),
        )
        return buffer.getvalue()

    @staticmethod
    def from_bytes(data: bytes) -> "Documents":
        """The inverse of :meth:`to_bytes`. Raises :class:`NotASession` for bytes that are none of its."""
        with damaged_told("word counts"), np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return Documents(
                arrays["page_ids"].astype(np.int64),
                arrays["revision_ids"].astype(np.int64),
                tuple(json.loads(arrays["titles"].tobytes())),
                np.concatenate((np.zeros(1, np.int64), np.cumsum(arrays["lengths"], dtype=np.int64))),
                arrays["word_ids"].astype(np.int32),
                arrays["counts"].astype(np.int32),
            )

    @staticmethod
    def concatenate(parts: Sequence["Documents"]) -> "Documents":
        """One run out of several, in order."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            none = np.empty(0, np.int64)
            return Documents(
                none, none, (), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
            )
        offsets = np.cumsum([0] + [int(part.indptr[-1]) for part in parts])
        return Documents(
            np.concatenate([part.page_ids for part in parts]),
            np.concatenate([part.revision_ids for part in parts]),
            tuple(title for part in parts for title in part.titles),
            np.concatenate(
                [np.zeros(1, np.int64)]
                + [part.indptr[1:] + offset for part, offset in zip(parts, offsets, strict=False)]
            ),
            np.concatenate([part.word_ids for part in parts]),
            np.concatenate([part.counts for part in parts]),
        )


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the narrowest type that holds them."""
    if not values.size:
        return values
    return values.astype(np.promote_types(np.min_scalar_type(values.min()), np.min_scalar_type(values.max())))


@dataclass(frozen=True, slots=True)
class Block:
    """What comes out of the crawl and into the trainer: articles counted, and the position behind them."""

    documents: Documents
    skips: Mapping[Skip, int]
    """How many pages of this stretch give no article, by reason."""
    position: dict[str, object]
    """JSON values; opaque here. A source resumed from it goes on right behind these articles."""
    lap: float | None
    warnings: tuple[str, ...] = ()
    """A line for each page that could not be counted; it is among the documents, without a word."""
