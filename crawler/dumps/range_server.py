"""Requests for ranges of a server's files, one at a time, and the possible faults of its replies."""

import re
from dataclasses import dataclass

from yarl import URL

from wikitopics.crawler.errors import BadSource, CrawlerError, TransientError
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.wire import Reply, RequestBounds, Wanted

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
