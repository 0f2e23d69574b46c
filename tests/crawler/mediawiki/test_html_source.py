"""HtmlSource against the embedded wiki."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest
from aiohttp import web
from yarl import URL

from tests.corpora import synthetic_corpus
from tests.crawler import laps
from tests.crawler.dumps import ids, skips
from tests.wiki import PAGE_KINDS, REQUEST_KINDS, Faults, FaultyApi
from wikitopics.crawler.embedded.corpus import SampleArticles
from wikitopics.crawler.errors import BadPosition, CrawlerError, WikiRefused
from wikitopics.crawler.http.rules import wikimedia_limits
from wikitopics.crawler.http.wire import RequestBounds
from wikitopics.crawler.mediawiki import html
from wikitopics.crawler.mediawiki.html import HtmlSource, page_url
from wikitopics.crawler.mediawiki.wiki import Wiki, read_siteinfo

CORPUS = synthetic_corpus(60)
LIMITS = RequestBounds(most_bytes=4 << 20)


def embedded(size, **options):
    return FaultyApi(SampleArticles(CORPUS, size), **options)


def path_of(index):
    return "/wiki/" + SampleArticles(CORPUS, 30).title(index).replace(" ", "_")


async def crawl(url, clock, batches_each, bounds=LIMITS):
    wiki = {"version": "0", "clock": clock, "bounds": bounds}
    return await laps.crawl(lambda: HtmlSource(Wiki(url, **wiki)), batches_each)


@pytest.mark.parametrize("batches_each", [3, 10_000])
async def test_every_article_once(batches_each, serve, clock):
    api = embedded(230, faults=Faults({"deleted": 0.1, "disambiguation": 0.1}, seed=4))
    pages, skipped = await crawl(await serve(api), clock, batches_each)
    lost = {
        index for index in range(230) if any(api.faults.hits(kind, index) for kind in PAGE_KINDS)
    }
    assert [page.page_id - 1 for page in pages] == sorted(set(range(230)) - lost)
    assert skipped == len(lost)
    for page in pages:
        _, revision_id = api.ids(page.page_id - 1)
        assert (page.markup, page.revision_id) == ("html", revision_id)
    for page in pages[:20]:
        article = api.articles.article(page.page_id - 1)
        assert api.writer.html(article) in page.text


class UnderWay:
    """How many requests are being answered, and how many were at most."""

    def __init__(self):
        self.now = self.most = 0

    def change(self, by):
        self.now += by
        self.most = max(self.most, self.now)


async def crawl_wikimedia(url, clock, folder):
    """The page ids of a wiki on loopback, treated as one of Wikimedia's."""
    polite = {
        "contact": "me@wiki-reader.org",
        "limits": wikimedia_limits(),
        "budget_folder": folder,
    }
    source = HtmlSource(Wiki(url, version="0", clock=clock, **polite))
    found = [page.page_id async for batch in source.batches(None) for page in batch.pages]
    assert source.activity.allowed_per_minute == 480
    await source.close()
    return found


async def test_on_wikimedia_four_pages_at_a_time_and_eight_a_second(serve, clock, tmp_path):
    """By two trainers together; the API is asked one request at a time, in a budget of its own."""
    pages = UnderWay()
    api = UnderWay()
    moments = []

    async def note(request):
        if request.path.endswith("/api.php"):
            under_way = api
        else:
            under_way = pages
            moments.append(clock.now)
        under_way.change(1)
        await asyncio.sleep(0.03)
        under_way.change(-1)

    url = await serve(embedded(150), override=note)
    trainers = (crawl_wikimedia(url, clock, tmp_path) for _ in range(2))
    assert await asyncio.gather(*trainers) == [list(range(1, 151))] * 2
    assert 1 < pages.most <= 4
    assert api.most == 1
    moments.sort()
    assert all(later - earlier >= 1.0 for earlier, later in zip(moments, moments[8:], strict=False))
    locks = {
        "wikimedia.lock",
        "wikimedia-pages.lock",
        *(f"wikimedia-pages.{n}.lock" for n in range(4)),
    }
    assert {path.name for path in tmp_path.iterdir() if path.suffix == ".lock"} == locks


@pytest.mark.parametrize("fault", ["429", "slow"])
async def test_a_throttled_or_slow_page_holds_wikimedias_others_back(fault, serve, clock, tmp_path):
    moments = []

    async def override(request):
        if not request.path.startswith("/wiki/"):
            return None
        moments.append(clock.now)
        is_faulty = len(moments) == 10
        if is_faulty and fault == "429":
            return web.Response(status=429, headers={"Retry-After": "40"})
        if is_faulty and fault == "slow":
            clock.now += 1.5
        return None

    url = await serve(embedded(60), override=override)
    assert await crawl_wikimedia(url, clock, tmp_path) == list(range(1, 61))
    # Up to three others were under way, or about to be sent.
    _, resumed = max((later - earlier, later) for earlier, later in pairwise(moments[9:14]))
    assert resumed - moments[9] >= (40.0 if fault == "429" else 5.0)


@pytest.mark.parametrize(
    "kind", [k for k in REQUEST_KINDS if k not in ("403", "out-of-order", "truncated")]
)
async def test_faults_cost_no_article(kind, serve, clock):
    api = embedded(60, faults=Faults({kind: 0.15}, seed=2))
    bounds = replace(LIMITS, stall_seconds=0.5) if kind == "stall" else LIMITS
    pages, skipped = await crawl(await serve(api), clock, 3, bounds=bounds)
    assert [p.page_id for p in pages] == list(range(1, 61))
    assert skipped == 0


async def test_403_stops_and_an_empty_wiki_has_nothing(serve, clock):
    with pytest.raises(WikiRefused):
        await crawl(await serve(embedded(300, faults=Faults({"403": 0.1}))), clock, 3)
    assert await crawl(await serve(embedded(0)), clock, 10) == ([], 0)


async def answering(serve, overrides):
    async def override(request):
        return overrides[request.path](request) if request.path in overrides else None

    return await serve(embedded(30), override=override)


async def test_robots_keep_us_out_redirects_are_followed_ten_at_a_time(serve, clock):
    closed = {"/robots.txt": lambda _: web.Response(text="User-agent: *\nDisallow: /wiki/\n")}
    with pytest.raises(WikiRefused, match=r"robots\.txt"):
        await crawl(await answering(serve, closed), clock, 10)
    moved = {path_of(0): lambda _: web.Response(status=301, headers={"Location": path_of(1)})}
    pages, _ = await crawl(await answering(serve, moved), clock, 100)
    assert [p.page_id for p in pages] == list(range(1, 31))
    requests = UnderWay()
    await crawl(await serve(embedded(60), latency=0.05, on_change=requests.change), clock, 10_000)
    assert requests.most == 10


@pytest.mark.parametrize(("status", "skips"), [(200, 1), (404, 0)])
async def test_robots_are_obeyed(status, skips, serve, clock):
    reply = web.Response(status=status, text=f"User-agent: wikitopics\nDisallow: {path_of(7)}\n")
    pages, skipped = await crawl(
        await answering(serve, {"/robots.txt": lambda _: reply}), clock, 100
    )
    assert (len(pages), skipped) == (30 - skips, skips)


@pytest.mark.parametrize("fault", ["elsewhere", "500", "no article", "circle"])
async def test_a_page_that_never_comes_is_skipped(fault, serve, clock):
    path = path_of(3)

    def answer(request):
        if fault == "500":
            return web.Response(status=500)
        if fault == "no article":
            return web.Response(text="<html>Wikimedia Error</html>", content_type="text/html")
        target = "http://elsewhere.invalid/wiki/X" if fault == "elsewhere" else path
        return web.Response(status=302, headers={"Location": target})

    pages, skipped = await crawl(await answering(serve, {path: answer}), clock, 100)
    assert [p.page_id for p in pages] == [i for i in range(1, 31) if i != 4]
    assert skipped == 1


async def test_pages_that_are_elsewhere_altogether(serve, clock):
    async def override(request):
        return web.Response(status=404) if request.path.startswith("/wiki/") else None

    with pytest.raises(CrawlerError, match="none of"):
        await crawl(await serve(embedded(300), override=override), clock, 1000)


@pytest.mark.parametrize("left", [None, [[1]], [["1", "A"]], [[1, 2]], "text"])
async def test_a_foreign_position(left, clock):
    source = HtmlSource(Wiki("http://127.0.0.1:9/w/api.php", version="0", clock=clock))
    with pytest.raises(BadPosition):
        await anext(source.batches({"cursor": {}, "left": left}))
    await source.close()


@pytest.mark.parametrize(
    ("path", "title", "address"),
    [
        ("/wiki/$1", "A b", "http://w.net:81/wiki/A_b"),
        ("/wiki/$1", "Who? #1 100%", "http://w.net:81/wiki/Who%3F_%231_100%25"),
        ("/$1", "/dev/null", "http://w.net:81//dev/null"),
        ("/w/index.php?title=$1", "A&b=c", "http://w.net:81/w/index.php?title=A%26b%3Dc"),
    ],
)
def test_addresses_of_pages(path, title, address):
    assert str(page_url(URL("http://w.net:81/w/api.php"), path, title)) == address


@pytest.mark.parametrize(
    ("told", "used"),
    [
        ("/wiki/$1", "/wiki/$1"),
        ("/w/index.php?title=$1", "/w/index.php?title=$1"),
        ("/ウィキ/$1", "/%E3%82%A6%E3%82%A3%E3%82%AD/$1"),
        ("/%E3%82%A6/$1", "/%E3%82%A6/$1"),
        ("/a b/$1", "/a%20b/$1"),
        ("http://w.net/a/$1", "/a/$1"),
        ("//W.net/a/$1", "/a/$1"),
        ("https://w.net.evil/a/$1", "/wiki/$1"),
        *(
            (path, "/wiki/$1")
            for path in ("/\ud800/$1", "/100%/$1", "/%$1", "/%4$1", "/#$1", "//evil/$1")
        ),
    ],
)
def test_article_paths(told, used, acts):
    reply = acts.siteinfo(3)
    reply["query"]["general"]["articlepath"] = told
    assert read_siteinfo(reply, URL("http://w.net/w/api.php")).article_path == used


async def test_pages_of_before_the_parsers_own_element(serve, clock):
    """MediaWiki had none before 1.30; pages that are not articles, such as a log-in, are none."""
    config = '"wgIsArticle":%s,"wgRevisionId":7'
    text = "<script>{%s}</script><div id='mw-content-text'><p>rivers in valleys</p></div>"

    async def override(request):
        if not request.path.startswith("/wiki/"):
            return None
        is_article = "false" if request.path == path_of(3) else "true"
        return web.Response(text=text % (config % is_article), content_type="text/html")

    source = HtmlSource(
        Wiki(await serve(embedded(10), override=override), version="0", clock=clock)
    )
    batches = [batch async for batch in source.batches(None)]
    await source.close()
    assert ids(batches) == [i for i in range(1, 11) if i != 4]
    assert skips(batches) == {"no text": 1}


async def test_pages_that_are_too_large_are_skipped_and_batches_bounded(serve, clock, monkeypatch):
    monkeypatch.setattr(html, "_MOST_BYTES", 200_000)
    monkeypatch.setattr(html, "_MOST_FETCHED", 600_000)
    path = path_of(3)

    async def override(request):
        if not request.path.startswith("/wiki/"):
            return None
        await asyncio.sleep(0.02)  # so that those on their way at once are seen to be
        size = 200_000 if request.path == path else 150_000
        text = f"<div class='mw-parser-output'>{'x' * size}</div>"
        return web.Response(text=text, content_type="text/html")

    requests = UnderWay()
    url = await serve(embedded(30), override=override, on_change=requests.change)
    source = HtmlSource(Wiki(url, version="0", clock=clock))
    batches = [batch async for batch in source.batches(None)]
    await source.close()
    assert ids(batches) == [i for i in range(1, 31) if i != 4]
    assert skips(batches) == {"too large": 1}
    assert max(len(batch.pages) for batch in batches) <= 1
    assert 1 < requests.most <= 4
