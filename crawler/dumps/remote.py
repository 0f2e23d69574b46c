"""Dump files on a server: their chunks are requested a little ahead, and nothing is stored."""

import asyncio
from collections.abc import Sequence
from mmap import MADV_DONTNEED, MAP_PRIVATE, PAGESIZE, mmap

from yarl import URL

from wikitopics.crawler.dumps import DUMP_FILES, VERSIONS
from wikitopics.crawler.dumps.containers import HEAD
from wikitopics.crawler.dumps.newest import newest_dump
from wikitopics.crawler.dumps.parts import BEYOND, DumpFile, DumpPart
from wikitopics.crawler.dumps.schedule import Chunk, Schedule
from wikitopics.crawler.dumps.shuffled import ShuffledDump
from wikitopics.crawler.errors import BadSource, Unconfirmed
from wikitopics.crawler.file_source import first_and_more
from wikitopics.crawler.http import ranges
from wikitopics.crawler.http.pace import Clock
from wikitopics.crawler.http.wire import RequestBounds
from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.source import Asked, Identity

ROUNDS_AHEAD = 2
"""The number of rounds whose chunks are requested while an earlier round is read."""


class Segment:
    """Consecutive bytes of a file that are requested ahead, and read once from first to last.

    They are kept in separately mapped memory: long-lived segments in the heap would keep the memory
    between them from being released.
    """

    def __init__(self, file: DumpFile, start: int, stop: int) -> None:
        self._start = start
        self.request = asyncio.create_task(self._requested(file, stop))

    async def _requested(self, file: DumpFile, stop: int) -> mmap:
        data = await file.bytes_from(self._start, stop)
        mapped = mmap(-1, len(data), MAP_PRIVATE)
        mapped[:] = data
        return mapped

    async def bytes_from(self, start: int, stop: int) -> bytes:
        """Bytes ``start`` to before ``stop``; the memory of those before them is released."""
        mapped = await asyncio.shield(self.request)
        first = start - self._start
        used_pages = first // PAGESIZE
        if used_pages:
            mapped.madvise(MADV_DONTNEED, 0, used_pages * PAGESIZE)
        return mapped[first : stop - self._start]


class RemoteDump(ShuffledDump):
    """The dump in the files at ``urls``, all on one server; with a ``wiki``, its newest dump in
    that folder.

    ``agreed``: whether the user has agreed to any size, and to sending the contact to any server.
    Raises `ContactMissing` and `Unconfirmed` at once.
    """

    def __init__(
        self,
        urls: Sequence[URL],
        identity: Identity,
        asked: Asked,
        *,
        wiki: str | None = None,
        contact: str | None,
        agreed: bool,
        clock: Clock | None = None,
        bounds: RequestBounds = ranges.LIMITS,
    ) -> None:
        super().__init__(identity, asked)
        self._client = ranges.file_client(
            urls[0].host or "",
            self.activity,
            asked,
            what="the dump is",
            agreed_to="your contact is sent there, and the dump is read whatever its size",
            contact=contact,
            agreed=agreed,
            clock=clock,
            bounds=bounds,
        )
        self._client.opening = True
        self._server = ranges.RangeServer(self._client)
        self._use(urls)
        self._wiki = wiki
        self._versions = identity.get(VERSIONS)
        self._agreed = agreed
        self._names_somebody = contact is not None
        self._segments: dict[tuple[Chunk, int], Segment] = {}
        """The segment that holds a part of a chunk."""
        self._requested = -1
        """The last round whose chunks are requested."""

    def _use(self, urls: Sequence[URL]) -> None:
        self._urls = urls
        self.name = first_and_more([url.name for url in urls])

    async def open(self) -> SourceInfo:
        info = await super().open()
        self._client.opening = False
        return info

    async def find(self) -> Sequence[DumpFile]:
        """See `ShuffledDump`. Raises `Unconfirmed` for the newest dump, whose size is known only
        now, unless the user has agreed to any."""
        if self._wiki is None:
            return await self._files_at_urls()
        home = self._urls[0]
        date, urls = await newest_dump(self._client, home, self._wiki)
        self._use(urls)
        files = await self._files_at_urls()
        if not self._agreed:
            size = ranges.format_size(sum(file.size for file in files))
            named = f"{self._wiki} of {date}" if date else self.name
            count = "1 file" if len(files) == 1 else f"{len(files)} files"
            extra = ", which receives your contact" if self._names_somebody else ""
            raise Unconfirmed(
                f"{named}, {size} in {count}, comes from {home.host}{extra}; nothing is stored"
            )
        return files

    async def _files_at_urls(self) -> Sequence[ranges.RemoteFile]:
        """The files, new or as stored. A small dump is requested as a whole, and cached."""
        if self.schedule is None:
            files = await self._new_files()
        else:
            files = self._stored_files(self.schedule)
        total = sum(file.size for file in files)
        if total > ranges.MOST_SIZE:
            raise BadSource(
                f"{self.name}: its server reports over {ranges.format_size(ranges.MOST_SIZE)}"
            )
        if total <= ranges.MOST_CACHED:
            for file in files:
                data = await file.bytes_from(0, file.size)
                file.drop(0, file.size)
                file.cache(0, data)
        self.identity = {
            DUMP_FILES: [file.name for file in files],
            VERSIONS: [file.version for file in files],
        }
        return files

    async def _new_files(self) -> list[ranges.RemoteFile]:
        """The files as their server describes them, checked; their beginnings are cached."""
        server = self._server
        files = []
        for url in self._urls:
            file, data = await server.new_file(url, ranges.FIRST)
            files.append(file)
            file.cache(0, data)
            await self.check(file)
            if server.room < ranges.MOST_CACHED // 2:  # the rest is for the places in the files
                file.drop(0, ranges.FIRST)
                file.cache(0, data[:HEAD])  # every part needs it
        return files

    def _stored_files(self, schedule: Schedule) -> list[ranges.RemoteFile]:
        """The files as the session stored them."""
        sizes = schedule.sizes
        versions = self._versions or [""] * len(sizes)
        files = []
        for url, size, version in zip(self._urls, sizes, versions, strict=False):
            files.append(ranges.RemoteFile(url, size, version, self._server))
        return files

    async def part(self, schedule: Schedule, number: int, chunk: Chunk, part: int) -> DumpPart:
        """See `ShuffledDump`; requests the chunks of the next rounds."""
        if self._requested < 0:
            # Training begins sooner if the parts of this round come before all others.
            begun = list(schedule.parts_of(number))
            for begun_chunk, first in begun:
                self._request(schedule, begun_chunk, first, first)
            for begun_chunk, first in begun:
                self._request(schedule, begun_chunk, first + 1, schedule.last_part(number, first))
            self._requested = number
        last_ahead = min(number + ROUNDS_AHEAD, schedule.rounds - 1)
        while self._requested < last_ahead:
            self._requested += 1
            last = schedule.last_part(self._requested, 0)
            for new_chunk in schedule.begins(self._requested):
                self._request(schedule, new_chunk, 0, last)
        segment = self._segments[chunk, part]
        start, stop = schedule.bounds(chunk, part)
        read = await DumpPart.read(self.files[chunk.file], start, stop, segment.bytes_from)
        del self._segments[chunk, part]  # only now: `close` ends the requests of those listed
        return read

    def _request(self, schedule: Schedule, chunk: Chunk, first: int, last: int) -> None:
        """Request these parts of a chunk, all at once; none if ``last`` comes before ``first``."""
        if last < first:
            return
        file = self.files[chunk.file]
        start, _ = schedule.bounds(chunk, first)
        _, stop = schedule.bounds(chunk, last)
        segment = Segment(file, start, min(stop + BEYOND, file.size))
        for part in range(first, last + 1):
            self._segments[chunk, part] = segment

    async def close(self) -> None:
        requests = [segment.request for segment in set(self._segments.values())]
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        await self._client.close()
