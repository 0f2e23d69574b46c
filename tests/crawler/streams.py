"""A stream of changes that plays scripts, and what a source hears of it."""

import asyncio
import json

from aiohttp import web

from tests.corpora import synthetic_corpus
from wikitopics.crawler.embedded.corpus import SampleArticles

ARTICLES = SampleArticles(synthetic_corpus(60), 100)


def event(number, **fields):
    change = {
        "meta": {"domain": "127.0.0.1"},
        "namespace": 0,
        "type": "edit",
        "title": ARTICLES.title(number),
    }
    change |= fields
    return f'event: message\nid: [{{"offset":{number}}}]\ndata: {json.dumps(change)}\n\n'.encode()


class Stream:
    """Plays one script a connection: bytes, a status, or a function; then keeps the connection open."""

    def __init__(self, *scripts, encoding="identity"):
        self.scripts = list(scripts)
        self.encoding = encoding
        self.asked = []

    async def __call__(self, request):
        if request.path != "/w/stream":
            return None
        self.asked.append(request.headers.get("Last-Event-ID"))
        script = self.scripts.pop(0) if self.scripts else b":ok\n\n"
        if isinstance(script, int):
            return web.Response(status=script, headers={"Retry-After": "3"}, text="no")
        headers = {"Content-Type": "text/event-stream", "Content-Encoding": self.encoding}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        if callable(script):
            await script(request, response)
        else:
            step = max(100, len(script) // 100)
            for at in range(0, len(script), step):
                await response.write(script[at : at + step])
        if not self.scripts:
            await asyncio.sleep(3600)
        return response


def ids(batches):
    return [page.page_id - 1 for batch in batches for page in batch.pages]
