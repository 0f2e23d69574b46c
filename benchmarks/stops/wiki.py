"""The embedded wiki in a thread of this process, so that its faults can be counted."""

import asyncio
import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from aiohttp import web

from wikitopics.crawler.embedded.api import EmbeddedApi
from wikitopics.crawler.embedded.app import make_app
from wikitopics.crawler.embedded.corpus import Articles
from wikitopics.crawler.embedded.faults import PAGE_KINDS, Faults
from wikitopics.crawler.embedded.sample import load_sample


@dataclass(frozen=True)
class CountedFaults(Faults):
    """Faults that count themselves."""

    injected: Counter[str] = field(default_factory=Counter)

    def draw(self, rng: random.Random) -> str | None:
        kind = super().draw(rng)
        if kind is not None:
            self.injected[kind] += 1
        return kind


class FaultyWiki:
    """A wiki of ``size`` articles on loopback until `stop`."""

    def __init__(self, size: int, faults: str, latency: float) -> None:
        corpus = load_sample()
        self.faults = CountedFaults(Faults.parse(faults).rates)
        self.bad_pages = {kind: sum(self.faults.hits(kind, i) for i in range(size)) for kind in PAGE_KINDS}
        self._api = EmbeddedApi(Articles(corpus, size, 0, None), faults=self.faults)
        self._latency = latency
        self._loop = asyncio.new_event_loop()
        self._serving = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self._serving.wait()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        runner = web.AppRunner(make_app(self._api, latency=self._latency), access_log=None)
        self._loop.run_until_complete(runner.setup())
        self._loop.run_until_complete(web.TCPSite(runner, "127.0.0.1", 0).start())
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/w/api.php"
        self._serving.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()
