"""Requests a minute, rests, and waits that the wiki asks for."""

import itertools

import pytest
from aiohttp import web
from yarl import URL

from tests.crawler.dumps import ids
from wikitopics.crawler.errors import ContactMissing, TransientError
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import RateLimits, wikimedia_limits
from wikitopics.crawler.mediawiki.replies import read_api
from wikitopics.crawler.mediawiki.wiki import Wiki
from wikitopics.crawler.source import Activity


def moments_of(wiki, clock, latency=0.0):
    """The moments at which the wiki is asked, as they come; each reply takes ``latency``."""
    moments = []
    answer = wiki.reply

    def timed(query):
        moments.append(clock.now)
        clock.now += latency
        return answer(query)

    wiki.reply = timed
    return moments


async def test_requests_a_minute(wiki, clock, source, read):
    moments = moments_of(wiki, clock)
    s = source(batch_pages=1, limits=RateLimits(rpm=6))
    await read(s)
    assert all(b - a >= 10 for a, b in itertools.pairwise(moments))
    assert s.activity.allowed_per_minute == 6
    began = moments_of(wiki, clock, 1.5)
    s = source(limits=wikimedia_limits(), contact="me@wiki-reader.org")
    await read(s)
    assert all(b - a >= 6.5 for a, b in itertools.pairwise(began))


async def test_a_redirect_takes_its_own_turn_and_only_once(wiki, clock, source, read):
    moments = []

    async def move(request):
        moments.append(clock.now)
        return web.Response(status=301, headers={"Location": wiki.url + "?" + request.query_string})

    wiki.script = [move]
    s = source(limits=RateLimits(rpm=6))
    await s.open()
    assert clock.now - moments[0] >= 10
    await read(s)
    assert s.activity.requests == len(wiki.requests) == 5


@pytest.mark.parametrize("retry_after", ["20", "absent", "garbage"])
@pytest.mark.parametrize(
    "kind", ["429", "503", "429 under 200", "maxlag", "429, body broken", 500, 502, 504]
)
async def test_told_to_wait(clock, acts, kind, retry_after, crawled):
    headers = {"20": {"Retry_After": "20"}, "absent": {}, "garbage": {"Retry_After": "soon"}}[
        retry_after
    ]
    lag = {"error": {"code": "maxlag", "info": "Waiting for db1: 8.5 seconds lagged.", "lag": 8.5}}
    packed = {**headers, "Content_Encoding": "gzip"}
    act = {
        "429, body broken": acts.text(429, "not packed at all", **packed),
        "429": acts.text(429, "Too many requests\n", **headers),
        "503": acts.text(503, "busy", **headers),
        "429 under 200": acts.text(
            200, "Please respect our robot policy https://w.wiki/4wJS\n", **headers
        ),
        "maxlag": acts.json(lag, **headers),
        **{status: acts.text(status, "down for a while", **headers) for status in (500, 502, 504)},
    }[kind]
    before = clock.now
    batches, s = await crawled(act)
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    waited = clock.now - before
    throttled = isinstance(kind, str)
    usual = 5 if throttled else 1
    assert (20 <= waited <= 22.1) if retry_after == "20" else (usual <= waited <= 1.26 * usual)
    assert s.activity.throttled == throttled


async def test_a_clock_of_day_that_jumps_does_no_harm(clock, crawled):
    async def jump(request):
        clock.wall_offset -= 10**8
        return web.Response(status=429, headers={"Retry-After": "10"})

    before = clock.now
    await crawled(jump)
    assert 10 <= clock.now - before <= 11.1


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (429, {}, 5),
        (503, {}, 5),
        (503, {"Retry_After": "20"}, 20),
        (502, {"Retry_After": "20"}, 20),
        (502, {}, 0),
    ],
)
async def test_all_trainers_wait_if_one_is_told_to(
    wiki,
    clock,
    acts,
    tmp_path,
    status,
    headers,
    wait,
):
    """After an error that asks nobody to wait, only the one that met it does."""
    limits = RateLimits(rpm=None, wikimedia=True)
    who = {
        "version": "0",
        "contact": "me@wiki-reader.org",
        "clock": clock,
        "budget_folder": tmp_path,
    }
    one, two = (Client(limits, Activity(), **who) for _ in range(2))
    url = URL(wiki.url).with_query(meta="siteinfo")
    wiki.script = [acts.text(status, "busy", **headers)]
    with pytest.raises(TransientError):
        await one.once(url, read_api)
    before = clock.now
    await two.once(url, read_api)
    assert wait <= clock.now - before < wait + 1
    await one.close()
    await two.close()


def test_wikimedia_needs_a_contact():
    for contact in (None, "", "me@example.com"):
        with pytest.raises(ContactMissing) as caught:
            Wiki("https://en.wikipedia.org/w/api.php", version="0", contact=contact)
        assert caught.value.exit_code == 2
