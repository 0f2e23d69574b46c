"""Small dumps, wrapped in every way, and what a source makes of them."""

import bz2
import gzip
import lzma
import random
from collections import Counter
from xml.sax.saxutils import escape

import zstandard

from tests.wikitopics.polyglot import SUBJECTS, linked
from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.file_source import FileSource

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="de">
<siteinfo><sitename>Test</sitename><namespaces><namespace key="0" />
<namespace key="6">Datei</namespace>
<namespace key="14">Kategorie</namespace></namespaces></siteinfo>
"""
FOOT = "</mediawiki>\n"


def page(number, text=None, ns=0, extra="", model="wikitext"):
    if text is None:
        text = f"Article {number} & {{{{x}}}} <ref>r</ref> é語"
    body = escape(text)
    return (
        f"<page>\n<title>Title {number}</title>\n<ns>{ns}</ns>\n<id>{number}</id>\n{extra}\n"
        "    "
        f"<revision><id>{number + 1000}</id>"
        "<contributor><username>U</username><id>7</id></contributor>\n"
        f'<model>{model}</model><text bytes="9" xml:space="preserve">{body}</text></revision>\n  '
        "</page>\n"
    )


def dump(numbers, head=HEAD, text=None):
    """``text``: of every page; None: as usual."""
    return (head + "".join(page(number, text) for number in numbers) + FOOT).encode()


def german(number):
    """A short text about water, music or the sky. Of each subject's words it has three: none is
    frequent."""
    one, other, third = random.Random(number).sample(SUBJECTS["de"][number % 3].split(), 3)
    return f"{one} {other} {third} {one} {other}"


def english_links(number):
    """Links to two titles about one of three subjects."""
    return " ".join(f"[[{title}]]" for title in linked("en", number))


def head_of(address):
    """The beginning of a dump of the wiki whose main page has this address."""
    return HEAD.replace("<namespaces>", f"<base>{address}</base><namespaces>")


def multistream(numbers, compress=bz2.compress, every=7, text=lambda number: None, head=HEAD):
    """``text``: of each page; None: as usual."""
    pages = [page(number, text(number)) for number in numbers]
    parts = [head.encode()]
    parts += ["".join(pages[i : i + every]).encode() for i in range(0, len(pages), every)]
    return b"".join(map(compress, [*parts, FOOT.encode()]))


WRAPPINGS = {
    "dump.xml": lambda data: data,
    "dump.xml.bz2": bz2.compress,
    "dump.xml.gz": gzip.compress,
    "dump.xml.xz": lzma.compress,
    "dump.xml.zst": zstandard.compress,
    "pieces.bz2": lambda data: b"".join(
        bz2.compress(data[i : i + 999]) for i in range(0, len(data), 999)
    ),
    "padded.xz": lambda data: (
        lzma.compress(data[:5000]) + bytes(8) + lzma.compress(data[5000:]) + bytes(4)
    ),
    "wrong-name.bz2": gzip.compress,
}


def dump_source(paths, *, held_out=None, resuming=False):
    """The articles of dump files, in their order."""
    return FileSource("dump", DumpFiles(paths), held_out=held_out, resuming=resuming)


async def collect(source, position=None, stop_after=None):
    """(SourceInfo, batches) of a source, which is then closed."""
    try:
        info = await source.open()
        batches = []
        async for batch in source.batches(position):
            batches.append(batch)
            if len(batches) == stop_after:
                break
        return info, batches
    finally:
        await source.close()


async def read_whole(path, data, **options):
    """(batches, source) of a dump of these bytes, read in its order."""
    source = dump_source([write(path, data)], **{"held_out": 0} | options)
    _, batches = await collect(source)
    return batches, source


def ids(batches):
    return [page.page_id for batch in batches for page in batch.pages]


def skips(batches):
    """How many pages of all batches were skipped, by reason."""
    return sum((Counter(batch.skips) for batch in batches), Counter())


def write(path, data):
    """The path of a file with this text or these bytes, in a folder that is made if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, str):
        data = data.encode()
    path.write_bytes(data)
    return str(path)
