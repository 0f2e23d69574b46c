"""A small Wikipedia on loopback, for the demo and for tests.

It runs in a child process, and the same client that crawls Wikipedia crawls it.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from wikitopics.crawler.errors import WikiUnreachable
from wikitopics.crawler.licence import SAMPLE, Licence
from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.source import Activity, Asked, Identity, PageKind, Position
from wikitopics.option import Option
from wikitopics.processes import start_python

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from wikitopics.crawler.mediawiki.api import ApiSource
    from wikitopics.crawler.source import PageBatch, Source

WIKI_SIZE = Option(
    int,
    "wiki_size",
    "Articles in the embedded wiki (default: its 20,000 texts, each once). Beyond those, it adds "
    "copies resampled from their words.",
    metavar="N",
    least=1,
    most=10**12,
)
PACE = Option(
    float,
    "pace",
    "Spread the articles over about S seconds so that people can follow (default: 90 on the "
    "screen, where f ends it; 0 with --headless).",
    metavar="S",
    least=0,
    most=10**9,
    scope="outside",
)
MOST_SLEPT = 0.1
"""The most seconds after which a change of the pace is noticed."""
SLOW_START = 2 / 3
"""A share s of the articles takes the share s to this power of the time: topics form early, so the
first articles come more slowly than later ones."""


class Demo(PageKind):
    """A wiki of this many articles, served by this machine to itself."""

    name = "demo"
    label = "The embedded sample: no network, no settings"
    options = (WIKI_SIZE, PACE)
    presets: ClassVar = {"topics": "50", "batch_size": "256", "held_out": 200}
    command = "demo"
    on_screen = (PACE.flag, "90")
    asks_server = True
    has_replicas = True
    remark = (
        "real word counts of 20,000 articles, served by this machine to itself; nothing comes from "
        "the internet"
    )

    def identity(self, asked: Asked) -> Identity:
        from wikitopics.crawler.embedded.corpus import SAMPLE_ARTICLES

        enough = (asked.articles or 0) + (asked.held_out or 0)
        return {WIKI_SIZE.name: asked.get(WIKI_SIZE) or max(SAMPLE_ARTICLES, enough)}

    def fault(self, identity: Identity) -> str:
        size = identity.get(WIKI_SIZE.name)
        if type(size) is not int or size < 1:
            return f"{WIKI_SIZE.name} is not a number of articles"
        return ""

    def wiki(self, identity: Identity) -> str:
        """The same for all sizes: a larger wiki has the same articles, and more."""
        return self.name

    def licence(self, identity: Identity) -> Licence:
        """The sample's licence."""
        return SAMPLE

    def open(self, identity: Identity, asked: Asked) -> Source:
        return DemoSource(asked.version, identity[WIKI_SIZE.name], asked.get(PACE) or 0.0)

    def shown(self, source_name: str) -> str:
        return "embedded sample (demo)"


class EmbeddedWiki:
    """A running embedded wiki; it ends with `stop`, or with this process, however that ends.

    ``options`` are those of `python -m wikitopics.crawler.embedded`, for instance ``["--size",
    "3000"]``. Raises `WikiUnreachable` if it does not start.
    """

    module = "wikitopics.crawler.embedded"

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._process = start_python(
            self.module,
            options,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        if not line.startswith("http://"):
            self.stop()
            raise WikiUnreachable("the embedded wiki did not start")
        self.url = line
        """Its api.php."""

    def stop(self) -> None:
        """End it and wait for that; safe to call twice."""
        with self._process:  # closes its pipes, and waits
            self._process.kill()  # it has nothing to save


class DemoSource:
    """A wiki of ``size`` articles in a separate process, which ends with `close` or with this
    process.

    Wikis of the same size are the same, whatever port they listen on, so positions remain valid.
    The same articles come in the same order at any pace.
    """

    def __init__(self, version: str, size: int, pace: float) -> None:
        self.activity = Activity()
        self._pace = pace
        self._options = ["--size", str(size)]
        self._version = version
        self._wiki: EmbeddedWiki | None = None
        self._source: ApiSource | None = None

    async def open(self) -> SourceInfo:
        """Start the wiki and ask it for its siteinfo."""
        from wikitopics.crawler.mediawiki.api import ApiSource
        from wikitopics.crawler.mediawiki.wiki import Wiki

        if self._source is None:
            self._wiki = await asyncio.to_thread(EmbeddedWiki, self._options)
            self._source = ApiSource(Wiki(self._wiki.url, version=self._version))
            self.activity = self._source.activity
            self.activity.pace = self._pace
        # The port will be a different one next time, so it is not stored.
        return replace(await self._source.open(), name="embedded sample", identity={})

    async def batches(self, position: Position | None) -> AsyncGenerator[PageBatch]:
        """The lap through the wiki, as for any wiki; call `open` first."""
        assert self._source is not None
        share_before = 1.0  # of the time: the first batch of a run need not wait
        async with contextlib.aclosing(self._source.batches(position)) as batches:
            async for batch in batches:
                share = (batch.lap or 0.0) ** SLOW_START
                due = time.monotonic() + self.activity.pace * (share - share_before)
                share_before = share
                while self.activity.pace:
                    left = due - time.monotonic()
                    if left <= 0:
                        break
                    await asyncio.sleep(min(left, MOST_SLEPT))
                yield batch

    async def close(self) -> None:
        if self._source is not None:
            await self._source.close()
        if self._wiki is not None:
            await asyncio.to_thread(self._wiki.stop)
