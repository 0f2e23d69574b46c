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
from wikitopics.crawler.mediawiki.siteinfo import read_siteinfo
from wikitopics.crawler.mediawiki.wiki import Wiki

CORPUS = synthetic_corpus(60)
LIMITS = RequestBounds(most_bytes=4 << 20)


def embedded(size, **options):
    """A wiki of so many articles; the page id of an article is its index plus 1."""
    return FaultyApi(SampleArticles(CORPUS, size), **options)


def path_of(index):
    """The path of an article of `embedded`."""
    return "/wiki/" + SampleArticles(CORPUS, 30).title(index).replace(" ", "_")


async def read_batches(url, clock):
    """All batches of a wiki, which are read by one source."""
    source = HtmlSource(Wiki(url, version="0", clock=clock))
    batches = [batch async for batch in source.batches(None)]
    await source.close()
    return batches


async def crawl(url, clock, batches_each, bounds=LIMITS):
    """Every page of a wiki, and the number of those skipped; a source reads so many batches."""

    def make():
        return HtmlSource(Wiki(url, version="0", clock=clock, bounds=bounds))

    return await laps.crawl(make, batches_each)


@pytest.mark.parametrize("batches_each", [3, 10_000])
async def test_every_article_once(batches_each, serve, clock):
    api = embedded(230, faults=Faults({"deleted": 0.1, "disambiguation": 0.1}, seed=4))
    pages, skipped = await crawl(await serve(api), clock, batches_each)
    good = []
    for index in range(230):
        if not any(api.faults.hits(kind, index) for kind in PAGE_KINDS):
            good.append(index)
    assert [page.page_id - 1 for page in pages] == good
    assert skipped == 230 - len(good)
    for page in pages:
        _, revision_id = api.ids(page.page_id - 1)
        assert page.revision_id == revision_id
        assert page.markup == "html"
    for page in pages[:20]:
        article = api.articles.article(page.page_id - 1)
        assert api.writer.html(article) in page.text


class UnderWay:
    """How many requests are being answered, and how many were at most."""

    def __init__(self):
        self.now = 0
        self.most = 0

    def change(self, by):
        self.now += by
        self.most = max(self.most, self.now)


async def crawl_wikimedia(url, clock, folder):
    """The page ids of a wiki on loopback, treated as one of Wikimedia's."""
    wiki = Wiki(
        url,
        version="0",
        clock=clock,
        contact="me@wiki-reader.org",
        limits=wikimedia_limits(),
        budget_folder=folder,
    )
    source = HtmlSource(wiki)
    batches = [batch async for batch in source.batches(None)]
    assert source.activity.allowed_per_minute == 480
    await source.close()
    return ids(batches)


async def test_on_wikimedia_four_pages_at_a_time_and_eight_a_second(serve, clock, tmp_path):
    """Two trainers together keep to that; the API is asked one request at a time, in a budget of
    its own."""
    pages = UnderWay()
    api = UnderWay()
    page_moments = []

    async def note(request):
        if request.path.endswith("/api.php"):
            under_way = api
        else:
            under_way = pages
            page_moments.append(clock.now)
        under_way.change(1)
        await asyncio.sleep(0.03)
        under_way.change(-1)

    url = await serve(embedded(150), override=note)
    found = await asyncio.gather(
        crawl_wikimedia(url, clock, tmp_path),
        crawl_wikimedia(url, clock, tmp_path),
    )
    assert found == [list(range(1, 151))] * 2
    assert 1 < pages.most <= 4
    assert api.most == 1
    page_moments.sort()
    for earlier, eight_later in zip(page_moments, page_moments[8:], strict=False):
        assert eight_later - earlier >= 1.0
    locks = {path.name for path in tmp_path.iterdir() if path.suffix == ".lock"}
    assert locks == {
        "wikimedia.lock",
        "wikimedia-pages.lock",
        "wikimedia-pages.0.lock",
        "wikimedia-pages.1.lock",
        "wikimedia-pages.2.lock",
        "wikimedia-pages.3.lock",
    }


@pytest.mark.parametrize(("fault", "rest"), [("429", 40.0), ("slow", 5.0)])
async def test_a_throttled_or_slow_page_holds_wikimedias_others_back(
    fault, rest, serve, clock, tmp_path
):
    moments = []

    async def override(request):
        if not request.path.startswith("/wiki/"):
            return None
        moments.append(clock.now)
        if len(moments) != 10:
            return None
        if fault == "429":
            return web.Response(status=429, headers={"Retry-After": "40"})
        clock.now += 1.5
        return None

    url = await serve(embedded(60), override=override)
    assert await crawl_wikimedia(url, clock, tmp_path) == list(range(1, 61))
    # Up to three other pages were under way, or about to be sent: behind them is the longest gap.
    tenth, *soon_after = moments[9:14]
    gaps = [(later - earlier, later) for earlier, later in pairwise([tenth, *soon_after])]
    _, resumed = max(gaps)
    assert resumed - tenth >= rest


@pytest.mark.parametrize(
    "kind", [k for k in REQUEST_KINDS if k not in ("403", "out-of-order", "truncated")]
)
async def test_faults_cost_no_article(kind, serve, clock):
    api = embedded(60, faults=Faults({kind: 0.15}, seed=2))
    bounds = replace(LIMITS, stall_seconds=0.5) if kind == "stall" else LIMITS
    pages, skipped = await crawl(await serve(api), clock, 3, bounds=bounds)
    assert [page.page_id for page in pages] == list(range(1, 61))
    assert skipped == 0


async def test_403_stops(serve, clock):
    url = await serve(embedded(300, faults=Faults({"403": 0.1})))
    with pytest.raises(WikiRefused):
        await crawl(url, clock, 3)


async def test_an_empty_wiki_has_nothing(serve, clock):
    url = await serve(embedded(0))
    assert await crawl(url, clock, 10) == ([], 0)


async def answering(serve, path, reply):
    """The address of a wiki of 30 articles that answers a request for one path by what ``reply``
    makes."""

    async def override(request):
        return reply() if request.path == path else None

    return await serve(embedded(30), override=override)


async def test_robots_keep_us_out(serve, clock):
    def closed():
        return web.Response(text="User-agent: *\nDisallow: /wiki/\n")

    url = await answering(serve, "/robots.txt", closed)
    with pytest.raises(WikiRefused, match=r"robots\.txt"):
        await crawl(url, clock, 10)


async def test_redirects_are_followed(serve, clock):
    def moved():
        return web.Response(status=301, headers={"Location": path_of(1)})

    url = await answering(serve, path_of(0), moved)
    pages, _ = await crawl(url, clock, 100)
    assert [page.page_id for page in pages] == list(range(1, 31))


async def test_ten_pages_are_asked_for_at_a_time(serve, clock):
    requests = UnderWay()
    url = await serve(embedded(60), latency=0.05, on_change=requests.change)
    await crawl(url, clock, 10_000)
    assert requests.most == 10


@pytest.mark.parametrize(("status", "n_skipped"), [(200, 1), (404, 0)])
async def test_robots_are_obeyed(status, n_skipped, serve, clock):
    def robots():
        rules = f"User-agent: wikitopics\nDisallow: {path_of(7)}\n"
        return web.Response(status=status, text=rules)

    url = await answering(serve, "/robots.txt", robots)
    pages, skipped = await crawl(url, clock, 100)
    assert skipped == n_skipped
    assert len(pages) == 30 - n_skipped


@pytest.mark.parametrize("fault", ["elsewhere", "500", "no article", "circle"])
async def test_a_page_that_never_comes_is_skipped(fault, serve, clock):
    path = path_of(3)

    def reply():
        if fault == "500":
            return web.Response(status=500)
        if fault == "no article":
            return web.Response(text="<html>Wikimedia Error</html>", content_type="text/html")
        target = "http://elsewhere.invalid/wiki/X" if fault == "elsewhere" else path
        return web.Response(status=302, headers={"Location": target})

    url = await answering(serve, path, reply)
    pages, skipped = await crawl(url, clock, 100)
    assert [page.page_id for page in pages] == [number for number in range(1, 31) if number != 4]
    assert skipped == 1


async def test_pages_that_are_all_elsewhere_stop_the_crawl(serve, clock):
    async def override(request):
        return web.Response(status=404) if request.path.startswith("/wiki/") else None

    with pytest.raises(CrawlerError, match="none of"):
        await crawl(await serve(embedded(300), override=override), clock, 1000)


async def test_a_list_of_titles_with_large_texts_stops_the_crawl(serve, clock, acts):
    page = {"ns": 0, "title": "A page", "revisions": [acts.revision(1, "x" * (2 << 20))]}
    pages = [{**page, "pageid": number} for number in range(1, 6)]

    async def override(request):
        if "grnlimit" in request.query:
            return web.json_response({"batchcomplete": True, "query": {"pages": pages}})
        return None

    url = await serve(embedded(5), override=override)
    with pytest.raises(CrawlerError, match="large texts with its list"):
        await crawl(url, clock, 10, bounds=RequestBounds())


@pytest.mark.parametrize("left", [None, [[1]], [["1", "A"]], [[1, 2]], "text"])
async def test_the_position_of_another_source_is_refused(left, clock):
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
    ("stated", "used"),
    [
        ("/wiki/$1", "/wiki/$1"),
        ("/w/index.php?title=$1", "/w/index.php?title=$1"),
        ("/ウィキ/$1", "/%E3%82%A6%E3%82%A3%E3%82%AD/$1"),
        ("/%E3%82%A6/$1", "/%E3%82%A6/$1"),
        ("/a b/$1", "/a%20b/$1"),
        ("http://w.net/a/$1", "/a/$1"),
        ("//W.net/a/$1", "/a/$1"),
        ("https://w.net.evil/a/$1", "/wiki/$1"),
        ("/\ud800/$1", "/wiki/$1"),
        ("/100%/$1", "/wiki/$1"),
        ("/%$1", "/wiki/$1"),
        ("/%4$1", "/wiki/$1"),
        ("/#$1", "/wiki/$1"),
        ("//evil/$1", "/wiki/$1"),
    ],
)
def test_the_article_path_is_what_the_wiki_states_or_the_usual_one(stated, used, acts):
    reply = acts.siteinfo(3)
    reply["query"]["general"]["articlepath"] = stated
    assert read_siteinfo(reply, URL("http://w.net/w/api.php")).article_path == used


async def test_pages_of_wikis_without_the_parsers_own_element(serve, clock):
    """MediaWiki had no such element before 1.30. Pages that are not articles, such as a log-in, say
    so themselves."""

    async def override(request):
        if not request.path.startswith("/wiki/"):
            return None
        is_article = "false" if request.path == path_of(3) else "true"
        text = (
            f'<script>{{"wgIsArticle":{is_article},"wgRevisionId":7}}</script>'
            "<div id='mw-content-text'><p>rivers in valleys</p></div>"
        )
        return web.Response(text=text, content_type="text/html")

    batches = await read_batches(await serve(embedded(10), override=override), clock)
    assert ids(batches) == [number for number in range(1, 11) if number != 4]
    assert skips(batches) == {"no text": 1}


async def test_pages_that_are_too_large_are_skipped_and_batches_bounded(serve, clock, monkeypatch):
    monkeypatch.setattr(html, "_MOST_BYTES", 200_000)
    monkeypatch.setattr(html, "_MOST_FETCHED", 600_000)  # four pages of 150,000 bytes

    async def override(request):
        if not request.path.startswith("/wiki/"):
            return None
        await asyncio.sleep(0.02)  # so that requests that are under way together overlap
        size = 200_000 if request.path == path_of(3) else 150_000
        text = f"<div class='mw-parser-output'>{'x' * size}</div>"
        return web.Response(text=text, content_type="text/html")

    requests = UnderWay()
    url = await serve(embedded(30), override=override, on_change=requests.change)
    batches = await read_batches(url, clock)
    assert ids(batches) == [number for number in range(1, 31) if number != 4]
    assert skips(batches) == {"too large": 1}
    assert max(len(batch.pages) for batch in batches) <= 1
    assert 1 < requests.most <= 4
