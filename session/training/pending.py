"""The articles that wait to be trained: counted, in the order of the stream."""

from collections import deque
from collections.abc import Sequence

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.tables.progress import Progress


class Pending:
    """Stretches of the stream, oldest first, each with its number in the session.

    ``progress`` counts their articles, and those of the first one that are already trained.
    """

    def __init__(self, stored: Sequence[tuple[int, Block]], progress: Progress) -> None:
        """Raises `Damaged` if the stored articles are not those that were counted."""
        self._progress = progress
        self._stretches = deque(stored)
        self._next = stored[-1][0] + 1 if stored else 1
        lengths = [len(documents) for _, documents in stored]
        trained = progress.pending_offset
        if trained > sum(lengths[:1]) or sum(lengths) != trained + progress.pending:
            raise Damaged("pending holds another number of articles than progress.pending")

    @property
    def first(self) -> int:
        """The number of the first stretch that is not trained to its end."""
        return self._stretches[0][0] if self._stretches else self._next

    def add(self, documents: Block) -> tuple[int, Block]:
        """Append a stretch; returns it with its number."""
        stretch = self._next, documents
        self._stretches.append(stretch)
        self._next += 1
        self._progress.pending += len(documents)
        return stretch

    def take(self, size: int) -> Block:
        """The next ``size`` articles, which wait no longer."""
        progress = self._progress
        parts: list[Block] = []
        missing = size
        while missing:
            _, documents = self._stretches[0]
            part = documents[progress.pending_offset : progress.pending_offset + missing]
            parts.append(part)
            missing -= len(part)
            progress.pending_offset += len(part)
            if progress.pending_offset >= len(documents):
                self._stretches.popleft()
                progress.pending_offset = 0
        progress.pending -= size
        return Block.concatenate(parts)
