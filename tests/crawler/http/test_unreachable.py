"""A wiki that is not there, not yet there, or goes away."""

import aiohttp
import pytest
from aiohttp import web
from yarl import URL

from tests.corpora import synthetic_corpus
from tests.crawler.dumps import ids
from tests.wiki import FaultyApi
from wikitopics.crawler.embedded.corpus import SampleArticles
from wikitopics.crawler.errors import WikiUnreachable
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.wire import RequestBounds


@pytest.mark.parametrize(
    "answer", ["html", "no address", "no name", "other json", "404", "refused", "no TLS"]
)
async def test_no_wiki_there(wiki, clock, acts, answer, source, read):
    act = {
        "html": acts.text(200, "<html>It works!", "text/html"),
        "other json": acts.json({"query": {"general": {"generator": "Other"}}}),
        "404": acts.text(404, "not found"),
    }.get(answer)
    wiki.script = [act] * 100 if act else []
    url = {
        "no address": "http://no.such.host.invalid/w/api.php",
        "no name": f"http://{'long' * 20}.org/w/api.php",
        "refused": "http://127.0.0.1:9/w/api.php",
        "no TLS": wiki.url.replace("http://", "https://"),
    }.get(answer)
    s = source(url or wiki.url)
    before = clock.now
    with pytest.raises(WikiUnreachable) as caught:
        await read(s)
    assert caught.value.exit_code == 3
    assert clock.now - before <= 31
    assert "\n" not in str(caught.value)
    assert ("is it https?" in str(caught.value)) == (answer == "no TLS")


async def test_no_api_at_the_second_place_while_the_first_starts(serve, source):
    """A place without an API is passed over, and the other one waited for."""
    starting = [502, 502]

    async def override(request):
        return (
            web.Response(status=starting.pop())
            if starting and request.path == "/w/api.php"
            else None
        )

    url = await serve(FaultyApi(SampleArticles(synthetic_corpus(60), 5)), override=override)
    s = source(url.removesuffix("w/api.php"))
    await s.open()
    await s.close()
    assert str(s.wiki.api) == url


async def test_gone_for_an_hour_and_back(wiki, clock, crawled):
    began = clock.now

    async def cut_while_away(request):
        if clock.now - began < 3600:
            wiki.script.insert(0, cut_while_away)
            request.transport.close()
            return web.Response()
        return web.json_response(wiki.reply(dict(request.query)))

    batches, s = await crawled(cut_while_away)
    assert s.activity.trouble is None
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert 3600 <= clock.now - began < 3700
    assert len(wiki.requests) < 200
    assert len(s.activity.errors) <= 20


async def test_gone_for_good(clock, acts, crawled):
    began = clock.now
    with pytest.raises(WikiUnreachable):
        await crawled(*[acts.text(502, "bad gateway")] * 10_000)
    assert 24 * 3600 <= clock.now - began < 25 * 3600


async def test_dns_that_comes_and_goes(wiki, source, monkeypatch, read):
    fails = [True] * 3
    port = URL(wiki.url).port

    async def resolve(self, host, port=0, family=0):
        if fails:
            fails.pop()
            raise OSError("Temporary failure in name resolution")
        return [
            {
                "hostname": host,
                "host": "127.0.0.1",
                "port": port,
                "family": 2,
                "proto": 0,
                "flags": 0,
            }
        ]

    monkeypatch.setattr(aiohttp.DefaultResolver, "resolve", resolve)
    s = source(f"http://wiki.invalid:{port}/w/api.php")
    await s.open()
    fails += [True] * 3
    await s.wiki.client.close()  # forgets the address
    assert ids(await read(s)) == [1, 2, 3, 4, 5, 6, 7]
    assert s.activity.retries == 6
    assert "DNS" in s.activity.errors[0].text


async def test_a_person_may_end_a_wait_of_ours_but_none_the_wiki_asked_for(
    wiki,
    clock,
    acts,
    source,
    read,
):
    s = source()

    async def sleep(seconds):
        s.activity.own_wait = False
        clock.now += seconds

    clock.sleep = sleep
    wiki.script = [acts.text(502)] * 5 + [acts.text(429, Retry_After="40")]
    began = clock.now
    await read(s)
    assert 40 <= clock.now - began < 40 * 1.1 + 6
    assert (s.activity.retries, s.activity.throttled) == (6, 1)
    assert s.activity.failed_at < s.activity.throttled_at


async def test_told_to_wait_at_the_start(wiki, clock, acts, source):
    """A 429 is an answer: its wait is obeyed, and no longer only 30 s are spent on trying."""
    s = source()
    seen = []
    troubles = []

    async def sleep(seconds):
        seen.append((s.activity.trying_until, s.activity.waiting_until))
        troubles.append(s.activity.trouble or "")
        clock.now += seconds

    s.wiki.client.clock.sleep = sleep
    wiki.script = [acts.text(502), acts.text(429, Retry_After="3000")]
    began = clock.wall()
    await s.open()
    await s.close()
    assert seen[0][0] == pytest.approx(began + 30, abs=1)
    trying, waiting = seen[-1]
    assert trying is None
    assert began + 3000 < waiting < began + 3400
    assert s.activity.trying_until is None
    assert [
        each for each in troubles if "answers 502" not in each and "told to wait" not in each
    ] == []


@pytest.mark.parametrize(
    ("status", "seconds", "told", "says"),
    [(503, "3000", "told to wait", r"5\d"), (502, "600", "", "1[01]")],
)
async def test_a_start_gives_up_on_too_long_a_wait(
    wiki,
    acts,
    source,
    read,
    status,
    seconds,
    told,
    says,
):
    """Asking again sooner would be against its word, and the start has 30 s."""
    s = source()
    wiki.script = [acts.text(status, Retry_After=seconds)] * 9
    with pytest.raises(
        WikiUnreachable, match=rf"{told}; try again after \d\d:\d\d:\d\d, in {says} minutes$"
    ):
        await read(s)
    assert len(wiki.requests) == 1


async def test_only_a_request_before_the_first_answer_is_cut_short(source, read, monkeypatch):
    real = Client._response
    seen = []

    def response(self, url, headers, stall_seconds, seconds):
        seen.append(seconds)
        return real(self, url, headers, stall_seconds, seconds)

    monkeypatch.setattr(Client, "_response", response)
    s = source()
    await s.open()
    await read(s)
    assert 0 < seen[0] <= 30
    assert set(seen[1:]) == {RequestBounds().total_seconds}
