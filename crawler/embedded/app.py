"""The embedded wiki as an aiohttp application, including its faults."""

import asyncio
import json
import random
import time
import zlib
from email.utils import formatdate

from aiohttp import web

from wikitopics.crawler.embedded.api import ApiError, EmbeddedApi
from wikitopics.crawler.embedded.faults import ERRORS
from wikitopics.crawler.embedded.skin import render_page
from wikitopics.crawler.embedded.writing import page_address

ROBOTS = "User-agent: *\nDisallow: /w/\nDisallow: /wiki/Special:\nAllow: /w/load.php?\n"
_POLICY = "Please respect our robot policy https://w.wiki/4wJS when crawling us."


def make_app(api: EmbeddedApi, latency: float = 0.0) -> web.Application:
    """An application with `/w/api.php`, `/wiki/Title` and `/robots.txt`; ``latency``: seconds before each
    reply."""
    rng = random.Random(api.faults.seed)

    async def serve(request: web.Request) -> web.StreamResponse:
        if latency:
            await asyncio.sleep(latency)
        fault = api.faults.draw(rng)
        if fault is not None and fault in ERRORS:
            return _error_page(*ERRORS[fault])
        if request.path == "/w/api.php":
            body, content_type = _api_body(api, request, fault, rng), "application/json"
        else:
            response = _page(api, request)
            if not isinstance(response, bytes):
                return response
            body, content_type = response, "text/html"
        return await _send(request, body, content_type, fault, rng)

    app = web.Application()
    app.router.add_get("/w/api.php", serve)
    app.router.add_get("/wiki/{title:.*}", serve)
    app.router.add_get("/robots.txt", _robots)
    return app


def _error_page(status: int, retry_after: str | None) -> web.Response:
    headers = {"Retry-After": retry_after} if retry_after else {}
    if retry_after == "date":
        headers["Retry-After"] = formatdate(time.time() + 2, usegmt=True)
    text = _POLICY if status in (200, 403, 429) else "<html><h1>Our servers are under maintenance</h1></html>"
    return web.Response(status=status, text=text, headers=headers)


async def _robots(request: web.Request) -> web.Response:
    return web.Response(text=ROBOTS)


def _api_body(api: EmbeddedApi, request: web.Request, fault: str | None, rng: random.Random) -> bytes:
    """The reply as MediaWiki writes it: UTF-8, without spaces."""
    try:
        if fault == "maxlag" and "maxlag" in request.query:
            raise ApiError("maxlag", "Waiting for db1: 8.5 seconds lagged.")
        if fault == "readonly":
            raise ApiError("readonly", "The wiki is currently in read-only mode.")
        reply = api.answer(request.query, fault, rng)
    except ApiError as error:
        reply = error.reply
    return json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()


def _page(api: EmbeddedApi, request: web.Request) -> bytes | web.Response:
    typed = request.match_info["title"]
    title = typed.replace("_", " ")
    index = api.index_of_title(title)
    if index is None:
        return web.Response(
            status=404, text="<html>There is no article with this name.</html>", content_type="text/html"
        )
    if " " in typed:
        return web.Response(status=301, headers={"Location": page_address(title)})
    content = api.writer.html(api.articles.article(index))
    return render_page(title, *api.ids(index), content).encode()


async def _send(
    request: web.Request, body: bytes, content_type: str, fault: str | None, rng: random.Random
) -> web.StreamResponse:
    headers = {"Content-Type": f"{content_type}; charset=utf-8"}
    if fault == "maxlag":
        headers["Retry-After"] = "1"
    if fault == "json":
        body = (
            body[: rng.randrange(1, len(body))] if rng.random() < 0.5 else b'{"batchcomplete":true,}' + body
        )
    elif fault == "html":
        body, headers["Content-Type"] = b"<!DOCTYPE html><title>Wikimedia Error</title>", "text/html"
    elif fault == "charset":
        body = body.decode().encode("utf-16-le" if rng.random() < 0.5 else "cp037", "replace")
    elif fault == "gzip":
        return web.Response(
            body=b"\x1f\x8b" + rng.randbytes(3000), headers={**headers, "Content-Encoding": "gzip"}
        )
    if "gzip" in request.headers.get("Accept-Encoding", "") and len(body) > 1000:
        packer = zlib.compressobj(1, wbits=31)
        body = packer.compress(body) + packer.flush()
        headers["Content-Encoding"] = "gzip"
    if fault in ("endless", "stall", "reset"):
        return await _never_ends_well(request, body, headers, fault, rng)
    return web.Response(body=body, headers=headers)


async def _never_ends_well(
    request: web.Request, body: bytes, headers: dict[str, str], fault: str, rng: random.Random
) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    if fault == "reset" and rng.random() < 0.3:
        _cut(request)
        return response
    if fault == "endless":
        response.headers.pop("Content-Encoding", None)
    else:
        response.content_length = len(body)
    await response.prepare(request)
    try:
        if fault == "endless":
            while True:
                await response.write(b" " * 65536)
        await response.write(body[: rng.randrange(len(body))])
        if fault == "stall":
            await asyncio.sleep(3600)
        _cut(request)
    except ConnectionError:
        pass  # the client has closed the connection
    return response


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
