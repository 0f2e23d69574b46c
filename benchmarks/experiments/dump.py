"""How fast a dump becomes word counts: MB of XML a second.

`multistream`: articles of the embedded sample, written out as 8 kB of wikitext each, packed as
Wikimedia packs its dumps (a bzip2 stream for every 100 pages), read as in training, start included,
by a worker a core; the median of three.

`disk` and `http`: a dump of 20 files, each of 6,000 articles of 32 kB (400 real ones over and
over), read from disk and from a server on loopback; and the memory of all processes of the trainer
(proportional set size): the most until a third was read, and until the end.
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
from wikitopics.crawler.dumps.kinds import Dump
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
"""Files of the dump, all the same."""
HEAD = (
    '<mediawiki><siteinfo><namespaces><namespace key="6">File</namespace></namespaces></siteinfo>\n'
)
Packing = Callable[[bytes], bytes]
"""Bytes to packed bytes."""


def pages(articles: int) -> Iterator[str]:
    """The pages of the dump as XML, 100 at a time."""
    corpus = load_sample()
    made = SizedArticles(corpus, articles, 0, words_for_bytes(corpus, 8000))
    writer = Writer(corpus.words)
    return xml(articles, made.title, lambda number: writer.wikitext(made.article(number)))


def long_pages() -> Iterator[str]:
    """Real articles, the same again and again under other names, 100 at a time."""
    texts = [article["text"] for article in real_articles("wikitext/articles-400.jsonl.xz")]
    return xml(LONG, "Article {}".format, lambda number: texts[number % len(texts)])


def xml(articles: int, title: Callable[[int], str], text: Callable[[int], str]) -> Iterator[str]:
    """Pages, 100 at a time; `title` and `text` give those of the article of a number."""
    for start in range(0, articles, 100):
        stop = min(start + 100, articles)
        yield "".join(
            _page(number + 1, title(number), text(number)) for number in range(start, stop)
        )


def _page(page_id: int, title: str, text: str) -> str:
    return (
        f"<page><title>{escape(title)}</title><ns>0</ns><id>{page_id}</id><revision>"
        f"<id>{page_id}</id><contributor><username>x</username></contributor>"
        "<model>wikitext</model>"
        f"<text>{escape(text)}</text></revision></page>\n"
    )


def write(path: Path, pages: Iterator[str], pack: Packing, *, each: bool) -> float:
    """Pack the whole as one, or every piece by itself; returns the megabytes of XML."""
    pieces = [HEAD.encode()]
    pieces += [piece.encode() for piece in pages]
    pieces.append(b"</mediawiki>\n")
    to_pack = pieces if each else [b"".join(pieces)]
    path.write_bytes(b"".join([pack(piece) for piece in to_pack]))
    return sum(len(piece) for piece in pieces) / 1e6


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


async def read(
    feed: Any,
    position: Any,
    after_block: Callable[[float], object] = lambda share: None,
) -> int:
    """The number of articles behind a position.

    after_block: is called with the share of the dump that has been read
    """
    articles = 0
    feed.start(position)
    try:
        while (block := await feed.next()) is not None:
            articles += len(block)
            after_block(block.lap or 0.0)
        return articles
    finally:
        await feed.close()


def whole_seconds(
    names: Sequence[str],
    vocabulary: Vocabulary,
    after_block: Callable[[float], object] = lambda share: None,
) -> tuple[float, int]:
    """Seconds from opening to the last count, and the number of articles.

    after_block: is called with the share of the dump that has been read
    """

    async def run() -> int:
        feed = await opened(names, vocabulary)
        return await read(feed, None, after_block)

    return timed(lambda: asyncio.run(run()), time.monotonic)


@EXPERIMENT.point()
def multistream() -> Figures:
    vocabulary = Vocabulary.load("english")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.xml"
        megabytes = write(path, pages(ARTICLES), bz2.compress, each=True)
        taken: list[float] = []
        for _ in range(REPEATS):
            seconds, articles = whole_seconds([str(path)], vocabulary)
            taken.append(seconds)
    return {
        "articles": articles,
        "megabytes": megabytes,
        "whole": megabytes / median(taken),
        "articles_per_second": articles / median(taken),
    }


def _write_long(path: Path) -> float:
    return write(path, long_pages(), bz2.compress, each=True)


def many_copies(over_http: bool) -> Figures:
    """How fast many files of a dump are read, and in how much memory."""
    vocabulary = Vocabulary.load("english")
    most_in_first_third = 0.0
    most = 0.0
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(folder) / "dump.bz2"
        # In a process of its own: the memory that making the file leaves behind is not the
        # trainer's.
        with ProcessPoolExecutor(1, get_context("fork")) as maker:
            megabytes = COPIES * maker.submit(_write_long, path).result()
        links = [path.with_name(f"{number}.bz2") for number in range(COPIES)]
        for link in links:
            link.symlink_to(path)
        server = None
        names = [str(link) for link in links]
        if over_http:
            address, server = stack.enter_context(serving(path))
            names = [f"{address}/{link.name}" for link in links]

        def note_memory(share: float) -> None:
            nonlocal most, most_in_first_third
            ours = [pid for pid in family(os.getpid()) if pid != server]
            with contextlib.suppress(OSError):  # one of the processes has just ended
                used = memory_mb(ours)
                most = max(most, used)
                if share < 1 / 3:
                    most_in_first_third = max(most_in_first_third, used)

        seconds, _ = whole_seconds(names, vocabulary, note_memory)
    return {
        "gigabytes": megabytes / 1000,
        "whole": megabytes / seconds,
        "first_third_mb": most_in_first_third,
        "most_mb": most,
    }


EXPERIMENT.add("disk", partial(many_copies, False))
EXPERIMENT.add("http", partial(many_copies, True))
