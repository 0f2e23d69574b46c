"""Recent changes out of server-sent events, as Wikimedia's EventStreams writes them."""

import json

import pytest

from wikitopics.crawler.http.wire import split_lines
from wikitopics.crawler.mediawiki.recent import PageChange, changes

ID = (
    '[{"topic":"eqiad.mediawiki.recentchange","partition":0,"timestamp":1756449917002},'
    '{"topic":"codfw.mediawiki.recentchange","partition":0,"offset":-1}]'
)


def edit(title="Water", **fields):
    """The data of an event with some of the fields of its schema (mediawiki/recentchange/1.0.0)."""
    meta = {"domain": "en.wikipedia.org", "stream": "mediawiki.recentchange", "partition": 0}
    change = {"$schema": "/mediawiki/recentchange/1.0.0", "meta": meta, "id": 68147964, "type": "edit"}
    change |= {"namespace": 0, "title": title, "bot": False, "server_name": "en.wikipedia.org"}
    return json.dumps(change | fields)


async def heard(sent, size=1 << 16):
    """The changes of en.wikipedia.org in these bytes, which come ``size`` at a time."""
    body = sent if isinstance(sent, bytes) else sent.encode()

    async def parts():
        for at in range(0, len(body), size):
            yield body[at : at + size]

    return [change async for change in changes(split_lines(parts(), 1 << 20), "en.wikipedia.org")]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
async def test_an_edit(size, line_end):
    sent = f":ok\n\nevent: message\nid: {ID}\ndata: {edit()}\n\n".replace("\n", line_end)
    assert await heard(sent, size) == [PageChange(ID, "Water")]


PRETTY = json.dumps(json.loads(edit()), indent=1).replace("\n", "\ndata: ")


@pytest.mark.parametrize(
    ("sent", "is_one"),
    [
        pytest.param(f"event:message\nid:{ID}\ndata:{edit()}\n\n", True, id="no space after the colon"),
        pytest.param(f"id: {ID}\ndata: {PRETTY}\n\n", True, id="data on several lines"),
        pytest.param(f"id: {ID}\ndata: {edit()}\n", False, id="cut off"),
        pytest.param(f":\n\n: still here\n\nretry: 1000\nid: {ID}\n\n:\ndata\n\n", False, id="comments"),
        pytest.param('event: error\nid: []\ndata: {"message":"Local"}\n\n', False, id="an error"),
        pytest.param(
            f"event: error\ndata: {{}}\n\nid: {ID}\ndata: {edit()}\n\n", True, id="one behind an error"
        ),
    ],
)
async def test_what_is_an_event(sent, is_one):
    assert await heard(sent) == [PageChange(ID, "Water")] * is_one


@pytest.mark.parametrize(
    "fields",
    [
        *({"meta": meta} for meta in ({"domain": "canary"}, {"domain": "de.wikipedia.org"}, None)),
        {"namespace": 1},
        {"type": "categorize", "namespace": 14},
        {"type": "log", "log_type": "delete"},
        {"type": "external"},
        *({"title": title} for title in ("", "a|b", "\ud800", "x" * 256)),
    ],
)
async def test_what_is_no_edited_article_has_a_place_only(fields):
    assert await heard(f"id: {ID}\ndata: {edit(**fields)}\n\n") == [PageChange(ID, None)]


@pytest.mark.parametrize("no_id", [b"a\x00b", "caf\u00e9".encode(), b"x" * 9000])
async def test_ids_that_are_no_headers(no_id):
    assert await heard(b"id: " + no_id + f"\ndata: {edit()}\n\n".encode()) == [PageChange("", "Water")]
