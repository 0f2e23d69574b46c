"""The place on a lap, and what is no lap."""

import json
import random

import pytest

from wikitopics.crawler.mediawiki.api import CrawlPass, Seen, read_cursor
from wikitopics.crawler.mediawiki.wiki import QueryAnswer
from wikitopics.crawler.source import BadPosition, TransientError


def asked(position, articles):
    """A pass whose next 50 articles have been requested."""
    lap = CrawlPass(position)
    lap.articles = articles
    lap.query(50)
    return lap


def listing(pages, continuation):
    return QueryAnswer([{}] * pages, continuation, complete=True)


def at(share, page_id=9, begin=0.25):
    here = begin + share
    return {"grncontinue": f"{begin}|{here % 1:.6f}|{page_id}|{int(here >= 1)}", "continue": "grncontinue||"}


@pytest.mark.parametrize(
    ("token", "share"),
    [
        ("0.25|0.75|9|0", 0.5),
        ("0.25|0.15|9|1", 0.9),
        ("0.304711385360|0.365798361523|125|0", 0.061086976163),
        ("0.25|5.1e-05|9|1", 0.750051),
    ],
)
def test_share(token, share):
    assert read_cursor({"grncontinue": token}).share == pytest.approx(share)


NO_CURSORS = "nan|x|9|1", "nan|0.5|9|1", "0.25|0.15|9|0", "0.25|0.75|9|1", "0.25|0.75|9", "0.25|0.75|9|0|0"


@pytest.mark.parametrize("token", [*NO_CURSORS, "tok", "", 7, None])
def test_what_is_no_cursor(token):
    assert read_cursor({"grncontinue": token}) is None


@pytest.mark.parametrize(
    "continuation",
    [
        {"grncontinue": "token", "continue": "grncontinue||"},
        {"continue": "grncontinue||"},
        at(0.5),  # where it stands
        at(0.4, 8),  # back
        at(0.6, 10, begin=0.3),  # another lap
    ],
)
def test_where_no_lap_goes_on(continuation):
    lap = asked({"cursor": at(0.5)}, 1000)
    with pytest.raises(TransientError):
        lap.check(listing(50, continuation))
    lap.check(listing(50, at(0.5, 10)))  # as near to 0.5 as the page before


@pytest.mark.parametrize(
    ("share", "said", "counted", "listed", "believed"),
    [
        (0.0, 0, 0, 0, True),
        (0.0, 1, 0, 0, False),
        (0.0, 7, 0, 7, True),
        (0.0, 7_000_000, 0, 7, False),
        (0.25, 7_000_000, 1_750_000, 0, False),
        (0.25, 7_000_000, 1_750_000, 50, False),
        (0.25, 0, 1_750_000, 50, False),
        (0.25, 7_000_000, None, 50, False),
        (0.99999, 7_000_000, 6_999_950, 50, True),
        (0.99999, 70_000_000, 6_999_950, 50, True),
        (0.99999, 7_000_000, None, 50, True),
        (0.75, 100, 75, 25, True),
        (0.9, 100, 90, 0, True),
    ],
)
def test_when_an_end_is_believed(share, said, counted, listed, believed):
    lap = asked({"cursor": at(share) if share else {}, "listed": counted}, said)
    if believed:
        lap.check(listing(listed, None))
    else:
        with pytest.raises(TransientError, match="list ends"):
            lap.check(listing(listed, None))


def test_a_position_of_another_kind_or_damaged():
    for position in ({}, {"cursor": None}, {"cursor": {"grncontinue": "token"}}, {"page": 3}):
        with pytest.raises(BadPosition):
            CrawlPass(position)
    damaged = [None, [], {"recent": "x", "sample": 3, "bits": -1}, {"recent": "AAAA"}, {"bits": 65}]
    for seen in damaged:
        assert CrawlPass({"cursor": at(0.5), "seen": seen}).step(at(0.6), [1, 2]) == {1, 2}


@pytest.mark.parametrize("resumed", [False, True])
@pytest.mark.parametrize(("before", "period"), [(0, 50), (0, 900), (0, 5000), (30_000, 50), (30_000, 30_000)])
def test_a_lap_that_goes_round(before, period, resumed):
    """After ``before`` articles the same ``period`` come again and again; some are trained twice, if any."""
    order = [n * 7919 % 1_000_003 + 1 for n in range(before + period)]
    lap, taken, position = CrawlPass(None), 0, 0
    for number in range(4000):
        start = position if position + 50 <= len(order) else len(order) - period
        position = start + 50
        taken += len(lap.step(at((number + 1) / 10_000), order[start:position]))
        if lap.is_over:
            break
        if resumed:
            lap = CrawlPass(json.loads(json.dumps(lap.position)))
    assert lap.is_over
    assert len(order) <= taken < 1.6 * len(order) + 400
    if period < 1000:
        assert taken == len(order)
    assert lap.position == {"finished": True}


def test_a_long_lap_is_no_repetition_and_its_memory_small():
    seen = Seen()
    ids = random.Random(1).sample(range(1, 80_000_000), 300_000)
    assert seen.add(ids) == set(ids)
    assert not seen.repeats
    assert len(json.dumps(seen.stored())) < 25_000
    # A few that come twice, as one cached reply brings them, are left out, and no more.
    assert seen.add(ids[-50:]) == set()
    assert not seen.repeats
    assert len(seen.add(range(80_000_001, 80_010_001))) == 10_000
    assert not seen.repeats
