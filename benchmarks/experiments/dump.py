"""How fast a dump becomes word counts: MB of XML a second.

`multistream`: articles of the embedded sample, written out as 8 kB of wikitext each, packed as
Wikimedia packs its dumps (a bzip2 stream for every 100 pages), read as in training, start included,
by a worker a core; the median of three.

`disk` and `http`: 6,000 articles of 32 kB, 400 real ones over and over, 20 times, as files and from
a server on loopback, and the memory of all processes of the trainer (proportional set size): the
most until a third was read, and until the end.
"""

import asyncio
import bz2
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.data import articles as real_articles
from benchmarks.harness import Experiment, Figures
from benchmarks.measuring import timed
from benchmarks.processes import family, memory_mb
from benchmarks.range_server import serving
from tests.wiki import SizedArticles, words_for_bytes
from wikitopics.crawler.dumps.kind import Dump
from wikitopics.crawler.embedded.corpus import Writer, load_sample
from wikitopics.crawler.source import Asked
from wikitopics.session.training.opening import open_source
from wikitopics.vocab import Vocabulary

EXPERIMENT = Experiment(
    "dump", "how fast a dump becomes word counts", data="wikitext for disk, http"
)
ARTICLES = 10_000
LONG = 6_000
REPEATS = 3
COPIES = 20
HEAD = (
    '<mediawiki><siteinfo><namespaces><namespace key="6">File</namespace></namespaces></siteinfo>\n'
)
Packing = Callable[[bytes], bytes]


def pages(articles: int) -> Iterator[str]:
    """The pages of the dump as XML, 100 at a time."""
    corpus = load_sample()
    made = SizedArticles(corpus, articles, 0, words_for_bytes(corpus, 8000))
    writer = Writer(corpus.words)
    return xml(articles, made.title, lambda i: writer.wikitext(made.article(i)))


def long_pages() -> Iterator[str]:
    """Real articles, the same again and again under other names, 100 at a time."""
    texts = [article["text"] for article in real_articles("wikitext/articles-400.jsonl.xz")]
    return xml(LONG, "Article {}".format, lambda i: texts[i % len(texts)])


def xml(articles: int, title: Callable[[int], str], text: Callable[[int], str]) -> Iterator[str]:
    """Pages of their titles and texts, 100 at a time; both are asked for by number."""

    def page(i: int) -> str:
        return (
            f"<page><title>{escape(title(i))}</title><ns>0</ns><id>{i + 1}</id><revision>"
            f"<id>{i + 1}</id><contributor><username>x</username></contributor>"
            "<model>wikitext</model>"
            f"<text>{escape(text(i))}</text></revision></page>\n"
        )

    for start in range(0, articles, 100):
        stop = min(start + 100, articles)
        yield "".join(map(page, range(start, stop)))


def write(path: Path, pages: Iterator[str], pack: Packing, *, each: bool) -> float:
    """Pack the whole as one, or every piece by itself; returns the megabytes of XML."""
    pieces = [HEAD.encode(), *(piece.encode() for piece in pages), b"</mediawiki>\n"]
    packed = b"".join(map(pack, pieces)) if each else pack(b"".join(pieces))
    path.write_bytes(packed)
    return sum(map(len, pieces)) / 1e6


async def opened(names: Sequence[str], vocabulary: Vocabulary, cluster: str | None = None) -> Any:
    """A feed of the articles of these files, counted here or by a cluster."""
    asked = Asked({"dump": tuple(names)}, seed=0)
    kind = Dump()
    source = await open_source(
        kind,
        kind.identity(asked),
        asked,
        vocabulary,
        print,
        cluster=cluster,
    )
    return source.feed


async def read(feed: Any, position: Any, look: Callable[[float], object] = lambda lap: None) -> int:
    """The number of articles behind a position; ``look`` is called with the share of the dump read
    so far."""
    articles = 0
    feed.start(position)
    try:
        while (block := await feed.next()) is not None:
            articles += len(block)
            look(block.lap or 0.0)
        return articles
    finally:
        await feed.close()


def whole_seconds(
    names: Sequence[str], vocabulary: Vocabulary, look: Callable[[float], object] = lambda lap: None
) -> tuple[float, int]:
    """Seconds from opening to the last count, and the number of articles.

    ``look`` is called with the share of the dump read so far.
    """

    async def run() -> int:
        return await read(await opened(names, vocabulary), None, look)

    return timed(lambda: asyncio.run(run()), time.monotonic)


@EXPERIMENT.point()
def multistream() -> Figures:
    vocabulary = Vocabulary.load("english")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.xml"
        megabytes = write(path, pages(ARTICLES), bz2.compress, each=True)
        taken = [whole_seconds([str(path)], vocabulary) for _ in range(REPEATS)]
    seconds = median(one for one, _ in taken)
    articles = taken[0][1]
    return {
        "articles": articles,
        "megabytes": megabytes,
        "whole": megabytes / seconds,
        "articles_per_second": articles / seconds,
    }


def _write_long(path: Path) -> float:
    return write(path, long_pages(), bz2.compress, each=True)


def many_copies(over_http: bool) -> Figures:
    """How fast many files of a dump are read, and in how much memory."""
    vocabulary = Vocabulary.load("english")
    most_of_first_third = 0.0
    most = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.bz2"
        # In a process of its own: what that leaves behind in memory is not the trainer's.
        with ProcessPoolExecutor(1, get_context("fork")) as maker:
            megabytes = COPIES * maker.submit(_write_long, path).result()
        here = [path.with_name(f"{number}.bz2") for number in range(COPIES)]
        for link in here:
            link.symlink_to(path)
        with serving(path) if over_http else contextlib.nullcontext(("", 0)) as (address, server):
            if over_http:
                names = [f"{address}/{link.name}" for link in here]
            else:
                names = [str(link) for link in here]

            def look(lap: float) -> None:
                nonlocal most_of_first_third, most
                ours = [pid for pid in family(os.getpid()) if pid != server]
                with contextlib.suppress(OSError):  # one has just ended
                    now = memory_mb(ours)
                    most = max(most, now)
                    if lap < 1 / 3:
                        most_of_first_third = max(most_of_first_third, now)

            seconds, _ = whole_seconds(names, vocabulary, look)
    return {
        "gigabytes": megabytes / 1000,
        "whole": megabytes / seconds,
        "first_third_mb": most_of_first_third,
        "most_mb": most,
    }


EXPERIMENT.add("disk", partial(many_copies, False))
EXPERIMENT.add("http", partial(many_copies, True))
