"""ApiSource against a wiki that answers by script."""

import json
from collections import Counter
from typing import Any

import pytest
from aiohttp import web
from yarl import URL

from tests.crawler.dumps import ids
from wikitopics.crawler.errors import CrawlerError
from wikitopics.crawler.http.wire import RequestBounds
from wikitopics.crawler.mediawiki.siteinfo import read_siteinfo


async def test_one_lap(source: Any, read: Any) -> None:
    s = source()
    info = await s.open()
    batches = await read(s)
    assert info.articles == 7
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert batches[0].pages[0].title == "Page 1"
    assert batches[0].pages[0].text == "text of page 1"
    assert batches[0].pages[0].revision_id == 101
    assert batches[-1].lap == 1.0
    assert [b.lap for b in batches] == sorted(b.lap for b in batches)
    assert info.file_names == ("File", "Image", "Datei", "Bild")
    assert info.category_names == ("Category", "Kategorie")
    assert s.activity.errors == []


async def test_a_request_is_for_at_most_50_articles(wiki: Any, source: Any, read: Any) -> None:
    """The API gives clients without an account no more texts."""
    wiki.pages = [{**wiki.pages[0], "pageid": i, "title": f"Page {i}"} for i in range(1, 121)]
    batches = await read(source(batch_pages=500))
    assert [len(b.pages) for b in batches] == [50, 50, 20]


async def test_resumes_exactly_behind_each_batch(source: Any, read: Any) -> None:
    batches = await read(source())
    for n, batch in enumerate(batches):
        stored = json.loads(json.dumps(batch.position))
        again = await read(source(), stored)
        assert ids(again) == ids(batches[n + 1 :])
    assert await read(source(), batches[-1].position) == []


async def test_what_is_sent(wiki: Any, source: Any, read: Any) -> None:
    await read(source(contact="me@wiki-reader.org"))
    request = wiki.requests[1]
    assert request.headers["User-Agent"].startswith("wikitopics/0 (me@wiki-reader.org) aiohttp/")
    assert request.headers["Accept-Encoding"] == "gzip"
    assert "Cookie" not in request.headers
    assert request.query["maxlag"] == "5"
    assert request.query["formatversion"] == "2"
    assert "rvlimit" not in request.query
    assert "grncontinue" not in request.query
    assert wiki.requests[2].query["grncontinue"].endswith("|4|0")


async def test_truncated_batches_are_put_together(wiki: Any, source: Any, acts: Any, read: Any) -> None:
    pages = wiki.pages

    def part(texts: list[int], go_on: dict[str, str] | None) -> Any:
        listed = [wiki.entry(p, p["pageid"] in texts) for p in pages[:4]]
        for entry in listed:
            entry.setdefault("revisions", []) if entry["pageid"] == 4 else None
        end = {"batchcomplete": True} if go_on is None else {}
        return acts.json({**end, "continue": go_on or wiki.cursor(4), "query": {"pages": listed}})

    here = {"grncontinue": "0.05|0.05|1|0", "continue": "||pageprops", "xyz": "kept"}
    s = source(batch_pages=4)
    await s.open()
    wiki.script = [
        part([1], {**here, "rvcontinue": "2|102"}),
        part([3, 2], {**here, "rvcontinue": "4|104"}),
        part([4], None),
    ]
    batches = await read(s)
    assert [len(b.pages) for b in batches] == [4, 3]
    assert wiki.requests[2].query["xyz"] == "kept"
    assert wiki.requests[3].query["rvcontinue"] == "4|104"


async def test_a_text_that_never_comes_is_skipped(wiki: Any, source: Any, acts: Any, read: Any) -> None:
    listed = [wiki.entry(p, p["pageid"] == 1) for p in wiki.pages[:3]]
    go_on = {"rvcontinue": "2|102", "grncontinue": "0.05|0.05|1|0", "continue": "||"}
    stuck = acts.json({"continue": go_on, "query": {"pages": listed}})
    s = source()
    await s.open()
    wiki.script = [stuck, stuck]
    batches = await read(s)
    assert ids(batches) == [1, 3, 4, 5, 6, 7]
    assert sum((Counter(b.skips) for b in batches), Counter()) == {"no text": 1}
    assert len(wiki.requests) < 10


async def test_pages_that_are_no_articles(wiki: Any, source: Any, acts: Any, read: Any) -> None:
    big = (1 << 62) + 1
    entries: list[Any] = [
        {"pageid": 1, "ns": 0, "title": "Deleted", "missing": True},
        {
            "pageid": 2,
            "ns": 0,
            "title": "Fork",
            "pageprops": {"disambiguation": ""},
            "revisions": [acts.revision(9, "x")],
        },
        {"pageid": 3, "ns": 0, "title": "No text", "revisions": []},
        {
            "pageid": 4,
            "ns": 0,
            "title": "Hidden",
            "revisions": [{"revid": 5, "slots": {"main": {"texthidden": True}}}],
        },
        {"pageid": big, "ns": 0, "title": "Large \ud800 id", "revisions": [acts.revision(big, "t\udfffext")]},
        {"pageid": big, "ns": 0, "title": "Twice", "revisions": [acts.revision(1, "again")]},
        {"pageid": 1 << 70, "ns": 0, "title": "Too large", "revisions": [acts.revision(1, "x")]},
        {"pageid": "7", "ns": 0, "title": "Text id", "revisions": [acts.revision(1, "x")]},
        {"pageid": True, "ns": 0, "title": "Bool id", "revisions": [acts.revision(1, "x")]},
        {"pageid": 8, "ns": 0, "title": ["list"]},
        {"pageid": 9, "ns": 1, "title": "Talk:X", "revisions": [acts.revision(1, "x")]},
        {"pageid": 10, "ns": 0, "title": "List text", "revisions": [acts.revision(1, ["x"])]},
        "no page",
        None,
    ]
    s = source()
    await s.open()
    wiki.script = [acts.json({"batchcomplete": True, "query": {"pages": entries}})]
    (batch,) = await read(s)
    assert [(p.page_id, p.title, p.text, p.revision_id) for p in batch.pages] == [
        (big, "Large ? id", "t?ext", big)
    ]
    assert batch.skips == {"deleted or hidden": 3, "disambiguation": 1, "no text": 1, "damaged": 7}


async def test_an_empty_wiki(wiki: Any, source: Any, read: Any) -> None:
    wiki.pages = []
    (batch,) = await read(source())
    assert batch.pages == ()
    assert batch.lap == 1.0


async def test_a_wiki_that_lists_nothing_for_ever(wiki: Any, source: Any, read: Any) -> None:
    def nothing(query: dict[str, str]) -> Any:
        here = int(query.get("grncontinue", "0.05|0.1|1000|0").split("|")[2]) + 1
        return {"batchcomplete": True, "continue": {"grncontinue": f"0.05|0.1{here}|{here}|0"}}

    s = source()
    await s.open()
    wiki.reply = nothing
    with pytest.raises(CrawlerError, match="without listing"):
        await read(s)


async def test_a_mediawiki_from_before_slots(wiki: Any, source: Any, read: Any) -> None:
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


async def test_a_wiki_without_a_name(wiki: Any, source: Any) -> None:
    s = source()
    info = await s.open()
    await s.close()
    assert info.name == URL(wiki.url).authority


def test_the_name_of_a_wiki_at_an_ipv6_address(acts: Any) -> None:
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
async def test_a_faulty_list_is_asked_for_again(
    wiki: Any, source: Any, acts: Any, read: Any, fault: dict[str, Any], after: int
) -> None:
    """Nothing is lost, and no place that is none is ever a position."""
    wiki.pages = [{**wiki.pages[0], "pageid": i, "title": f"Page {i}"} for i in range(1, 301)]
    faulty = acts.json(fault)
    s = source(batch_pages=50)
    await s.open()

    async def good(request: web.Request) -> web.Response:
        return web.json_response(wiki.reply(dict(request.query)))

    wiki.script = [good] * after + [faulty, faulty]
    batches = await read(s)
    assert ids(batches) == list(range(1, 301))
    assert sum(b.skipped for b in batches) == 0
    assert s.activity.retries == 2


async def test_pages_that_are_too_large(wiki: Any, source: Any, read: Any) -> None:
    """Beyond MediaWiki's own bounds nothing is an article: text of 2 MiB, titles of 255 bytes."""
    for page, text in zip(
        wiki.pages, ["x" * (2 << 20), "x" * (2 << 20) + "y", "€" * 700_000, "é" * (1 << 20)], strict=False
    ):
        page["text"] = text
    wiki.pages[4]["title"] = "é" * 127 + "x"
    wiki.pages[5]["title"] = "é" * 128
    batches = await read(source())
    assert ids(batches) == [1, 4, 5, 7]
    assert sum((Counter(b.skips) for b in batches), Counter()) == {"too large": 3}


async def test_batches_are_bounded_by_what_they_hold(wiki: Any, source: Any, read: Any) -> None:
    """Many large pages come in more requests; what is too much for one reply is asked for in parts."""
    for page in wiki.pages:
        page["text"] = "x" * (2 << 20)
    s = source(batch_pages=7)
    batches = await read(s)
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert max(sum(len(p.text) for p in b.pages) for b in batches) <= 8 << 20
    s = source(batch_pages=7, bounds=RequestBounds(most_bytes=5 << 20))
    batches = await read(s)
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert max(len(b.pages) for b in batches) <= 2


@pytest.mark.parametrize("resumed", [False, True])
async def test_a_wiki_that_brings_the_same_articles_again(wiki: Any, source: Any, resumed: bool) -> None:
    """Its cursor moves on, its pages are the same: the lap ends with a warning, each article comes once."""

    def again(query: dict[str, str]) -> Any:
        here = float(query.get("grncontinue", "0.05|0.05").split("|")[1])
        return {
            "batchcomplete": True,
            "query": {"pages": [wiki.entry(page) for page in wiki.pages]},
            "continue": {"grncontinue": f"0.05|{here + 1e-5:.6f}|7|0", "continue": "grncontinue||"},
        }

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
    assert sum(batch.skips.get("repeated", 0) for batch in batches) == 7 * (len(batches) - 1)
    assert any("the same articles" in error.text for error in s.activity.errors)
