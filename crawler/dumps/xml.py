"""Parses the XML of a MediaWiki dump into pages, piece by piece, without trusting it.

A page begins wherever ``<page>`` stands, since texts write it as ``&lt;page>``. So broken XML costs
only the pages that it is in: reading continues with the next one.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Self
from xml.parsers import expat

from wikitopics.crawler.dumps.facts import Facts
from wikitopics.crawler.dumps.losses import Losses
from wikitopics.crawler.dumps.namespaces import has_namespace
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.markup.disambiguation import is_disambiguation
from wikitopics.crawler.markup.wikitext import is_redirect
from wikitopics.crawler.page import (
    LARGEST_TEXT,
    LONGEST_TITLE,
    Page,
    Skip,
    SourceInfo,
    is_id,
    utf8_size,
)

PAGE_TAG = re.compile(rb"<(?:[a-z][\w.-]{0,30}:)?page[\s>]", re.IGNORECASE)
"""The beginning of a page, which a few tools write in capitals or with a prefix."""
LONGEST_PAGE_TAG = 38
"""The most bytes that `PAGE_TAG` matches: at most so many belong to one that is cut off."""
_ROOT = b"<mediawiki>"
_ROOT_TAG = re.compile(rb"<(?:[a-z][\w.-]{0,30}:)?mediawiki[\s>]", re.IGNORECASE)
_ROOT_END = re.compile(rb"</(?:[a-z][\w.-]{0,30}:)?mediawiki\s*>", re.IGNORECASE)
_LONGEST_ROOT_TAG = 44
_PROLOG = re.compile(rb"<[?!]")
_BLANKS = re.compile(rb"(?:\xef\xbb\xbf|\s)*")
"""Lines without text, or a byte order mark."""
_ENCODINGS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
"""MediaWiki writes UTF-8. Python would search its codecs for any other name."""
_PIECE = 64 << 10
"""The bytes parsed at a time: after an error found here, the parser reads the rest of them in
vain."""
_LONGEST_FIELD = 1024
"""The most characters of a title, an id or a name."""
_DEEPEST = 64
"""The deepest nesting of elements; a dump has 6 levels."""
_MOST_UNCLOSED = 1000
"""The most elements without an end, left by pages that are cut, which a parser keeps."""
_MOST_TAGS = 1000
"""The most names of elements and attributes, all of which the parser keeps; a dump has about 50."""
_MOST_FAULTS = 50_000
"""The most places with broken XML; each takes 0.1 ms."""
_LONGEST_TAG = 200
_ARTICLES = "0"
"""The key of the namespace of articles."""
_MOST_SILENCE = 16 << 20
"""The most bytes without an element: a page's text has 2 MiB, and each of its characters may be a
reference."""
_TEXT_MODELS = frozenset({"", "wikitext"})
_OF_SITES = ("base", "sitename", "case")
"""The elements whose texts are read of a site; the next two are those of pages and of revisions."""
_OF_PAGES = ("title", "ns", "id")
_OF_REVISIONS = ("id", "timestamp", "model")
_DIGITS_OF_TIME = 14
"""Year, month, day, hour, minute and second."""


@dataclass(frozen=True, slots=True)
class DumpEntry:
    """One page of the dump, of any kind."""

    page: Page | Skip | None
    """The article, or the reason to skip it; None: a page of another kind, or a redirect."""
    start: int
    """Bytes of this reader's input before the page."""
    end: int
    """Bytes of this reader's input up to the page's end, or up to where it breaks."""


@dataclass(slots=True)
class _Revision:
    """What a dump has stated of a revision."""

    fields: dict[str, str] = field(default_factory=dict)
    has_text: bool = False
    too_large: bool = False

    @property
    def age(self) -> tuple[str, int]:
        """Larger for a newer one. A revision without a time counts as older than one with a
        time."""
        digits = "".join(filter(str.isdecimal, self.fields.get("timestamp", "")))
        return digits[:_DIGITS_OF_TIME], _number(self.fields.get("id", ""))


class _Broken(Exception):
    """The XML is not that of a dump, as the message says. Reading continues with the next page."""


class DumpReader:
    """Takes bytes within a `with` block, and yields the pages that are complete.

    ``continued``: the input begins after a page, not at the beginning of a dump, and so does not
    contain the facts in ``known``. Several concatenated dumps are read as one.
    """

    def __init__(
        self,
        name: str,
        known: SourceInfo | None = None,
        *,
        continued: bool = False,
    ) -> None:
        self.seen_pages = continued
        """Whether a page has begun."""
        self._name = name
        self._facts = Facts(known or SourceInfo(name, None))
        self._entries: list[DumpEntry] = []
        self._seen_root = continued
        self._ends_cleanly = True
        self._fed = 0
        """The bytes that are done with."""
        self._unread = b""
        """What follows these, and is too short to be judged before more has come."""
        self._silence = 0
        """The bytes since the last element or character of text."""
        self._state: Literal["parsing", "seeking", "ended"] = "parsing"
        """"seeking": the next page is sought behind broken XML; "ended": the dump has ended, and
        another one may follow."""
        self._is_complete = False
        """Whether the last dump has ended properly."""
        self.losses = Losses()
        """What could not be read."""
        self._faults = 0
        """The number of places with broken XML."""
        self._in_page = False
        self._in_revision = False
        self._page_start = 0
        self._new_page()
        self._new_parser(continued=continued)

    def _new_parser(self, *, continued: bool) -> None:
        self._begun = self._fed
        """The byte of the input at which this parser begins."""
        self._base = self._fed
        """What to add to the parser's index of a byte to get the index in the input."""
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = 65536
        if continued:
            parser.Parse(_ROOT, False)
            self._base -= len(_ROOT)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.XmlDeclHandler = self._declaration
        parser.StartCdataSectionHandler = self._start_literal
        parser.EndCdataSectionHandler = self._end_literal
        self._parser = parser
        self._state = "parsing"
        self._tags: dict[str, str] = {}
        """The elements' names as they are written, and without prefix and capitals."""
        self._attributes: set[str] = set()
        self._literal_at: int | None = None
        """Where text without markup began that has not ended yet."""
        self._depth = 1 if continued else 0
        self._unclosed = 0
        self._broken_at = 0
        self._collected: list[str] | None = None
        """The text so far of the element whose text is read, if any."""
        self._most = _LONGEST_FIELD
        """The most characters of that text."""
        self._collecting = ""
        """The name of that element."""
        self._collecting_at = 0
        """Its depth."""
        self._length = 0
        """The length of all its text."""
        self._namespace = ""
        """The key of the namespace whose name is read."""

    def _new_page(self) -> None:
        self._fields = dict.fromkeys(_OF_PAGES, "")
        self._redirect = False
        self._revision = _Revision()
        self._newest: _Revision | None = None

    def feed(self, data: bytes) -> Iterator[DumpEntry]:
        """The pages that end within ``data``, and those that are lost. Raises BadSource if this is
        not a dump, CutOff if too much of it is broken."""
        self._silence += len(data)
        stripped = data.rstrip()
        if stripped:
            self._ends_cleanly = stripped.endswith(b">")
        data = self._unread + data
        self._unread = b""
        at = 0
        try:
            while at < len(data) and not self._unread:
                done = self._step(data, at)
                at += done
                self._fed += done
                if self._entries:
                    yield from self._take()
            if self._silence > _MOST_SILENCE and self._state == "parsing":
                self._break("a tag, comment or text that never ends", self._fed)
        except CutOff:
            yield from self._take()
            raise
        yield from self._take()

    def _step(self, data: bytes, at: int) -> int:
        """Read some of ``data`` from ``at`` on. Returns how many bytes are done with."""
        if self._state == "seeking":
            return self._seek(data, at)
        if self._state == "ended":
            return self._begin_again(data, at)
        if self._fed == 0 and not self._seen_root:
            before = self._before_root(data)
            if before:
                self._begun = before
                self._base = before
                return before
        return self._parse(data, at)

    @staticmethod
    def _before_root(data: bytes) -> int:
        """The bytes before a dump: blank lines, or what the program that wrote it had to say."""
        blanks = _BLANKS.match(data)
        start = blanks.end() if blanks else 0
        if _PROLOG.match(data, start):
            return start
        root = _ROOT_TAG.search(data, start)
        return root.start() if root else start

    def _parse(self, data: bytes, at: int) -> int:
        """Feed the parser a piece of ``data``. Returns how many bytes are done with: all of it, or
        those before broken XML or the end of a dump."""
        piece = memoryview(data)[at : at + _PIECE]
        stop = at + len(piece)
        parser = self._parser
        try:
            parser.Parse(piece, False)
            swallowed = self._swallowed(data, at, stop)
            if swallowed:
                self._parse_put_off()
                swallowed = self._swallowed(data, at, stop)
        except _Broken as error:
            done = self._within(self._broken_at, len(piece))
            self._break(str(error), self._fed + done)
            return done
        except expat.ExpatError as error:
            done = self._within(parser.ErrorByteIndex + self._base, len(piece))
            if error.code == _JUNK_AFTER_DOCUMENT:
                self._state = "ended"
                return done
            root_end = None
            if error.code == _MISMATCH:
                # The index of such an error is behind the "</".
                root_end = _ROOT_END.match(data, max(0, at + done - len("</")))
            if root_end is None:
                self._break(expat.ErrorString(error.code), self._fed + done)
                return done
            # The dump ends here, although elements before it have no end.
            if self._in_page:
                self._note_cut_page(self._fed + done)
            self._end_dump()
            self._state = "ended"
            return root_end.end() - at
        if swallowed:
            done = swallowed.start() - at
            self._break("a tag or comment that never ends", self._fed + done)
            return done
        return len(piece)

    def _parse_put_off(self) -> None:
        """Parse what the parser has put off: from Expat 2.6 on, it does not read a tag again to
        which only a few bytes were added."""
        parser = self._parser
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)
            parser.Parse(b"", False)
            parser.SetReparseDeferralEnabled(True)

    def _swallowed(self, data: bytes, at: int, stop: int) -> re.Match[bytes] | None:
        """The beginning of a page in those of the bytes from ``at`` to before ``stop`` that are not
        parsed yet: they begin a tag, or text without markup, in which no page can begin."""
        index = self._literal_at
        if index is None:
            index = self._parser.CurrentByteIndex + self._base
        parsed = self._within(index, stop - at)
        return PAGE_TAG.search(data, at + parsed + 1, stop)

    def _end_parser(self) -> None:
        """Parse what the parser has put off, when nothing more follows what it was fed."""
        if self._state == "parsing":
            with suppress(_Broken, expat.ExpatError):  # what lacks an end is told by the caller
                self._parser.Parse(b"", True)

    def _within(self, index: int, size: int) -> int:
        """The place of a byte of the input within a piece of this size, which begins after what was
        fed."""
        return min(max(index - self._fed, 0), size)

    def _seek(self, data: bytes, at: int) -> int:
        """Go on to the next page."""
        # A parser that failed at its first byte is not begun again at the same page.
        begin = at + 1 if self._fed == self._begun else at
        found = PAGE_TAG.search(data, begin)
        stop = found.start() if found else max(at, len(data) - LONGEST_PAGE_TAG)
        if _ROOT_END.search(data, at, stop):
            self._is_complete = True
        if found is None:
            self._unread = data[stop:]
        elif stop == at:
            self._new_parser(continued=True)
        return stop - at

    def _begin_again(self, data: bytes, at: int) -> int:
        """Read what follows the end of a dump: usually nothing, or another one."""
        blanks = _BLANKS.match(data, at)
        if blanks and blanks.end() > at:
            return blanks.end() - at
        if _PROLOG.match(data, at) or _ROOT_TAG.match(data, at):
            self._new_parser(continued=False)
        elif len(data) - at < _LONGEST_ROOT_TAG:
            self._unread = data[at:]
        else:
            self._new_parser(continued=True)
        return 0

    def skip_gap(self, reason: str) -> Iterator[DumpEntry]:
        """Note that bytes are missing between the last input and the next, for this reason.

        Yields the page that they were part of, as lost.
        """
        if self._seen_root:
            self._end_parser()
        self._fed += len(self._unread)
        self._unread = b""
        self._begun = -1  # a page may begin where the input continues
        self.losses.has_gaps = True
        self._note_fault(reason, self._fed)
        if self._seen_root:
            self._lose(self._fed)
            self._state = "seeking"
        return self._take()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Drop the parser: it refers to this reader, and together they would keep a megabyte for a
        while."""
        del self._parser

    def close(self) -> Iterator[DumpEntry]:
        """Note the end of the input; yields the page in which it is cut off, as lost.

        Raises BadSource if there was no dump.
        """
        self._end_parser()
        if not self._seen_root:
            raise BadSource(f"{self._name}: not a MediaWiki dump: it is empty")
        if not self.seen_pages and self.losses.fault:
            raise self._not_a_dump(self.losses.fault)
        if self._state == "seeking" and _ROOT_END.search(self._unread):
            self._is_complete = True
        if not self._is_complete:
            if not self.seen_pages:
                raise BadSource(f"{self._name}: cut off before its first page; download it again")
            self.losses.is_cut_off = True
            self._lose(self._fed)
        return self._take()

    @property
    def info(self) -> SourceInfo:
        """What is known about the source: the facts that the dump has stated so far replace
        ``known``."""
        return self._facts.info

    def _not_a_dump(self, reason: str) -> BadSource:
        return BadSource(f"{self._name}: not a MediaWiki dump (XML of pages): {reason}")

    def _break(self, reason: str, end: int) -> None:
        """Note broken XML, which ends the page before byte ``end``, and seek the next page.

        Raises BadSource if there was no dump before, CutOff if there have been too many faults.
        """
        if not self._seen_root:
            raise self._not_a_dump(reason)
        self._note_fault(f"broken XML ({reason})", end)
        self._lose(end)
        self._state = "seeking"
        self._faults += 1
        if self._faults > _MOST_FAULTS:
            raise CutOff(f"broken XML in over {_MOST_FAULTS:,} places")

    def _note_fault(self, fault: str, end: int) -> None:
        self.losses.note(fault, self._page_start if self._in_page else end)

    def _fail(self, reason: str) -> _Broken:
        """The error for a handler to raise."""
        self._broken_at = self._parser.CurrentByteIndex + self._base
        return _Broken(reason)

    def _lose(self, end: int) -> None:
        """Give up the page that has begun, if there is one."""
        if not self._in_page:
            return
        self._in_page = False
        self._in_revision = False
        is_article = self._is_article and not self._redirect
        if is_article:
            self.losses.lose_article(self._page_start)
        skip: Skip | None = "damaged" if is_article else None
        self._entries.append(DumpEntry(skip, self._page_start, end))

    def _take(self) -> Iterator[DumpEntry]:
        """The pages that have been read or lost since this was called last."""
        entries = self._entries
        self._entries = []
        return iter(entries)

    @property
    def between_pages(self) -> bool:
        """Whether the input so far ends between two pages, so that another reader could continue
        from here."""
        return (self._depth == 1 or self._state == "seeking") and self._ends_cleanly

    @property
    def has_ended(self) -> bool:
        """Whether the input so far is a complete dump."""
        return self._is_complete and self._depth == 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        depth = self._depth
        self._silence = 0
        if depth > _DEEPEST:
            raise self._fail("elements nested too deeply")
        name = self._tags.get(tag)
        if name is None or not self._attributes.issuperset(attributes):
            name = self._note_names(tag, attributes)
        if name == "page" and self._seen_root:
            self._start_page(depth)
        elif depth == 1:
            self._start_root(tag, name, attributes)
        elif depth == 3:
            if self._in_page:
                self._start_part_of_page(name)
            elif not self.seen_pages and name in _OF_SITES:
                self._collect(name)
        elif depth == 4:
            if self._in_revision:
                self._start_part_of_revision(name, attributes)
            elif name == "namespace" and not self._in_page:
                self._start_namespace(attributes)

    def _start_root(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        if name != "mediawiki":
            if self._seen_root:
                raise self._fail(f"<{tag[:40]}> between pages")
            raise BadSource(f"{self._name}: not a MediaWiki dump: it begins with <{tag[:40]}>")
        self._seen_root = True
        self._is_complete = False
        language = attributes.get("xml:lang", self.info.language)
        self._facts.note_language(language[:_LONGEST_TAG])

    def _start_part_of_page(self, name: str) -> None:
        if name in _OF_PAGES:
            self._collect(name)
        elif name == "redirect":
            self._redirect = True
        elif name == "revision":
            self._in_revision = True
            self._revision = _Revision()

    def _start_part_of_revision(self, name: str, attributes: dict[str, str]) -> None:
        if name in _OF_REVISIONS:
            self._collect(name)
        elif name == "text":
            self._revision.has_text = "deleted" not in attributes
            if self._revision.has_text and not self._redirect and self._is_article:
                self._collect(name, LARGEST_TEXT)

    def _start_namespace(self, attributes: dict[str, str]) -> None:
        if attributes.get("key") == _ARTICLES:
            self._facts.note_case(attributes.get("case", ""))
        elif self._facts.may_have_more_names:
            self._namespace = attributes.get("key", "")[:_LONGEST_TAG]
            self._collect("namespace")

    def _start_literal(self) -> None:
        self._literal_at = self._parser.CurrentByteIndex + self._base

    def _end_literal(self) -> None:
        self._literal_at = None

    def _note_names(self, tag: str, attributes: dict[str, str]) -> str:
        """The name of an element, which is to be known from now on."""
        self._attributes.update(attributes)
        _, _, without_prefix = tag.rpartition(":")
        name = without_prefix.lower()
        self._tags[tag] = name
        number = len(self._tags) + len(self._attributes)
        longest = max(map(len, (tag, *attributes)))
        if number > _MOST_TAGS or longest > _LONGEST_TAG:
            raise self._fail("too many kinds of elements")
        return name

    def _start_page(self, depth: int) -> None:
        start = self._parser.CurrentByteIndex + self._base
        if self._in_page:
            self._note_cut_page(start)
        self._unclosed += max(0, depth - 2)
        if self._unclosed > _MOST_UNCLOSED:
            raise self._fail("elements without an end")
        self._depth = 2
        self._drop_collected()
        if not self.seen_pages:
            self._facts.note_first_page()
        self.seen_pages = True
        self._in_page = True
        self._in_revision = False
        self._is_complete = False
        self._page_start = start
        self._new_page()

    def _note_cut_page(self, end: int) -> None:
        self._note_fault("broken XML (a page without an end)", end)
        self._lose(end)

    @property
    def _is_article(self) -> bool:
        """Whether the page is in the main namespace, as far as is known by now."""
        namespace = self._fields["ns"].strip()
        if namespace:
            return namespace == _ARTICLES
        return not has_namespace(self._fields["title"], self.info)

    def _collect(self, name: str, most: int = _LONGEST_FIELD) -> None:
        self._collected = []
        self._collecting = name
        self._collecting_at = self._depth
        self._length = 0
        self._most = most
        self._parser.CharacterDataHandler = self._characters

    def _drop_collected(self) -> None:
        self._collected = None
        self._parser.CharacterDataHandler = None

    def _characters(self, data: str) -> None:
        self._silence = 0
        if self._collected is not None and self._length < self._most:
            self._collected.append(data[: self._most - self._length])
        self._length += len(data)

    def _end(self, tag: str) -> None:
        depth = self._depth
        self._depth = depth - 1 if depth else 0
        self._silence = 0
        if self._collected is not None and depth == self._collecting_at:
            text = "".join(self._collected)
            self._drop_collected()
            self._take_field(self._collecting, depth, text)
        elif depth == 3 and self._in_revision:
            self._in_revision = False
            if self._newest is None or self._revision.age >= self._newest.age:
                self._newest = self._revision
        elif depth == 2 and self._in_page:
            end = self._parser.CurrentByteIndex + self._base + len(f"</{tag}>".encode())
            self._in_page = False
            self._entries.append(DumpEntry(self._page(), self._page_start, end))
        elif depth <= 1 and self._tags.get(tag, tag) == "mediawiki":
            self._end_dump()

    def _end_dump(self) -> None:
        self._depth = 0
        self._is_complete = self._seen_root

    def _take_field(self, name: str, depth: int, text: str) -> None:
        """Take note of the text of an element that has just ended."""
        if depth == 4 and self._in_revision:
            self._revision.fields[name] = text
            if name == "text":
                self._revision.too_large = self._length > self._most
        elif self._in_page:
            self._fields[name] = text
        elif name == "namespace":
            self._facts.name_namespace(self._namespace, text)
        elif name == "sitename":
            self._facts.note_site(text.strip())
        elif name == "case":
            self._facts.note_case(text.strip())
        elif name == "base" and text:
            self._facts.note_base(text)

    def _page(self) -> Page | Skip | None:
        """The page that has just ended, or why it is skipped; None for one that is no article."""
        if self._redirect or not self._is_article:
            return None
        revision = self._newest or _Revision()
        text = revision.fields.get("text", "")
        title = self._fields["title"].strip()
        try:
            page_id = int(self._fields["id"])
            revision_id = int(revision.fields.get("id") or 0)
        except ValueError:
            return "damaged"
        if not is_id(revision_id):
            revision_id = 0
        if revision.too_large or utf8_size(title) > LONGEST_TITLE or utf8_size(text) > LARGEST_TEXT:
            return "too large"
        if not is_id(page_id) or not title:
            return "damaged"
        if not revision.has_text:
            return "deleted or hidden"
        if revision.fields.get("model", "").strip() not in _TEXT_MODELS:
            return "no wikitext"
        if not text.strip():
            return "no text"
        if is_disambiguation(text, self.info.language):
            return "disambiguation"
        if is_redirect(text):
            return None
        return Page(page_id, title, revision_id, text, "wikitext")

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            if self._seen_root:
                raise self._fail("another encoding than UTF-8")
            raise BadSource(
                f"{self._name}: not a MediaWiki dump: its encoding is {encoding[:40]!r}, not UTF-8"
            )

    def _doctype(self, *_: object) -> None:
        # No dump has a document type, and one may declare entities that grow without bound.
        if self._seen_root:
            raise self._fail("a document type")
        raise BadSource(f"{self._name}: not a MediaWiki dump: it declares a document type")


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 0


_JUNK_AFTER_DOCUMENT = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_MISMATCH = expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]
