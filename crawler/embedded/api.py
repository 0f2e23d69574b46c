"""The part of MediaWiki's Action API that a crawler needs, with the same cursors and continuations."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wikitopics.crawler.embedded.corpus import Articles
from wikitopics.crawler.embedded.faults import Faults
from wikitopics.crawler.embedded.writing import Writer

_NUMBER = re.compile(r"0\.\d+")
_MOST_LISTED = 500
_MOST_WITH_TEXT = 50
_REVISION_OFFSET = 1_000_000
_NAMESPACES = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 6: "File", 10: "Template", 14: "Category"}


class ApiError(Exception):
    """An error as the API reports it, under status 200."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(code)
        self.reply = {"error": {"code": code, "info": info}, "servedby": "embedded"}


class EmbeddedApi:
    """Answers `action=query` on ``articles``.

    Pages are in a fixed random order, with page ``index`` at ``(index + shift) mod size``. A lap begun
    without a cursor therefore gives the articles in their own order and wraps around.
    """

    def __init__(
        self,
        articles: Articles,
        *,
        first_id: int = 1,
        faults: Faults | None = None,
        most_bytes: int = 8 << 20,
    ) -> None:
        self.articles = articles
        self.writer = Writer(articles.corpus.words)
        self.faults = faults or Faults()
        self._first_id = first_id
        self._most_bytes = most_bytes
        self._shift = (
            random.Random(self.faults.seed).randrange(max(1, articles.size)) if articles.size > 1 else 0
        )

    def answer(
        self, query: Mapping[str, str], fault: str | None = None, rng: random.Random | None = None
    ) -> dict[str, Any]:
        """The reply as an object. ``fault``: "truncated", "out-of-order" or "duplicate"."""
        if query.get("action") != "query":
            raise ApiError("unknown_action", 'Unrecognized value for parameter "action".')
        if query.get("meta") == "siteinfo":
            return self._siteinfo()
        going_on: dict[str, str] = {}
        batch: dict[str, str] = {}
        entries: list[dict[str, Any]]
        if query.get("generator") == "random":
            indexes, batch, going_on = self._random(query)
        elif "pageids" in query:
            indexes = [i - self._first_id for i in _ids(query["pageids"])]
        elif "titles" in query:
            named = query["titles"].split("|")[:_MOST_WITH_TEXT]
            found = [self.articles.find(t.replace("_", " ")) for t in named]
            indexes = [i for i in found if i is not None]
        else:
            return {"batchcomplete": True}
        entries = [self._entry(i) for i in indexes]
        if "titles" in query:
            missing = [t for t, i in zip(named, found, strict=True) if i is None]
            entries += [{"ns": 0, "title": t, "missing": True} for t in missing]
        props = query.get("prop", "").split("|")
        if "pageprops" in props:
            for entry, index in zip(entries, indexes, strict=False):
                if self.faults.hits("disambiguation", index):
                    entry["pageprops"] = {"disambiguation": ""}
        revision_continue = None
        if "revisions" in props:
            revision_continue = self._add_texts(query, entries, fault, rng or random.Random(0))
        if fault == "duplicate" and entries:
            entries.append(dict(entries[0]))
        reply: dict[str, Any] = {}
        if revision_continue is not None:
            reply["continue"] = {"rvcontinue": revision_continue, **batch, "continue": "||pageprops"}
        else:
            reply["batchcomplete"] = True
            if going_on:
                reply["continue"] = {**going_on, "continue": "grncontinue||"}
        if entries:
            reply["query"] = {"pages": entries}
        return reply

    # -- pages -------------------------------------------------------------------

    def index_of_title(self, title: str) -> int | None:
        """The index of a page that exists."""
        index = self.articles.find(title)
        return None if index is None or self.faults.hits("deleted", index) else index

    def ids(self, index: int) -> tuple[int, int]:
        """Page id and revision id."""
        return index + self._first_id, index + self._first_id + _REVISION_OFFSET

    def wikitext(self, index: int) -> str:
        """The wikitext of a page."""
        text = self.writer.wikitext(self.articles.article(index))
        if self.faults.hits("oversized", index):
            text += "\n" + "<!-- more than a reply may hold -->" * (self._most_bytes // 30)
        return text

    def _entry(self, index: int) -> dict[str, Any]:
        page_id = index + self._first_id
        if not 0 <= index < self.articles.size:
            return {"pageid": page_id, "missing": True}
        entry: dict[str, Any] = {"pageid": page_id, "ns": 0, "title": self.articles.title(index)}
        if self.faults.hits("deleted", index):
            entry["missing"] = True
        return entry

    def _add_texts(
        self,
        query: Mapping[str, str],
        entries: Sequence[dict[str, Any]],
        fault: str | None,
        rng: random.Random,
    ) -> str | None:
        """Give the entries their texts as far as the reply's size allows; returns where to continue, if
        necessary."""
        cursor = query.get("rvcontinue", "0|0").split("|")
        if len(cursor) < 2 or not cursor[0].isdigit():
            raise ApiError("badcontinue", "Invalid continue param.")
        falling = len(cursor) > 2 or (fault == "out-of-order" and "rvcontinue" not in query)
        begin = int(cursor[0])
        due = [e for e in entries if "missing" not in e]
        due.sort(key=lambda e: int(e["pageid"]), reverse=falling)
        if begin:
            due = [e for e in due if (e["pageid"] <= begin if falling else e["pageid"] >= begin)]
        most = len(due)
        if fault in ("truncated", "out-of-order") and most > 1:
            most = rng.randint(1, most - 1)
        size = 0
        for number, entry in enumerate(due):
            page_id, revision_id = self.ids(entry["pageid"] - self._first_id)
            text = self.wikitext(page_id - self._first_id) if number < most else ""
            size += len(text)
            if number >= most or size > self._most_bytes:
                return f"{page_id}|{revision_id}" + ("|down" if falling else "")
            main = {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": text}
            entry["revisions"] = [
                {
                    "revid": revision_id,
                    "parentid": 0,
                    "timestamp": "2024-05-03T00:00:00Z",
                    "slots": {"main": main},
                }
            ]
        return None

    # -- lists -------------------------------------------------------------------

    def _random(self, query: Mapping[str, str]) -> tuple[list[int], dict[str, str], dict[str, str]]:
        """Indexes of the batch, the cursor that lists it again, and the cursor after it."""
        size = self.articles.size
        limit = _limit(query, "grnlimit", 1, _MOST_LISTED)
        if "content" in query.get("rvprop", "").split("|"):
            limit = min(limit, _MOST_WITH_TEXT)
        if size == 0:
            return [], {}, {}
        if "grncontinue" in query:
            fields = query["grncontinue"].split("|")
            if (
                len(fields) != 4
                or not all(_NUMBER.fullmatch(f) for f in fields[:2])
                or not fields[2].isdigit()
                or fields[3] not in ("0", "1")
            ):
                raise ApiError("badcontinue", "Invalid continue param. You should pass the original value.")
            begin, first = self._rank(fields[0]), self._rank(fields[1])
            wrapped = fields[3] == "1"
        else:
            begin = first = self._shift
            wrapped = False
        # Ranks on the rest of the lap: up to the end, then from 0 to where the lap began.
        ranks = range(first, begin) if wrapped else range(first, size + begin)
        chosen = [rank % size for rank in ranks[:limit]]
        here = self._cursor(begin, first, wrapped)
        behind = (
            self._cursor(begin, ranks[limit] % size, wrapped or ranks[limit] >= size)
            if len(ranks) > limit
            else None
        )
        indexes = [(rank - self._shift) % size for rank in chosen]
        return indexes, {"grncontinue": here}, {"grncontinue": behind} if behind else {}

    def _page_random(self, rank: int) -> str:
        return f"{(rank + 0.5) / self.articles.size:.12f}"

    def _rank(self, number: str) -> int:
        """The first rank whose page_random is not below ``number``."""
        size = self.articles.size
        rank = max(0, int(float(number) * size - 0.5) - 2)
        while rank < size and self._page_random(rank) < f"{float(number):.12f}":
            rank += 1
        return rank

    def _cursor(self, begin: int, rank: int, wrapped: bool) -> str:
        index = (rank - self._shift) % self.articles.size
        return f"{self._page_random(begin)}|{self._page_random(rank)}|{index + self._first_id}|{int(wrapped)}"

    def _siteinfo(self) -> dict[str, Any]:
        names = {
            str(i): {"id": i, "case": "first-letter", "name": n, **({"canonical": n} if n else {})}
            for i, n in _NAMESPACES.items()
        }
        general = {
            "mainpage": "Main Page",
            "sitename": "Embedded sample",
            "generator": "MediaWiki 1.39.17",
            "lang": "en",
            "articlepath": "/wiki/$1",
            "scriptpath": "/w",
            "readonly": False,
        }
        statistics = {"pages": self.articles.size, "articles": self.articles.size, "images": 0}
        aliases = [{"id": 6, "alias": "Image"}]
        return {
            "batchcomplete": True,
            "query": {
                "general": general,
                "statistics": statistics,
                "namespaces": names,
                "namespacealiases": aliases,
            },
        }


def _limit(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = query.get(name, str(default))
    if text == "max":
        return most
    if not text.isdigit() or not 1 <= int(text) <= most:
        raise ApiError("badinteger", f'Invalid value for integer parameter "{name}".')
    return int(text)


def _ids(text: str) -> Iterator[int]:
    parts = text.split("|")
    if len(parts) > _MOST_WITH_TEXT:
        raise ApiError("toomanyvalues", 'Too many values supplied for parameter "pageids".')
    for part in parts:
        if not part.isdigit():
            raise ApiError("badinteger", 'Invalid value for integer parameter "pageids".')
        yield int(part)


def to_json(reply: Mapping[str, Any]) -> bytes:
    """As MediaWiki writes it: UTF-8, without spaces."""
    return json.dumps(reply, ensure_ascii=False, separators=(",", ":")).encode()
