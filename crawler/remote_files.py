"""Files on a server, read like local ones: bytes read are kept for a while, then dropped."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from io import SEEK_END
from mmap import MAP_PRIVATE, mmap
from typing import Any, TypeVar

from yarl import URL

from crawler.errors import CrawlerError
from crawler.range_server import FileFacts, RangeServer
from crawler.ranges import Readable

T = TypeVar("T")

BLOCK = 512 << 10
MOST = 72 << 20
"""Bytes kept: four parts of each of sixteen windows, and the half part fetched after them.

One of the four is being read and at most two are read ahead, so the oldest bytes have been read already.
"""

MOST_RENEWALS = 3
"""The most times that the same bytes are read again."""


class Blocks:
    """The bytes read last from all files of a server, in blocks.

    It must be made and awaited in one event loop.
    """

    def __init__(self, server: RangeServer) -> None:
        self.loop = asyncio.get_running_loop()
        self._server = server
        self._kept: dict[tuple[RemoteFile, int], mmap] = {}
        self._size = 0
        self._turn = asyncio.Lock()
        self._renewals: Counter[tuple[RemoteFile, int]] = Counter()

    async def read(self, file: "RemoteFile", start: int, stop: int) -> bytes:
        """Bytes of a file, as many as it has. Raises a CrawlerError."""
        stop = min(stop, file.facts.size)
        if start >= stop:
            return b""
        wanted = range(start // BLOCK, -(-stop // BLOCK))
        found = self._found(file, wanted)
        if len(found) < len(wanted):
            async with self._turn:
                found = self._found(file, wanted)
                for few in _runs([n for n in wanted if n not in found]):
                    found |= await self._fetched(file, few)
        data = b"".join(found[n] for n in wanted)
        begin = wanted.start * BLOCK
        return data[start - begin : stop - begin]

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

    def _found(self, file: "RemoteFile", wanted: range) -> dict[int, bytes | mmap]:
        return {n: self._kept[file, n] for n in wanted if (file, n) in self._kept}

    async def _fetched(self, file: "RemoteFile", few: range) -> dict[int, bytes | mmap]:
        start, stop = few.start * BLOCK, min(few.stop * BLOCK, file.facts.size)
        data = await self._server.read(file.url, file.facts, start, stop)
        for number in few:
            self._keep(file, number, memoryview(data)[(number - few.start) * BLOCK :][:BLOCK])
        found = self._found(file, few)
        while self._size > MOST:
            self._drop(*next(iter(self._kept)))
        return found

    def _keep(self, file: "RemoteFile", number: int, block: memoryview) -> None:
        """Keep a block in separately mapped memory.

        In the heap, long-lived blocks would keep the memory between them from being released.
        """
        kept = self._kept[file, number] = mmap(-1, len(block), MAP_PRIVATE)
        kept[:] = block
        self._size += len(block)

    def _drop(self, file: "RemoteFile", number: int) -> None:
        if kept := self._kept.pop((file, number), None):
            self._size -= len(kept)


class RemoteFile:
    """A file on a server. It can be read in any thread except that of its event loop."""

    def __init__(self, url: URL, facts: FileFacts, blocks: Blocks) -> None:
        self.url = url
        self.facts = facts
        self.head = facts.head
        """Its first few bytes, once they are known."""
        self._blocks = blocks

    @property
    def name(self) -> str:
        """Its address."""
        return str(self.url)

    def open(self) -> AbstractContextManager[Readable]:
        return nullcontext(_Reading(self))

    def renewed(self, start: int, stop: int) -> bool:
        return self.wait(self._blocks.renewed(self, start, stop))

    def read(self, start: int, stop: int) -> bytes:
        """Bytes of it, as many as it has. Raises a CrawlerError."""
        return self.wait(self._blocks.read(self, start, stop))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work in the event loop, and wait for it."""
        loop = self._blocks.loop
        future = asyncio.run_coroutine_threadsafe(work, loop)
        while True:
            try:
                return future.result(1.0)
            except TimeoutError:
                if loop.is_closed():  # nothing will answer any more, and nothing waits for us
                    raise CrawlerError("stopped") from None


class _Reading:
    def __init__(self, file: RemoteFile) -> None:
        self._file = file
        self._at = 0

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._at = offset + (self._file.facts.size if whence == SEEK_END else 0)
        return self._at

    def read(self, size: int, /) -> bytes:
        data = self._file.read(self._at, self._at + size)
        self._at += len(data)
        return data

    def read1(self, size: int, /) -> bytes:
        return self.read(min(size, BLOCK - self._at % BLOCK))


def _runs(numbers: Sequence[int]) -> Iterator[range]:
    """Ascending numbers as stretches without gaps."""
    start = 0
    for i in range(1, len(numbers) + 1):
        if i == len(numbers) or numbers[i] != numbers[i - 1] + 1:
            yield range(numbers[start], numbers[i - 1] + 1)
            start = i
