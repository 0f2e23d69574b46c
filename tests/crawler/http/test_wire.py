"""Where a redirect leads, and how long a client waits before it asks again."""

import random

import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from wikitopics.crawler.errors import TransientError
from wikitopics.crawler.http.wire import (
    LONGEST_TOLD_WAIT,
    Reply,
    not_followed,
    parse_retry_after,
    redirected,
    wait_before_retry,
)


def reply(url, target):
    return Reply(301, URL(url), CIMultiDictProxy(CIMultiDict({"Location": target})), b"")


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://a.org/x", "/y"),
        ("http://a.org/x", "https://a.org/x"),
        ("http://a.org:8080/x", "https://a.org:8443/x"),
        ("https://a.org:444/x", "https://a.org:444/y"),
    ],
)
def test_a_redirect_within_a_host_is_followed(url, target):
    assert redirected(reply(url, target), not_followed) == URL(url).join(URL(target))


@pytest.mark.parametrize("target", ["http://b.org/x", "http://a.org:8080/x"])
def test_a_redirect_to_another_host_or_port_is_not(target):
    with pytest.raises(TransientError, match="not followed"):
        redirected(reply("http://a.org/x", target), not_followed)


@pytest.mark.parametrize(
    "target", ["https://joe:secret@a.org/y", "//joe@b.org/y", "https://:secret@a.org/y"]
)
def test_a_redirect_that_brings_a_name_or_a_password_is_not_followed(target):
    """They would be sent, and stand in messages."""
    says = r"^a\.org redirects to an address with a user name or password$"
    with pytest.raises(TransientError, match=says) as caught:
        redirected(reply("https://a.org/x", target), lambda *_: None)
    assert caught.value.lasting


NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 55 ", 55.0),
        ("0", 1.0),
        ("1.5", 1.5),
        ("Fri, 15 Jan 2027 08:00:30 GMT", 30.0),
        ("Fri, 15 Jan 2027 08:00:30", 30.0),
        ("999999999", LONGEST_TOLD_WAIT),
        ("Fri, 15 Jan 2127 08:00:30 GMT", LONGEST_TOLD_WAIT),
        *((value, None) for value in ("-5", "nan", "inf", "soon", "", None)),
        *((f"Fri, {date}:00:30 GMT", None) for date in ("15 Jan 2017 08", "99 Jan 2027 99")),
    ],
)
def test_retry_after(value, seconds):
    assert parse_retry_after(value, None, NOW) == seconds


def test_what_the_wiki_says_is_obeyed_by_its_own_clock():
    date = "Fri, 15 Jan 2027 06:00:00 GMT"  # a server two hours behind
    assert parse_retry_after("Fri, 15 Jan 2027 06:00:20 GMT", date, NOW) == 20.0
    waits = [wait_before_retry(n, True, 17.0, random.Random(n)) for n in range(1, 50)]
    assert all(17.0 <= w <= 18.7 for w in waits)


@pytest.mark.parametrize("throttled", [True, False])
def test_waits_grow_and_stay_bounded(throttled):
    rng = random.Random(1)
    waits = [wait_before_retry(n, throttled, None, rng) for n in range(1, 200)]
    assert min(waits) >= (5.0 if throttled else 1.0)
    assert waits[4] > waits[0]
    assert max(waits) <= (300.0 if throttled else 60.0) * 1.25
