"""The text of a page of HTML by lines: BeautifulSoup over lxml, with one string instead of a tree.

A module of its own, since importing BeautifulSoup is slow and not always needed.
"""

import re
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup
from bs4.builder._lxml import LXMLTreeBuilder
from lxml.etree import HTMLParser

from wikitopics.crawler.markup.prose import ITEM, LINK, NAMES, words

_DROPPED_TAGS = NAMES["tags"]
_DROPPED_CLASSES = NAMES["furniture"]
_DROPPED_IDS = NAMES["ids"]
_BLOCKS = NAMES["blocks"]
_EXTENSIONS = frozenset(f"mw:extension/{name}" for name in NAMES["dropped"])
"""What Parsoid calls the elements that stand for those of wikitext."""
_REFERENCE = "cite_ref"
"""The beginning of the ids of references' labels, whatever their classes."""
_LISTS = words("ul ol dl")
_LAYOUTS = words("multicol col-begin")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)

_ELSEWHERE = words("external extiw new image mw-file-description mw-selflink")
"""Classes of links that do not lead to an article."""

_MARK = "\x02"
"""Begins a line of a list, or a heading with its level as the next character."""
_ITEM_MARK = f"{_MARK}0"
_MAX_DEPTH = 1000
"""Pages that nest deeper are not articles; libxml2 searches all open elements for each stray
closing tag."""
_CHUNK = 32_768


class TooDeep(Exception):
    """The page nests deeper than any article."""


def lines_with_levels(text: str, hrefs: list[str] | None) -> Iterator[tuple[int, str]]:
    """The headings, paragraphs and list items, with their levels as `in_kept_sections` takes them.

    ``hrefs`` collects the addresses of links, whose numbers are marked in the lines; None: links
    are not marked. Raises `TooDeep`, before the first line.
    """
    soup = BeautifulSoup(text, builder=PruningBuilder(hrefs))
    return _lines(soup.get_text())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for line in text.split("\n"):
        if line.startswith(_MARK):
            level = int(line[1])
            yield level or ITEM, line[2:].strip()
            continue
        stripped = line.strip()
        if stripped:
            yield 0, stripped


class PruningBuilder(LXMLTreeBuilder):
    """Passes on only the text that is prose; blocks become lines, headings and items become marked
    lines.

    No tag reaches the soup: creating an object per element would take most of the time, and
    minutes for a page of nothing but ``<br>``.
    """

    def __init__(self, hrefs: list[str] | None) -> None:
        super().__init__()
        self._hrefs = hrefs
        self._depth = 0
        """The elements that are open, without those that are skipped."""
        self._skipped_depth = 0
        """The elements that are open of the one that is skipped, with it; 0: none is."""
        self._open_lists = 0
        self._turns: list[int] = []
        """Depths at which text is muted (a table's cells) and unmuted (a list in one),
        alternately."""
        self._is_muted = False

    def feed(self, markup: Any) -> None:
        # In pieces, since an exception in our methods only stops the parser at the end of a piece.
        self.parser: Any = HTMLParser(target=self, encoding="utf-8")
        for start in range(0, len(markup), _CHUNK):
            self.parser.feed(markup[start : start + _CHUNK])
        self.parser.close()

    def start(self, tag: Any, attrib: Any, nsmap: Any = {}) -> None:  # noqa: B006
        if self._skipped_depth:
            self._skipped_depth += 1
            if self._skipped_depth > _MAX_DEPTH:
                raise TooDeep
        elif _is_dropped(tag, attrib):
            self._skipped_depth = 1
        else:
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise TooDeep
            if tag in _BLOCKS:
                self._start_block(tag, attrib)
            elif tag == "a" and self._hrefs is not None:
                self._start_link(self._hrefs, attrib)

    def _start_block(self, tag: str, attributes: dict[str, str]) -> None:
        is_list = tag in _LISTS
        if is_list:
            self._open_lists += 1
        is_table_of_data = tag == "table" and not _is_layout(attributes)
        turns = is_list if self._is_muted else is_table_of_data
        if turns:
            self._turns.append(self._depth)
            self._is_muted = not self._is_muted
        level = _HEADINGS.get(tag)
        mark = "" if level is None else f"{_MARK}{level}"
        self._new_line(mark)

    def _start_link(self, hrefs: list[str], attributes: dict[str, str]) -> None:
        if not self._is_muted and _leads_on(attributes):
            super().data(f"{LINK}{len(hrefs)}{LINK}")
            hrefs.append(attributes["href"])

    def _new_line(self, mark: str = "") -> None:
        if self._is_muted:
            return
        if not mark and self._open_lists:
            mark = _ITEM_MARK
        super().data("\n" + mark)

    def end(self, tag: Any) -> None:
        if self._skipped_depth:
            self._skipped_depth -= 1
            return
        if tag in _BLOCKS:
            if tag in _LISTS:
                self._open_lists -= 1
            if self._turns and self._turns[-1] == self._depth:
                self._turns.pop()
                self._is_muted = not self._is_muted
            self._new_line()
        self._depth -= 1

    def data(self, data: Any) -> None:
        if not self._skipped_depth and not self._is_muted:
            if self._hrefs is not None and LINK in data:
                data = data.replace(LINK, " ")
            super().data(data.replace("\n", " ").replace(_MARK, " "))

    def comment(self, text: Any) -> None:
        pass

    def doctype(self, name: str, pubid: str, system: str) -> None:
        pass

    def pi(self, target: str, data: str) -> None:
        pass


def _is_dropped(tag: str, attributes: dict[str, str]) -> bool:
    """Whether an element is left out with everything in it."""
    if tag in _DROPPED_TAGS:
        return True
    if not attributes:
        return False
    classes = attributes.get("class")
    if classes is not None:
        if not _DROPPED_CLASSES.isdisjoint(classes.split()):
            return True
        if tag == "table" and not _is_layout(attributes):
            return True
    identifier = attributes.get("id", "")
    if identifier in _DROPPED_IDS or identifier.startswith(_REFERENCE):
        return True
    kind = attributes.get("typeof")
    if kind is not None and not _EXTENSIONS.isdisjoint(kind.lower().split()):
        return True
    if attributes.get("role") in ("navigation", "note"):
        return True
    style = attributes.get("style")
    return style is not None and _HIDDEN.search(style) is not None


def _leads_on(attributes: dict[str, str]) -> bool:
    """Whether a link with these attributes may lead to an existing page of the wiki."""
    classes = attributes.get("class")
    return "href" in attributes and (classes is None or _ELSEWHERE.isdisjoint(classes.split()))


def _is_layout(attributes: dict[str, str]) -> bool:
    """Whether a table with these attributes only arranges text in columns."""
    classes = attributes.get("class", "").split()
    return attributes.get("role") == "presentation" or not _LAYOUTS.isdisjoint(classes)
