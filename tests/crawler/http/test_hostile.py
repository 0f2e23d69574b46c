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
from wikitopics.crawler.http.quoting import one_line
from wikitopics.crawler.http.robots import Robots
from wikitopics.crawler.http.wire import LONGEST_TOLD_WAIT, Reply, judge_status, parse_retry_after
from wikitopics.crawler.mediawiki.crawl_pass import CrawlPass, read_cursor
from wikitopics.crawler.mediawiki.gathering import Gathering
from wikitopics.crawler.mediawiki.recent import changes
from wikitopics.crawler.mediawiki.replies import QueryAnswer, entries, read_api, read_continue
from wikitopics.crawler.mediawiki.siteinfo import read_siteinfo

WIKI = URL("https://wiki.invalid/w/api.php")
NAMES = """
query pages pageid title ns revisions revid slots main content continue batchcomplete error code info general
generator namespaces 6 14 statistics articles articlepath namespacealiases alias id lang pageprops missing
"""
KEYS = st.sampled_from(NAMES.split()) | st.text(max_size=5)
USUAL_TEXTS = st.sampled_from(["MediaWiki 1.39", "/wiki/$1", "0.5|0.6|7|0", "wikitext"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    USUAL_TEXTS,
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
JSON_OBJECT = st.dictionaries(KEYS, JSON, max_size=5)


# Pages and their parts as a wiki sends them, but with any JSON in the place of a part.

SLOT = st.fixed_dictionaries({"content": st.text(max_size=20)})
SLOTS = st.fixed_dictionaries({"main": SLOT | JSON})
REVISION = st.fixed_dictionaries({}, optional={"revid": JSON, "slots": SLOTS | JSON})
PAGE = st.fixed_dictionaries(
    {},
    optional={
        "pageid": st.integers(-5, 1 << 70) | JSON,
        "ns": st.just(0) | JSON,
        "title": st.text(max_size=10) | JSON,
        "missing": JSON,
        "pageprops": JSON,
        "revisions": st.lists(REVISION | JSON, max_size=2) | JSON,
    },
)
REPLY_WITH_PAGES = st.fixed_dictionaries(
    {"query": st.fixed_dictionaries({"pages": st.lists(PAGE, max_size=5)})}
)
OF_SURROGATES = {
    "pageid": 1,
    "title": "\ud800",
    "revisions": [{"revid": -1, "slots": {"main": {"content": "\udfff"}}}],
}


@given(REPLY_WITH_PAGES | JSON_OBJECT)
@example({"query": {"pages": [OF_SURROGATES]}})
def test_pages_of_any_reply_have_text_and_ids_that_can_be_stored(reply):
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
def test_any_siteinfo_gives_an_article_path_a_name_and_the_names_of_files(query):
    site = read_siteinfo({"query": query}, WIKI)
    assert site.article_path.count("$1") == 1
    assert site.name == WIKI.host
    assert site.articles is None or site.articles >= 0
    assert {"File", "Image"} <= set(site.file_names)


@given(JSON_OBJECT)
def test_what_is_no_siteinfo_is_a_transient_error(reply):
    with contextlib.suppress(TransientError):
        read_siteinfo(reply, WIKI)


@given(
    st.dictionaries(KEYS, JSON, max_size=2), st.none() | st.dictionaries(KEYS, st.text() | SCALARS)
)
def test_a_continuation_is_text_by_keys_or_an_error(reply, continuation):
    reply |= {"batchcomplete": True, "continue": continuation}
    try:
        found = read_continue(reply) or {}
    except TransientError:
        assert continuation is not None
    else:
        assert found.keys() == (continuation or {}).keys()
        assert all(isinstance(value, str) for value in found.values())


@pytest.mark.parametrize("n_keys", [0, 1000])
def test_a_continuation_of_nothing_or_of_too_much_is_an_error(n_keys):
    with pytest.raises(TransientError, match="continuation"):
        read_continue({"continue": {str(number): "x" for number in range(n_keys)}})


BODIES = st.one_of(
    st.binary(max_size=200),
    JSON.map(lambda value: json.dumps(value).encode()),
    st.just(b"[" * 50_000),
)


@given(BODIES, st.integers(100, 599))
def test_any_reply_is_an_object_of_json_or_an_error_of_one_line(body, status):
    reply = Reply(status, WIKI, CIMultiDictProxy(CIMultiDict()), body)
    message = ""
    try:
        judge_status(reply)
        assert isinstance(read_api(reply), dict)
    except (TransientError, CrawlerError) as error:
        message = str(error)
    assert len(message) < 600
    assert "\n" not in message


@given(st.text(max_size=20))
def test_whatever_retry_after_says_the_wait_is_bounded(retry_after):
    seconds = parse_retry_after(retry_after, retry_after, 1e9)
    assert seconds is None or 0 < seconds <= LONGEST_TOLD_WAIT


@given(st.text())
def test_one_line_is_printable_and_bounded(text):
    line = one_line(text, 300)
    assert line.isprintable()
    assert len(line) <= 300


TOKENS = st.text("0123456789.|naief-", max_size=20) | st.sampled_from(
    ["0.5|0.6|7|0", "0.5|0.4|9|1"]
)
CURSORS = st.fixed_dictionaries(
    {}, optional={"grncontinue": TOKENS, "continue": st.text(max_size=20)}
)


@given(CURSORS)
def test_a_cursor_has_a_share_or_is_none(cursor):
    found = read_cursor(cursor)
    assert found is None or 0 <= found.share <= 1


@given(CURSORS, st.none() | CURSORS, st.integers(0, 500), JSON)
def test_a_crawl_with_any_cursors_has_a_share_and_a_position_or_is_an_error(
    cursor, next_cursor, listed, stored
):
    with contextlib.suppress(CrawlerError, TransientError):
        crawl_pass = CrawlPass({"cursor": cursor, "listed": stored, "seen": stored})
        crawl_pass.articles = 100
        crawl_pass.check(QueryAnswer([{}] * listed, next_cursor, complete=True))
        crawl_pass.step(next_cursor, range(1, listed))
        assert 0 <= crawl_pass.share <= 1
        kept = json.loads(json.dumps(crawl_pass.position))
        assert CrawlPass(kept).share == crawl_pass.share


@given(JSON)
def test_any_stored_position_is_one_or_an_error(stored):
    position = stored if isinstance(stored, dict) else {"cursor": stored}
    with contextlib.suppress(CrawlerError):
        CrawlPass(position)


@given(st.text("aA*$%/?: \nuser-gtdilowU", max_size=200), st.text(max_size=30))
def test_any_robots_txt_allows_a_path_or_not(text, path):
    assert Robots(text, "wikitopics").allows("/" + path) in (True, False)
    assert Robots(text.encode(), "wikitopics").allows("/" + path) in (True, False)


def data_line(value):
    return b"data: " + json.dumps(value).encode()


CHANGE = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["edit", "new"]),
        "title": st.text(max_size=300) | JSON,
        "meta": st.just({"domain": "wiki.invalid"}),
        "namespace": st.just(0),
    }
)
ID_LINES = st.binary(max_size=20).map(lambda value: b"id: " + value)
EVENT = st.tuples(st.just(b"event: message"), ID_LINES, CHANGE.map(data_line), st.just(b""))
"""The lines of a change of one of this wiki's articles, with whatever for a title."""
ANY_LINES = st.lists(st.binary(max_size=30) | JSON.map(data_line) | st.just(b"")).map(tuple)


@settings(max_examples=50)
@given(st.lists(EVENT | ANY_LINES, max_size=5))
async def test_whatever_comes_before_it_a_change_is_heard(events):
    async def coming():
        yield b""
        for lines in events:
            for line in lines:
                yield line

    found = [change async for change in changes(coming(), "wiki.invalid")]
    last_is_a_change = events and events[-1][:1] == (b"event: message",)
    if last_is_a_change:
        assert found
    for change in found:
        assert change.title is None or change.title.encode()
        assert change.event_id.isascii()
