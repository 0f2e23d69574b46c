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
def test_a_redirect_to_another_host_or_port_is_not_followed(target):
    with pytest.raises(TransientError, match="not followed"):
        redirected(reply("http://a.org/x", target), not_followed)


@pytest.mark.parametrize(
    "target", ["https://joe:secret@a.org/y", "//joe@b.org/y", "https://:secret@a.org/y"]
)
def test_a_redirect_that_brings_a_name_or_a_password_is_not_followed(target):
    """The name or the password would be sent, and stand in messages."""
    message = r"^a\.org redirects to an address with a user name or password$"
    with pytest.raises(TransientError, match=message) as caught:
        redirected(reply("https://a.org/x", target), lambda *_: None)
    assert caught.value.lasting


@pytest.mark.parametrize(
    ("url", "target", "where"),
    [
        ("http://a.org/x", "file:///etc/passwd", "to something other than http or https"),
        ("https://a.org/x", "ftp://a.org/x", "to something other than http or https"),
        ("https://a.org/x", "http://a.org/x", "away from a secure connection"),
    ],
)
def test_a_redirect_to_another_scheme_is_told(url, target, where):
    with pytest.raises(TransientError, match=f"redirects {where}"):
        redirected(reply(url, target), lambda *_: None)


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
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("Fri, 15 Jan 2017 08:00:30 GMT", None),
        ("Fri, 99 Jan 2027 99:00:30 GMT", None),
    ],
)
def test_how_long_retry_after_asks_to_wait(value, seconds):
    assert parse_retry_after(value, None, NOW) == seconds


def test_a_moment_to_retry_after_is_one_of_the_servers_own_clock():
    two_hours_behind = "Fri, 15 Jan 2027 06:00:00 GMT"
    assert parse_retry_after("Fri, 15 Jan 2027 06:00:20 GMT", two_hours_behind, NOW) == 20.0


def test_what_the_wiki_asks_for_is_waited_and_at_most_a_tenth_more():
    for attempt in range(1, 50):
        seconds = wait_before_retry(attempt, True, 17.0, random.Random(attempt))
        assert 17.0 <= seconds <= 17.0 * 1.1


@pytest.mark.parametrize(("throttled", "shortest", "longest"), [(True, 5, 300), (False, 1, 60)])
def test_waits_grow_and_stay_bounded(throttled, shortest, longest):
    """The longest may be a quarter longer by chance."""
    chance = random.Random(1)
    waits = [wait_before_retry(attempt, throttled, None, chance) for attempt in range(1, 200)]
    first, _, _, _, fifth, *_ = waits
    assert min(waits) >= shortest
    assert fifth > first
    assert max(waits) <= longest * 1.25
