"""What a reply's status and headers ask of a client: to wait, to leave, or to try again and when."""

import math
import random
from datetime import UTC
from email.utils import parsedate_to_datetime

from wikitopics.crawler.errors import TransientError, WikiRefused
from wikitopics.crawler.http.wire import Reply

LONGEST_TOLD_WAIT = 3600.0
"""Longer values of Retry-After count as this: after an hour it is fair to ask again."""
SHORTEST_TOLD_WAIT = 1.0
THROTTLED_FIRST = 5.0
THROTTLED_MOST = 300.0
FAILED_FIRST = 1.0
FAILED_MOST = 60.0
REASON_BYTES = 20_000
"""The most bytes of an error page that are looked at."""


def plain_reason(reply: Reply) -> str:
    """The gist of an error page or text, for people."""
    return reply.quote(reply.body[:REASON_BYTES].decode("utf-8", errors="replace"))


def judge_status(reply: Reply) -> None:
    """Raise the error of an unsuccessful status; statuses like 404 are left to the reader."""
    status, host = reply.status, reply.url.host
    if status in (401, 403):
        reason = plain_reason(reply)
        raise WikiRefused(f"{host} refuses the crawler ({status})" + (f": {reason}" if reason else ""))
    if status in (429, 503):
        raise TransientError(f"{host} answers {status}: told to wait", throttled=True, answered=status == 429)
    if status >= 500 or status == 408:
        raise TransientError(f"{host} answers {status}")


def parse_retry_after(value: str | None, date: str | None, wall: float) -> float | None:
    """Seconds requested by a Retry-After header, None if it is not usable.

    A date is read against the reply's own ``Date`` header, so that a wrong clock on either side
    does no harm; ``wall`` (seconds since the epoch) is used if that is missing.
    """
    if value is None:
        return None
    text = value.strip()
    try:
        seconds = float(text)
    except ValueError:
        until = _seconds_of_date(text)
        if until is None:
            return None
        now = _seconds_of_date(date.strip()) if date else None
        seconds = until - (wall if now is None else now)
    if not math.isfinite(seconds) or seconds < 0:
        return None
    return min(max(seconds, SHORTEST_TOLD_WAIT), LONGEST_TOLD_WAIT)


def _seconds_of_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def wait_before_retry(tries: int, throttled: bool, retry_after: float | None, rng: random.Random) -> float:
    """Seconds to wait after the ``tries``-th failure in a row (counted from 1).

    A wait requested by the wiki is observed, plus up to a tenth, so that several clients do not return in
    step. Otherwise the wait doubles from 5 s (throttled, 429 and 503) or 1 s (broken connections and
    replies), with jitter that only lengthens it.
    """
    if retry_after is not None:
        return retry_after * (1 + 0.1 * rng.random())
    first, most = (THROTTLED_FIRST, THROTTLED_MOST) if throttled else (FAILED_FIRST, FAILED_MOST)
    return min(first * 2.0 ** min(tries - 1, 30), most) * (1 + 0.25 * rng.random())
