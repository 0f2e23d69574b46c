"""What the elements of a dump say, as a parser comes to them: facts about the wiki, and pages.

They are not trusted: their number, their depth and their names have limits.
"""

from collections.abc import Iterator
from xml.parsers import expat

from wikitopics.crawler.dumps.facts import Facts
from wikitopics.crawler.dumps.losses import Losses
from wikitopics.crawler.dumps.pages import (
    ARTICLES,
    OF_PAGES,
    OF_REVISIONS,
    DumpEntry,
    DumpPage,
    Revision,
)
from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.page import LARGEST_TEXT, Skip, SourceInfo

_ROOT = b"<mediawiki>"
_ENCODINGS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
"""MediaWiki writes UTF-8. Python would search its codecs for any other name."""
_LONGEST_FIELD = 1024
"""The most characters of a title, an id or a name."""
_DEEPEST = 64
"""The deepest nesting of elements; a dump has 6 levels."""
_MOST_UNCLOSED = 1000
"""The most elements without an end, left by pages that are cut, which a parser keeps."""
_MOST_TAGS = 1000
"""The most names of elements and attributes, all of which the parser keeps; a dump has about 50."""
_LONGEST_TAG = 200
_OF_SITES = ("base", "sitename", "case")
"""The elements whose texts are read of a site."""


class Broken(Exception):
    """The XML is not that of a dump, as the message says. Reading continues with the next page."""

    def __init__(self, reason: str, at: int) -> None:
        """``at``: the byte of the input where it breaks."""
        super().__init__(reason)
        self.at = at


class Elements:
    """Takes what a parser tells of the elements of a dump, or of several, one after another.

    Bytes are numbered as in the input. While it parses, `parser` raises `Broken` for XML that is
    not that of a dump, and BadSource if there was no dump before.
    """

    def __init__(self, name: str, known: SourceInfo, *, continued: bool) -> None:
        self.facts = Facts(known)
        self.losses = Losses()
        """What could not be read."""
        self.seen_root = continued
        """Whether a dump has begun."""
        self.seen_pages = continued
        """Whether a page has begun."""
        self.is_complete = False
        """Whether the last dump has ended properly."""
        self.silence = 0
        """The bytes since the last element or character of text; whoever feeds the parser counts
        them."""
        self.page: DumpPage | None = None
        """The page that has begun and not ended yet, if any."""
        self._name = name
        self._entries: list[DumpEntry] = []
        self.begin(0, continued=continued)

    def begin(self, base: int, *, continued: bool) -> None:
        """Go on with a new parser, whose input begins at this byte; ``continued``: within a
        dump."""
        self.base = base
        """What to add to the parser's index of a byte to get the index in the input."""
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = 65536
        if continued:
            parser.Parse(_ROOT, False)
            self.base -= len(_ROOT)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        parser.XmlDeclHandler = self._declaration
        parser.StartCdataSectionHandler = self._start_literal
        parser.EndCdataSectionHandler = self._end_literal
        self.parser = parser
        self.depth = 1 if continued else 0
        """The number of elements that have begun and not ended yet."""
        self.literal_at: int | None = None
        """Where text without markup began that has not ended yet."""
        self._tags: dict[str, str] = {}
        """The elements' names as they are written, and without prefix and capitals."""
        self._attributes: set[str] = set()
        self._unclosed = 0
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

    def drop_parser(self) -> None:
        """Drop the parser: it refers to this object, and together they would keep a megabyte for a
        while."""
        del self.parser

    @property
    def at(self) -> int:
        """The byte that the parser has come to."""
        return self.parser.CurrentByteIndex + self.base

    def take(self) -> Iterator[DumpEntry]:
        """The pages that have been read or lost since this was called last."""
        entries = self._entries
        self._entries = []
        return iter(entries)

    def note_fault(self, fault: str, end: int) -> None:
        """Note a fault, which ends the page before byte ``end``, if there is one."""
        self.losses.note(fault, end if self.page is None else self.page.start)

    def lose_page(self, end: int) -> None:
        """Give up the page that has begun, if there is one."""
        page = self.page
        if page is None:
            return
        self.page = None
        skip: Skip | None = None
        if page.is_article(self.facts.info):
            self.losses.lose_article(page.start)
            skip = "damaged"
        self._entries.append(DumpEntry(skip, page.start, end))

    def cut_page(self, end: int) -> None:
        """Give up the page that has begun, if there is one, since it has no end."""
        if self.page is not None:
            self.note_fault("broken XML (a page without an end)", end)
            self.lose_page(end)

    def end_dump(self) -> None:
        """Note that the dump has ended."""
        self.depth = 0
        self.is_complete = self.seen_root

    # What the parser tells ------------------------------------------------------------------------

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        depth = self.depth
        self.silence = 0
        if depth > _DEEPEST:
            raise Broken("elements nested too deeply", self.at)
        name = self._tags.get(tag)
        if name is None or not self._attributes.issuperset(attributes):
            name = self._note_names(tag, attributes)
        page = self.page
        if name == "page" and self.seen_root:
            self._start_page(depth)
        elif depth == 1:
            self._start_root(tag, name, attributes)
        elif depth == 3:
            if page is not None:
                self._start_part_of_page(page, name)
            elif not self.seen_pages and name in _OF_SITES:
                self._collect(name)
        elif depth == 4:
            if page is None:
                if name == "namespace":
                    self._start_namespace(attributes)
            elif page.revision is not None:
                self._start_part_of_revision(page, page.revision, name, attributes)

    def _note_names(self, tag: str, attributes: dict[str, str]) -> str:
        """The name of an element, which is to be known from now on."""
        self._attributes.update(attributes)
        _, _, without_prefix = tag.rpartition(":")
        name = without_prefix.lower()
        self._tags[tag] = name
        number = len(self._tags) + len(self._attributes)
        longest = max(map(len, (tag, *attributes)))
        if number > _MOST_TAGS or longest > _LONGEST_TAG:
            raise Broken("too many kinds of elements", self.at)
        return name

    def _start_root(self, tag: str, name: str, attributes: dict[str, str]) -> None:
        if name != "mediawiki":
            if self.seen_root:
                raise Broken(f"<{tag[:40]}> between pages", self.at)
            raise BadSource(f"{self._name}: not a MediaWiki dump: it begins with <{tag[:40]}>")
        self.seen_root = True
        self.is_complete = False
        language = attributes.get("xml:lang", self.facts.info.language)
        self.facts.note_language(language[:_LONGEST_TAG])

    def _start_page(self, depth: int) -> None:
        start = self.at
        self.cut_page(start)
        self._unclosed += max(0, depth - 2)
        if self._unclosed > _MOST_UNCLOSED:
            raise Broken("elements without an end", start)
        self.depth = 2
        self._drop_collected()
        if not self.seen_pages:
            self.facts.note_first_page()
        self.seen_pages = True
        self.is_complete = False
        self.page = DumpPage(start)

    def _start_part_of_page(self, page: DumpPage, name: str) -> None:
        if name in OF_PAGES:
            self._collect(name)
        elif name == "redirect":
            page.is_redirect = True
        elif name == "revision":
            page.revision = Revision()

    def _start_part_of_revision(
        self, page: DumpPage, revision: Revision, name: str, attributes: dict[str, str]
    ) -> None:
        if name in OF_REVISIONS:
            self._collect(name)
        elif name == "text":
            revision.has_text = "deleted" not in attributes
            if revision.has_text and page.is_article(self.facts.info):
                self._collect(name, LARGEST_TEXT)

    def _start_namespace(self, attributes: dict[str, str]) -> None:
        if attributes.get("key") == ARTICLES:
            self.facts.note_case(attributes.get("case", ""))
        elif self.facts.may_have_more_names:
            self._namespace = attributes.get("key", "")[:_LONGEST_TAG]
            self._collect("namespace")

    def _end(self, tag: str) -> None:
        depth = self.depth
        self.depth = depth - 1 if depth else 0
        self.silence = 0
        page = self.page
        if self._collected is not None and depth == self._collecting_at:
            text = "".join(self._collected)
            self._drop_collected()
            self._take_field(self._collecting, depth, text)
        elif depth == 3 and page is not None and page.revision is not None:
            page.end_revision(page.revision)
        elif depth == 2 and page is not None:
            end = self.at + len(f"</{tag}>".encode())
            self.page = None
            self._entries.append(DumpEntry(page.ended(self.facts.info), page.start, end))
        elif depth <= 1 and self._tags.get(tag, tag) == "mediawiki":
            self.end_dump()

    def _take_field(self, name: str, depth: int, text: str) -> None:
        """Take note of the text of an element that has just ended."""
        page = self.page
        if depth == 4 and page is not None and page.revision is not None:
            page.revision.fields[name] = text
            if name == "text":
                page.revision.too_large = self._length > self._most
        elif page is not None:
            page.fields[name] = text
        elif name == "namespace":
            self.facts.name_namespace(self._namespace, text)
        elif name == "sitename":
            self.facts.note_site(text.strip())
        elif name == "case":
            self.facts.note_case(text.strip())
        elif name == "base" and text:
            self.facts.note_base(text)

    def _collect(self, name: str, most: int = _LONGEST_FIELD) -> None:
        self._collected = []
        self._collecting = name
        self._collecting_at = self.depth
        self._length = 0
        self._most = most
        self.parser.CharacterDataHandler = self._characters

    def _drop_collected(self) -> None:
        self._collected = None
        self.parser.CharacterDataHandler = None

    def _characters(self, data: str) -> None:
        self.silence = 0
        if self._collected is not None and self._length < self._most:
            self._collected.append(data[: self._most - self._length])
        self._length += len(data)

    def _start_literal(self) -> None:
        self.literal_at = self.at

    def _end_literal(self) -> None:
        self.literal_at = None

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            if self.seen_root:
                raise Broken("another encoding than UTF-8", self.at)
            raise BadSource(
                f"{self._name}: not a MediaWiki dump: its encoding is {encoding[:40]!r}, not UTF-8"
            )

    def _doctype(self, *_: object) -> None:
        # No dump has a document type, and one may declare entities that grow without bound.
        if self.seen_root:
            raise Broken("a document type", self.at)
        raise BadSource(f"{self._name}: not a MediaWiki dump: it declares a document type")
