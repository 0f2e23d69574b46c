"""Whatever comes over the wire: an answer, a TransientError or a refusal, never another
exception."""

import contextlib
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from wikitopics.crawler.errors import CrawlerError, TransientError
from wikitopics.crawler.http.contact import one_line
from wikitopics.crawler.http.rules import Robots
from wikitopics.crawler.http.wire import LONGEST_TOLD_WAIT, Reply, judge_status, parse_retry_after
from wikitopics.crawler.mediawiki.api import CrawlPass, read_cursor
from wikitopics.crawler.mediawiki.recent import changes
from wikitopics.crawler.mediawiki.wiki import (
    Gathering,
    QueryAnswer,
    entries,
    read_api,
    read_continue,
    read_siteinfo,
)

WIKI = URL("https://wiki.invalid/w/api.php")
NAMES = """
query pages pageid title ns revisions revid slots main content continue batchcomplete error code info general
generator namespaces 6 14 statistics articles articlepath namespacealiases alias id lang pageprops missing
"""
KEYS = st.sampled_from(NAMES.split()) | st.text(max_size=5)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
SCALARS |= st.sampled_from(["MediaWiki 1.39", "/wiki/$1", "0.5|0.6|7|0", "wikitext"])
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
SLOT = st.fixed_dictionaries({"content": st.text(max_size=20)})
SLOTS = st.fixed_dictionaries({"main": SLOT | JSON})
REVISION = st.fixed_dictionaries({}, optional={"revid": JSON, "slots": SLOTS | JSON})
FIELDS = {"pageid": st.integers(-5, 1 << 70), "ns": st.just(0), "title": st.text(max_size=10)}
FIELDS |= {"missing": JSON, "pageprops": JSON, "revisions": st.lists(REVISION | JSON, max_size=2)}
PAGE = st.fixed_dictionaries({}, optional={key: kind | JSON for key, kind in FIELDS.items()})
SURROGATE_REVISION = {"revid": -1, "slots": {"main": {"content": "\udfff"}}}
SURROGATES = {"pageid": 1, "title": "\ud800", "revisions": [SURROGATE_REVISION]}
REPLY = st.fixed_dictionaries(
    {"query": st.fixed_dictionaries({"pages": st.lists(PAGE, max_size=5)})}
) | (st.dictionaries(KEYS, JSON, max_size=5))


@given(REPLY)
@example({"query": {"pages": [SURROGATES]}})
def test_pages(reply):
    gathering = Gathering()
    with contextlib.suppress(TransientError):
        gathering.add(entries(reply))
        gathering.add(entries(reply))
    for page in gathering.pages():
        assert isinstance(page.text, str)
        page.text.encode()
        page.title.encode()
        assert 0 < page.page_id < 1 << 63
        assert 0 <= page.revision_id < 1 << 63
    gathering.leave_out(gathering.without_text(), "no text")
    assert gathering.without_text() == []


def test_titles_are_those_of_what_may_be_an_article():
    gathering = Gathering()
    article = {"pageid": 7, "ns": 0, "title": "An article"}
    gathering.add([article, {**article, "pageid": 8, "redirect": True}])
    assert gathering.titles() == [(7, "An article")]


GENERAL = {"generator": st.just("MediaWiki 1.39"), "articlepath": JSON | st.text()}
LISTS = dict.fromkeys(("statistics", "namespaces", "namespacealiases"), JSON)
SITE = st.fixed_dictionaries({"general": st.fixed_dictionaries(GENERAL)}, optional=LISTS)


@given(SITE)
def test_siteinfo(query):
    site = read_siteinfo({"query": query}, WIKI)
    assert site.article_path.count("$1") == 1
    assert site.name == WIKI.host
    assert site.articles is None or site.articles >= 0
    assert {"File", "Image"} <= set(site.file_names)


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_what_is_no_siteinfo(reply):
    with contextlib.suppress(TransientError):
        read_siteinfo(reply, WIKI)


@given(
    st.dictionaries(KEYS, JSON, max_size=2), st.none() | st.dictionaries(KEYS, st.text() | SCALARS)
)
def test_continue(reply, continuation):
    reply |= {"batchcomplete": True, "continue": continuation}
    try:
        found = read_continue(reply)
    except TransientError:
        assert continuation is not None
    else:
        assert (found or {}).keys() == (continuation or {}).keys()
        assert all(isinstance(value, str) for value in (found or {}).values())


@pytest.mark.parametrize("entries", [0, 1000])
def test_a_continuation_of_nothing_or_of_too_much(entries):
    with pytest.raises(TransientError, match="continuation"):
        read_continue({"continue": {str(n): "x" for n in range(entries)}})


@given(
    st.binary(max_size=200) | JSON.map(lambda v: json.dumps(v).encode()) | st.just(b"[" * 50_000),
    st.integers(100, 599),
    st.text(max_size=20),
)
def test_replies(body, status, retry_after):
    reply = Reply(status, WIKI, CIMultiDictProxy(CIMultiDict()), body)
    said = ""
    try:
        judge_status(reply)
        assert isinstance(read_api(reply), dict)
    except (TransientError, CrawlerError) as error:
        said = str(error)
    assert len(said) < 600
    assert "\n" not in said
    seconds = parse_retry_after(retry_after, retry_after, 1e9)
    assert seconds is None or 0 < seconds <= LONGEST_TOLD_WAIT


@given(st.text())
def test_one_line(text):
    line = one_line(text, 300)
    assert line.isprintable()
    assert len(line) <= 300


TOKENS = st.text("0123456789.|naief-", max_size=20) | st.sampled_from(
    ["0.5|0.6|7|0", "0.5|0.4|9|1"]
)
CURSORS = st.fixed_dictionaries(
    {}, optional={"grncontinue": TOKENS, "continue": st.text(max_size=20)}
)


@given(CURSORS, st.none() | CURSORS, st.integers(0, 500), JSON)
def test_cursors(one, two, listed, stored):
    found = read_cursor(one)
    assert found is None or 0 <= found.share <= 1
    with contextlib.suppress(CrawlerError, TransientError):
        lap = CrawlPass({"cursor": one, "listed": stored, "seen": stored})
        lap.articles = 100
        lap.check(QueryAnswer([{}] * listed, two, complete=True))
        lap.step(two, range(1, listed))
        assert 0 <= lap.share <= 1
        assert CrawlPass(json.loads(json.dumps(lap.position))).share == lap.share
    with contextlib.suppress(CrawlerError):
        CrawlPass(stored if isinstance(stored, dict) else {"cursor": stored})


@given(st.text("aA*$%/?: \nuser-gtdilowU", max_size=200), st.text(max_size=30))
def test_robots(text, path):
    assert Robots(text, "wikitopics").allows("/" + path) in (True, False)
    assert Robots(text.encode(), "wikitopics").allows("/" + path) in (True, False)


def data(value):
    return b"data: " + json.dumps(value).encode()


CHANGE = {"type": st.sampled_from(["edit", "new"]), "title": st.text(max_size=300) | JSON}
CHANGE |= {"meta": st.just({"domain": "wiki.invalid"}), "namespace": st.just(0)}
IDS = st.binary(max_size=20).map(lambda value: b"id: " + value)
LINES = st.just(b"event: message"), IDS, st.fixed_dictionaries(CHANGE).map(data), st.just(b"")
EVENT = st.tuples(*LINES).map(list)
"""One of this wiki's articles, with whatever for a title."""


@settings(max_examples=50)
@given(
    st.lists(EVENT | st.lists(st.binary(max_size=30) | JSON.map(data) | st.just(b"")), max_size=5)
)
async def test_changes(events):
    async def coming():
        for line in (b"", *(line for event in events for line in event)):
            yield line

    found = [change async for change in changes(coming(), "wiki.invalid")]
    assert len(found) >= (
        len(events[-1:]) if events and events[-1][:1] == [b"event: message"] else 0
    )
    for change in found:
        assert change.title is None or change.title.encode()
        assert change.event_id.isascii()
