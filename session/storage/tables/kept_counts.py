"""Word counts stored by another session (`train --keep-counts`): crawl once, train again."""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

from wikitopics.session.errors import BadUsage, Damaged
from wikitopics.session.options import KEEP_COUNTS
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.decoding import whole
from wikitopics.session.storage.opened import OpenedSession
from wikitopics.session.storage.tables.counts import documents_room

MOST_BLOCKS = 10_000_000
"""Rows of kept counts, one per minibatch."""


class KeptCounts(OpenedSession):
    """The documents of the session at ``path`` in the order of its stream, held-out articles first.

    Read block by block, so that memory does not grow with their number. Raises `BadUsage` if that session
    kept none, or counted words other than those of these vocabulary lines.
    """

    def __init__(self, path: Path, words: Sequence[str] | None = None) -> None:
        super().__init__(path)
        self.name = path.name
        try:
            self._check(words)
            rows = self._rows("SELECT id, articles FROM kept_counts ORDER BY id", most=MOST_BLOCKS)
            sizes = (whole(articles, "kept_counts.articles", 1) for _, articles in rows)
            self._starts = list(accumulate(sizes, initial=0))
        except BaseException:
            self.close()
            raise
        self._ids = [number for number, _ in rows]
        self._room = documents_room(self.settings())
        self._block: tuple[int, Block] | None = None

    def _check(self, words: Sequence[str] | None) -> None:
        if words is not None and self.counter().lines != tuple(words):
            raise BadUsage(
                f"--counts {self.path}: that session has another vocabulary; leave --vocab out to use its own"
            )
        if not self.settings()[KEEP_COUNTS]:
            raise BadUsage(
                f"the session {self.path} kept no word counts: train one with --keep-counts from its start"
            )

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def identity(self) -> dict[str, str]:
        """Identifies the stream, however far that session has come since."""
        fingerprint = self.settings().fingerprint.encode()
        first = self._read(0).to_bytes() if self._ids else b""
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
            ((data,),) = self._rows(
                "SELECT documents FROM kept_counts WHERE id = ?", [self._ids[number]], largest=self._room
            )
            block = Block.from_bytes(data, "kept_counts.documents", len(self.vocabulary()))
            if len(block) != self._starts[number + 1] - self._starts[number]:
                raise Damaged("kept_counts.articles differs from the number of documents")
            self._block = number, block
        return self._block[1]

    def close(self) -> None:
        """Safe to call twice."""
        self.leave()
