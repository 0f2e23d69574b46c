"""What a reply means: an answer, a plea for patience, a refusal, or noise. Everything in it is hostile."""

import json
import re
import unicodedata
from typing import Any

from crawler.errors import CrawlerError, WikiRefused
from crawler.wire import Reply, Trouble

_TAG = re.compile(r"<(?:script|style)\b[^>]*>.{0,20000}?</|<[^>]{0,1000}>", re.DOTALL | re.IGNORECASE)
_THROTTLE_TEXT = re.compile(r"too many requests|robot policy|rate limit|\b429\b", re.IGNORECASE)
_THROTTLE_CODES = ("maxlag", "ratelimited", "readonly")
_REFUSAL_CODES = ("readapidenied", "permissiondenied", "blocked", "autoblocked", "globalblocking-blocked")
_FOR_GOOD = re.compile(r"bad|unknown(?!error)|unrecognized|missingparam|invalidparam|toomany|nosuch|assert")


def one_line(text: str, longest: int = 300) -> str:
    """``text`` on one line, without control, format and bidirectional characters, cut at ``longest``."""
    line = " ".join(text[: longest * 10].split())
    line = "".join(c for c in line if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    return line if len(line) <= longest else line[: longest - 1] + "…"


def without(secret: str, line: str) -> str:
    """``line`` with ``[contact]`` for ``secret``, also where the line was cut within it."""
    line = line.replace(secret, "[contact]")
    for length in range(len(secret) - 1, 0, -1):
        line = line.replace(f" {secret[:length]}…", " [contact]…")
    return line


def plain_reason(body: bytes) -> str:
    """The gist of an error page or text, for people: one line of at most 200 characters."""
    text = body[:20000].decode("utf-8", errors="replace")
    return one_line(_TAG.sub(" ", text), 200)


def judge_status(reply: Reply) -> None:
    """Raise what a status other than success means; those of the kind 404 are left to the reader."""
    status, host = reply.status, reply.url.host
    if status in (401, 403):
        reason = plain_reason(reply.body)
        raise WikiRefused(f"{host} refuses us ({status})" + (f": {reason}" if reason else ""))
    if status in (429, 503):
        raise Trouble(f"{host} answers {status}: told to wait", throttled=True, answered=status == 429)
    if status >= 500 or status == 408:
        raise Trouble(f"{host} answers {status}")


def read_api(reply: Reply) -> dict[str, Any]:
    """The Action API's reply as an object without ``error``.

    Raises :class:`~crawler.wire.Trouble` for what can pass (not JSON, cut, maxlag, the text of a
    429 under status 200), :class:`~crawler.errors.WikiRefused`, and
    :class:`~crawler.errors.CrawlerError` for requests that this wiki will never answer.
    """
    host = reply.url.host
    if reply.status in (404, 410):
        what = f"{host}{reply.url.path} is no MediaWiki API ({reply.status})"
        raise Trouble(f"{what}: name the wiki's api.php with --api-url", lasting=True)
    if reply.status != 200:
        raise Trouble(f"{host} answers {reply.status}")
    start = reply.body[:200].lstrip()[:1]
    if start != b"{":
        if len(reply.body) < 20000 and start != b"<" and _THROTTLE_TEXT.search(plain_reason(reply.body)):
            raise Trouble(f"{host} says: {plain_reason(reply.body)}", throttled=True, answered=True)
        kind = "an HTML page" if start == b"<" else "nothing" if not start else "text"
        raise Trouble(f"{host} sends {kind} instead of the API's JSON: is this a MediaWiki?")
    try:
        value = json.loads(reply.body.decode("utf-8"))
    except UnicodeDecodeError:
        raise Trouble(f"{host} sends JSON that is not UTF-8") from None
    except (ValueError, RecursionError):
        raise Trouble(f"{host} sends broken JSON") from None
    if not isinstance(value, dict):
        raise Trouble(f"{host} sends JSON that is no object")
    if "error" in value:
        _judge_error(value["error"], str(host))
    return value


def _judge_error(error: object, host: str) -> None:
    fields = error if isinstance(error, dict) else {}
    code = one_line(str(fields.get("code", "?")), 60)
    info = one_line(str(fields.get("info", "")), 200)
    if code == "maxlag":
        raise Trouble(f"maxlag: {info}", throttled=True, answered=True)
    if code in _THROTTLE_CODES:
        raise Trouble(f"{host} says {code}: {info}", throttled=True, answered=True)
    if code in _REFUSAL_CODES:
        raise WikiRefused(f"{host} refuses us ({code}): {info}")
    if _FOR_GOOD.match(code):
        raise CrawlerError(f"{host} does not accept the request ({code}): {info}")
    raise Trouble(f"{host} reports an error ({code}): {info}", answered=True)
