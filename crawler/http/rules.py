"""Request limits for a host: Wikimedia's rules there, gentle defaults elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.http.addresses import is_loopback, is_wikimedia

WIKIMEDIA_RPM = 200
PAGES_RPM = 480
"""Pages `/wiki/Title` a minute on Wikimedia: less than half of the 20 a second that its policy
allows."""
OTHER_RPM = 60


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The limits that the crawler observes with one host."""

    rpm: int | None
    """Requests a minute; None: no cap."""
    wikimedia: bool = False
    """Whether the budget is shared by all of this user's trainers, and a contact is needed."""
    shortest_gap: float = 0.0
    """The least seconds between the starts of two requests."""
    pause: float = 0.0
    """The least seconds between the end of a reply and the next request."""
    error_pause: float = 0.0
    """The least seconds between a server error (5xx) and the next request."""
    slow_reply: float | None = None
    """A reply slower than this many seconds is followed by a wait of ``slow_wait``."""
    slow_wait: float = 0.0
    at_once: int = 10
    """Requests in parallel. Requests to the Action API are made one at a time anyway."""
    server: str = "the wiki"
    """The server's name in messages."""
    lock: str = "wikimedia.lock"
    """The file with which this user's trainers take turns, if they share a budget."""


def limits_for(host: str, rpm: int | None = None) -> RateLimits:
    """The rules for ``host``; ``rpm`` is the user's rate (None: the default, 0: no cap).

    Raises `BadSource` for a rate that Wikimedia's rules forbid.
    """
    if rpm is not None and rpm < 0:
        raise BadSource(f"--rpm {rpm}: give the number of requests a minute, 0 for no cap")
    if is_wikimedia(host):
        if rpm is not None and not 1 <= rpm <= WIKIMEDIA_RPM:
            raise BadSource(
                f"--rpm {rpm}: Wikimedia allows at most {WIKIMEDIA_RPM} requests a minute"
            )
        return wikimedia_limits(rpm)
    if rpm is None:
        rpm = 0 if is_loopback(host) else OTHER_RPM
    return RateLimits(rpm=rpm or None)


def wikimedia_limits(rpm: int | None = None) -> RateLimits:
    """Wikimedia's rules: 200 requests a minute, under 5 a second, and 5 s of rest after a reply
    slower than 1 s."""
    rpm = rpm or WIKIMEDIA_RPM
    return RateLimits(
        rpm,
        wikimedia=True,
        shortest_gap=0.21,
        slow_reply=1.0,
        slow_wait=5.0,
        at_once=1,
    )


def wikimedia_page_limits(rpm: int | None = None) -> RateLimits:
    """Wikimedia's rules for pages: a limit of their own, bounded by the user's rate too."""
    return replace(
        wikimedia_limits(),
        rpm=min(rpm or PAGES_RPM, PAGES_RPM),
        # 8 a second would be 0.125, but requests do not arrive as evenly as they leave
        shortest_gap=0.135,
        at_once=4,
        lock="wikimedia-pages.lock",
    )


def file_limits(host: str) -> RateLimits:
    """The rules for a server of files, dumps or texts: one connection at a time.

    Ranges of many megabytes take seconds, so a slow reply is not followed by a rest.
    """
    server = "the server"
    if is_wikimedia(host):
        return wikimedia_service_limits(host, server)
    rpm = None if is_loopback(host) else WIKIMEDIA_RPM
    return RateLimits(rpm, at_once=1, server=server)


def wikimedia_service_limits(host: str, server: str) -> RateLimits:
    """Wikimedia's rules for its servers besides the wikis, such as those of dumps and of streams.

    One request at a time, a second between two, a quarter of an hour after a 5xx, for each server
    separately: https://wikitech.wikimedia.org/wiki/Robot_policy, "Rules for other resources".
    """
    name = re.sub(r"[^a-z0-9.-]", "_", host.lower().rstrip("."))
    return RateLimits(
        rpm=60,
        wikimedia=True,
        pause=1.0,
        error_pause=900.0,
        at_once=1,
        server=server,
        lock=f"{name}.lock",
    )
