"""The pages of one batch, which the Action API may send in several replies.

Any reply may be hostile: types are checked, and sizes limited.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wikitopics.crawler import page
from wikitopics.crawler.errors import TransientError
from wikitopics.crawler.http.wire import value_at

_MOST_CHARACTERS = 8 << 20
"""The most characters of all texts of a batch: as many as MediaWiki sends in one reply."""


@dataclass(slots=True)
class _Listed:
    """A page of the batch, with or without its text so far."""

    title: str
    revision_id: int = 0
    text: str | None = None
    skip: page.Skip | None = None
    """The reason why it is not an article."""


class Gathering:
    """The pages of one batch, as reply after reply fills in their texts."""

    def __init__(self) -> None:
        self._listed: dict[int, _Listed] = {}
        self._nameless: Counter[page.Skip] = Counter()
        """Entries without an id: missing pages, and entries that are not pages."""
        self._size = 0

    def add(self, entries: Sequence[Mapping[str, Any]]) -> bool:
        """Merge the pages of one reply; returns whether it contained anything new.

        Raises `TransientError` if the texts exceed the limit of a batch.
        """
        has_news = False
        nameless: Counter[page.Skip] = Counter()
        for entry in entries:
            page_id = entry.get("pageid")
            title = entry.get("title")
            in_main_namespace = entry.get("ns", 0) == 0  # the wiki was asked for no other pages
            if not (in_main_namespace and page.is_id(page_id) and isinstance(title, str)):
                nameless[_skip(entry) or "damaged"] += 1
                continue
            listed = self._listed.get(page_id)
            if listed is None:
                listed = _Listed(page.sound_text(title[: page.LONGEST_TITLE]))
                if page.utf8_size(title) > page.LONGEST_TITLE:
                    listed.skip = "too large"
                self._listed[page_id] = listed
                has_news = True
            skip = _skip(entry)
            if skip is not None:
                if listed.skip is None:
                    has_news = True
                listed.skip = skip
            if listed.text is None and _take_text(listed, entry):
                has_news = True
                self._size += len(listed.text or "")
        # Each reply of a batch lists the same nameless pages again, so their numbers are not added:
        # for each reason, a Counter's `|=` keeps the larger one.
        self._nameless |= nameless
        if self._size > _MOST_CHARACTERS and len(self._listed) > 1:
            raise TransientError("the articles of one batch are too large in total", too_large=True)
        return has_news

    def without_text(self) -> list[int]:
        """Ids of the pages whose text is still missing, in ascending order."""
        return sorted(
            page_id
            for page_id, listed in self._listed.items()
            if listed.text is None and listed.skip is None
        )

    def titles(self) -> list[tuple[int, str]]:
        """Id and title of the pages that may be articles, in the order in which the wiki listed
        them."""
        return [
            (page_id, listed.title)
            for page_id, listed in self._listed.items()
            if listed.skip is None
        ]

    def ids(self) -> list[int]:
        """All listed ids, in the wiki's order."""
        return list(self._listed)

    def leave_out(self, page_ids: Iterable[int], reason: page.Skip) -> None:
        """Record that these pages do not count as articles."""
        for page_id in page_ids:
            self._listed[page_id].skip = reason

    def __len__(self) -> int:
        """The number of pages listed, with and without an article."""
        return len(self._listed) + self._nameless.total()

    def pages(self) -> tuple[page.Page, ...]:
        """The articles, in the order in which the wiki listed them."""
        return tuple(
            page.Page(page_id, listed.title, listed.revision_id, listed.text, "wikitext")
            for page_id, listed in self._listed.items()
            if listed.text is not None and listed.skip is None
        )

    def skips(self) -> Counter[page.Skip]:
        """The number of listed pages known not to be articles, by reason."""
        skips = (listed.skip for listed in self._listed.values())
        return Counter(skip for skip in skips if skip is not None) + self._nameless

    def skips_without_text(self) -> Counter[page.Skip]:
        """The same for a final batch: pages still without text are skipped."""
        return self.skips() + Counter({"no text": len(self.without_text())})


def _take_text(listed: _Listed, entry: Mapping[str, Any]) -> bool:
    """Note the page's text, or why it can have none; returns whether the entry has one or the
    other."""
    revision = value_at(entry, "revisions", 0)
    main = value_at(revision, "slots", "main")
    if isinstance(revision, dict) and "content" in revision:
        main = revision  # the format of MediaWiki before version 1.32
    if not isinstance(main, dict):
        return False
    content = main.get("content")
    if not isinstance(content, str):
        listed.skip = "deleted or hidden"
        return True
    if main.get("contentmodel", "wikitext") != "wikitext":
        listed.skip = "no wikitext"
        return True
    if page.utf8_size(content) > page.LARGEST_TEXT:
        listed.skip = "too large"
        return True
    revision_id = value_at(revision, "revid")
    listed.revision_id = revision_id if page.is_id(revision_id) else 0
    listed.text = page.sound_text(content)
    return True


def _skip(entry: Mapping[str, Any]) -> page.Skip | None:
    """Why a listed page is not an article, as far as this entry tells."""
    if entry.get("missing") or entry.get("invalid"):
        return "deleted or hidden"
    if entry.get("redirect"):
        return "redirect"
    if value_at(entry, "pageprops", "disambiguation") is not None:
        return "disambiguation"
    return None
