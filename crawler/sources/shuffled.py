"""A dump in a random order, its parts read by whoever asks for their pages."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from crawler.dump_files import DumpFiles
from crawler.dump_order import ORDER, Order, rounds
from crawler.dump_survey import survey
from crawler.errors import BadSource
from crawler.source import Activity, Round, SourceInfo


class ShuffledDump:
    """The articles of dump files in which reading can begin anywhere.

    ``kept``: the order that a session keeps; without it one is made with ``seed`` when it is opened, so that
    ``held_out`` articles (None: the default) come first. Raises :class:`~crawler.errors.BadSource` at once
    for files that are not there.
    """

    def __init__(
        self, paths: Sequence[str], kept: Mapping[str, Any] | None, *, seed: int, held_out: int | None
    ) -> None:
        self.activity = Activity()
        self._files = DumpFiles(paths, lambda _: None)
        self._order = None if kept is None else Order.from_kept(kept)
        self._seed = seed
        self._held_out = held_out

    async def open(self) -> SourceInfo:
        """Read the beginning and, where there is no order yet, look at some places of the dump."""
        try:
            return await asyncio.to_thread(self._open)
        finally:
            self.activity.waiting_for = None

    def _open(self) -> SourceInfo:
        files = self._files
        sizes = tuple(Path(path).stat().st_size for path in files.paths)
        if self._order is not None and self._order.sizes != sizes:
            raise BadSource(f"{files.name}: the dump has changed since this session began to read it")
        next(files.read(), None)
        info = files.info(None)
        if self._order is None:
            self.activity.waiting_for = "a look at the dump, to choose what is held out"
            self._order = survey(files.paths, sizes, info, self._seed, self._held_out)
        kept = {**info.identity, ORDER: self._order.kept()}
        return replace(info, articles=self._order.articles, identity=kept)

    def rounds(self) -> Sequence[Round]:
        """Those of the order; the source must be open."""
        assert self._order is not None
        return rounds(self._order, self._files.paths)

    async def close(self) -> None:
        """Nothing is held."""
