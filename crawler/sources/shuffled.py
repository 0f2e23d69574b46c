"""A dump in a random order, its parts read by whoever asks for their pages."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from crawler.dump_files import DumpFiles
from crawler.dump_order import ORDER, Order, rounds
from crawler.dump_parts import DumpPart
from crawler.dump_survey import survey
from crawler.errors import BadSource, CutOff
from crawler.ranges import Held, LocalFile
from crawler.source import Activity, Lack, Part, Round, SourceInfo

BEYOND = 512 << 10
"""Bytes that a part brings along behind its end: a page begun in it ends in the next block, or soon."""


class ShuffledDump:
    """The articles of dump files in which reading can begin anywhere.

    ``kept``: the order that a session keeps; without it one is made with ``seed`` when it is opened, so that
    ``held_out`` articles (None: the default) come first. ``elsewhere``: parts are read on other machines.
    Raises :class:`~crawler.errors.BadSource` at once for files that are not there.
    """

    def __init__(
        self,
        paths: Sequence[str],
        kept: Mapping[str, Any] | None,
        *,
        seed: int,
        held_out: int | None,
        elsewhere: bool = False,
    ) -> None:
        self.activity = Activity()
        self._files = DumpFiles(paths, lambda _: None)
        self._places = [LocalFile(path) for path in paths]
        self._order = None if kept is None else Order.from_kept(kept)
        self._seed = seed
        self._held_out = held_out
        self._elsewhere = elsewhere

    async def open(self) -> SourceInfo:
        """Read the beginning and, where there is no order yet, look at some places of the dump."""
        try:
            return await asyncio.to_thread(self._open)
        finally:
            self.activity.waiting_for = None

    def _open(self) -> SourceInfo:
        files = self._files
        try:
            sizes = tuple(map(os.path.getsize, files.paths))
        except OSError as error:
            raise BadSource(f"{error.filename}: cannot be read: {error.strerror}") from error
        if self._order is not None and self._order.sizes != sizes:
            raise BadSource(f"{files.name}: the dump has changed since this session began to read it")
        next(files.read(), None)
        info = files.info(None)
        for file in self._places[1:]:  # what is no dump is told now, not in the middle of the training
            with suppress(CutOff):
                next(DumpPart(file, 0, 0).pages(info), None)
        if self._order is None:
            self.activity.waiting_for = "a look at the dump, to choose what is held out"
            self._order = survey(self._places, sizes, info, self._seed, self._held_out)
        kept = {**info.identity, ORDER: self._order.kept()}
        return replace(info, articles=self._order.articles or None, identity=kept)

    def rounds(self) -> Sequence[Round]:
        """Those of the order; the source must be open."""
        assert self._order is not None
        return rounds(self._order, self._places)

    async def bring(self, part: Part) -> Part:
        """Itself, as the files are at hand; to other machines with its bytes."""
        self.activity.bytes_read += part.size
        assert isinstance(part, DumpPart)
        return await asyncio.to_thread(part.held, BEYOND) if self._elsewhere else part

    async def bring_better(self, part: Part, lack: Lack) -> Part | None:
        """With more bytes, if there are more: what is damaged here does not get better."""
        assert isinstance(part, DumpPart)
        if lack != "more" or not isinstance(part.file, Held):
            return None
        beyond = 4 * max(BEYOND, part.file.stop - part.stop)
        return await asyncio.to_thread(replace(part, file=LocalFile(part.file.name)).held, beyond)

    async def close(self) -> None:
        """Nothing is held."""
