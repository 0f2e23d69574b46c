"""Files on a server, such as dumps and Parquet: requested by ranges, and the possible faults of the
replies."""

import asyncio
import re
from dataclasses import dataclass, field

from yarl import URL

from wikitopics.crawler.errors import BadSource, CrawlerError, TransientError, Unconfirmed
from wikitopics.crawler.http.addresses import is_wikimedia
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.pace import Clock
from wikitopics.crawler.http.rules import file_limits
from wikitopics.crawler.http.wire import JudgeRedirect, Reply, RequestBounds, Wanted
from wikitopics.crawler.source import Activity, Asked

LARGEST = 32 << 20
"""The most bytes of one request."""
SMALLEST = 256 << 10
"""The most bytes of one after many replies that were incomplete or late."""
LIMITS = RequestBounds(most_bytes=LARGEST, total_seconds=600.0)
"""The bounds of one request: over a slow line, a large range takes minutes."""
_QUICK = 60.0
"""Seconds: after a reply that took longer, the next request is not larger."""
MOST_SIZE = 1 << 44
"""The largest file or dump, in bytes: with at most a million parts, those of a larger one would
fill the memory."""
_LONGEST_VERSION = 200
_CONTENT_RANGE = re.compile(r"bytes (\d{1,16})-(\d{1,16})/(\d{1,16})")
_GONE = (401, 403, 404, 410)
"""The statuses after which the target of an earlier redirect is asked for again."""
FIRST = 768 << 10
"""The bytes requested of a new file, and the most bytes of one read that are cached."""
MOST_CACHED = 64 << 20
"""The most bytes cached of all files together. A dump of at most this size is requested once, as a
whole."""


class RangeServer:
    """Requests bytes of files through ``client``, by their addresses. ``what``: what the files are,
    in messages; ``ending``: with what their names usually end."""

    def __init__(self, client: Client, what: str = "dump", ending: str = "") -> None:
        self._what = what
        self._ending = ending
        self.room = MOST_CACHED
        """How many more bytes of its files may be cached."""
        self._client = client
        self._most = LARGEST
        self._found_at: dict[URL, URL] = {}
        """Where files were found, after redirects, by their addresses."""
        self._turn = asyncio.Lock()

    async def new_file(self, url: URL, first: int) -> tuple["RemoteFile", bytes]:
        """A file that was not read before, and its ``first`` bytes. Raises a CrawlerError."""

        def check(reply: Reply) -> None:
            if reply.status == 200:
                is_page = reply.headers.get("Content-Type", "").startswith("text/html")
                if self._ending and (is_page or not url.name.endswith(self._ending)):
                    raise BadSource(f"{url}: give the address of a {self._ending} file")
                raise BadSource(
                    f"{url}: this server does not support ranges; download it: {curl(url)}"
                )
            if reply.status in (404, 410, 416):
                what = "it is empty" if reply.status == 416 else f"no such file ({reply.status})"
                raise BadSource(f"{url}: {what}")
            _check_encoding(reply, url)

        def read(reply: Reply) -> tuple[RemoteFile, bytes]:
            start, stop, size = _range_of(reply)
            if start != 0 or stop != min(first, size) or len(reply.body) != stop:
                raise _another_range(reply)
            self._found_at[url] = reply.url
            return RemoteFile(url, size, self._version(reply), self), reply.body

        wanted = Wanted(_range(0, first), first, check)
        return await self._client.fetch(url, read, wanted)

    async def read(self, file: "RemoteFile", start: int, stop: int) -> bytes:
        """These bytes of the file, retried for as long as the client allows.

        Raises CrawlerError, also if the file has changed.
        """
        parts: list[bytes] = []
        tries = 0
        async with self._turn:
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
        return b"".join(parts)  # which does not copy a single one

    async def _once(self, file: "RemoteFile", start: int, stop: int) -> bytes:
        """These bytes, requested once. Raises TransientError, and CrawlerError for a file that has
        changed or is gone."""
        url = file.url
        found_at = self._found_at.get(url, url)

        def check(reply: Reply) -> None:
            host = reply.url.host
            status = reply.status
            if status in _GONE:
                was_redirected = self._found_at.pop(url, url) != url
                if was_redirected:
                    raise TransientError(f"{host} answers {status} after a redirect")
            if status in (404, 410):
                raise CrawlerError(f"{url}: the {self._what} is no longer there ({status})")
            if status in (200, 206) and not self._is_same(reply, file):
                raise self._changed(url)
            if status == 200:
                if reply.headers.get("Content-Length") != str(file.size):
                    raise self._changed(url)
                raise TransientError(f"{host} sends the whole file instead of a range")
            if status == 416:
                raise self._changed(url)
            _check_encoding(reply, url)

        def read(reply: Reply) -> bytes:
            begin, end, size = _range_of(reply)
            if size != file.size:
                raise self._changed(url)
            if (begin, end) != (start, stop) or len(reply.body) != stop - start:
                raise _another_range(reply)
            self._found_at[url] = reply.url
            return reply.body

        headers = _range(start, stop)
        if file.version and not file.version.startswith("W/"):
            headers["If-Range"] = file.version
        return await self._client.once(found_at, read, Wanted(headers, stop - start, check))

    def _changed(self, url: URL) -> CrawlerError:
        what = f"the {self._what} has changed since this session began to read it"
        return CrawlerError(f"{url}: {what}")

    def _is_same(self, reply: Reply, file: "RemoteFile") -> bool:
        """Whether the reply's version is that of the file, as far as both are stated."""
        version = self._version(reply)
        return not version or not file.version or version == file.version

    def _version(self, reply: Reply) -> str:
        """The reply's version, if it can be stored: no session contains the contact, even if a
        server repeats it."""
        said = reply.headers.get("ETag") or reply.headers.get("Last-Modified") or ""
        is_sound = said.isascii() and said.isprintable() and len(said) <= _LONGEST_VERSION
        if not is_sound or self._client.quote.knows(said):
            return ""
        return said


def curl(url: URL) -> str:
    """The command that downloads a file as its server wants it."""
    return f'curl -A "wikitopics (YOUR CONTACT)" -LO {url}'


def _range(start: int, stop: int) -> dict[str, str]:
    return {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}


def _check_encoding(reply: Reply, url: URL) -> None:
    """Raise BadSource if ranges do not refer to the file itself."""
    encoding = reply.headers.get("Content-Encoding", "identity").strip().lower()
    if reply.status == 206 and encoding not in ("", "identity"):
        raise BadSource(
            f"{url}: this server compresses what it sends, so ranges are not of the file itself"
        )


def _range_of(reply: Reply) -> tuple[int, int, int]:
    """(start, stop, bytes of the whole file) of a reply. Raises TransientError if they are
    missing."""
    if reply.status != 206:
        raise TransientError(f"{reply.url.host} answers {reply.status}", lasting=True)
    match = _CONTENT_RANGE.fullmatch(reply.headers.get("Content-Range", "").strip())
    if match is None:
        raise _another_range(reply)
    start, last, size = map(int, match.groups())
    if not start <= last < size <= MOST_SIZE:
        raise _another_range(reply)
    return start, last + 1, size


def _another_range(reply: Reply) -> TransientError:
    return TransientError(f"{reply.url.host} sends a different range from the one requested")


@dataclass(eq=False)
class RemoteFile:
    """One file on a server, as the server describes it."""

    url: URL
    size: int
    version: str
    """Its ETag, or the time of its last change; "" if neither is given."""
    server: RangeServer
    cached: dict[int, bytes] = field(default_factory=dict)
    """Bytes needed more than once, by their position: at the beginnings of the file and of
    chunks."""

    @property
    def name(self) -> str:
        """Its address."""
        return str(self.url)

    async def bytes_from(self, start: int, stop: int) -> bytes:
        """Bytes ``start`` to before ``stop``: from the cache, and the others from the server.
        Raises a CrawlerError."""
        pieces: list[bytes] = []
        stop = min(stop, self.size)
        while start < stop:
            piece = self._cached_from(start, stop)
            if piece is None:
                next_cached = min((at for at in self.cached if start < at < stop), default=stop)
                piece = await self.server.read(self, start, next_cached)
                if len(piece) <= FIRST:
                    self.cache(start, piece)
            pieces.append(piece)
            start += len(piece)
        return b"".join(pieces)

    def _cached_from(self, start: int, stop: int) -> bytes | None:
        """What is cached of these bytes from ``start`` on; None if the first one is not."""
        for at, data in self.cached.items():
            if at <= start < at + len(data):
                return data[start - at : stop - at]
        return None

    async def fresh_bytes(self, start: int, stop: int) -> bytes:
        """The same bytes, requested again."""
        self.drop(start, stop)
        return await self.server.read(self, start, min(stop, self.size))

    def cache(self, start: int, data: bytes) -> None:
        """Cache bytes, as long as there is room."""
        if len(data) <= self.server.room:
            self.server.room -= len(data)
            self.cached[start] = data

    def drop(self, start: int, stop: int) -> None:
        """Drop all cached pieces that contain one of these bytes."""
        for at, data in list(self.cached.items()):
            if at < stop and start < at + len(data):
                del self.cached[at]
                self.server.room += len(data)


# The client for files on a server.


def file_client(
    host: str,
    activity: Activity,
    asked: Asked,
    *,
    what: str,
    agreed_to: str,
    contact: str | None,
    agreed: bool,
    clock: Clock | None = None,
    bounds: RequestBounds = LIMITS,
) -> Client:
    """A client for files on ``host``, and on the hosts to which it redirects.

    what: what is there, in a message, with its verb
    agreed_to: what the user has to agree to, unless the host is Wikimedia's; of any size, since the
        size is known only later, and the user is not asked again
    agreed: whether the user has agreed

    Raises `ContactMissing` and `Unconfirmed`.
    """
    if contact and not is_wikimedia(host) and not agreed:
        raise Unconfirmed(f"{what} at {host}, which is not Wikimedia's: {agreed_to}")
    judge_other_host: JudgeRedirect = _always_followed if agreed else _asked_first(agreed_to)
    return Client(
        file_limits(host),
        activity,
        version=asked.version,
        contact=contact,
        limits_of=lambda url: file_limits(url.host or ""),
        budget_folder=asked.budget_folder,
        clock=clock,
        bounds=bounds,
        judge_other_host=judge_other_host,
    )


def _always_followed(reply: Reply, target: URL) -> None:
    """Follow a redirect to any host."""


def _asked_first(agreed_to: str) -> JudgeRedirect:
    """What raises `Unconfirmed`, with what the user has to agree to, for a redirect to another
    host, unless both are Wikimedia's."""

    def judge(reply: Reply, target: URL) -> None:
        host = target.host or ""
        if not (is_wikimedia(reply.url.host or "") and is_wikimedia(host)):
            raise Unconfirmed(
                f"{reply.url.host} redirects to {reply.quote(host, 100)}: {agreed_to}"
            )

    return judge


def told_download(size: int) -> str:
    """How much is read from a server, and what limits it, in words; ``size``: in bytes."""
    return (
        f"{format_size(size)}, none of which is stored; --max-mb, --articles and --hours limit it"
    )


def format_size(size: int) -> str:
    """A number of bytes in words."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
