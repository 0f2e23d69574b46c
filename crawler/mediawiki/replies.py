"""The Action API's replies: answers, requests to wait, refusals, or noise, all of them possibly hostile."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wikitopics.crawler.http.wire import REASON_BYTES, Reply, plain_reason
from wikitopics.crawler.source import (
    LARGEST_TEXT,
    LONGEST_TITLE,
    CrawlerError,
    Page,
    Skip,
    TransientError,
    WikiRefused,
    is_id,
    sound_text,
    utf8_size,
)

# Pages from the Action API's replies: types checked, sizes bounded, and pieces of one batch combined.

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
        """The final batch: pages still without text are skipped."""
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


_THROTTLE_TEXT = re.compile(r"too many requests|robot policy|rate limit|\b429\b", re.IGNORECASE)
_THROTTLE_CODES = ("ratelimited", "readonly")
_REFUSAL_CODES = ("readapidenied", "permissiondenied", "blocked", "autoblocked", "globalblocking-blocked")
_FOR_GOOD = re.compile(r"bad|unknown(?!error)|unrecognized|missingparam|invalidparam|toomany|nosuch|assert")
_MOST_PAGES = 5000
_MOST_CONTINUES = 30
_LONGEST_CONTINUE = 4096


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one query, or one piece of it."""

    pages: Sequence[Mapping[str, Any]]
    """As the reply lists them; an entry that is not a page becomes an empty one."""
    continuation: dict[str, str] | None
    """The parameters with which to continue, all passed through; None at the end."""
    complete: bool
    """Whether these pages have everything that was asked for."""


def read_answer(reply: Reply) -> Answer:
    """The reply to a query. Raises the errors of `read_api`, and `TransientError` if it is not valid."""
    value = read_api(reply)
    answer = Answer(entries(value), read_continue(value), "batchcomplete" in value)
    if answer.continuation is None and not answer.complete:
        raise TransientError("the wiki's reply is neither complete nor continued")
    return answer


def read_api(reply: Reply) -> dict[str, Any]:
    """The Action API's reply as an object without ``error``.

    Raises `TransientError` for temporary faults (not JSON, cut, maxlag, the text of a 429 under status 200),
    `WikiRefused`, and `CrawlerError` for requests that this wiki will never answer.
    """
    host = reply.url.host
    if reply.status in (404, 410):
        what = f"{host}{reply.quote(reply.url.path)} is not a MediaWiki API ({reply.status})"
        raise TransientError(f"{what}: name the wiki's api.php with --api-url", lasting=True)
    if reply.status != 200:
        raise TransientError(f"{host} answers {reply.status}")
    start = reply.body[:200].lstrip()[:1]
    if start != b"{":
        if len(reply.body) < REASON_BYTES and start != b"<" and _THROTTLE_TEXT.search(plain_reason(reply)):
            raise TransientError(f"{host} says: {plain_reason(reply)}", throttled=True, answered=True)
        kind = "an HTML page" if start == b"<" else "nothing" if not start else "text"
        raise TransientError(f"{host} sends {kind} instead of the API's JSON: is this a MediaWiki?")
    try:
        value = json.loads(reply.body.decode("utf-8"))
    except UnicodeDecodeError:
        raise TransientError(f"{host} sends JSON that is not UTF-8") from None
    except (ValueError, RecursionError):
        raise TransientError(f"{host} sends broken JSON") from None
    if not isinstance(value, dict):
        raise TransientError(f"{host} sends JSON that is not an object")
    if "error" in value:
        _judge_error(value["error"], reply)
    return value


def _judge_error(error: object, reply: Reply) -> None:
    host = reply.url.host
    fields = error if isinstance(error, dict) else {}
    code = fields["code"] if isinstance(fields.get("code"), str) else "?"
    info = reply.quote(fields["info"]) if isinstance(fields.get("info"), str) else ""
    named = reply.quote(code, 60)
    if code == "maxlag":
        raise TransientError(f"maxlag: {info}", throttled=True, answered=True)
    if code in _THROTTLE_CODES:
        raise TransientError(f"{host} says {named}: {info}", throttled=True, answered=True)
    if code in _REFUSAL_CODES:
        raise WikiRefused(f"{host} refuses the crawler ({named}): {info}")
    if _FOR_GOOD.match(code):
        raise CrawlerError(f"{host} does not accept the request ({named}): {info}")
    raise TransientError(f"{host} reports an error ({named}): {info}", answered=True)


def entries(reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The pages of a reply. Raises `TransientError` if they are not a list."""
    query = reply.get("query", {})
    pages = query.get("pages", []) if isinstance(query, dict) else query
    if not isinstance(pages, list) or len(pages) > _MOST_PAGES:
        raise TransientError("the wiki's list of pages is not valid")
    return [entry if isinstance(entry, dict) else {} for entry in pages]


def read_continue(reply: Mapping[str, Any]) -> dict[str, str] | None:
    """The parameters with which to continue. Raises `TransientError` for invalid ones."""
    value = reply.get("continue")
    if value is None:
        return None
    if not isinstance(value, dict) or not value or len(value) > _MOST_CONTINUES:
        raise TransientError("the wiki's continuation is not valid")
    parameters: dict[str, str] = {}
    for key, part in value.items():
        if type(part) not in (str, int) or len(text := str(part)) > _LONGEST_CONTINUE or len(key) > 100:
            raise TransientError("the wiki's continuation is not valid")
        parameters[key] = text
    return parameters
