"""Where the files of a dump are, and how their bytes reach the reader of a part."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.dumps.ranges import HeldFile, LocalFile, RangedFile
from wikitopics.crawler.dumps.read_ahead import stop_of
from wikitopics.crawler.source import Activity, Lack, Round

BEYOND = 64 << 10
"""Bytes first sent after the end of a part: its last page ends in the next block, or soon after."""
MOST_BEYOND = 512 << 10
"""Bytes sent after the end of the other parts, once one has needed more."""


class Shelf(Protocol):
    """The files of one dump, in their order."""

    activity: Activity

    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a session stores of it besides the options given."""

    async def open(self) -> Sequence[tuple[RangedFile, int]]:
        """The files, each with its size. Raises a CrawlerError."""

    def plan(self, rounds: Sequence[Round[DumpPart]]) -> None:
        """Note the order in which parts will be requested."""

    async def bring(self, part: DumpPart) -> DumpPart:
        """As for `PartedSource`."""

    async def bring_better(self, part: DumpPart, lack: Lack) -> DumpPart | None:
        """As for `PartedSource`."""

    async def close(self) -> None:
        """Close connections; safe to call twice."""


class LocalShelf:
    """Files on this machine. Raises BadSource at once for missing ones.

    ``elsewhere``: parts are read on other machines.
    """

    identity: Mapping[str, Any] = {}

    def __init__(self, paths: Sequence[str], *, elsewhere: bool = False) -> None:
        self.activity = Activity()
        self._elsewhere = elsewhere
        self._beyond = BEYOND
        self._paths = paths
        self.name = DumpFiles(paths, lambda _: None).name

    async def open(self) -> Sequence[tuple[RangedFile, int]]:
        return [(LocalFile(path), LocalFile(path).size) for path in self._paths]

    def plan(self, rounds: Sequence[Round[DumpPart]]) -> None:
        """Do nothing: the system reads ahead."""

    async def bring(self, part: DumpPart) -> DumpPart:
        """The part itself, since the files are at hand; for other machines, with its bytes."""
        self.activity.bytes_read += part.size
        return await asyncio.to_thread(part.held, stop_of(part, self._beyond)) if self._elsewhere else part

    async def bring_better(self, part: DumpPart, lack: Lack) -> DumpPart | None:
        """The part with more bytes, if there are more: damaged local bytes do not get better."""
        if lack != "more" or not isinstance(part.file, HeldFile):
            return None
        had = part.file.stop - part.stop
        self._beyond = max(self._beyond, min(2 * had, MOST_BEYOND))
        stop = part.stop + 4 * max(BEYOND, had)
        return await asyncio.to_thread(replace(part, file=LocalFile(part.file.name)).held, stop)

    async def close(self) -> None:
        """Do nothing: nothing is open."""
