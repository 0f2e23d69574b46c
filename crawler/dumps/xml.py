"""Reads the XML of a MediaWiki dump, piece by piece, and reads on behind what is broken.

A page begins wherever ``<page>`` stands, since texts write it as ``&lt;page>``. So broken XML costs
only the pages that it is in: reading continues with the next one.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal, Self
from xml.parsers import expat

from wikitopics.crawler.dumps.elements import Broken, Elements
from wikitopics.crawler.dumps.losses import Losses
from wikitopics.crawler.dumps.pages import DumpEntry
from wikitopics.crawler.errors import BadSource, CutOff
from wikitopics.crawler.page import SourceInfo

PAGE_TAG = re.compile(rb"<(?:[a-z][\w.-]{0,30}:)?page[\s>]", re.IGNORECASE)
"""The beginning of a page, which a few tools write in capitals or with a prefix."""
LONGEST_PAGE_TAG = 38
"""The most bytes that `PAGE_TAG` matches: at most so many belong to one that is cut off."""
_ROOT_TAG = re.compile(rb"<(?:[a-z][\w.-]{0,30}:)?mediawiki[\s>]", re.IGNORECASE)
_ROOT_END = re.compile(rb"</(?:[a-z][\w.-]{0,30}:)?mediawiki\s*>", re.IGNORECASE)
_LONGEST_ROOT_TAG = 44
_PROLOG = re.compile(rb"<[?!]")
_BLANKS = re.compile(rb"(?:\xef\xbb\xbf|\s)*")
"""Lines without text, or a byte order mark."""
_PIECE = 64 << 10
"""The bytes parsed at a time: after an error found here, the parser reads the rest of them in
vain."""
_MOST_FAULTS = 50_000
"""The most places with broken XML; each takes 0.1 ms."""
_MOST_SILENCE = 16 << 20
"""The most bytes without an element: a page's text has 2 MiB, and each of its characters may be a
reference."""
_JUNK_AFTER_DOCUMENT = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_MISMATCH = expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]


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
        self._name = name
        self._elements = Elements(name, known or SourceInfo(name, None), continued=continued)
        self._ends_cleanly = True
        self._fed = 0
        """The bytes that are done with."""
        self._unread = b""
        """What follows these, and is too short to be judged before more has come."""
        self._begun = 0
        """The byte of the input at which the parser begins."""
        self._state: Literal["parsing", "seeking", "ended"] = "parsing"
        """"seeking": the next page is sought behind broken XML; "ended": the dump has ended, and
        another one may follow."""
        self._faults = 0
        """The number of places with broken XML."""

    @property
    def info(self) -> SourceInfo:
        """What is known about the source: the facts that the dump has stated so far replace
        ``known``."""
        return self._elements.facts.info

    @property
    def losses(self) -> Losses:
        """What could not be read."""
        return self._elements.losses

    @property
    def seen_pages(self) -> bool:
        """Whether a page has begun."""
        return self._elements.seen_pages

    def _begin(self, *, continued: bool) -> None:
        """Go on with a new parser; ``continued``: within a dump."""
        self._begun = self._fed
        self._elements.begin(self._fed, continued=continued)
        self._state = "parsing"

    def feed(self, data: bytes) -> Iterator[DumpEntry]:
        """The pages that end within ``data``, and those that are lost. Raises BadSource if this is
        not a dump, CutOff if too much of it is broken."""
        elements = self._elements
        elements.silence += len(data)
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
                yield from elements.take()
            if elements.silence > _MOST_SILENCE and self._state == "parsing":
                self._break("a tag, comment or text that never ends", self._fed)
        except CutOff:
            yield from elements.take()
            raise
        yield from elements.take()

    def _step(self, data: bytes, at: int) -> int:
        """Read some of ``data`` from ``at`` on. Returns how many bytes are done with."""
        if self._state == "seeking":
            return self._seek(data, at)
        if self._state == "ended":
            return self._begin_again(data, at)
        if self._fed == 0 and not self._elements.seen_root:
            before = self._before_root(data)
            if before:
                self._begun = before
                self._elements.base = before
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
        elements = self._elements
        parser = elements.parser
        try:
            parser.Parse(piece, False)
            swallowed = self._swallowed(data, at, stop)
            if swallowed:
                self._parse_put_off()
                swallowed = self._swallowed(data, at, stop)
        except Broken as error:
            done = self._within(error.at, len(piece))
            self._break(str(error), self._fed + done)
            return done
        except expat.ExpatError as error:
            done = self._within(parser.ErrorByteIndex + elements.base, len(piece))
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
            elements.cut_page(self._fed + done)
            elements.end_dump()
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
        parser = self._elements.parser
        if hasattr(parser, "SetReparseDeferralEnabled"):
            parser.SetReparseDeferralEnabled(False)
            parser.Parse(b"", False)
            parser.SetReparseDeferralEnabled(True)

    def _swallowed(self, data: bytes, at: int, stop: int) -> re.Match[bytes] | None:
        """The beginning of a page in those of the bytes from ``at`` to before ``stop`` that are not
        parsed yet: they begin a tag, or text without markup, in which no page can begin."""
        index = self._elements.literal_at
        if index is None:
            index = self._elements.at
        parsed = self._within(index, stop - at)
        return PAGE_TAG.search(data, at + parsed + 1, stop)

    def _end_parser(self) -> None:
        """Parse what the parser has put off, when nothing more follows what it was fed."""
        if self._state == "parsing":
            with suppress(Broken, expat.ExpatError):  # what lacks an end is told by the caller
                self._elements.parser.Parse(b"", True)

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
            self._elements.is_complete = True
        if found is None:
            self._unread = data[stop:]
        elif stop == at:
            self._begin(continued=True)
        return stop - at

    def _begin_again(self, data: bytes, at: int) -> int:
        """Read what follows the end of a dump: usually nothing, or another one."""
        blanks = _BLANKS.match(data, at)
        if blanks and blanks.end() > at:
            return blanks.end() - at
        if _PROLOG.match(data, at) or _ROOT_TAG.match(data, at):
            self._begin(continued=False)
        elif len(data) - at < _LONGEST_ROOT_TAG:
            self._unread = data[at:]
        else:
            self._begin(continued=True)
        return 0

    def skip_gap(self, reason: str) -> Iterator[DumpEntry]:
        """Note that bytes are missing between the last input and the next, for this reason.

        Yields the page that they were part of, as lost.
        """
        elements = self._elements
        if elements.seen_root:
            self._end_parser()
        self._fed += len(self._unread)
        self._unread = b""
        self._begun = -1  # a page may begin where the input continues
        elements.losses.has_gaps = True
        elements.note_fault(reason, self._fed)
        if elements.seen_root:
            elements.lose_page(self._fed)
            self._state = "seeking"
        return elements.take()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._elements.drop_parser()

    def close(self) -> Iterator[DumpEntry]:
        """Note the end of the input; yields the page in which it is cut off, as lost.

        Raises BadSource if there was no dump.
        """
        self._end_parser()
        elements = self._elements
        if not elements.seen_root:
            raise BadSource(f"{self._name}: not a MediaWiki dump: it is empty")
        if not elements.seen_pages and elements.losses.fault:
            raise self._not_a_dump(elements.losses.fault)
        if self._state == "seeking" and _ROOT_END.search(self._unread):
            elements.is_complete = True
        if not elements.is_complete:
            if not elements.seen_pages:
                raise BadSource(f"{self._name}: cut off before its first page; download it again")
            elements.losses.is_cut_off = True
            elements.lose_page(self._fed)
        return elements.take()

    def _not_a_dump(self, reason: str) -> BadSource:
        return BadSource(f"{self._name}: not a MediaWiki dump (XML of pages): {reason}")

    def _break(self, reason: str, end: int) -> None:
        """Note broken XML, which ends the page before byte ``end``, and seek the next page.

        Raises BadSource if there was no dump before, CutOff if there have been too many faults.
        """
        elements = self._elements
        if not elements.seen_root:
            raise self._not_a_dump(reason)
        elements.note_fault(f"broken XML ({reason})", end)
        elements.lose_page(end)
        self._state = "seeking"
        self._faults += 1
        if self._faults > _MOST_FAULTS:
            raise CutOff(f"broken XML in over {_MOST_FAULTS:,} places")

    @property
    def between_pages(self) -> bool:
        """Whether the input so far ends between two pages, so that another reader could continue
        from here."""
        return (self._elements.depth == 1 or self._state == "seeking") and self._ends_cleanly

    @property
    def has_ended(self) -> bool:
        """Whether the input so far is a complete dump."""
        return self._elements.is_complete and self._elements.depth == 0
