"""Documents that are word counts already, handed out as blocks."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from wikitopics.crawler.source import Activity, Position
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.decoding import whole
from wikitopics.session.training.intake.crawl import Wait
from wikitopics.session.training.rates import Rate


class CountedDocuments(Protocol):
    """Documents that are word counts already."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Identifies the content, wherever the file is: `checksum`, and fields for quick recognition."""

    @property
    def name(self) -> str:
        """The name for people."""

    def __len__(self) -> int: ...
    def documents(self, start: int, stop: int) -> Block:
        """Documents ``start`` to ``stop`` (fewer at the end)."""

    def close(self) -> None:
        """Close the file; safe to call twice."""


class CountedBlocks:
    """Hands out exactly as many documents as the trainer asks for, so none are ever pending."""

    def __init__(self, file: CountedDocuments, wanted: Callable[[], int]) -> None:
        self.activity = Activity()
        self.waits_for: Wait | None = None
        self.queued = 0
        self.arrivals = Rate()
        self._file = file
        self._wanted = wanted
        self._next = 0

    def start(self, position: Position | None) -> None:
        place = "progress.position"
        self._next = whole(position.get("document"), place, 0, len(self._file)) if position else 0

    async def next(self) -> Block | None:
        if self._next >= len(self._file):
            return None
        block = self._file.documents(self._next, self._next + max(1, self._wanted()))
        self._next += len(block)
        self.arrivals.add(len(block))
        return replace(block, position={"document": self._next}, lap=self._next / len(self._file))

    async def drain(self) -> list[Block]:
        return []

    async def close(self) -> None:
        self._file.close()
