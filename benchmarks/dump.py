"""How fast a dump becomes word counts. The figures for README come from here.

    python benchmarks/dump.py [--articles N]

Articles of the embedded sample, written out as 8 kB of wikitext each, packed as Wikimedia packs its dumps
(bzip2, one stream, or a stream for every 100 pages) and in the other ways; read, parsed and counted in a pool
of processes as in training. The first reading, which chooses what is held out, is stated apart.
"""

import argparse
import asyncio
import bz2
import gzip
import lzma
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from crawl import crawl_and_count

from crawler.embedded.corpus import Articles, Corpus
from crawler.embedded.sample import load_sample
from crawler.embedded.writing import Writer, words_for_bytes
from crawler.sources.dump import DumpSource

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


def measure(name: str, path: Path, articles: int) -> None:
    first = DumpSource([str(path)], held_out=1000)
    begin = time.monotonic()
    asyncio.run(first.open())
    scanned = time.monotonic() - begin
    source = DumpSource([str(path)], held_out=0, resuming=True)
    counted, seconds, cpu = asyncio.run(crawl_and_count(source, articles, 0))
    print(
        f"| {name} | {path.stat().st_size / 1e6:.1f} MB | {articles / scanned:.0f} | {counted / seconds:.0f} "
        f"| {counted / cpu:.0f} |"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--articles", type=int, default=10_000)
    articles = arguments.parse_args().articles
    pieces = [HEAD.encode(), *(piece.encode() for piece in pages(articles)), b"</mediawiki>\n"]
    print("| packing | size | first reading, articles/s | to counts, articles/s | articles per CPU second |")
    print("|---|---|---|---|---|")
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
            measure(name, path, articles)


if __name__ == "__main__":
    main()
