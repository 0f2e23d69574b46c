"""The Action API's replies: answers, requests to wait, refusals, or noise, all of them possibly hostile."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wikitopics.crawler.errors import CrawlerError, TransientError, WikiRefused
from wikitopics.crawler.http.replies import REASON_BYTES, plain_reason
from wikitopics.crawler.http.wire import Reply

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
    going_on: dict[str, str] | None
    """The parameters with which to continue, all passed through; None at the end."""
    complete: bool
    """Whether these pages have everything that was asked for."""


def read_answer(reply: Reply) -> Answer:
    """The reply to a query. Raises the errors of `read_api`, and `TransientError` if it is not valid."""
    value = read_api(reply)
    answer = Answer(entries(value), read_continue(value), "batchcomplete" in value)
    if answer.going_on is None and not answer.complete:
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
