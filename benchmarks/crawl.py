"""How fast and how politely the crawler crawls. Figures in docs come from here.

    python benchmarks/crawl.py throughput [--articles N]
    python benchmarks/crawl.py wikimedia [--seconds S]
    python benchmarks/crawl.py memory [--articles N]

`throughput`: the embedded wiki in a process of its own on loopback, 8 kB wikitext an article, no cap,
articles to word counts in a process pool as in training. `wikimedia`: a wiki whose replies take 0.25,
0.6 and 1.5 s, treated by Wikimedia's rules; what is counted is what arrived there. `memory`: resident
memory of the crawling process over many articles.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from contextlib import aclosing
from pathlib import Path

from aiohttp import web

from crawler.embedded.api import EmbeddedApi
from crawler.embedded.app import make_app
from crawler.embedded.corpus import Articles, synthetic_corpus
from crawler.embedded.launch import EmbeddedWiki
from crawler.limits import wikimedia_manners
from crawler.source import Source
from crawler.sources.api import ApiSource
from crawler.sources.html import HtmlSource
from crawler.wiki import Wiki
from session.training.intake.crawl import CrawledBlocks
from vocab import Vocabulary

WINDOW = 60.0
BUDGET = 200


def cpu_seconds(without: int) -> float:
    """CPU seconds of this process and all below it (the pool is our fork server's), but for one."""
    ticks, total, below = os.sysconf("SC_CLK_TCK"), 0.0, {os.getpid()}
    parents: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # gone meanwhile
            parents[int(entry.name)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / ticks
    grown = True
    while grown:
        more = {pid for pid, (parent, _) in parents.items() if parent in below and pid != without}
        grown = not more <= below
        below |= more
    for pid in below:
        total += parents[pid][1] if pid in parents else 0.0
    return total


# -- throughput ------------------------------------------------------------------


async def crawl_and_count(source: Source, articles: int, wiki: int) -> tuple[int, float, float]:
    """Articles counted, seconds and CPU seconds for them, the start of the pool left out."""
    feed = CrawledBlocks(source, await source.open(), Vocabulary.load("english").words)
    feed.start(None)
    counted, begin, cpu = -1, 0.0, 0.0
    try:
        while counted < articles and (block := await feed.next()) is not None:
            if counted < 0:
                counted, begin, cpu = 0, time.monotonic(), cpu_seconds(wiki)
                continue
            counted += len(block.documents.page_ids)
        return counted, time.monotonic() - begin, cpu_seconds(wiki) - cpu
    finally:
        await feed.close()


def throughput(articles: int) -> None:
    print("| source | articles | articles/s | articles per CPU second, the wiki's own left out |")
    print("|---|---|---|---|")
    for name, make, share in (("api", ApiSource, 1.0), ("html", HtmlSource, 0.2)):
        wiki = EmbeddedWiki(["--article-bytes", "8000"])
        try:
            source = make(Wiki(wiki.url, version="0"))
            counted, seconds, cpu = asyncio.run(crawl_and_count(source, int(articles * share), wiki.pid))
        finally:
            wiki.stop()
        print(f"| {name} | {counted} | {counted / seconds:.0f} | {counted / cpu:.0f} |")


# -- Wikimedia's rules -----------------------------------------------------------


async def trainer(url: str, folder: Path, seconds: float) -> int:
    """What one trainer crawls in so many seconds."""
    wiki = Wiki(
        url,
        version="0",
        contact="someone@wiki-reader.org",
        manners=wikimedia_manners(),
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


async def simulate(latency: float, page_latency: float, trainers: int, seconds: float) -> None:
    arrivals: list[tuple[float, int]] = []

    def note(request: web.Request) -> None:
        arrivals.append((time.monotonic(), int(request.query.get("grnlimit", "0"))))

    # Short articles: it is the waiting that is measured here.
    api = EmbeddedApi(Articles(synthetic_corpus(), 10_000_000, 0, 30))
    runner = web.AppRunner(
        make_app(api, latency=latency, page_latency=page_latency, on_request=note),
        access_log=None,
        shutdown_timeout=0.5,
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/w/api.php"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "trainer", "--url", url, "--folder", folder]
        children = [
            await asyncio.create_subprocess_exec(
                *command, "--seconds", str(seconds), stdout=asyncio.subprocess.PIPE
            )
            for _ in range(trainers)
        ]
        outputs = await asyncio.gather(*(child.communicate() for child in children))
        articles = sum(int(output) for output, _ in outputs)
    await runner.cleanup()
    times = [moment for moment, _ in arrivals]
    busiest = max(sum(begin <= t < begin + WINDOW for t in times) for begin in times)
    sizes = [pages for _, pages in arrivals[len(arrivals) // 2 :] if pages]
    model = f"{latency:g} s" + (f" + {1000 * page_latency:g} ms a page" if page_latency else "")
    print(
        f"| {model} | {trainers} | {articles * 3600 / seconds:,.0f} | {busiest} of {BUDGET} "
        f"| {sum(sizes) / max(1, len(sizes)):.0f} |",
        flush=True,
    )
    assert busiest <= BUDGET, "over the budget"


def wikimedia(seconds: float) -> None:
    print("| replies take | trainers | articles an hour | most requests in a minute | pages a request |")
    print("|---|---|---|---|---|")
    for latency, page_latency, trainers in (
        (0.25, 0.0, 1),
        (0.6, 0.0, 1),
        (1.5, 0.0, 1),
        (0.2, 0.026, 1),
        (0.25, 0.0, 3),
        (0.05, 0.0, 3),
    ):
        asyncio.run(simulate(latency, page_latency, trainers, seconds))


# -- memory ----------------------------------------------------------------------


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def watch_memory(url: str, articles: int) -> None:
    source = ApiSource(Wiki(url, version="0"))
    read, step = 0, articles // 10
    print("| articles | resident MB |\n|---|---|")
    async with aclosing(source.batches(None)) as batches:
        async for batch in batches:
            read += len(batch.pages)
            if read % step < len(batch.pages):
                print(f"| {read} | {resident_mb():.1f} |", flush=True)
            if read >= articles:
                break
    await source.close()


def memory(articles: int) -> None:
    wiki = EmbeddedWiki(["--article-bytes", "8000"])
    try:
        asyncio.run(watch_memory(wiki.url, articles))
    finally:
        wiki.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("throughput", "wikimedia", "memory", "trainer"))
    parser.add_argument("--articles", type=int)
    parser.add_argument("--seconds", type=float, default=75.0)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.what == "throughput":
        throughput(options.articles or 10_000)
    elif options.what == "wikimedia":
        wikimedia(options.seconds)
    elif options.what == "memory":
        memory(options.articles or 100_000)
    else:
        print(asyncio.run(trainer(options.url, options.folder, options.seconds)))


if __name__ == "__main__":
    main()
