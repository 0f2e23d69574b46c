"""How fast a dump becomes word counts. The figures for README come from here.

    python -m benchmarks.dump [--articles N] [--dump FILE] [--repeats N]
    python -m benchmarks.dump --dump FILE --http COPIES

Articles of the embedded sample, written out as 8 kB of wikitext each, packed as Wikimedia packs its dumps
(bzip2, one stream, or a stream for every 100 pages) and in other ways; or a dump of your own. In turn, each
is taken through the bare stages by one process (unpacking, XML, markup, counting), and read as in training,
start included, by a worker a core; medians are printed. MB are of XML.

`bare` is of CPU seconds, `whole` of seconds on the clock, and `ratio` is between them: it says little on a
machine that is busy with other work. `work` says more then: the CPU seconds of all processes of the whole
run over those of the bare stages. The number of cores over `work` is the ratio that an idle machine comes to
at best. `own process` is what the trainer's process, which no further core relieves, would need of a core to
take in 16 MB a second.

With `--http` the file is read as that many files of one dump, from disk and from a server on loopback.
`memory` is of all processes of the trainer (proportional set size): the most until a third of the dump was
read, and until its end.
"""

import argparse
import asyncio
import bz2
import contextlib
import gzip
import lzma
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks._measure import cpu_seconds, median
from benchmarks.processes import family, memory_mb
from benchmarks.range_server import serving
from crawler.dump_files import DumpFiles
from crawler.embedded.corpus import Articles, Corpus
from crawler.embedded.sample import load_sample
from crawler.embedded.writing import Writer, words_for_bytes
from crawler.kind import Asked
from crawler.kinds.dump import Dump
from crawler.source import Page, SourceInfo
from session.training.intake.count_pages import count_pages
from session.training.intake.opening import open_source
from session.training.intake.parted import PartedBlocks
from vocab import Vocabulary

HEAD = '<mediawiki><siteinfo><namespaces><namespace key="6">File</namespace></namespaces></siteinfo>\n'
Packing = Callable[[bytes], bytes]


def pages(articles: int) -> Iterator[str]:
    """The pages of the dump as XML, 100 at a time."""
    sample = load_sample()
    corpus = Corpus(sample.titles, sample.words, sample.indptr, sample.word_ids, sample.counts)
    made, writer = Articles(corpus, articles, 0, words_for_bytes(corpus, 8000)), Writer(corpus.words)
    for start in range(0, articles, 100):
        yield "".join(
            f"<page><title>{escape(made.title(i))}</title><ns>0</ns><id>{i + 1}</id><revision>"
            f"<id>{i + 1}</id><contributor><username>x</username></contributor><model>wikitext</model>"
            f"<text>{escape(writer.wikitext(made.article(i)))}</text></revision></page>\n"
            for i in range(start, min(start + 100, articles))
        )


def write(path: Path, pieces: list[bytes], pack: Packing, *, each: bool) -> None:
    """Pack the whole as one, or every piece by itself."""
    path.write_bytes(b"".join(map(pack, pieces)) if each else pack(b"".join(pieces)))


def unpacked_mb(path: Path) -> float:
    """Megabytes of XML in a .bz2."""
    with bz2.open(path) as file:
        return sum(map(len, iter(lambda: file.read(1 << 20), b""))) / 1e6


def bare_seconds(path: Path, vocabulary: Vocabulary) -> tuple[float, int]:
    """CPU seconds of all stages in this process, and the articles."""
    begin = time.process_time()
    files = DumpFiles([str(path)], print)
    next(files.read())
    info = SourceInfo("", None, files.file_names, files.category_names)
    articles = 0
    for found in files.read():
        if isinstance(found.page, Page):
            count_pages([found.page], vocabulary, info)
            articles += 1
    return time.process_time() - begin, articles


async def whole_seconds(
    names: Sequence[str], vocabulary: Vocabulary, look: Callable[[float], object] = lambda lap: None
) -> tuple[float, float, int]:
    """Seconds from the opening to the last count, CPU seconds of this process, and the articles.

    ``look`` is called with the share of the dump that is behind us.
    """
    begin, cpu, articles = time.monotonic(), time.process_time(), 0
    asked = Asked({"dump": tuple(names)}, seed=0)
    kind = Dump()
    opened = await open_source(kind, kind.identity(asked), asked, vocabulary, print)
    opening = time.process_time()
    feed = opened.feed(lambda: 1)
    feed.start(None)
    try:
        while (block := await feed.next()) is not None:
            articles += len(block.documents)
            look(block.lap or 0.0)
    finally:
        await feed.close()
    seconds = time.monotonic() - begin
    return seconds, time.process_time() - (opening if isinstance(feed, PartedBlocks) else cpu), articles


def measure(name: str, path: Path, megabytes: float, repeats: int) -> None:
    """Print a row of the table."""
    vocabulary = Vocabulary.load("english")
    rows = []
    for _ in range(repeats):
        bare, expected = bare_seconds(path, vocabulary)
        begin = cpu_seconds()
        seconds, own, articles = asyncio.run(whole_seconds([str(path)], vocabulary))
        assert articles == expected
        rows.append((bare, seconds, bare / seconds, (cpu_seconds() - begin) / bare, own))
    bare, seconds, ratio, work, own = (median(list(column)) for column in zip(*rows, strict=True))
    print(
        f"| {name} | {articles:,} | {megabytes:.0f} | {megabytes / bare:.1f} | {megabytes / seconds:.1f} "
        f"| {ratio:.2f} | {work:.2f} | {16 * own / megabytes:.1%} |",
        flush=True,
    )


def over_http(path: Path, copies: int, megabytes: float) -> None:
    """Print how fast so many copies of a dump are read from disk and from a server, and in what memory."""
    vocabulary = Vocabulary.load("english")
    print("| from | GB of XML | MB/s | memory, a third read | memory, all read | own process |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, serving(path) as (address, server):
        here = [Path(folder) / f"{number}.bz2" for number in range(copies)]
        for link in here:
            link.symlink_to(path.absolute())
        there = [f"{address}/{number}.bz2" for number in range(copies)]
        for name, names in (("disk", list(map(str, here))), ("HTTP", there)):
            most = {True: 0.0, False: 0.0}

            def look(lap: float, most: dict[bool, float] = most) -> None:
                ours = [pid for pid in family(os.getpid()) if pid != server]
                with contextlib.suppress(OSError):  # one has just ended
                    most[lap < 1 / 3] = max(most[lap < 1 / 3], memory_mb(ours))

            seconds, own, _ = asyncio.run(whole_seconds(names, vocabulary, look))
            whole = copies * megabytes
            print(
                f"| {name} | {whole / 1000:.1f} | {whole / seconds:.1f} | {most[True]:.0f} MB "
                f"| {most[False]:.0f} MB | {16 * own / whole:.1%} |",
                flush=True,
            )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--articles", type=int, default=10_000)
    arguments.add_argument("--dump", type=Path, help="a .bz2 to take instead")
    arguments.add_argument("--repeats", type=int, default=3)
    arguments.add_argument("--http", type=int, metavar="COPIES", help="of --dump, read from a server")
    asked = arguments.parse_args()
    if asked.http:
        if not asked.dump:
            arguments.error("--http needs --dump")
        over_http(asked.dump, asked.http, unpacked_mb(asked.dump))
        return
    print("| packing | articles | MB | bare stages, MB/s | whole, MB/s | ratio | work | own process |")
    print("|---|---|---|---|---|---|---|---|")
    if asked.dump:
        measure(asked.dump.name, asked.dump, unpacked_mb(asked.dump), asked.repeats)
        return
    articles = asked.articles
    pieces = [HEAD.encode(), *(piece.encode() for piece in pages(articles)), b"</mediawiki>\n"]
    with tempfile.TemporaryDirectory() as folder:
        for name, pack, each in (
            (".bz2", bz2.compress, False),
            (".bz2, multistream", bz2.compress, True),
            (".gz", gzip.compress, False),
            (".xz", lambda data: lzma.compress(data, preset=1), False),
            ("plain", bytes, False),
        ):
            path = Path(folder) / "dump.xml"
            write(path, pieces, pack, each=each)
            measure(name, path, sum(map(len, pieces)) / 1e6, asked.repeats)


if __name__ == "__main__":
    main()
