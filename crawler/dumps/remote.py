"""Dump files on a server: their bytes are requested by ranges, a little ahead, and nothing is stored."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from yarl import URL

from wikitopics.crawler.dumps import DUMP_FILES, VERSIONS
from wikitopics.crawler.dumps.order import BEHIND, Window, steps, stop_of, windows
from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.dumps.range_server import LIMITS, MOST_SIZE, RangeServer
from wikitopics.crawler.dumps.ranges import HEAD, HeldFile, RangedFile
from wikitopics.crawler.dumps.remote_files import Blocks, RemoteFile
from wikitopics.crawler.dumps.shuffled import ShuffledDump
from wikitopics.crawler.dumps.wikimedia import newest_dump
from wikitopics.crawler.errors import BadSource, CrawlerError, Unconfirmed
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.limits import RateLimits, dump_limits, is_wikimedia
from wikitopics.crawler.http.pace import Clock
from wikitopics.crawler.http.wire import Reply, RequestBounds
from wikitopics.crawler.source import Asked, Identity, Lack, SourceInfo, first_and_more

MOST_BROUGHT = 64 << 20
"""The most bytes sent along with one part."""
AGREED_TO = "your contact is sent there, and the dump is read whatever its size"
"""Agreement covers any size: the size is known only later, and the user is not asked again."""


def format_size(size: int) -> str:
    """A number of bytes in words."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


class RemoteDump(ShuffledDump):
    """The dump in the files at ``urls``, all on one server; with a ``wiki``, its newest dump in that folder.

    ``agreed``: whether the user has agreed to any size, and to sending the contact to any server.
    ``limits_of``: the limits for a host. Raises `ContactMissing` and `Unconfirmed` at once.
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
        limits_of: Callable[[str], RateLimits] = dump_limits,
        clock: Clock | None = None,
        bounds: RequestBounds = LIMITS,
    ) -> None:
        super().__init__(identity, asked)
        host = urls[0].host or ""
        if contact and not is_wikimedia(host) and not agreed:
            raise Unconfirmed(f"the dump is at {host}, which is not Wikimedia's: {AGREED_TO}")
        self._client = Client(
            limits_of(host),
            self.activity,
            version=asked.version,
            contact=contact,
            limits_of=lambda url: limits_of(url.host or ""),
            budget_folder=asked.budget_folder,
            clock=clock,
            bounds=bounds,
            elsewhere=_followed if agreed else _not_agreed,
        )
        self._client.opening = True
        self._server = RangeServer(self._client)
        self._use(urls)
        self._wiki = wiki
        self._versions = identity.get(VERSIONS)
        self._agreed = agreed
        self._names_somebody = contact is not None
        self._files: Mapping[str, RemoteFile] = {}
        self._steps: Mapping[DumpPart, tuple[int, Window]] = {}
        """The round of each part, and what is requested together with it."""
        self._round = 0
        self._under_way: Counter[int] = Counter()
        """Rounds of which parts are being brought, and how many of each."""
        self._moved = asyncio.Event()
        self._reading_ahead: asyncio.Task[None] | None = None

    def _use(self, urls: Sequence[URL]) -> None:
        self._urls = urls
        self.name = first_and_more([url.name for url in urls])

    async def open(self) -> SourceInfo:
        info = await super().open()
        self._client.opening = False
        return info

    async def find(self) -> Sequence[RangedFile]:
        if self._wiki is None:
            return await self._find()
        home = self._urls[0]
        date, urls = await newest_dump(self._client, home, self._wiki)
        self._use(urls)
        files = await self._find()
        if not self._agreed:
            size = format_size(sum(file.size for file in files))
            named = f"{self._wiki} of {date}" if date else self.name
            count = "1 file" if len(files) == 1 else f"{len(files)} files"
            told = ", which receives your contact" if self._names_somebody else ""
            raise Unconfirmed(f"{named}, {size} in {count}, comes from {home.host}{told}; nothing is stored")
        return files

    async def _find(self) -> Sequence[RemoteFile]:
        blocks = self._blocks = Blocks(self._server)
        if self.order is None:
            files = [await blocks.look(url) for url in self._urls]
        else:
            versions = self._versions or [""] * len(self._urls)
            known = zip(self._urls, self.order.sizes, versions, strict=True)
            files = [RemoteFile(*each, blocks) for each in known]
        size = sum(file.size for file in files)
        if size > MOST_SIZE:
            raise BadSource(f"{self.name}: its server says that it has over {format_size(MOST_SIZE)}")
        blocks.size_of_all = size
        self._files = {file.name: file for file in files}
        self.identity = {
            DUMP_FILES: [file.name for file in files],
            VERSIONS: [file.version for file in files],
        }
        return files

    async def bring(self, part: DumpPart) -> DumpPart:
        if self._reading_ahead is None:
            self._begin(part)
        number, step = self._steps[part]
        self._round = max(self._round, number)
        self._under_way[number] += 1
        self._moved.set()
        try:
            await self._bring(step, part, number)
            return await self._brought(part, stop_of(part))
        finally:
            self._under_way[number] -= 1
            self._under_way = +self._under_way
            self._blocks.round = min(self._under_way, default=self._round)
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

    def _begin(self, part: DumpPart) -> None:
        """Read ahead from the round of this part on."""
        assert self.order is not None
        found = list(windows(self.order, self.files))
        first = next(each.round + each.parts.index(part) for each in found if part in each.parts)
        plan = steps(found, first)
        self._steps = {
            part: (number, step) for step in plan for number, part in enumerate(step.parts, step.round)
        }
        self._reading_ahead = asyncio.create_task(self._read_ahead(plan))

    async def _read_ahead(self, plan: Sequence[Window]) -> None:
        """Have the bytes at hand before they are needed. Errors are raised to whoever needs them."""
        with suppress(CrawlerError):
            for step in plan:
                if step.round >= self._round:  # older ones come with their parts
                    await self._bring(step, step.parts[0], step.round)

    async def _bring(self, step: Window, part: DumpPart, number: int) -> None:
        """Have the bytes of a step at hand, from this part on, for round ``number``.

        They are requested when there is room for them, or when no earlier round waits for bytes.
        """
        file, stop = self._files[part.file.name], stop_of(step.parts[-1])
        while number > min(self._under_way, default=self._round):
            if self._blocks.has_room(self._blocks.missing(file, part.start, stop)):
                break
            self._moved.clear()
            await self._moved.wait()
        await self._blocks.bring(file, part.start, stop, step.last_round)

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
