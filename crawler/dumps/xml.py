"""Parses the XML of a MediaWiki dump into pages, piece by piece, without trusting it."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Self, cast
from xml.parsers import expat

from wikitopics.crawler.dumps import BASE
from wikitopics.crawler.dumps.containers import LocalFile, Read, data_blocks
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.file_source import START, Found, PageFiles, Place, Say, silently
from wikitopics.crawler.markup.texts import is_disambiguation
from wikitopics.crawler.page import LARGEST_TEXT, LONGEST_TITLE, Page, Skip, SourceInfo, is_id, utf8_size

_ROOT = b"<mediawiki>"
_ENCODINGS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
"""MediaWiki writes UTF-8. Python would search its codecs for any other name."""
_LONGEST_FIELD = 1024
"""The most characters of a title, an id or a name."""
_DEEPEST = 64
"""The deepest nesting of elements; a dump has 6 levels."""
_MOST_TAGS = 1000
"""The most names of elements and attributes, all of which the parser keeps; a dump has about 50."""
_LONGEST_TAG = 200
_FILES, _CATEGORIES, _ARTICLES = "6", "14", "0"
"""The keys of some namespaces."""
_MOST_NAMES = 1000
"""The most names of namespaces; a dump has about 30."""
_MOST_SILENCE = 16 << 20
"""The most bytes without an element: a page's text has 2 MiB, and each of its characters may be a
reference."""
_TEXT_MODELS = frozenset({"", "wikitext"})


@dataclass(frozen=True, slots=True)
class DumpEntry:
    """One page of the dump, of any kind."""

    page: Page | Skip | None
    """The article, or the reason to skip it; None: a page of another kind, or a redirect."""
    start: int
    """Bytes of this reader's input before the page."""
    end: int
    """Bytes of this reader's input up to the page's end."""


class DumpReader:
    """Takes bytes within a `with` block, and yields the pages that are complete.

    ``continued``: the input begins after a page, not at the beginning of a dump, and so does not contain the
    facts in ``known``. Several concatenated dumps are read as one.
    """

    def __init__(self, name: str, known: SourceInfo | None = None, *, continued: bool = False) -> None:
        self.seen_pages = continued
        """Whether a page has begun."""
        self._name = name
        self.info = known or SourceInfo(name, None)
        """What is known about the source: the facts that the dump has stated so far replace ``known``."""
        self._names: dict[tuple[str, str], None] = {}
        """(key, name) of the namespaces, in the dump's order."""
        self._entries: list[DumpEntry] = []
        self._seen_root = False
        self._ends_cleanly = True
        self._fed = 0
        self._tags: set[str] = set()
        self._silence = 0
        self._new_page()
        self._new_parser()
        if continued:
            self._parser.Parse(_ROOT, False)
            self._base -= len(_ROOT)

    def _new_parser(self) -> None:
        self._base = self._fed
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = 65536
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.XmlDeclHandler = self._declaration
        self._parser = parser
        self._depth = 0
        self._collected: list[str] | None = None
        self._length = 0

    def _new_page(self) -> None:
        self._fields = {"title": "", "ns": "", "id": "", "revision": "", "model": "", "text": ""}
        self._redirect = self._has_text = self._too_large = False

    def feed(self, data: bytes) -> Iterator[DumpEntry]:
        """The pages that end within ``data``. Raises BadSource if this is not a dump, CutOff if it breaks."""
        self._silence += len(data)
        rest = memoryview(data)
        while True:
            try:
                self._parser.Parse(rest, False)
                break
            except CutOff:
                yield from self._take()
                raise
            except expat.ExpatError as error:
                yield from self._take()
                read = self._parser.ErrorByteIndex + self._base - self._fed
                if error.code != _JUNK_AFTER_DOCUMENT or not 0 <= read < len(rest):
                    raise self._broken(expat.ErrorString(error.code)) from error
                # Another dump begins here.
                rest = rest[read:]
                self._fed += read
                self._new_parser()
        self._fed += len(rest)
        if stripped := data.rstrip():
            self._ends_cleanly = stripped.endswith(b">")
        yield from self._take()
        if self._silence > _MOST_SILENCE:
            raise self._broken("a tag, comment or text that never ends")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the parser: it refers to this reader, and together they would keep a megabyte for a while."""
        del self._parser

    def close(self) -> None:
        """Note the end of the input. Raises CutOff if the dump is incomplete, BadSource if there was none."""
        if not self._seen_root:
            raise BadSource(f"{self._name}: not a MediaWiki dump: it is empty")
        if self._depth:
            raise CutOff("cut off")

    def _name_namespace(self, key: str, name: str) -> None:
        """Add a name of the namespace with this key."""
        self._names[key, name] = None
        files, categories = (
            tuple(name for of, name in self._names if of == key) for key in (_FILES, _CATEGORIES)
        )
        self.info = replace(
            self.info,
            file_names=files or self.info.file_names,
            category_names=categories or self.info.category_names,
            namespaces=tuple(name for _, name in self._names),
        )

    def _broken(self, reason: str) -> Exception:
        if self.seen_pages:
            return CutOff(f"broken XML ({reason})")
        return BadSource(f"{self._name}: not a MediaWiki dump (XML of pages): {reason}")

    def _take(self) -> Iterator[DumpEntry]:
        entries, self._entries = self._entries, []
        return iter(entries)

    @property
    def between_pages(self) -> bool:
        """Whether the input so far ends between two pages, so that another reader could continue from
        here."""
        return self._depth == 1 and self._ends_cleanly

    @property
    def has_ended(self) -> bool:
        """Whether the input so far is a complete dump."""
        return self._seen_root and self._depth == 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        depth = self._depth
        self._silence = 0
        if depth > _DEEPEST:
            raise self._broken("elements nested too deeply")
        if not self._tags.issuperset((tag, *attributes)):
            self._tags.update((tag, *attributes))
            if len(self._tags) > _MOST_TAGS or max(map(len, self._tags)) > _LONGEST_TAG:
                raise self._broken("too many kinds of elements")
        if depth == 1:
            if tag != "mediawiki":
                raise BadSource(f"{self._name}: not a MediaWiki dump: it begins with <{tag[:40]}>")
            self._seen_root = True
            language = attributes.get("xml:lang", self.info.language)
            self.info = replace(self.info, language=language[:_LONGEST_TAG])
        elif depth == 2 and tag == "page":
            self.seen_pages = True
            self._page_start = self._parser.CurrentByteIndex + self._base
            self._new_page()
        elif depth == 3:
            if tag in ("title", "ns", "id") or (tag == "base" and not self.seen_pages):
                self._collect()
            elif tag == "redirect":
                self._redirect = True
            elif tag == "revision":
                # A dump with the full history: the last revision counts.
                self._has_text = self._too_large = False
                self._fields["text"] = self._fields["model"] = ""
        elif depth == 4:
            if tag == "namespace" and attributes.get("key") == _ARTICLES:
                self.info = replace(self.info, keeps_case=attributes.get("case") == "case-sensitive")
            elif tag == "namespace" and len(self._names) < _MOST_NAMES:
                self._namespace = attributes.get("key", "")[:_LONGEST_TAG]
                self._collect()
            elif tag in ("id", "model"):
                self._collect()
            elif tag == "text":
                self._has_text = "deleted" not in attributes
                if self._has_text and not self._redirect and self._fields["ns"].strip() in ("", "0"):
                    self._collect(LARGEST_TEXT)

    def _collect(self, most: int = _LONGEST_FIELD) -> None:
        self._collected = []
        self._length = 0
        self._most = most
        self._parser.CharacterDataHandler = self._characters

    def _characters(self, data: str) -> None:
        self._silence = 0
        if self._collected is not None and self._length < self._most:
            self._collected.append(data[: self._most - self._length])
        self._length += len(data)

    def _end(self, tag: str) -> None:
        depth = self._depth
        self._depth -= 1
        self._silence = 0
        if self._collected is not None and depth <= 4:
            text = "".join(self._collected)
            self._collected = None
            self._parser.CharacterDataHandler = None
            if tag == "namespace":
                self._name_namespace(self._namespace, text)
            elif tag == "base" and depth == 3:
                self.info = replace(self.info, identity={BASE: text} if text else self.info.identity)
            elif self.seen_pages:
                self._fields["revision" if tag == "id" and depth == 4 else tag] = text
                if tag == "text":
                    self._too_large = self._length > self._most
        if depth == 2 and tag == "page":
            end = self._parser.CurrentByteIndex + self._base + len(b"</page>")
            self._entries.append(DumpEntry(self._page(), self._page_start, end))

    def _page(self) -> Page | Skip | None:
        fields = self._fields
        if self._redirect or fields["ns"].strip() not in ("", "0"):
            return None
        text, title = fields["text"], fields["title"].strip()
        try:
            numbers = int(fields["id"]), int(fields["revision"] or 0)
        except ValueError:
            return "damaged"
        page_id, revision_id = (number if is_id(number) else 0 for number in numbers)
        if self._too_large or utf8_size(title) > LONGEST_TITLE or utf8_size(text) > LARGEST_TEXT:
            return "too large"
        if not page_id or not title:
            return "damaged"
        if not self._has_text:
            return "deleted or hidden"
        if fields["model"].strip() not in _TEXT_MODELS:
            return "no wikitext"
        if not text.strip():
            return "no text"
        if is_disambiguation(text, self.info.language):
            return "disambiguation"
        if text.lstrip()[:9].lower() == "#redirect":
            return None
        return Page(page_id, title, revision_id, text, "wikitext")

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            raise BadSource(
                f"{self._name}: not a MediaWiki dump: its encoding is {encoding[:40]!r}, not UTF-8"
            )

    def _doctype(self, *_: object) -> None:
        # No dump has a document type, and one may declare entities that grow without bound.
        raise BadSource(f"{self._name}: not a MediaWiki dump: it declares a document type")


_JUNK_AFTER_DOCUMENT = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]


# Dump files one after another, as a sequence of pages with the place after each.

STANDARD_INPUT = "-"


class DumpFiles(PageFiles):
    """The articles of some dump files: namespace 0, no redirects, no disambiguation pages.

    ``say`` is called when a file is cut off. Raises BadSource for a file that cannot be opened.
    """

    def __init__(self, paths: Sequence[str], say: Say = silently) -> None:
        names = ["standard input" if path == STANDARD_INPUT else Path(path).name for path in paths]
        super().__init__(names, say)
        self.paths = tuple(paths)
        self.is_repeatable = STANDARD_INPUT not in paths
        self._reader: DumpReader | None = None
        for path in self.paths:
            if path == STANDARD_INPUT or Path(path).is_file():
                continue
            if not Path(path).exists():
                raise BadSource(f"{path}: no such file or folder")
            kind = "a folder" if Path(path).is_dir() else "a pipe or a device"
            raise BadSource(f"{path}: {kind}, not a regular file (a pipe is read from standard input: `-`)")

    @property
    def count(self) -> int:
        return len(self.paths)

    @property
    def size(self) -> int:
        """Bytes of all files together; 0 if one is a stream."""
        return sum(LocalFile(path).size for path in self.paths) if self.is_repeatable else 0

    @property
    def info(self) -> SourceInfo:
        return self._reader.info if self._reader else SourceInfo(self.name, None)

    def mark(self, before: Place = START) -> dict[str, int]:
        """The size: a dump is written once, and can only be replaced by another one."""
        size = self.size
        if before.get("size", size) != size:
            raise BadSource(f"{self.name}: the dump has changed since this session began to read it")
        return {"size": size}

    def look(self) -> None:
        """Read up to the first article. Raises BadSource if this is not a dump."""
        next(self.read(), None)

    def read(self, place: Place = START) -> Iterator[Found]:
        """The articles after ``place``: after `skip` pages of any kind from byte `offset` of `file`."""
        first = place.get("file", 0)
        for number, path in enumerate(self.paths[first:], first):
            begin = place if number == first else START
            can_seek = path != STANDARD_INPUT
            name = path if can_seek else "standard input"
            stdin = nullcontext(cast("BufferedReader", sys.stdin.buffer))
            try:
                with open(path, "rb") if can_seek else stdin as file:
                    if can_seek:
                        file.seek(begin.get("offset", 0))
                    yield from self._pages(number, name, partial(self._next, file), begin, can_seek=can_seek)
            except OSError as error:
                raise BadSource(f"{name}: cannot be read: {error.strerror or error}") from error

    def _next(self, file: BufferedReader, size: int) -> bytes:
        data = file.read1(size)
        self.bytes_read += len(data)
        return data

    def _pages(self, number: int, name: str, read: Read, begin: Place, *, can_seek: bool) -> Iterator[Found]:
        offset, to_skip = begin.get("offset", 0), begin.get("skip", 0)
        reader = self._reader = DumpReader(name, self.info, continued=offset > 0)
        restart, behind_restart = offset, 0
        try:
            with reader:
                for count, block in enumerate(data_blocks(read, name, offset)):
                    if self.closed:
                        return
                    if block.start is not None and can_seek and count and reader.between_pages:
                        restart, behind_restart = block.start, 0
                    for entry in reader.feed(block.data):
                        if can_seek and block.is_plain:
                            restart, behind_restart = offset + entry.end, 0
                        else:
                            behind_restart += 1
                        if to_skip:
                            to_skip -= 1
                        elif entry.page is not None:
                            here = {"file": number, "offset": restart, "skip": behind_restart}
                            yield entry.page, here
                reader.close()
        except CutOff as error:
            if not reader.seen_pages:
                raise BadSource(f"{name}: {error} before its first page; download it again") from None
            self.say(f"{name}: {error}; everything after the last complete page is left out")
