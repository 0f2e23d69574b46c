"""Where the files of a dump lie, and how their bytes come to whoever reads a part of them."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from crawler.dump_files import DumpFiles
from crawler.dump_parts import DumpPart
from crawler.errors import BadSource
from crawler.ranges import Held, LocalFile, Ranged
from crawler.read_ahead import stop_of
from crawler.source import Activity, Lack, Round

BEYOND = 64 << 10
"""Bytes sent after the end of a part, at first: its last page ends in the next block, or soon after."""
MOST_BEYOND = 512 << 10
"""Bytes sent after the end of the other parts, once one has needed more."""


class Shelf(Protocol):
    """The files of one dump, in their order."""

    activity: Activity

    @property
    def name(self) -> str:
        """For people."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a session keeps of it beside what it was asked for."""

    async def open(self) -> Sequence[tuple[Ranged, int]]:
        """The files, each with its size. Raises a CrawlerError."""

    def plan(self, rounds: Sequence[Round[DumpPart]]) -> None:
        """In this order parts are going to be asked for."""

    async def bring(self, part: DumpPart) -> DumpPart:
        """As for :class:`~crawler.source.PartedSource`."""

    async def bring_better(self, part: DumpPart, lack: Lack) -> DumpPart | None:
        """As for :class:`~crawler.source.PartedSource`."""

    async def close(self) -> None:
        """Let go of connections; safe to call twice."""


class LocalShelf:
    """Files of this machine. Raises BadSource at once for those that are not there.

    ``elsewhere``: parts are read on other machines.
    """

    identity: Mapping[str, Any] = {}

    def __init__(self, paths: Sequence[str], *, elsewhere: bool = False) -> None:
        self.activity = Activity()
        self._elsewhere = elsewhere
        self._beyond = BEYOND
        self._paths = paths
        self.name = DumpFiles(paths, lambda _: None).name

    async def open(self) -> Sequence[tuple[Ranged, int]]:
        try:
            return [(LocalFile(path), os.path.getsize(path)) for path in self._paths]
        except OSError as error:
            raise BadSource(f"{error.filename}: cannot be read: {error.strerror}") from error

    def plan(self, rounds: Sequence[Round[DumpPart]]) -> None:
        """Nothing: the system reads ahead."""

    async def bring(self, part: DumpPart) -> DumpPart:
        """Itself, as the files are at hand; to other machines with its bytes."""
        self.activity.bytes_read += part.size
        return await asyncio.to_thread(part.held, stop_of(part, self._beyond)) if self._elsewhere else part

    async def bring_better(self, part: DumpPart, lack: Lack) -> DumpPart | None:
        """With more bytes, if there are more: what is damaged here does not get better."""
        if lack != "more" or not isinstance(part.file, Held):
            return None
        had = part.file.stop - part.stop
        self._beyond = max(self._beyond, min(2 * had, MOST_BEYOND))
        stop = part.stop + 4 * max(BEYOND, had)
        return await asyncio.to_thread(replace(part, file=LocalFile(part.file.name)).held, stop)

    async def close(self) -> None:
        """Nothing is held."""
