"""The embedded wiki in a thread of this process, so that its faults and requests can be counted."""

import asyncio
import contextlib
import random
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from aiohttp import web

from tests.wiki import Faults


@dataclass(frozen=True)
class CountedFaults(Faults):
    """Faults that count themselves."""

    injected: Counter[str] = field(default_factory=Counter)

    def draw(self, rng: random.Random) -> str | None:
        kind = super().draw(rng)
        if kind is not None:
            self.injected[kind] += 1
        return kind


@contextlib.contextmanager
def serving(app: web.Application) -> Iterator[str]:
    """An embedded wiki on loopback, in a thread of this process; gives its address."""
    loop = asyncio.new_event_loop()
    started = threading.Event()
    urls: list[str] = []

    def serve() -> None:
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        loop.run_until_complete(runner.setup())
        loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        port = runner.addresses[0][1]
        urls.append(f"http://127.0.0.1:{port}/w/api.php")
        started.set()
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    started.wait()
    try:
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
