"""A clock that costs no time, and a little wiki that misbehaves on request."""

import asyncio
import json
import math
from types import SimpleNamespace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from benchmarks import data
from tests.crawler import remote
from tests.crawler.dump_server import says, serving
from tests.wiki import make_app
from wikitopics.crawler.http.pace import Clock
from wikitopics.crawler.mediawiki.api import ApiSource
from wikitopics.crawler.mediawiki.wiki import Wiki


class FakeClock(Clock):
    """Sleeping takes no time but moves the clock."""

    def __init__(self):
        self.now = 1000.0
        self.wall_offset = 1.7e9
        self.slept = []

    def monotonic(self):
        return self.now

    def wall(self):
        return self.now + self.wall_offset

    async def sleep(self, seconds):
        assert seconds >= 0
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class ScriptedWiki:
    """Answers the first requests by ``script``, one act each, and then as a wiki of ``pages`` does.

    Its cursor is MediaWiki's: pages stand in a fixed order, from a ``page_random`` of 0.05 to one
    of 0.95.
    """

    def __init__(self):
        self.script = []
        self.pages = []
        for number in range(1, 8):
            page = {
                "pageid": number,
                "ns": 0,
                "title": f"Page {number}",
                "text": f"text of page {number}",
            }
            self.pages.append(page)
        self.requests = []
        self.url = ""

    async def answer(self, request):
        self.requests.append(request)
        if self.script:
            return await self.script.pop(0)(request)
        return web.json_response(self.reply(dict(request.query)))

    def reply(self, query):
        if query.get("meta") == "siteinfo":
            return siteinfo(len(self.pages))
        if "pageids" in query:
            ids = set(map(int, query["pageids"].split("|")))
            chosen = [self.entry(page) for page in self.pages if page["pageid"] in ids]
            return {"batchcomplete": True, "query": {"pages": chosen}}
        limit = int(query["grnlimit"])
        start = 0
        if "grncontinue" in query:
            _, _, page_id, _ = query["grncontinue"].split("|")
            start = int(page_id) - 1
        chosen = self.pages[start : start + limit]
        reply = {"batchcomplete": True}
        if chosen:
            with_text = "prop" in query
            reply["query"] = {"pages": [self.entry(page, with_text) for page in chosen]}
        if start + limit < len(self.pages):
            reply["continue"] = self.cursor(start + limit)
        return reply

    def cursor(self, index):
        """The continuation at the page with this index."""
        page_random = round((0.05 + index / len(self.pages) * 0.9) * 1e6)
        return {
            "grncontinue": f"0.05|0.{page_random:06d}|{index + 1}|0",
            "continue": "grncontinue||",
        }

    def entry(self, page, with_text=True):
        """A page as a reply has it."""
        entry = {key: value for key, value in page.items() if key not in ("text", "revisions")}
        if with_text and "text" in page:
            entry["revisions"] = [revision(page["pageid"] + 100, page["text"])]
        return entry


def revision(revision_id, text):
    return {"revid": revision_id, "slots": {"main": {"contentmodel": "wikitext", "content": text}}}


def siteinfo(articles):
    """A wiki's reply about itself."""
    query = {
        "general": {"generator": "MediaWiki 1.39.17", "lang": "de", "articlepath": "/wiki/$1"},
        "statistics": {"articles": articles},
        "namespaces": {
            "6": {"id": 6, "name": "Datei", "canonical": "File"},
            "14": {"id": 14, "name": "Kategorie", "canonical": "Category"},
        },
        "namespacealiases": [{"id": 6, "alias": "Bild"}],
    }
    return {"batchcomplete": True, "query": query}


def says_json(value, **headers):
    """An act: this JSON under status 200."""
    return says(200, json.dumps(value), "application/json", **headers)


@pytest.fixture(autouse=True)
def batches_by_size_alone(monkeypatch):
    """The batches of a file end where they are full, not where the machine was busy for a
    second."""
    monkeypatch.setattr("wikitopics.crawler.file_source._SECONDS_A_BATCH", math.inf)


@pytest.fixture(scope="session")
def articles():
    """400 real ones of wikitext, each with its title and text."""
    return [*data.articles("wikitext/articles-400.jsonl.xz")]


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
async def wiki():
    scripted = ScriptedWiki()
    app = web.Application()
    app.router.add_get("/w/api.php", scripted.answer)
    server = TestServer(app)
    await server.start_server(shutdown_timeout=0.1)
    scripted.url = str(server.make_url("/w/api.php"))
    yield scripted
    await server.close()


@pytest.fixture
async def server():
    """A server with one small dump."""
    async with serving({remote.PATH: remote.DATA}) as made:
        yield made


@pytest.fixture
def source(wiki, clock):
    """Makes a source that reads the scripted wiki, or the one at ``url``."""

    def make(url=None, *, batch_pages=3, **options):
        opened = Wiki(url or wiki.url, version="0", clock=clock, **options)
        return ApiSource(opened, batch_pages)

    return make


@pytest.fixture
def read():
    """Reads a source to its end and closes it: ``await read(source, position)``."""

    async def batches(source, position=None):
        try:
            return [batch async for batch in source.batches(position)]
        finally:
            await source.close()

    return batches


@pytest.fixture
def crawled(wiki, source, read):
    """Opens a source and reads it while the wiki answers by ``script``: (batches, source)."""

    async def crawled(*script, position=None, **options):
        opened = source(**options)
        await opened.open()
        wiki.script = list(script)
        return await read(opened, position), opened

    return crawled


@pytest.fixture
def acts():
    """The makers of acts."""
    return SimpleNamespace(text=says, json=says_json, siteinfo=siteinfo, revision=revision)


@pytest.fixture
async def serve():
    """Serves an EmbeddedApi; ``override`` may answer first, ``on_change`` hears +1 and -1."""
    servers = []

    async def start(api, latency=0.0, override=None, on_change=lambda by: None):
        @web.middleware
        async def watch(request, handler):
            on_change(1)
            try:
                answer = None
                if override is not None:
                    answer = await override(request)
                if answer is None:
                    answer = await handler(request)
                return answer
            finally:
                on_change(-1)

        app = make_app(api, latency=latency)
        app.middlewares.append(watch)
        server = TestServer(app)
        server.skip_url_asserts = True
        await server.start_server(shutdown_timeout=0.1)
        servers.append(server)
        return str(server.make_url("/w/api.php"))

    yield start
    for server in servers:
        await server.close()
