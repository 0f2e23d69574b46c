import random

import pytest

from wikitopics.crawler.http.wire import LONGEST_TOLD_WAIT, parse_retry_after, wait_before_retry

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
