"""A source in parts: each is read and counted by a worker, and the articles of a round are put in order."""

import asyncio
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from wikitopics.crawler.errors import BadPosition, BadSource
from wikitopics.crawler.source import Part, PartedSource, Position
from wikitopics.session.storage.block import Block
from wikitopics.session.training.intake.count_pages import (
    EMPTY,
    CountedPart,
    count_part_in_worker,
    pages_in_worker,
)
from wikitopics.session.training.intake.crawl import Blocks
from wikitopics.session.training.intake.pool import CountingPool
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied

BLOCK = 512
"""Articles handed out at a time."""
AHEAD = 1
"""Rounds in progress besides the one waited for: sixteen parts are work for as many workers."""
MOST_PARTS = 64
"""The most parts in progress, in whole rounds: once fetched, each takes 2 MB here and in a cluster's
scheduler."""
MOST_LARGE = 4
"""The most parts fetched again with more of the file at a time: for some files each takes 32 MB."""
TRIES = 8
"""The most attempts to read one part better than before."""


class PartedBlocks(Blocks):
    """Hands out the articles of one round after another.

    The position is the number of the round and the number of its articles handed out. After a stop, the round
    is read again without those.
    """

    def __init__(self, source: PartedSource[Any], pool: CountingPool) -> None:
        super().__init__(source.activity)
        self._source, self._pool = source, pool
        self._rounds = source.rounds()
        self._under_way: deque[list[asyncio.Task[CountedPart]]] = deque()
        self._room = asyncio.Semaphore(0)
        self._most_brought = 0
        self._large = asyncio.Semaphore(MOST_LARGE)
        self._round = self._done = 0
        self._blocks: deque[Block] = deque()

    def start(self, position: Position | None) -> None:
        if position is not None:
            self._round, self._done = (_number(position, key) for key in ("round", "done"))

    async def next(self) -> Block | None:
        self.waits_for = "parsing"
        try:
            while not self._blocks:
                if self._round >= len(self._rounds):
                    return None
                self._blocks.extend(await self._read_round())
                self._under_way.popleft()
                self._round, self._done = self._round + 1, 0
        finally:
            self.waits_for = None
        block = self._blocks.popleft()
        self.queued -= len(block)
        return block

    async def _read_round(self) -> list[Block]:
        """The blocks of the first round in progress. It stays first until it is read, so a cancelled wait
        loses nothing."""
        self._make_room()
        for coming in self._rounds[self._round + len(self._under_way) :]:
            parts = sum(map(len, self._under_way))
            if len(self._under_way) > AHEAD and parts >= min(self._pool.jobs(), MOST_PARTS):
                break
            self._under_way.append([asyncio.create_task(self._counted(part)) for part in coming.parts])
        this = self._rounds[self._round]
        counted = [await asyncio.shield(part) for part in self._under_way[0]]
        order = this.order([part.block.page_ids.tolist() for part in counted])
        block = Block.concatenate([part.block for part in counted]).take(order)
        self._done = min(self._done, len(block))
        self.queued += len(block) - self._done
        return list(self._cut(block, counted))

    def _make_room(self) -> None:
        """Let enough parts be fetched at a time that no worker waits for one; the others need no memory yet.

        A cluster may have grown since the last time.
        """
        while self._most_brought <= 2 * self._pool.jobs():
            self._most_brought += 1
            self._room.release()

    async def _counted(self, part: Part) -> CountedPart:
        async with self._room:
            found = await self._read(part)
        if found.fault:  # otherwise the rest of the source would be skipped in no time
            raise BadSource(found.fault)
        self.arrivals.add(len(found.block))
        return found

    async def _read(self, part: Part) -> CountedPart:
        brought = await self._source.bring(part)
        found = await self._count(brought)
        if found.lack:
            async with self._large:
                for _ in range(TRIES):
                    better = found.lack and await self._source.bring_better(brought, found.lack)
                    if better is None:
                        break
                    brought, found = better, await self._count(better)
        return found

    async def _count(self, part: Part) -> CountedPart:
        try:
            return await self._pool.result(self._pool.submit(count_part_in_worker, part))
        except (JobFailed, WorkerDied):
            return await self._page_by_page(part)

    async def _page_by_page(self, part: Part) -> CountedPart:
        """A part whose worker failed, read page by page: only the page at fault is left out."""
        try:
            pages, rest = await self._pool.result(self._pool.submit(pages_in_worker, part))
        except (JobFailed, WorkerDied) as error:
            return CountedPart(replace(EMPTY, warnings=(f"{part} cannot be read: {str(error)[:200]}",)))
        block = await self._pool.one_by_one(pages)
        warnings = (*rest.block.warnings, *block.warnings)
        return replace(rest, block=replace(block, skips=rest.block.skips, warnings=warnings))

    def _cut(self, block: Block, counted: Sequence[CountedPart]) -> Iterator[Block]:
        """A round as blocks, starting after the articles handed out before a stop."""
        number, done, rounds = self._round, self._done, len(self._rounds)
        skips: Counter[str] = Counter()
        warnings: tuple[str, ...] = ()
        if not done:
            for part in counted:
                skips.update(part.block.skips)
                warnings += part.block.warnings
        while True:
            behind = min(done + BLOCK, len(block))
            is_last = behind == len(block)
            position = {"round": number + 1, "done": 0} if is_last else {"round": number, "done": behind}
            lap = (number + behind / max(1, len(block))) / rounds
            yield replace(block[done:behind], skips=skips, position=position, lap=lap, warnings=warnings)
            if is_last:
                return
            done, skips, warnings = behind, Counter(), ()

    async def close(self) -> None:
        parts = [part for each in self._under_way for part in each]
        for part in parts:
            part.cancel()
        await asyncio.gather(*parts, return_exceptions=True)  # errors were reported before
        self._pool.close()
        await self._source.close()


def _number(position: Position, key: str) -> int:
    """A number of the position. Raises `BadPosition`."""
    number = position.get(key)
    if type(number) is not int or not 0 <= number < 2**63:
        raise BadPosition
    return number
