"""A dump in a random order, whose parts are read by whatever needs their pages."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from wikitopics.crawler.dumps.frames import LARGEST
from wikitopics.crawler.dumps.order import ORDER, Order, rounds
from wikitopics.crawler.dumps.parts import DumpPart, can_be_parted
from wikitopics.crawler.dumps.ranges import RangedFile
from wikitopics.crawler.dumps.shelf import Shelf
from wikitopics.crawler.dumps.survey import look, survey
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.source import Lack, Round, SourceInfo


class ShuffledDump:
    """The articles of dump files in which reading can begin anywhere, local or remote.

    ``kept``: the order that a session stores; without one, it is made with ``seed`` on opening, so that
    ``held_out`` articles (None: the default) come first.
    """

    def __init__(
        self, shelf: Shelf, kept: Mapping[str, Any] | None, *, seed: int, held_out: int | None
    ) -> None:
        self.activity = shelf.activity
        self._shelf = shelf
        self._files: Sequence[RangedFile] = ()
        self._order = None if kept is None else Order.from_kept(kept)
        self._seed = seed
        self._held_out = held_out

    async def open(self) -> SourceInfo:
        """Read the beginning and, if there is no order yet, look at some places of the dump."""
        try:
            found = await self._shelf.open()
            self._files = [file for file, _ in found]
            return await asyncio.to_thread(self._open, tuple(size for _, size in found))
        finally:
            self.activity.waiting_for = None

    def _open(self, sizes: tuple[int, ...]) -> SourceInfo:
        name = self._shelf.name
        if self._order is not None and self._order.sizes != sizes:
            raise BadSource(f"{name}: the dump has changed since this session began to read it")
        info = look(self._files[0], name)
        if self._order is None:
            self._check(sizes)
            self.activity.waiting_for = "sampling the dump, to choose the held-out articles"
            self._order = survey(self._files, sizes, info, self._seed, self._held_out)
        identity = {**info.identity, **self._shelf.identity, ORDER: self._order.kept()}
        return replace(info, articles=self._order.articles or None, identity=identity)

    def _check(self, sizes: Sequence[int]) -> None:
        """Report now, not in the middle of training, that a file is not a dump or cannot be read in parts."""
        for number, (file, size) in enumerate(zip(self._files, sizes, strict=True)):
            if number > 0:
                look(file, file.name)
            if size > LARGEST and not can_be_parted(file, 1):
                raise BadSource(f"{file.name} can only be read from its start: download it")

    def rounds(self) -> Sequence[Round[DumpPart]]:
        """The rounds of the order; the source must be open."""
        assert self._order is not None
        found = rounds(self._order, self._files)
        self._shelf.plan(found)
        return found

    async def bring(self, part: DumpPart) -> DumpPart:
        """The part itself, or a copy with its bytes."""
        return await self._shelf.bring(part)

    async def bring_better(self, part: DumpPart, lack: Lack) -> DumpPart | None:
        """A copy with more bytes, or with the same ones again."""
        return await self._shelf.bring_better(part, lack)

    async def close(self) -> None:
        """Close connections; safe to call twice."""
        await self._shelf.close()
