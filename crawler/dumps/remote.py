"""Dump files on a server: their bytes are requested by ranges, a little ahead, and nothing is stored."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from mmap import MAP_PRIVATE, mmap
from typing import Any, TypeVar

from yarl import URL

from wikitopics.crawler.dumps import DUMP_FILES, VERSIONS
from wikitopics.crawler.dumps.containers import HEAD, HeldFile, RangedFile
from wikitopics.crawler.dumps.parts import BEHIND, DumpPart, Window, steps, stop_of, windows
from wikitopics.crawler.dumps.shuffled import ShuffledDump
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import RateLimits, dump_limits, is_wikimedia
from wikitopics.crawler.http.wire import Clock, Reply, RequestBounds, Wanted
from wikitopics.crawler.source import (
    Asked,
    BadSource,
    CrawlerError,
    Identity,
    Lack,
    SourceInfo,
    TransientError,
    Unconfirmed,
    first_and_more,
)

# Requests for ranges of a server's files, one at a time, and the possible faults of its replies.

SMALLEST, LARGEST = 256 << 10, 32 << 20
"""Bytes of one request: fewer if replies are incomplete or late."""
LIMITS = RequestBounds(most_bytes=LARGEST, total_seconds=600.0)
"""Bounds on one request: over a slow line a large range takes minutes."""
_QUICK = 60.0
"""Seconds: after a reply that took longer, the next request is not larger."""
MOST_SIZE = 1 << 44
"""The largest dump, in bytes: with at most a million parts, those of a larger one would fill the memory."""
_LONGEST_VERSION = 200
_CONTENT_RANGE = re.compile(r"bytes (\d{1,16})-(\d{1,16})/(\d{1,16})")
_GONE = (401, 403, 404, 410)


@dataclass(eq=False)
class ServedFile:
    """A file on a server, as far as the server states."""

    url: URL
    size: int
    version: str
    """Its ETag, or the time of its last change; "" if neither is given."""


class RangeServer:
    """Requests bytes of files through ``client``, by their addresses."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._most = LARGEST
        self._found_at: dict[URL, URL] = {}
        """The targets of redirects."""

    async def look(self, url: URL, first: int) -> tuple[ServedFile, bytes]:
        """A file that is not known yet, and its ``first`` bytes. Raises a CrawlerError."""

        def check(reply: Reply) -> None:
            if reply.status == 200:
                raise BadSource(f"{url}: this server does not support ranges; download it: {curl(url)}")
            if reply.status in (404, 410, 416):
                what = "it is empty" if reply.status == 416 else f"no such file ({reply.status})"
                raise BadSource(f"{url}: {what}")
            _check_encoding(reply, url)

        def read(reply: Reply) -> tuple[ServedFile, bytes]:
            start, stop, size = _range_of(reply)
            if start or stop != min(first, size) or len(reply.body) != stop:
                raise _another_range(reply)
            self._found_at[url] = reply.url
            return ServedFile(url, size, self._version(reply)), reply.body

        return await self._client.fetch(url, read, wanted=Wanted(_range(0, first), first, check))

    async def read(self, file: ServedFile, start: int, stop: int) -> bytes:
        """These bytes of the file, retried for as long as the client allows.

        Raises CrawlerError, also if it is a different file now.
        """
        parts: list[bytes] = []
        tries = 0
        while start < stop:
            end = min(stop, start + self._most)
            try:
                part = await self._once(file, start, end)
            except TransientError as error:
                tries += 1
                if not error.throttled:
                    self._most = max(SMALLEST, self._most // 2)
                await self._client.backoff(error, tries)
                continue
            tries = 0
            if (self._client.activity.latency_seconds or 0.0) < _QUICK:
                self._most = min(LARGEST, 2 * self._most)
            parts.append(part)
            start = end
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _once(self, file: ServedFile, start: int, stop: int) -> bytes:
        url = file.url
        at = self._found_at.get(url, url)

        def check(reply: Reply) -> None:
            if reply.status in _GONE and self._found_at.pop(url, url) != url:
                raise TransientError(f"{reply.url.host} answers {reply.status} after a redirect")
            if reply.status in (404, 410):
                raise CrawlerError(f"{url}: the dump is no longer there ({reply.status})")
            if reply.status == 200:
                if self._is_same(reply, file) and reply.headers.get("Content-Length") == str(file.size):
                    raise TransientError(f"{reply.url.host} sends the whole file instead of a range")
                raise _changed(url)
            if reply.status == 416 or (reply.status == 206 and not self._is_same(reply, file)):
                raise _changed(url)
            _check_encoding(reply, url)

        def read(reply: Reply) -> bytes:
            begin, end, size = _range_of(reply)
            if size != file.size:
                raise _changed(url)
            if (begin, end) != (start, stop) or len(reply.body) != stop - start:
                raise _another_range(reply)
            self._found_at[url] = reply.url
            return reply.body

        headers = _range(start, stop)
        if file.version and not file.version.startswith("W/"):
            headers["If-Range"] = file.version
        return await self._client.once(at, read, Wanted(headers, stop - start, check))

    def _is_same(self, reply: Reply, file: ServedFile) -> bool:
        version = self._version(reply)
        return not version or not file.version or version == file.version

    def _version(self, reply: Reply) -> str:
        """The reply's version, if it can be stored: no session contains the contact, even if a server
        repeats it."""
        said = reply.headers.get("ETag") or reply.headers.get("Last-Modified") or ""
        is_sound = said.isascii() and said.isprintable() and len(said) <= _LONGEST_VERSION
        return said if is_sound and not self._client.quote.knows(said) else ""


def curl(url: URL) -> str:
    """The command that downloads a file as its server wants it."""
    return f'curl -A "wikitopics (YOUR CONTACT)" -LO {url}'


def _range(start: int, stop: int) -> dict[str, str]:
    return {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}


def _check_encoding(reply: Reply, url: URL) -> None:
    """Raise BadSource if the ranges are not of the file itself."""
    encoding = reply.headers.get("Content-Encoding", "identity").strip().lower()
    if reply.status == 206 and encoding not in ("", "identity"):
        raise BadSource(f"{url}: this server compresses what it sends, so ranges are not of the file itself")


def _range_of(reply: Reply) -> tuple[int, int, int]:
    """(start, stop, bytes of the whole file) of a reply. Raises TransientError if they are missing."""
    if reply.status != 206:
        raise TransientError(f"{reply.url.host} answers {reply.status}", lasting=True)
    found = _CONTENT_RANGE.fullmatch(reply.headers.get("Content-Range", "").strip())
    if found is None:
        raise _another_range(reply)
    start, last, size = map(int, found.groups())
    if not start <= last < size <= MOST_SIZE:
        raise _another_range(reply)
    return start, last + 1, size


def _another_range(reply: Reply) -> TransientError:
    return TransientError(f"{reply.url.host} sends a different range from the one requested")


def _changed(url: URL) -> CrawlerError:
    return CrawlerError(f"{url}: the dump has changed since this session began to read it")


# Files on a server, read like local ones: bytes read are kept for a while, then dropped.

T = TypeVar("T")

BLOCK = 512 << 10
MOST = 208 << 20
"""Bytes kept: as many as `wikitopics.crawler.dumps.parts` needs for sixteen windows of 25 MB."""

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
        """How many of these bytes, rounded to blocks, are missing."""
        return BLOCK * sum((file, number) not in self._kept for number in _numbers(file, start, stop))

    def has_room(self, size: int) -> bool:
        """Whether there is room for so many bytes, after dropping those of finished rounds; 0 always
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


# Where Wikimedia keeps its dumps: the newest complete one of a wiki, in the old layout or the new one.
#
# New: one folder a month, all namespaces in many files, complete once two further files exist. Old,
# deprecated by Wikimedia: one or two folders a month, articles and templates only, complete when their status
# says so.

_CURRENT = "other/mediawiki_content_current"
_COMPLETE = frozenset({"SHA256SUMS", "_SUCCESS"})
_LINK = re.compile(r"""href=["']([^"'?#<>]{1,500})["']""")
_NEW_FILE = re.compile(r"[a-z_]{3,40}-[\d-]{10}-p(\d{1,12})p(\d{1,12})\.xml\.bz2")
_OLD_FILE = re.compile(
    r"[a-z_]{3,40}-\d{8}-pages-articles(?:-multistream)?\d*\.xml(?:-p(\d{1,12})p(\d{1,12}))?\.bz2"
)
_NEW_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_OLD_DATE = re.compile(r"\d{8}")
_JOBS = (
    "articlesmultistreamdumprecombine",
    "articlesmultistreamdump",
    "articlesdumprecombine",
    "articlesdump",
)
_MOST_FILES = 5_000
"""The most files: each is checked before the first is read, and the largest dumps have a few hundred."""
_MOST_TRIED = 6
"""The number of dates tried per layout: older dumps have been abandoned."""
_DAY = 24 * 3600
"""How far this machine's clock may be behind the server's."""


def database(api: str) -> str:
    """The name of the Wikipedia with this api.php in the dumps: "dewiki"."""
    return (URL(api).host or "").partition(".")[0].replace("-", "_") + "wiki"


async def newest_dump(client: Client, home: URL, wiki: str) -> tuple[str, Sequence[URL]]:
    """The date and files of the newest complete dump of ``wiki``; of two with the same date, the one in the
    new layout.

    ``home`` may itself be the folder of one dump. Raises BadSource if there is none, or only dumps whose
    files do not belong together.
    """
    for files in (_new_files, _old_files):
        if urls := await files(client, home):
            return "", urls
    old, new = home / wiki / "", home / _CURRENT / wiki / ""
    latest = time.strftime("%Y%m%d", time.gmtime(client.clock.wall() + _DAY))
    olds, news = await _dates(client, old, _OLD_DATE, latest), await _dates(client, new, _NEW_DATE, latest)
    found = [(f"{d[:4]}-{d[4:6]}-{d[6:]}", 0, old / d / "", _old_files) for d in olds]
    found += [(d, 1, new / d / "xml" / "bzip2" / "", _new_files) for d in news]
    fault = None
    for date, _, folder, files in sorted(found, key=lambda one: one[:2], reverse=True):
        try:
            urls = await files(client, folder)
        except BadSource as error:  # an older one may be usable
            fault = fault or error
            continue
        if urls:
            return date, urls
    raise fault or BadSource(f"{home}: no complete dump of {wiki} there; give --dump FILE|URL")


async def _dates(client: Client, folder: URL, form: re.Pattern[str], latest: str) -> list[str]:
    """The newest dates that a folder lists. A date in the future is a mistake or a trap."""
    dates = [name for name in await _names(client, folder) if form.fullmatch(name)]
    return sorted((date for date in dates if date.replace("-", "") <= latest), reverse=True)[:_MOST_TRIED]


async def _new_files(client: Client, folder: URL) -> tuple[URL, ...]:
    names = await _names(client, folder)
    return _in_order(folder, names, _NEW_FILE) if names >= _COMPLETE else ()


async def _old_files(client: Client, folder: URL) -> tuple[URL, ...]:
    status = await client.fetch(folder / "dumpstatus.json", _object)
    jobs = status.get("jobs")
    for name in _JOBS:
        job = jobs.get(name) if isinstance(jobs, dict) else None
        files = job.get("files") if isinstance(job, dict) and job.get("status") == "done" else None
        if isinstance(files, dict) and (urls := _in_order(folder, files, _OLD_FILE)):
            return urls
    return ()


def _in_order(folder: URL, names: Iterable[str], form: re.Pattern[str]) -> tuple[URL, ...]:
    found = [match for match in map(form.fullmatch, names) if match is not None]
    if len(found) > _MOST_FILES:
        raise BadSource(f"{folder}: it lists {len(found):,} files; give those of one dump with --dump")
    found.sort(key=lambda match: (int(match[1] or 0), match[0]))
    _check_ranges(folder, [match for match in found if match[1]])
    return tuple(folder / match[0] for match in found)


def _check_ranges(folder: URL, files: Sequence[re.Match[str]]) -> None:
    """Raise BadSource if two files hold the same pages, as when a part was made again: they would count
    twice.

    Which file belongs to the dump cannot be guessed. One file may end where the next begins, since dumps
    differ in whether the last page is included.
    """
    for one, other in pairwise(files):
        if int(other[1]) < int(one[2]):
            raise BadSource(
                f"{folder}: {one[0]} and {other[0]} hold the same pages; "
                "give the files of one dump, or the folder of another, with --dump"
            )


async def _names(client: Client, folder: URL) -> frozenset[str]:
    """The names in a folder, as its page lists them; none if there is no such folder."""
    return await client.fetch(folder, _listed)


def _listed(reply: Reply) -> frozenset[str]:
    text = _found(reply).decode("utf-8", "replace")
    folder = reply.url / ""  # a server may redirect to the address without the slash
    return frozenset(filter(None, (_name(folder, link) for link in _LINK.findall(text))))


def _name(folder: URL, link: str) -> str:
    """The name of the entry that a link in a folder's page leads to; "" if it leads elsewhere."""
    try:
        there = folder.join(URL(link))
        is_there = there.origin() == folder.origin()
    except ValueError:
        return ""
    name = there.path.rstrip("/").removeprefix(folder.path)
    return "" if not is_there or "/" in name else name


def _object(reply: Reply) -> dict[str, Any]:
    try:
        value = json.loads(_found(reply) or b"{}")
    except (ValueError, RecursionError):
        raise TransientError(f"{reply.url.host} sends broken JSON") from None
    return value if isinstance(value, dict) else {}


def _found(reply: Reply) -> bytes:
    if reply.status in (404, 410):
        return b""
    if reply.status != 200:
        raise TransientError(f"{reply.url.host} answers {reply.status}", lasting=True)
    return reply.body


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
