"""Pages from the Action API's replies: types checked, sizes bounded, and pieces of one batch combined."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wikitopics.crawler.errors import TransientError
from wikitopics.crawler.source import LARGEST_TEXT, LONGEST_TITLE, Page, Skip, is_id, sound_text, utf8_size

_MOST_CHARACTERS = 8 << 20
"""The most characters of a batch: one MediaWiki reply holds as much, but a batch can take many."""


@dataclass(slots=True)
class _Listed:
    """A page of the batch, with or without its text so far."""

    title: str
    revision_id: int = 0
    text: str | None = None
    skip: Skip | None = None
    """Why it is not an article."""


class Gathering:
    """The pages of one batch, as reply after reply fills in their texts."""

    def __init__(self) -> None:
        self._listed: dict[int, _Listed] = {}
        self._nameless: Counter[Skip] = Counter()
        """Entries without an id: missing pages, and entries that are not pages."""
        self._size = 0

    def add(self, entries: Sequence[Mapping[str, Any]]) -> bool:
        """Merge the pages of one reply; returns whether it contained anything new.

        Raises `TransientError` if the texts exceed the limit of a batch.
        """
        news = False
        nameless: Counter[Skip] = Counter()
        for entry in entries:
            page_id, title = entry.get("pageid"), entry.get("title")
            if not is_id(page_id) or not isinstance(title, str) or entry.get("ns", 0) != 0:
                nameless[_skip(entry) or "damaged"] += 1
                continue
            known = self._listed.get(page_id)
            if known is None:
                known = self._listed[page_id] = _Listed(sound_text(title[:LONGEST_TITLE]))
                known.skip = "too large" if utf8_size(title) > LONGEST_TITLE else None
                news = True
            if skip := _skip(entry):
                news |= known.skip is None
                known.skip = skip
            if known.text is None:
                news |= _take_text(known, entry)
                self._size += len(known.text or "")
        self._nameless |= nameless  # the larger number, since each reply of a batch lists them again
        if self._size > _MOST_CHARACTERS and len(self._listed) > 1:
            raise TransientError("the articles of one batch are too large in total", too_large=True)
        return news

    def without_text(self) -> list[int]:
        """Ids of the pages whose text is still missing, in ascending order."""
        return sorted(i for i, p in self._listed.items() if p.text is None and p.skip is None)

    def titles(self) -> list[tuple[int, str]]:
        """Id and title of the pages that may be articles, in the order in which the wiki listed them."""
        return [(page_id, p.title) for page_id, p in self._listed.items() if p.skip is None]

    def ids(self) -> list[int]:
        """All listed ids, in the wiki's order."""
        return list(self._listed)

    def leave_out(self, page_ids: Iterable[int], reason: Skip) -> None:
        """Note that these pages are not articles for us."""
        for page_id in page_ids:
            self._listed[page_id].skip = reason

    def __len__(self) -> int:
        """The number of pages listed, with and without an article."""
        return len(self._listed) + self._nameless.total()

    def pages(self) -> tuple[Page, ...]:
        """The articles, in the order in which the wiki listed them."""
        return tuple(
            Page(page_id, p.title, p.revision_id, p.text, "wikitext")
            for page_id, p in self._listed.items()
            if p.text is not None and p.skip is None
        )

    def skips(self) -> Counter[Skip]:
        """The number of listed pages known not to be articles, by reason."""
        return Counter(p.skip for p in self._listed.values() if p.skip is not None) + self._nameless

    def skips_without_text(self) -> Counter[Skip]:
        """The same once no more texts will come: a page without a text is not an article either."""
        return self.skips() + Counter({"no text": len(self.without_text())})


def _take_text(page: _Listed, entry: Mapping[str, Any]) -> bool:
    revisions = entry.get("revisions")
    revision = revisions[0] if isinstance(revisions, list) and revisions else None
    if not isinstance(revision, dict):
        return False
    slots = revision.get("slots")
    main = slots.get("main") if isinstance(slots, dict) else None
    if "content" in revision:
        main = revision  # the format of MediaWiki before version 1.32
    if not isinstance(main, dict):
        return False
    content = main.get("content")
    if not isinstance(content, str) or main.get("contentmodel", "wikitext") != "wikitext":
        page.skip = "no wikitext" if isinstance(content, str) else "deleted or hidden"
        return True
    if utf8_size(content) > LARGEST_TEXT:
        page.skip = "too large"
        return True
    revision_id = revision.get("revid")
    page.revision_id = revision_id if is_id(revision_id) else 0
    page.text = sound_text(content)
    return True


def _skip(entry: Mapping[str, Any]) -> Skip | None:
    """Why a listed page is not an article, as far as this entry tells."""
    if entry.get("missing") or entry.get("invalid"):
        return "deleted or hidden"
    if entry.get("redirect"):
        return "redirect"
    properties = entry.get("pageprops")
    return "disambiguation" if isinstance(properties, dict) and "disambiguation" in properties else None
