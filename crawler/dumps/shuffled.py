"""A dump in a random order, whose parts are read by whatever needs their pages."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wikitopics.crawler.dumps import DUMP_FILES
from wikitopics.crawler.dumps.containers import LARGEST, HeldFile, LocalFile, RangedFile
from wikitopics.crawler.dumps.parts import (
    ORDER,
    DumpPart,
    Order,
    can_be_parted,
    look,
    rounds,
    stop_of,
    survey,
)
from wikitopics.crawler.dumps.xml import DumpFiles
from wikitopics.crawler.source import Activity, Asked, BadSource, Identity, Lack, Round, SourceInfo

BEYOND = 64 << 10
"""Bytes first sent after the end of a part: its last page ends in the next block, or soon after."""
MOST_BEYOND = 512 << 10
"""Bytes sent after the end of the other parts, once one has needed more."""


class ShuffledDump(ABC):
    """The articles of dump files in which reading can begin anywhere.

    If the ``identity`` that a session stores contains no order, one is made on opening: the articles to hold
    out come first.
    """

    name: str
    """The name for people."""
    identity: Mapping[str, Any] = {}
    """What a session stores of it besides the options given, the facts that it states, and the order."""

    def __init__(self, identity: Identity, asked: Asked) -> None:
        self.activity = Activity()
        self.order = Order(**identity[ORDER]) if identity.get(ORDER) else None
        self.files: Sequence[RangedFile] = ()
        self._asked = asked

    @abstractmethod
    async def find(self) -> Sequence[RangedFile]:
        """The files, in their order. Raises a CrawlerError."""

    async def open(self) -> SourceInfo:
        """Read the beginning and, if there is no order yet, look at some places of the dump."""
        try:
            self.files = await self.find()
            return await asyncio.to_thread(self._open)
        finally:
            self.activity.waiting_for = None

    def _open(self) -> SourceInfo:
        sizes = [file.size for file in self.files]
        if self.order is not None and self.order.sizes != sizes:
            raise BadSource(f"{self.name}: the dump has changed since this session began to read it")
        info = look(self.files[0], self.name)
        if self.order is None:
            self._check()
            self.activity.waiting_for = "sampling the dump, to choose the held-out articles"
            self.order = survey(self.files, sizes, info, self._asked.seed, self._asked.held_out)
        identity = {**info.identity, **self.identity, ORDER: dict(vars(self.order))}
        return replace(info, articles=self.order.articles or None, identity=identity)

    def _check(self) -> None:
        """Report now, not in the middle of training, that a file is not a dump or cannot be read in parts."""
        for number, file in enumerate(self.files):
            if number > 0:
                look(file, file.name)
            if file.size > LARGEST and not can_be_parted(file, 1):
                raise BadSource(f"{file.name} can only be read from its start: download it")

    def rounds(self) -> Sequence[Round[DumpPart]]:
        """The rounds of the order; the source must be open."""
        assert self.order is not None
        return rounds(self.order, self.files)


class LocalDump(ShuffledDump):
    """The dump in files of this machine. Raises BadSource at once for missing ones."""

    def __init__(self, identity: Identity, asked: Asked) -> None:
        super().__init__(identity, asked)
        self._paths = identity[DUMP_FILES]
        self.name = DumpFiles(self._paths).name
        self._beyond = BEYOND

    async def find(self) -> Sequence[RangedFile]:
        return list(map(LocalFile, self._paths))

    async def bring(self, part: DumpPart) -> DumpPart:
        """The part itself, since the files are at hand; for other machines, with its bytes."""
        self.activity.bytes_read += part.size
        if not self._asked.elsewhere:
            return part
        return await asyncio.to_thread(part.held, stop_of(part, self._beyond))

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
