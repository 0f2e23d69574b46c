"""Dump files on a server: their bytes are requested by ranges, a little ahead, and nothing is stored."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from yarl import URL

from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.dumps.range_server import LIMITS, MOST_SIZE, FileFacts, RangeServer
from wikitopics.crawler.dumps.ranges import HEAD, HeldFile, RangedFile
from wikitopics.crawler.dumps.read_ahead import BEHIND, Step, steps, stop_of
from wikitopics.crawler.dumps.remote_files import Blocks, RemoteFile
from wikitopics.crawler.dumps.wikimedia import newest_dump
from wikitopics.crawler.errors import BadSource, CrawlerError, Unconfirmed
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.clock import Clock
from wikitopics.crawler.http.limits import RateLimits, dump_limits, is_wikimedia
from wikitopics.crawler.http.wire import Reply, RequestBounds
from wikitopics.crawler.identity import DUMP_FILES, VERSIONS
from wikitopics.crawler.source import Activity, Lack, Round

MOST_BROUGHT = 64 << 20
"""The most bytes sent along with one part."""
AGREED_TO = "your contact is sent there, and the dump is read whatever its size"
"""Agreement covers any size: the size is known only later, and the user is not asked again."""


def told_size(size: int) -> str:
    """A number of bytes in words."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


class RemoteShelf:
    """The files at ``urls``, all on one server; with a ``wiki``, its newest dump in that folder.

    ``known``: their facts, from a session being resumed; None: they are requested. ``agreed``: whether the
    user has agreed to any size, and to sending the contact to any server. ``limits_of``: the limits for a
    host. Raises `ContactMissing` and `Unconfirmed` at once.
    """

    def __init__(
        self,
        urls: Sequence[URL],
        known: Sequence[FileFacts] | None = None,
        *,
        wiki: str | None = None,
        version: str,
        contact: str | None,
        budget_folder: Path | None,
        agreed: bool,
        limits_of: Callable[[str], RateLimits] = dump_limits,
        clock: Clock | None = None,
        bounds: RequestBounds | None = None,
    ) -> None:
        self.activity = Activity()
        host = urls[0].host or ""
        if contact and not is_wikimedia(host) and not agreed:
            raise Unconfirmed(f"the dump is at {host}, which is not Wikimedia's: {AGREED_TO}")
        self._client = Client(
            limits_of(host),
            self.activity,
            version=version,
            contact=contact,
            limits_of=lambda url: limits_of(url.host or ""),
            budget_folder=budget_folder,
            clock=clock,
            bounds=bounds or LIMITS,
            elsewhere=_followed if agreed else _not_agreed,
        )
        self._client.opening = True
        self._server = RangeServer(self._client)
        self._urls = urls
        self._wiki = wiki
        self._agreed = agreed
        self._names_somebody = contact is not None
        self._known = known
        self._files: Mapping[str, RemoteFile] = {}
        self._rounds: Sequence[Round[DumpPart]] = ()
        self._numbers: Mapping[DumpPart, int] = {}
        self._steps: Mapping[DumpPart, Step] = {}
        self._round = 0
        self._under_way: Counter[int] = Counter()
        """Rounds of which parts are being brought, and how many of each."""
        self._moved = asyncio.Event()
        self._reading_ahead: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        first = self._urls[0].name
        return first if len(self._urls) == 1 else f"{first} and {len(self._urls) - 1} more"

    @property
    def identity(self) -> Mapping[str, Any]:
        return {
            DUMP_FILES: [str(file.url) for file in self._files.values()],
            VERSIONS: [file.facts.version for file in self._files.values()],
        }

    async def open(self) -> Sequence[tuple[RangedFile, int]]:
        if self._wiki is not None:
            return await self._open_newest(self._wiki)
        return await self._open()

    async def _open_newest(self, wiki: str) -> Sequence[tuple[RangedFile, int]]:
        home = self._urls[0]
        found = await newest_dump(self._client, home, wiki)
        self._urls = found.urls
        files = await self._open()
        if not self._agreed:
            size = told_size(sum(size for _, size in files))
            named = f"{wiki} of {found.date}" if found.date else self.name
            count = "1 file" if len(files) == 1 else f"{len(files)} files"
            told = ", which receives your contact" if self._names_somebody else ""
            raise Unconfirmed(f"{named}, {size} in {count}, comes from {home.host}{told}; nothing is stored")
        return files

    async def _open(self) -> Sequence[tuple[RangedFile, int]]:
        blocks = self._blocks = Blocks(self._server)
        if self._known is None:
            files = [await blocks.look(url) for url in self._urls]
        else:
            files = [RemoteFile(url, one, blocks) for url, one in zip(self._urls, self._known, strict=True)]
        size = sum(file.size for file in files)
        if size > MOST_SIZE:
            raise BadSource(f"{self.name}: its server says that it has over {told_size(MOST_SIZE)}")
        blocks.expect(size)
        self._files = {file.name: file for file in files}
        return [(file, file.size) for file in files]

    def plan(self, rounds: Sequence[Round[DumpPart]]) -> None:
        self._client.opening = False
        self._rounds = rounds
        self._numbers = {part: number for number, each in enumerate(rounds) for part in each.parts}

    async def bring(self, part: DumpPart) -> DumpPart:
        number = self._numbers[part]
        if self._reading_ahead is None:
            plan = steps(self._rounds, number)
            self._steps = {part: step for step in plan for part in step.parts}
            self._reading_ahead = asyncio.create_task(self._read_ahead(plan))
        self._round = max(self._round, number)
        self._under_way[number] += 1
        self._moved.set()
        try:
            await self._bring(self._steps[part], part, number)
            return await self._brought(part, stop_of(part))
        finally:
            self._under_way[number] -= 1
            self._under_way = +self._under_way
            self._blocks.used_before(min(self._under_way, default=self._round))
            self._moved.set()

    async def bring_better(self, part: DumpPart, lack: Lack) -> DumpPart | None:
        held = part.file
        assert isinstance(held, HeldFile)
        if lack == "again":
            file = self._files[held.name]
            renewed = await self._blocks.renewed(file, held.start, held.stop, held.data)
            return await self._brought(part, held.stop) if renewed else None
        if held.stop >= held.size or len(held.data) > MOST_BROUGHT:
            return None
        return await self._brought(part, held.stop + max(BEHIND, len(held.data)))

    async def close(self) -> None:
        if self._reading_ahead is not None:
            self._reading_ahead.cancel()
            await asyncio.gather(self._reading_ahead, return_exceptions=True)
        await self._client.close()

    async def _read_ahead(self, plan: Sequence[Step]) -> None:
        """Have the bytes at hand before they are needed. Errors are raised to whoever needs them."""
        with suppress(CrawlerError):
            for step in plan:
                if step.round >= self._round:  # older ones come with their parts
                    await self._bring(step, step.parts[0], step.round)

    async def _bring(self, step: Step, part: DumpPart, number: int) -> None:
        """Have the bytes of a step at hand, from this part on, for round ``number``.

        They are requested when there is room for them, or when no earlier round waits for bytes.
        """
        file = self._files[part.file.name]
        while number > min(self._under_way, default=self._round):
            if self._blocks.has_room(self._blocks.missing(file, part.start, step.stop)):
                break
            self._moved.clear()
            await self._moved.wait()
        await self._blocks.bring(file, part.start, step.stop, step.last_round)

    async def _brought(self, part: DumpPart, stop: int) -> DumpPart:
        file = self._files[part.file.name]
        file.head = file.head or await self._blocks.read(file, 0, HEAD)
        data = await self._blocks.read(file, part.start, stop)
        return replace(part, file=HeldFile(file.name, file.size, file.head, part.start, data))


def _followed(reply: Reply, there: URL) -> None:
    """Follow the redirect: the user has agreed to it."""


def _not_agreed(reply: Reply, there: URL) -> None:
    """Among Wikimedia's servers, no agreement is needed."""
    host = there.host or ""
    if not (is_wikimedia(reply.url.host or "") and is_wikimedia(host)):
        raise Unconfirmed(f"{reply.url.host} redirects to {reply.quote(host, 100)}: {AGREED_TO}")
