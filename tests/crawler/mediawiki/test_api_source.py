"""ApiSource against a wiki that answers by script; the place on a lap, and what is no lap."""

import json
import random

import pytest
from aiohttp import web
from yarl import URL

from tests.crawler.dumps import ids, skips
from wikitopics.crawler.errors import BadPosition, CrawlerError, TransientError
from wikitopics.crawler.http.wire import RequestBounds
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass, Seen, read_cursor
from wikitopics.crawler.mediawiki.gathering import Gathering
from wikitopics.crawler.mediawiki.replies import QueryAnswer
from wikitopics.crawler.mediawiki.siteinfo import read_siteinfo
from wikitopics.crawler.mediawiki.wiki import Wiki


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
    return {
        "grncontinue": f"{begin}|{here % 1:.6f}|{page_id}|{int(here >= 1)}",
        "continue": "grncontinue||",
    }


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


NO_CURSORS = (
    "nan|x|9|1",
    "nan|0.5|9|1",
    "0.25|0.15|9|0",
    "0.25|0.75|9|1",
    "0.25|0.75|9",
    "0.25|0.75|9|0|0",
)


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
    cursor = at(share) if share else {}
    lap = asked({"cursor": cursor, "listed": counted}, said)
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
@pytest.mark.parametrize(
    ("before", "period"), [(0, 50), (0, 900), (0, 5000), (30_000, 50), (30_000, 30_000)]
)
def test_a_lap_that_goes_round(before, period, resumed):
    """After ``before`` articles the same ``period`` come again and again; some are trained twice,
    if any."""
    order = [n * 7919 % 1_000_003 + 1 for n in range(before + period)]
    lap = CrawlPass(None)
    taken = 0
    position = 0
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


def test_a_lap_on_which_no_page_is_listed_is_given_up():
    wiki = Wiki("http://127.0.0.1:9/w/api.php", version="0")
    lap = CrawlPass(None)
    for number in range(1, 101):
        lap.take(Gathering(), at(number / 1000), wiki)
    with pytest.raises(CrawlerError, match="without listing a page"):
        lap.take(Gathering(), at(0.2), wiki)


async def test_one_lap_resumed_exactly_behind_each_batch(source, read):
    s = source()
    info = await s.open()
    batches = await read(s)
    assert info.articles == 7
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    first = batches[0].pages[0]
    assert (first.title, first.text, first.revision_id) == ("Page 1", "text of page 1", 101)
    assert batches[-1].lap == 1.0
    assert [b.lap for b in batches] == sorted(b.lap for b in batches)
    assert info.file_names == ("File", "Image", "Datei", "Bild")
    assert info.category_names == ("Category", "Kategorie")
    assert s.activity.errors == []
    batches = await read(source())
    for n, batch in enumerate(batches):
        stored = json.loads(json.dumps(batch.position))
        assert ids(await read(source(), stored)) == ids(batches[n + 1 :])
    assert await read(source(), batches[-1].position) == []


async def test_a_request_is_for_at_most_50_articles(wiki, source, read):
    """The API gives clients without an account no more texts."""
    wiki.pages = [{**wiki.pages[0], "pageid": i, "title": f"Page {i}"} for i in range(1, 121)]
    batches = await read(source(batch_pages=500))
    assert [len(b.pages) for b in batches] == [50, 50, 20]
    # Beyond MediaWiki's own bounds nothing is an article: text of 2 MiB, titles of 255 bytes.
    texts = ["x" * (2 << 20), "x" * (2 << 20) + "y", "€" * 700_000, "é" * (1 << 20)]
    wiki.pages = wiki.pages[:7]
    for page, text in zip(wiki.pages, texts, strict=False):
        page["text"] = text
    wiki.pages[4]["title"] = "é" * 127 + "x"
    wiki.pages[5]["title"] = "é" * 128
    batches = await read(source())
    assert ids(batches) == [1, 4, 5, 7]
    assert skips(batches) == {"too large": 3}


async def test_what_is_sent(wiki, source, read):
    await read(source(contact="me@wiki-reader.org"))
    request = wiki.requests[1]
    assert request.headers["User-Agent"].startswith("wikitopics/0 (me@wiki-reader.org) aiohttp/")
    assert request.headers["Accept-Encoding"] == "gzip"
    assert "Cookie" not in request.headers
    assert (request.query["maxlag"], request.query["formatversion"]) == ("5", "2")
    assert "rvlimit" not in request.query
    assert "grncontinue" not in request.query
    assert wiki.requests[2].query["grncontinue"].endswith("|4|0")


async def test_truncated_batches_are_put_together(wiki, acts, crawled):
    def part(texts, go_on):
        listed = [wiki.entry(p, p["pageid"] in texts) for p in wiki.pages[:4]]
        for entry in listed:
            entry.setdefault("revisions", []) if entry["pageid"] == 4 else None
        end = {"batchcomplete": True} if go_on is None else {}
        return acts.json({**end, "continue": go_on or wiki.cursor(4), "query": {"pages": listed}})

    here = {"grncontinue": "0.05|0.05|1|0", "continue": "||pageprops", "xyz": "kept"}
    first = {**here, "rvcontinue": "2|102"}
    second = {**here, "rvcontinue": "4|104"}
    script = [part([1], first), part([3, 2], second), part([4], None)]
    batches, _ = await crawled(*script, batch_pages=4)
    assert [len(b.pages) for b in batches] == [4, 3]
    assert wiki.requests[2].query["xyz"] == "kept"
    assert wiki.requests[3].query["rvcontinue"] == "4|104"


async def test_a_text_that_never_comes_is_skipped(wiki, acts, crawled):
    listed = [wiki.entry(p, p["pageid"] == 1) for p in wiki.pages[:3]]
    go_on = {"rvcontinue": "2|102", "grncontinue": "0.05|0.05|1|0", "continue": "||"}
    stuck = acts.json({"continue": go_on, "query": {"pages": listed}})
    batches, _ = await crawled(stuck, stuck)
    assert ids(batches) == [1, 3, 4, 5, 6, 7]
    assert skips(batches) == {"no text": 1}
    assert len(wiki.requests) < 10


async def test_texts_that_are_too_large_in_total_while_one_never_comes(wiki, acts, crawled):
    """Fewer pages are requested then."""
    for page in wiki.pages:
        page["text"] = "x" * 1_500_000
    listed = [wiki.entry(page, page["pageid"] == 1) for page in wiki.pages]
    go_on = {"rvcontinue": "2|102", "grncontinue": "0.05|0.05|1|0", "continue": "||"}
    stuck = acts.json({"continue": go_on, "query": {"pages": listed}})
    batches, opened = await crawled(stuck, stuck, batch_pages=7)
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert [len(batch.pages) for batch in batches] == [3, 4]
    assert opened.activity.errors == []


async def test_a_list_without_texts_that_is_never_complete_is_no_end_of_the_lap(
    wiki, acts, crawled
):
    listed = [wiki.entry(page, page["pageid"] == 1) for page in wiki.pages[:3]]
    here = {"rvcontinue": "2|102", "continue": "||"}
    go_on = {**here, "grncontinue": "0.05|0.05|1|0"}
    stuck = acts.json({"continue": go_on, "query": {"pages": listed}})
    third = acts.json({"batchcomplete": True, "query": {"pages": [wiki.entry(wiki.pages[2])]}})
    endless = acts.json({"continue": here, "query": {"pages": listed}})
    with pytest.raises(CrawlerError, match="goes in circles"):
        await crawled(stuck, stuck, third, endless)


async def test_pages_that_are_no_articles(acts, crawled):
    big = (1 << 62) + 1
    entries = [
        {"pageid": 1, "missing": True},
        {"pageid": 2, "pageprops": {"disambiguation": ""}},
        {"pageid": 3, "revisions": []},
        {"pageid": 4, "revisions": [{"revid": 5, "slots": {"main": {"texthidden": True}}}]},
        {
            "pageid": big,
            "title": "Large \ud800 id",
            "revisions": [acts.revision(big, "t\udfffext")],
        },
        {"pageid": big},
        {"pageid": 1 << 70},
        {"pageid": "7"},
        {"pageid": True},
        {"pageid": 8, "title": ["list"]},
        {"pageid": 9, "ns": 1},
        {"pageid": 10, "revisions": [acts.revision(1, ["x"])]},
    ]
    usual = {"ns": 0, "title": "A title", "revisions": [acts.revision(1, "x")]}
    pages = [*(usual | entry for entry in entries), "no page", None]
    (batch,), _ = await crawled(acts.json({"batchcomplete": True, "query": {"pages": pages}}))
    mended = big, "Large \N{REPLACEMENT CHARACTER} id", "t\N{REPLACEMENT CHARACTER}ext", big
    assert [(p.page_id, p.title, p.text, p.revision_id) for p in batch.pages] == [mended]
    assert batch.skips == {"deleted or hidden": 3, "disambiguation": 1, "no text": 1, "damaged": 7}


async def test_an_empty_wiki_and_one_that_lists_nothing_for_ever(wiki, source, read):
    wiki.pages = []
    (batch,) = await read(source())
    assert (batch.pages, batch.lap) == ((), 1.0)

    def nothing(query):
        here = int(query.get("grncontinue", "0.05|0.1|1000|0").split("|")[2]) + 1
        return {"batchcomplete": True, "continue": {"grncontinue": f"0.05|0.1{here}|{here}|0"}}

    s = source()
    await s.open()
    wiki.reply = nothing
    with pytest.raises(CrawlerError, match="without listing"):
        await read(s)


async def test_a_mediawiki_from_before_slots(wiki, source, read):
    """Up to version 1.31 the text stands in the revision itself."""
    for page in wiki.pages:
        page["revisions"] = None
    entry = wiki.entry
    wiki.entry = lambda page, with_text=True: {
        **entry(page, False),
        "revisions": [{"revid": 7, "contentformat": "text/x-wiki", "content": page["text"]}],
    }
    batches = await read(source())
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert batches[0].pages[0].text == "text of page 1"


async def test_a_wiki_without_a_name(acts):
    assert read_siteinfo(acts.siteinfo(1), URL("http://[::1]:8080/w/api.php")).name == "[::1]:8080"


@pytest.mark.parametrize(
    "fault",
    [
        {"batchcomplete": True},
        {"batchcomplete": True, "query": {"pages": []}},
        {"batchcomplete": True, "query": {"pages": {"1": {"pageid": 1}}}},
        {"batchcomplete": True, "query": {"pages": None}},
        {"batchcomplete": True, "query": None},
        {"batchcomplete": True, "continue": {"grncontinue": "token", "continue": "grncontinue||"}},
        {"batchcomplete": True, "continue": {"continue": "grncontinue||"}},
        {"continue": {"grncontinue": "token", "rvcontinue": "1|101", "continue": "||"}},
    ],
)
@pytest.mark.parametrize("after", [0, 1])
async def test_a_faulty_list_is_asked_for_again(wiki, acts, crawled, fault, after):
    """Nothing is lost, and no place that is none is ever a position."""
    wiki.pages = [{**wiki.pages[0], "pageid": i, "title": f"Page {i}"} for i in range(1, 301)]

    async def good(request):
        return web.json_response(wiki.reply(dict(request.query)))

    batches, s = await crawled(*[good] * after, *[acts.json(fault)] * 2, batch_pages=50)
    assert ids(batches) == list(range(1, 301))
    assert not skips(batches)
    assert s.activity.retries == 2


async def test_batches_are_bounded_by_what_they_hold(wiki, source, read):
    """Many large pages come in more requests; what is too much for one reply is asked for in
    parts."""
    for page in wiki.pages:
        page["text"] = "x" * (2 << 20)
    batches = await read(source(batch_pages=7))
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert max(sum(len(p.text) for p in b.pages) for b in batches) <= 8 << 20
    batches = await read(source(batch_pages=7, bounds=RequestBounds(most_bytes=5 << 20)))
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert max(len(b.pages) for b in batches) <= 2


@pytest.mark.parametrize("resumed", [False, True])
async def test_a_wiki_that_brings_the_same_articles_again(wiki, source, resumed):
    """Its cursor moves on, its pages are the same: the lap ends with a warning, each article comes
    once."""

    def again(query):
        here = float(query.get("grncontinue", "0.05|0.05").split("|")[1])
        listed = {"pages": [wiki.entry(page) for page in wiki.pages]}
        go_on = {"grncontinue": f"0.05|{here + 1e-5:.6f}|7|0", "continue": "grncontinue||"}
        return {"batchcomplete": True, "query": listed, "continue": go_on}

    s = source(batch_pages=7)
    await s.open()
    wiki.reply = again
    batches = []
    position = None
    for _ in range(100):
        async for batch in s.batches(position):
            batches.append(batch)
            if resumed:
                position = json.loads(json.dumps(batch.position))
                break
        if batches[-1].position == {"finished": True}:
            break
    await s.close()
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert batches[-1].position == {"finished": True}
    assert len(batches) < 40
    assert skips(batches) == {"repeated": 7 * (len(batches) - 1)}
    assert any("the same articles" in error.text for error in s.activity.errors)
