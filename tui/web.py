"""`watch --web`: a read-only screen for browsers on this computer; each has a `viewer` process of
its own."""

import asyncio
import contextlib
import hmac
import html
import json
import logging
import os
import re
import resource
import secrets
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from string import Template
from typing import Any

from aiohttp import web
from textual_serve.app_service import AppService
from textual_serve.server import Server, to_int

from wikitopics.session.errors import os_error_as
from wikitopics.session.escapes import visible
from wikitopics.session.paths import session_name
from wikitopics.session.signals import Signals

HOST = "127.0.0.1"
VIEWER = "wikitopics.tui.viewer"
"""The module that each viewer runs. The server itself does not load Textual."""
MOST_VIEWERS = 8
"""The maximum number of viewers at a time: each is a process of about 80 MB, or
190 MB once it has drawn the map of articles."""
MOST_CELLS = 1_000
"""The maximum number of columns or lines that a browser may ask for."""
HEARTBEAT = 15
"""Seconds between two checks that a browser still answers: its connection may hang."""
END_SECONDS = 0.5
"""Seconds that browsers have to notice that the server ends."""
REQUEST_SECONDS = 10.0
"""Seconds that a connection may take to send a whole request, the first one or the next."""
FEWEST_STRANGERS = 8
"""The minimum number of connections that may be open without having sent the token."""
MOST_STRANGERS = 128
"""Their maximum number."""
FILES_OF_VIEWERS = 40
"""Open files of the server itself and of `MOST_VIEWERS` viewers, for each of which it has a
connection and two pipes."""

_LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]+)?")
"""How a browser may name this computer. Any other name, even if it leads here, is another
site's."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; "
    # The page's own script, which makes the terminal fit the browser.
    "script-src 'self' 'sha256-RTnyC4lw2l+/QbqGPmhM+cxQYj20PyCPPgAF5xfYnNo='; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
_INHERITED = re.compile(
    "HOME|PATH|PYTHONPATH|TZ|NO_COLOR|WIKITOPICS_HOME|XDG_.*|COLUMNS|ROWS|TEXTUAL_(COLOR_SYSTEM|FPS)"
)
"""The environment of a viewer: where things are, and what `AppService` says of the browser."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


# Where the extra is not installed, its types are missing.
class ViewerProcess(AppService):  # type: ignore[misc]
    """The process behind one browser. It only reads, so it can be killed at any time."""

    is_light = False
    """Whether the browser's user prefers a light background."""

    async def _open_app_process(
        self, width: int = 80, height: int = 24
    ) -> asyncio.subprocess.Process:
        environment = self._build_environment(_cells(width), _cells(height))
        kept = {name: value for name, value in environment.items() if _INHERITED.fullmatch(name)}
        if self.is_light:
            kept["COLORFGBG"] = "0;15"  # as a terminal says that its background is white
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            VIEWER,
            self.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=kept | {"LC_ALL": "C.UTF-8"},
            start_new_session=True,  # Ctrl+C reaches the server only
        )
        # `AppService` would print what it reads here on standard output; the viewer has our
        # standard error.
        process.stderr = asyncio.StreamReader()
        process.stderr.feed_eof()
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        await super().run()
        await self.remote_close()  # whatever ended the viewer, the page says so

    async def on_meta(self, data: bytes) -> None:
        if json.loads(data)["type"] == "open_url":  # no file is ever delivered
            await super().on_meta(data)

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                # Asyncio's own `kill` may reap it unawares.
                os.kill(self._process.pid, signal.SIGKILL)
            await self._process.wait()

    async def set_terminal_size(self, width: int, height: int) -> None:
        await super().set_terminal_size(_cells(width), _cells(height))


def _cells(number: int) -> int:
    return max(1, min(int(number), MOST_CELLS))


class Screens(Server):  # type: ignore[misc]
    """Serves the page below ``/TOKEN/``, and everything that the page needs, to whoever knows the
    token."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.token = secrets.token_urlsafe(32)
        self._name = html.escape(visible(session_name(path)))
        self._viewers = set[ViewerProcess]()
        self.door = Door(strangers_allowed())

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard])
        app.router.add_get("/{token}/", self.handle_index)
        app.router.add_get(r"/{token}/ws{scheme:(?:/light)?}", self.handle_websocket)
        app.router.add_get(r"/{token}/{file:(?:js|css|fonts)/[\w-]+\.\w+}", self._handle_file)
        app.on_response_prepare.append(_protect)
        app.on_shutdown.append(self.on_shutdown)
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse everything from whoever does not know the token, and from the pages of other
        sites."""
        token, _, _ = request.path.strip("/").partition("/")
        knows_token = hmac.compare_digest(token.encode(errors="replace"), self.token.encode())
        ours = f"http://{request.host}"
        is_ours = request.headers.get("Origin", ours) == ours
        if not (knows_token and is_ours and _LOOPBACK.fullmatch(request.host)):
            refusal = web.HTTPForbidden(
                text="403: open the address that `wikitopics watch --web` printed"
            )
            refusal.force_close()
            raise refusal
        self.door.let_in(request.protocol)
        return await handler(request)

    async def handle_index(self, request: web.Request) -> web.Response:
        if self._full():
            return web.Response(
                status=503, text=f"{MOST_VIEWERS} browsers watch already: close one, then reload"
            )
        page = Template(Path(__file__).with_name("web.html").read_text(encoding="utf-8"))
        text = page.substitute(name=self._name, socket=f"ws://{request.host}/{self.token}/ws")
        return web.Response(text=text, content_type="text/html")

    def _full(self) -> bool:
        return len(self._viewers) >= MOST_VIEWERS

    async def _handle_file(self, request: web.Request) -> web.FileResponse:
        return web.FileResponse(self.statics_path / request.match_info["file"])

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        if self._full():
            raise web.HTTPServiceUnavailable
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT)
        service = ViewerProcess(
            self.command,
            write_bytes=websocket.send_bytes,
            write_str=websocket.send_str,
            close=websocket.close,
            download_manager=self.download_manager,
        )
        service.is_light = bool(request.match_info["scheme"])
        self._viewers.add(service)
        try:
            await websocket.prepare(request)
            width = to_int(request.query.get("width", ""), 80)
            height = to_int(request.query.get("height", ""), 80)
            await service.start(width, height)
            with contextlib.suppress(Exception):  # messages that our page would not send
                await self._process_messages(websocket, service)
        finally:
            await service.stop()
            self._viewers.discard(service)
        return websocket

    async def on_shutdown(self, app: web.Application) -> None:
        await asyncio.gather(*(service.stop() for service in self._viewers))


class Door:
    """The connections that have not shown the token yet. A new one closes the oldest of too many,
    so that no number of idle connections keeps out whoever has the token."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: list[web.RequestHandler] = []
        """The oldest first; one that is closed has no transport any more."""

    def open(self, server: Callable[[], web.RequestHandler]) -> asyncio.Protocol:
        """Handle a new connection to the server."""
        self._waiting = [waiting for waiting in self._waiting if waiting.transport is not None]
        while len(self._waiting) >= self._most:
            self._waiting.pop(0).force_close()
        connection = server()
        self._waiting.append(connection)
        return connection

    def let_in(self, connection: web.RequestHandler) -> None:
        """Count this connection no more: it has sent the token."""
        if connection in self._waiting:
            self._waiting.remove(connection)


def strangers_allowed() -> int:
    """The number of connections without the token for which there are open files, beside those of
    viewers."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_STRANGERS
    half_of_the_rest = (files - FILES_OF_VIEWERS) // 2
    return min(max(half_of_the_rest, FEWEST_STRANGERS), MOST_STRANGERS)


def _say_nothing(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Pass over failures of connections, such as one that no open file is left for: asyncio would
    print a traceback for each, and tries again by itself."""
    if not isinstance(context.get("exception"), OSError):
        loop.default_exception_handler(context)


async def _protect(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)


def serve(path: Path, port: int, signals: Signals, announce: Callable[[int, str], None]) -> None:
    """Serve screens on the session at ``path`` until one of the ``signals`` comes.

    ``port``: 0 for a free one. ``announce`` is given the port and the token. Raises `SessionError`
    if the port cannot be had.
    """
    with os_error_as(f"cannot serve on port {port} (without --port, a free one is used)"):
        listening = socket.create_server((HOST, port))

    async def serving() -> None:
        screens = Screens(path)
        end = asyncio.Event()
        log = logging.getLogger("textual-serve")
        log.disabled = True  # anybody's malformed requests would fill the terminal
        app = await screens._make_app()
        runner = web.AppRunner(
            app,
            access_log=None,
            logger=log,
            shutdown_timeout=END_SECONDS,
            keepalive_timeout=REQUEST_SECONDS,
            lingering_time=END_SECONDS,
        )
        await runner.setup()
        assert runner.server is not None
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_say_nothing)
        server = await loop.create_server(partial(screens.door.open, runner.server), sock=listening)
        announce(listening.getsockname()[1], screens.token)
        signals.tell(lambda _: end.set())
        await end.wait()
        # Where open files ran out, asyncio goes on trying to accept, on a socket closed by now.
        loop.set_exception_handler(lambda *_: None)
        server.close()
        await runner.cleanup()

    with listening:
        asyncio.run(serving())
