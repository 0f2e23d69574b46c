"""Files on a server, read like local ones: bytes read are kept for a while, then dropped."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from mmap import MAP_PRIVATE, mmap
from typing import Any, TypeVar

from yarl import URL

from wikitopics.crawler.dumps.range_server import LARGEST, RangeServer, ServedFile
from wikitopics.crawler.dumps.ranges import HEAD
from wikitopics.crawler.errors import CrawlerError

T = TypeVar("T")

BLOCK = 512 << 10
MOST = 208 << 20
"""Bytes kept: as many as `wikitopics.crawler.dumps.order` needs for sixteen windows of 25 MB."""

MOST_RENEWALS = 3
"""The most times that the same bytes are read again."""


class Blocks:
    """Bytes of all files of a server, in blocks, until they have been used and the room is needed.

    It must be made and awaited in one event loop.
    """

    def __init__(self, server: RangeServer) -> None:
        self.loop = asyncio.get_running_loop()
        self._server = server
        self.size_of_all: float = inf
        """Bytes of all files: if they fit in memory, neighbours come with every block."""
        self.round = 0
        """All rounds before this one have had the bytes that they need."""
        self._kept: dict[tuple[RemoteFile, int], mmap] = {}
        self._needed: dict[tuple[RemoteFile, int], int] = {}
        """The last round that needs a block."""
        self._size = 0
        self._turn = asyncio.Lock()
        self._renewals: Counter[tuple[RemoteFile, int]] = Counter()

    async def look(self, url: URL) -> "RemoteFile":
        """A file of which nothing is known yet, with its first block. Raises a CrawlerError."""
        found, first = await self._server.look(url, BLOCK)
        file = RemoteFile(url, found.size, found.version, self, first[:HEAD])
        self._keep(file, 0, first)
        return file

    async def read(self, file: "RemoteFile", start: int, stop: int) -> bytes:
        """Bytes of a file, as many as it has. Raises a CrawlerError."""
        found = await self._found(file, _numbers(file, start, stop))
        begin = start - start % BLOCK
        return b"".join(found)[start - begin : max(start, stop) - begin]

    async def bring(
        self, file: "RemoteFile", start: int, stop: int, last_round: Callable[[int], int]
    ) -> None:
        """Have bytes at hand for rounds to come; ``last_round`` says until which one a byte is needed."""
        numbers = _numbers(file, start, stop)
        for number in numbers:
            last = last_round((number + 1) * BLOCK - 1)
            self._needed[file, number] = max(last, self._needed.get((file, number), last))
        await self._found(file, numbers)

    def missing(self, file: "RemoteFile", start: int, stop: int) -> int:
        """How many of these bytes, in whole blocks, are not at hand."""
        return BLOCK * sum((file, number) not in self._kept for number in _numbers(file, start, stop))

    def has_room(self, size: int) -> bool:
        """Whether so many bytes more can be kept, with those dropped that no round needs any more; 0 always
        can."""
        for block in list(self._kept):
            if self._size + size <= MOST:
                break
            if self._needed.get(block, -1) < self.round:
                self._needed.pop(block, None)
                self._drop(*block)
        return not size or self._size + size <= MOST

    async def renewed(self, file: "RemoteFile", start: int, stop: int, before: bytes | None = None) -> bool:
        """Read bytes again, a few times at most; return whether they now differ from ``before``.

        None: from the bytes kept. Bytes dropped since are fetched again, and their damage goes unnoticed.
        """
        self._renewals[file, start] += 1
        if self._renewals[file, start] > MOST_RENEWALS:
            return False
        if before is None:
            before = await self.read(file, start, stop)
        for number in range(start // BLOCK, -(-stop // BLOCK)):
            self._drop(file, number)
        return await self.read(file, start, stop) != before

    async def _found(self, file: "RemoteFile", numbers: range) -> list[mmap]:
        """These blocks of a file; missing ones are fetched, neighbours in one request."""
        found = self._at_hand(file, numbers)
        if len(found) < len(numbers):
            async with self._turn:
                found = self._at_hand(file, numbers)
                missing = [n for n in self._around(file, numbers) if (file, n) not in self._kept]
                for few in _runs(missing) if len(found) < len(numbers) else ():
                    found |= await self._fetched(file, few)
                self.has_room(0)
        return [found[n] for n in numbers]

    def _at_hand(self, file: "RemoteFile", numbers: range) -> dict[int, mmap]:
        return {n: self._kept[file, n] for n in numbers if (file, n) in self._kept}

    def _around(self, file: "RemoteFile", numbers: range) -> range:
        """The blocks to have if some of these are missing."""
        if self.size_of_all > MOST:
            return numbers
        many, last = max(1, LARGEST // BLOCK), -(-file.size // BLOCK)
        return range(numbers.start // many * many, min(-(-numbers.stop // many) * many, last))

    async def _fetched(self, file: "RemoteFile", few: range) -> dict[int, mmap]:
        start, stop = few.start * BLOCK, min(few.stop * BLOCK, file.size)
        data = memoryview(await self._server.read(file, start, stop))
        for number in few:
            self._keep(file, number, data[(number - few.start) * BLOCK :][:BLOCK])
        return self._at_hand(file, few)

    def _keep(self, file: "RemoteFile", number: int, block: bytes | memoryview) -> None:
        """Keep a block in separately mapped memory.

        In the heap, long-lived blocks would keep the memory between them from being released.
        """
        kept = self._kept[file, number] = mmap(-1, len(block), MAP_PRIVATE)
        kept[:] = block
        self._size += len(block)

    def _drop(self, file: "RemoteFile", number: int) -> None:
        if kept := self._kept.pop((file, number), None):
            self._size -= len(kept)


@dataclass(eq=False)
class RemoteFile(ServedFile):
    """A file on a server. It can be read in any thread except that of its event loop."""

    blocks: Blocks
    head: bytes = b""
    """Its first few bytes, once they are known."""

    @property
    def name(self) -> str:
        """Its address."""
        return str(self.url)

    def renewed(self, start: int, stop: int) -> bool:
        return self.wait(self.blocks.renewed(self, start, stop))

    def read(self, start: int, stop: int) -> bytes:
        """Bytes of it, as many as it has. Raises a CrawlerError."""
        return self.wait(self.blocks.read(self, start, stop))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work in the event loop, and wait for it."""
        loop = self.blocks.loop
        future = asyncio.run_coroutine_threadsafe(work, loop)
        while True:
            try:
                return future.result(1.0)
            except TimeoutError:
                if loop.is_closed():  # nothing will answer any more, and nothing waits for us
                    raise CrawlerError("stopped") from None


def _numbers(file: RemoteFile, start: int, stop: int) -> range:
    """The blocks that hold these bytes, as far as the file reaches."""
    return range(start // BLOCK, -(-min(stop, file.size) // BLOCK))


def _runs(numbers: Sequence[int]) -> Iterator[range]:
    """Ascending numbers as stretches without gaps."""
    start = 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i] != numbers[i - 1] + 1:
            yield range(numbers[start], numbers[i - 1] + 1)
            start = i
