"""The crawler, with the embedded wiki in a process of its own on loopback.

`api`, `html`: 8 kB of wikitext an article, no cap on requests, to word counts in a process pool as
in training. `waits_*`: a wiki whose replies take this long, under Wikimedia's rules; requests are
counted as they arrive there.
"""

import asyncio
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from functools import partial
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from benchmarks import processes
from benchmarks.harness import Experiment, Figures
from benchmarks.served import serving
from tests.wiki import FaultyApi, PagesWiki, SizedArticles, make_app
from wikitopics.crawler.embedded.corpus import load_sample
from wikitopics.crawler.http.rules import wikimedia_limits
from wikitopics.crawler.mediawiki.api import ApiSource
from wikitopics.crawler.mediawiki.html import HtmlSource
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.source import Source
from wikitopics.session.training.blocks import Intake
from wikitopics.session.training.jobs import counting_workers
from wikitopics.vocab import Vocabulary

EXPERIMENT = Experiment(
    "crawl", "articles an hour and requests a minute of the crawler", data="none"
)
SECONDS = 75.0
"""Seconds at a slow wiki: more than a minute, since its budget is for a minute."""
WINDOW = 60.0
BUDGET = 200
"""Requests that the rules allow in so many seconds."""


# -- throughput ------------------------------------------------------------------


async def crawl_and_count(source: Source, articles: int, wiki: int) -> Figures:
    """Articles counted in a second, and in a CPU second not counting the wiki's.

    wiki: its process id. Time is taken from the end of the first block on, when all workers of the
    pool have started.
    """

    def cpu() -> float:
        # The pool's workers are children of our fork server.
        ours = [pid for pid in processes.family(os.getpid()) if pid != wiki]
        return processes.cpu_seconds(ours)

    words = Vocabulary.load("english").words
    workers = min(os.cpu_count() or 1, 8)
    info = await source.open()
    feed = Intake(source, counting_workers(words, info, workers))
    feed.start(None)
    try:
        await feed.next()
        counted = 0
        begun = time.monotonic()
        cpu_before = cpu()
        while counted < articles:
            block = await feed.next()
            if block is None:
                break
            counted += len(block)
        return {
            "articles": counted,
            "per_second": counted / (time.monotonic() - begun),
            "per_cpu_second": counted / (cpu() - cpu_before),
        }
    finally:
        await feed.close()


def _throughput(make: Callable[[Wiki], Source], articles: int) -> Figures:
    process = PagesWiki(["--size", "1000000", "--article-bytes", "8000"])
    try:
        source = make(Wiki(process.url, version="0"))
        return asyncio.run(crawl_and_count(source, articles, process.pid))
    finally:
        process.stop()


EXPERIMENT.add("api", partial(_throughput, ApiSource, 10_000))
EXPERIMENT.add("html", partial(_throughput, HtmlSource, 2_000))


# -- Wikimedia's rules -----------------------------------------------------------


async def _crawl(url: str, folder: Path, seconds: float) -> int:
    wiki = Wiki(
        url,
        version="0",
        contact="someone@wiki-reader.org",
        limits=wikimedia_limits(),
        budget_folder=folder,
    )
    source = ApiSource(wiki)
    articles = 0
    try:
        async with asyncio.timeout(seconds), aclosing(source.batches(None)) as batches:
            async for batch in batches:
                articles += len(batch.pages)
    except TimeoutError:
        pass
    finally:
        await source.close()
    return articles


def crawled(url: str, folder: Path, seconds: float) -> int:
    """How many articles one trainer crawls in this many seconds; trainers share their budget
    through the folder."""
    return asyncio.run(_crawl(url, folder, seconds))


def simulate(latency: float, page_latency: float, trainers: int) -> Figures:
    """Trainers at a wiki whose replies take this many seconds, and this many more for each page in
    them."""
    times: list[float] = []
    """When each request arrived."""
    pages_asked: list[int] = []
    """How many pages it asked for."""

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        pages = int(request.query.get("grnlimit", "0"))
        times.append(time.monotonic())
        pages_asked.append(pages)
        if "revisions" in request.query.get("prop", ""):
            await asyncio.sleep(page_latency * pages)
        return await handler(request)

    # Short articles, since the waiting is measured here.
    api = FaultyApi(SizedArticles(load_sample(), 10_000_000, 0, 30))
    app = make_app(api, latency)
    app.middlewares.append(note)
    with (
        serving(app) as url,
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(trainers, multiprocessing.get_context("spawn")) as pool,
    ):
        run = partial(crawled, url, Path(folder))
        articles = sum(pool.map(run, [SECONDS] * trainers))
    busiest = 0
    for begin in times:
        in_window = [moment for moment in times if begin <= moment < begin + WINDOW]
        busiest = max(busiest, len(in_window))
    assert busiest <= BUDGET, f"{busiest} requests in a minute"
    second_half = pages_asked[len(pages_asked) // 2 :]
    sizes = [pages for pages in second_half if pages > 0]
    return {
        "trainers": trainers,
        "articles_an_hour": round(articles * 3600 / SECONDS),
        "most_requests_in_a_minute": busiest,
        "pages_a_request": sum(sizes) / max(1, len(sizes)),
    }


for _name, _latency, _page_latency, _trainers in (
    ("waits_250ms", 0.25, 0.0, 1),
    ("waits_600ms", 0.6, 0.0, 1),
    ("waits_1500ms", 1.5, 0.0, 1),
    ("waits_for_pages", 0.2, 0.026, 1),
    ("waits_250ms_three", 0.25, 0.0, 3),
):
    _measure = partial(simulate, _latency, _page_latency, _trainers)
    EXPERIMENT.add(_name, _measure)
