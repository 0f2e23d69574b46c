"""A little server of dumps on this machine: ranges, listings of folders, and faults on request."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.test_utils import TestServer

from benchmarks.served import serving as in_a_thread

Act = Callable[[web.Request, bytes], Awaitable[web.StreamResponse | None]]
"""What may answer a request for a file in place of the server; None leaves it to the server."""


@dataclass
class DumpServer:
    """Files by their paths, which begin with "/"."""

    files: dict[str, bytes]
    acts: list[Act | None] = field(default_factory=list)
    """For the first requests, one each; None: a usual reply."""
    always: Act | None = None
    """For all requests."""
    asked: list[web.Request] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    sent: int = 0
    url: str = ""

    def app(self):
        app = web.Application()
        app.router.add_get("/{path:.*}", self.answer)
        return app

    async def answer(self, request):
        self.asked.append(request)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            act = self.acts.pop(0) if self.acts else self.always
            response = None
            if act is not None:
                response = await act(request, self.files.get(request.path, b""))
            return response or self.usual(request)
        finally:
            self.under_way -= 1

    def usual(self, request):
        data = self.files.get(request.path)
        if data is None:
            return self._listing(request.path)
        etag = etag_of(data)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
        if asked is None or request.headers.get("If-Range", etag) != etag:
            return web.Response(body=data, headers={"ETag": etag})
        start = int(asked[1])
        stop = min(int(asked[2]) + 1, len(data))
        if start >= stop:
            return web.Response(status=416, headers={"Content-Range": f"bytes */{len(data)}"})
        self.sent += stop - start
        return part(data, start, stop)

    def _listing(self, folder):
        if not folder.endswith("/"):
            return web.Response(status=404)
        names = set()
        for path in self.files:
            if path.startswith(folder):
                name, slash, _ = path.removeprefix(folder).partition("/")
                names.add(name + slash)
        lines = [
            f'<a href="{name}">{name}</a>  01-Nov-2026 00:00   123\n' for name in sorted(names)
        ]
        text = f"<pre>{''.join(lines)}</pre>"
        status = 200 if names else 404
        return web.Response(status=status, text=text, content_type="text/html")


def etag_of(data):
    return f'"{hashlib.sha256(data).hexdigest()[:16]}"'


def part(data, start, stop, **headers):
    """A range, as it should be; ``headers`` in place of the usual ones."""
    usual = {"Content-Range": f"bytes {start}-{stop - 1}/{len(data)}", "ETag": etag_of(data)}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(status=206, body=data[start:stop], headers={**usual, **named})


def range_of(request):
    """(start, stop) of the bytes that are asked for."""
    start, last = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers["Range"]).groups()
    return int(start), int(last) + 1


def says(status, text="", content_type="text/plain", **headers):
    """An act: this status with this text; a wiki's acts are given no file."""

    async def act(request, data=None):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=text, content_type=content_type, headers=named)

    return act


@asynccontextmanager
async def serving(files):
    """A server of these files on loopback."""
    made = DumpServer(files)
    server = TestServer(made.app())
    await server.start_server(shutdown_timeout=0.1)
    made.url = str(server.make_url("")).rstrip("/")
    try:
        yield made
    finally:
        await server.close()


def new_layout(wiki, date, files, complete=True):
    """A content dump as it lies on the server; ``files`` by their pages, as in "p1p100"."""
    folder = f"/other/mediawiki_content_current/{wiki}/{date}/xml/bzip2/"
    found = {f"{folder}{wiki}-{date}-{pages}.xml.bz2": data for pages, data in files.items()}
    if complete:
        found[f"{folder}SHA256SUMS"] = b"x"
        found[f"{folder}_SUCCESS"] = b""
    return found


def old_layout(wiki, date, data, status="done"):
    """A classic dump as it lies on the server."""
    folder = f"/{wiki}/{date}/"
    name = f"{wiki}-{date}-pages-articles-multistream.xml.bz2"
    job = {"status": status, "files": {name: {"size": len(data)}}}
    dump_status = {"jobs": {"articlesmultistreamdump": job}}
    return {
        folder + name: data,
        folder + "dumpstatus.json": json.dumps(dump_status).encode(),
    }


@contextmanager
def served(files):
    """A server of these files in a thread, for commands and other processes."""
    made = DumpServer(files)
    with in_a_thread(made.app()) as address:
        made.url = address.removesuffix("/w/api.php")
        yield made


SMALL = {
    "unpacking._READ": 1000,
    "dumps.bzip2._READ": 1000,
    "dumps.containers._READ": 1000,
    "dumps.parts.BEYOND": 500,
    "dumps.remote.BEYOND": 500,
    "dumps.shuffled._COUNTED": 300,
    "http.ranges.FIRST": 800,
    "http.ranges.MOST_CACHED": 3000,
    "http.ranges.SMALLEST": 1000,
    "http.ranges.LARGEST": 8000,
}
"""Sizes that a small dump can fill, by their names in `crawler`."""
