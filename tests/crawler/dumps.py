"""Small dumps, wrapped in every way, and what a source makes of them."""

import bz2
import gzip
import lzma
import random
from collections import Counter
from xml.sax.saxutils import escape

import zstandard

from tests.wikitopics.polyglot import SUBJECTS, linked
from wikitopics.crawler.dumps.containers import HEAD as HEAD_BYTES
from wikitopics.crawler.dumps.containers import HeldFile, LocalFile
from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.dumps.parts import DumpPart
from wikitopics.crawler.errors import CutOff
from wikitopics.crawler.file_source import FileSource
from wikitopics.crawler.page import Page, SourceInfo

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="de">
<siteinfo><sitename>Test</sitename><namespaces><namespace key="0" />
<namespace key="6">Datei</namespace>
<namespace key="14">Kategorie</namespace></namespaces></siteinfo>
"""
FOOT = "</mediawiki>\n"
INFO = SourceInfo("", None, language="en")


def page(number, text=None, ns=0, extra="", model="wikitext"):
    """The XML of a page with this number as its id; ``extra`` is XML before its revision."""
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


def dump_of(pages, head=HEAD):
    """The bytes of a dump of these pages, as `page` makes them."""
    return (head + "".join(pages) + FOOT).encode()


def dump(numbers, head=HEAD, text=None):
    """``text``: of every page; None: as usual."""
    return dump_of([page(number, text) for number in numbers], head)


def german(number):
    """A short text about water, music or the sky, of three of the subject's words: so no word is
    frequent among all texts."""
    words_of_subject = SUBJECTS["de"][number % 3].split()
    one, other, third = random.Random(number).sample(words_of_subject, 3)
    return f"{one} {other} {third} {one} {other}"


def english_links(number):
    """Links to two titles about one of three subjects."""
    return " ".join(f"[[{title}]]" for title in linked("en", number))


def head_of(address):
    """The beginning of a dump of the wiki whose main page has this address."""
    return HEAD.replace("<namespaces>", f"<base>{address}</base><namespaces>")


def multistream(numbers, compress=bz2.compress, every=7, text=lambda number: None, head=HEAD):
    """A dump whose head, groups of ``every`` pages and end are compressed each for itself.

    ``text`` makes a page's text from its number; None: as usual.
    """
    pages = [page(number, text(number)) for number in numbers]
    parts = [head]
    for start in range(0, len(pages), every):
        parts.append("".join(pages[start : start + every]))
    parts.append(FOOT)
    return b"".join(compress(part.encode()) for part in parts)


def in_pieces(data, size):
    """The data cut into pieces of so many bytes."""
    return [data[start : start + size] for start in range(0, len(data), size)]


WRAPPINGS = {
    "dump.xml": lambda data: data,
    "dump.xml.bz2": bz2.compress,
    "dump.xml.gz": gzip.compress,
    "dump.xml.xz": lzma.compress,
    "dump.xml.zst": zstandard.compress,
    "pieces.bz2": lambda data: b"".join(map(bz2.compress, in_pieces(data, 999))),
    "padded.xz": lambda data: (
        lzma.compress(data[:5000]) + bytes(8) + lzma.compress(data[5000:]) + bytes(4)
    ),
    "wrong-name.bz2": gzip.compress,
}
"""What wraps a dump, by the name of the file."""


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


async def read_whole(path, data, *, held_out=0, resuming=False):
    """(batches, source) of a dump of these bytes, written to this path and read in its order."""
    source = dump_source([write(path, data)], held_out=held_out, resuming=resuming)
    _, batches = await collect(source)
    return batches, source


def in_parts(tmp_path, data, size, info=INFO):
    """(ids, reasons of the pages skipped, messages) of all parts of so many bytes of a dump."""
    file = LocalFile(write(tmp_path / "p.xml", data))
    head = file.read(0, HEAD_BYTES)
    found_ids = []
    skipped = []
    messages = []
    for start in range(0, file.size, size):
        held = HeldFile(file.name, file.size, head, start, file.read(start, file.size))
        part = DumpPart(held, min(start + size, file.size))
        try:
            for page_or_reason in part.pages(info):
                if isinstance(page_or_reason, Page):
                    found_ids.append(page_or_reason.page_id)
                else:
                    skipped.append(page_or_reason)
        except CutOff as error:
            messages.append(str(error))
    return found_ids, skipped, messages


def pages_of(batches):
    return [page for batch in batches for page in batch.pages]


def ids(batches):
    return [page.page_id for page in pages_of(batches)]


def skips(batches):
    """How many pages of all batches were skipped, by reason."""
    return sum((Counter(batch.skips) for batch in batches), Counter())


def write(path, data):
    """Write bytes or text into a file, in folders that may be new; returns its path as text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, str):
        data = data.encode()
    path.write_bytes(data)
    return str(path)
