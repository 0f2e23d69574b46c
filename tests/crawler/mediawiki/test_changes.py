"""Recent changes out of server-sent events, as Wikimedia's EventStreams writes them."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from wikitopics.crawler.http.wire import split_lines
from wikitopics.crawler.mediawiki.changes import Change, changes

ID = (
    '[{"topic":"eqiad.mediawiki.recentchange","partition":0,"timestamp":1756449917002},'
    '{"topic":"codfw.mediawiki.recentchange","partition":0,"offset":-1}]'
)


def edit(title: str = "Water", **fields: Any) -> str:
    """The data of an event with the fields of its schema (mediawiki/recentchange/1.0.0)."""
    change = {
        "$schema": "/mediawiki/recentchange/1.0.0",
        "meta": {
            "uri": f"https://en.wikipedia.org/wiki/{title}",
            "id": "5692c611-972f-45ed-ae7b-5808f3bf6c7c",
            "domain": "en.wikipedia.org",
            "stream": "mediawiki.recentchange",
            "dt": "2025-08-29T06:45:17.001Z",
            "topic": "eqiad.mediawiki.recentchange",
            "partition": 0,
            "offset": 5891112553,
        },
        "id": 68147964,
        "type": "edit",
        "namespace": 0,
        "title": title,
        "comment": "clearer",
        "bot": False,
        "length": {"old": 7557, "new": 6913},
        "revision": {"old": 32692884, "new": 33445941},
        "server_name": "en.wikipedia.org",
        "wiki": "enwiki",
    }
    return json.dumps(change | fields)


async def heard(sent: str | bytes, size: int = 1 << 16) -> list[Change]:
    """The changes of en.wikipedia.org in these bytes, which come ``size`` at a time."""
    body = sent if isinstance(sent, bytes) else sent.encode()

    async def parts() -> AsyncGenerator[bytes]:
        for at in range(0, len(body), size):
            yield body[at : at + size]

    return [change async for change in changes(split_lines(parts(), 1 << 20), "en.wikipedia.org")]


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
async def test_an_edit(size: int, line_end: str) -> None:
    sent = f":ok\n\nevent: message\nid: {ID}\ndata: {edit()}\n\n".replace("\n", line_end)
    assert await heard(sent, size) == [Change(ID, "Water")]


async def test_a_space_after_the_colon_may_be_missing() -> None:
    assert await heard(f"event:message\nid:{ID}\ndata:{edit()}\n\n") == [Change(ID, "Water")]


async def test_data_on_several_lines() -> None:
    pretty = json.dumps(json.loads(edit()), indent=1).replace("\n", "\ndata: ")
    assert await heard(f"id: {ID}\ndata: {pretty}\n\n") == [Change(ID, "Water")]


async def test_an_event_that_is_cut_off_is_none() -> None:
    assert await heard(f"id: {ID}\ndata: {edit()}\n") == []


async def test_comments_and_unknown_fields_are_nothing() -> None:
    assert await heard(f":\n\n: still here\n\nretry: 1000\nid: {ID}\n\n:\ndata\n\n") == []


async def test_an_error_is_no_event() -> None:
    assert await heard('event: error\nid: []\ndata: {"message":"Local: Broker transport failure"}\n\n') == []
    after = f"event: error\ndata: {{}}\n\nid: {ID}\ndata: {edit()}\n\n"
    assert await heard(after) == [Change(ID, "Water")]


@pytest.mark.parametrize(
    "fields",
    [
        {"meta": {"domain": "canary"}},
        {"meta": {"domain": "de.wikipedia.org"}},
        {"meta": None},
        {"namespace": 1},
        {"type": "categorize", "namespace": 14},
        {"type": "log", "log_type": "delete"},
        {"type": "external"},
        {"title": ""},
        {"title": "a|b"},
        {"title": "\ud800"},
        {"title": "x" * 256},
    ],
)
async def test_what_is_no_edited_article_has_a_place_only(fields: dict[str, Any]) -> None:
    assert await heard(f"id: {ID}\ndata: {edit(**fields)}\n\n") == [Change(ID, None)]


@pytest.mark.parametrize("no_id", [b"a\x00b", "caf\u00e9".encode(), b"x" * 9000])
async def test_ids_that_are_no_headers(no_id: bytes) -> None:
    assert await heard(b"id: " + no_id + f"\ndata: {edit()}\n\n".encode()) == [Change("", "Water")]
