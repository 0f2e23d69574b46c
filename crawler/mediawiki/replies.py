"""The Action API's replies: JSON, its errors, and the pieces of an answer to a query.

Any reply may be hostile: types are checked, and sizes limited.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from wikitopics.crawler import page
from wikitopics.crawler.errors import CrawlerError, TransientError, WikiRefused
from wikitopics.crawler.http.wire import REASON_BYTES, Reply, plain_reason

_THROTTLE_TEXT = re.compile(r"too many requests|robot policy|rate limit|\b429\b", re.IGNORECASE)
_THROTTLE_CODES = ("ratelimited", "readonly")
_REFUSAL = re.compile(r"denied|blocked|badaccess|loggedin|permission")
"""Error codes such as readapidenied, autoblocked, badaccess-groups and notloggedin."""
_UNACCEPTABLE = re.compile(
    r"bad|unknown(?!error)|unrecognized|missingparam|invalidparam|toomany|nosuch|assert"
)
"""The beginnings of error codes for a request that this wiki will never answer. `unknownerror` is
not one of them: it stands for a fault of the wiki's own."""
_AROUND = "\ufeff \t\r\n"
"""A byte order mark and blanks, which may stand around the JSON."""
_DECODER = json.JSONDecoder()
_OBJECT = re.compile(r'\{\s*"')
_PAGE = re.compile("<(!doctype|html|script)", re.IGNORECASE)
_MOST_BEGINNINGS = 10
"""The most places at which reading an object is tried."""
_MOST_BEFORE = 1 << 20
"""The most characters before the JSON: PHP may write a notice for every page of a batch, or
several."""
_KEYS = frozenset(("query", "error", "errors", "batchcomplete", "continue"))
"""An object in the midst of other text is the API's if it has one of these keys."""
_DISABLED = re.compile(r"(MediaWiki )?API is not enabled[^.]*\.?")
_MOST_PAGES = 5000
_MOST_CONTINUES = 30
_LONGEST_CONTINUE = 4096


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to one query, or one piece of it."""

    pages: Sequence[Mapping[str, Any]]
    """The pages as the reply lists them; an entry that is not a page becomes an empty one."""
    continuation: dict[str, str] | None
    """The parameters to add to the query to continue it; None at the end."""
    complete: bool
    """Whether these pages have everything that was asked for."""


def read_answer(reply: Reply) -> QueryAnswer:
    """The reply to a query. Raises the errors of `read_api`, and `TransientError` if it is not
    valid."""
    value = read_api(reply)
    answer = QueryAnswer(entries(value), read_continue(value), "batchcomplete" in value)
    if answer.continuation is None and not answer.complete:
        raise TransientError("the wiki's reply is neither complete nor continued")
    return answer


def read_api(reply: Reply) -> dict[str, Any]:
    """The Action API's reply as an object without ``error``.

    Raises `TransientError` for temporary faults (not JSON, cut, maxlag, the text of a 429 under
    status 200), `WikiRefused`, and `CrawlerError` for requests that this wiki will never answer.
    """
    host = reply.url.host
    if reply.status in (404, 410):
        what = f"{host}{reply.quote(reply.url.path)} is not a MediaWiki API ({reply.status})"
        raise TransientError(f"{what}: name the wiki's api.php with --api-url", lasting=True)
    if reply.status != 200:
        raise TransientError(f"{host} answers {reply.status}")
    value = _json_object(reply)
    error = value.get("error")
    errors = value.get("errors")  # in the newer formats of errors
    if error is None and isinstance(errors, list) and errors:
        error = errors[0]
    if error is not None:
        _judge_error(error, reply)
    return value


def _json_object(reply: Reply) -> dict[str, Any]:
    """The object in a reply, without the byte order marks, PHP's notices or comments around it.

    Raises `TransientError`, which quotes a reply without one.
    """
    host = reply.url.host
    text = reply.body.decode("utf-8", "surrogateescape").strip(_AROUND)
    for start in _objects(text):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if page.SURROGATE.search(text, start, end):  # a byte that was not UTF-8
            raise TransientError(f"{host} sends JSON that is not UTF-8")
        is_alone = start == 0 and end == len(text)
        if isinstance(value, dict) and (is_alone or not _KEYS.isdisjoint(value)):
            return value
    if text.startswith("{"):
        raise TransientError(f"{host} sends broken JSON")
    raise _no_json(reply, text)


def _objects(text: str) -> list[int]:
    """Where JSON objects may begin in ``text``, but not those inside a page's scripts."""
    if text.startswith("{"):
        return [0]
    page_begins = _PAGE.search(text, 0, _MOST_BEFORE)
    end = page_begins.start() if page_begins else _MOST_BEFORE
    matches = islice(_OBJECT.finditer(text, 0, end), _MOST_BEGINNINGS)
    return [match.start() for match in matches]


def _no_json(reply: Reply, text: str) -> TransientError:
    """The error for a reply that is ``text`` instead of JSON."""
    host = reply.url.host
    is_page = text.startswith("<")
    if not text:
        return TransientError(
            f"{host} sends nothing instead of the API's JSON: is this a MediaWiki?"
        )
    said = plain_reason(reply)
    is_short_text = len(reply.body) < REASON_BYTES and not is_page
    if is_short_text and _THROTTLE_TEXT.search(said):
        return TransientError(f"{host} says: {said}", throttled=True, answered=True)
    disabled = _DISABLED.search(said)
    if disabled:
        return TransientError(f"{host} says: {disabled[0]}", lasting=True)
    kind = "an HTML page" if is_page else "text"
    quoted = f" ({said})" if said else ""
    return TransientError(
        f"{host} sends {kind} instead of the API's JSON{quoted}: is this a MediaWiki?"
    )


def _judge_error(error: object, reply: Reply) -> None:
    """Raise the error that a reply reports."""
    host = reply.url.host
    fields = error if isinstance(error, dict) else {}
    message: object = ""
    for key in ("info", "text", "html", "*", "key"):  # by version and format of errors
        if fields.get(key):
            message = fields[key]
            break
    info = reply.quote(str(message))
    code = str(fields.get("code", "?"))
    quoted_code = reply.quote(code, 60)
    if code == "maxlag":
        raise TransientError(f"maxlag: {info}", throttled=True, answered=True)
    if code in _THROTTLE_CODES:
        raise TransientError(f"{host} says {quoted_code}: {info}", throttled=True, answered=True)
    if _REFUSAL.search(code):
        raise WikiRefused(f"{host} refuses the crawler ({quoted_code}): {info}")
    if _UNACCEPTABLE.match(code):
        raise CrawlerError(f"{host} does not accept the request ({quoted_code}): {info}")
    raise TransientError(f"{host} reports an error ({quoted_code}): {info}")


def entries(reply: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The pages of a reply. Raises `TransientError` if they are not a list."""
    pages = reply.get("query", {})  # PHP may write an empty object as an empty list
    if isinstance(pages, dict):
        pages = pages.get("pages", [])
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
        is_text_or_number = type(part) in (str, int)
        text = str(part) if is_text_or_number else ""
        if not is_text_or_number or len(text) > _LONGEST_CONTINUE or len(key) > 100:
            raise TransientError("the wiki's continuation is not valid")
        parameters[key] = text
    return parameters
