"""Whose rules hold for a host: requests a minute, places of its API, robots.txt."""

import pytest

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.http.addresses import api_candidates, is_wikimedia, language_api
from wikitopics.crawler.http.robots import Robots
from wikitopics.crawler.http.rules import file_limits, limits_for
from wikitopics.crawler.mediawiki.wiki import Wiki


@pytest.mark.parametrize(
    ("host", "wikimedia"),
    [
        ("en.wikipedia.org", True),
        ("EN.Wikipedia.ORG.", True),
        ("wikipedia.org", True),
        ("notwikipedia.org", False),
        ("wikipedia.org.evil.net", False),
    ],
)
def test_whose_host(host, wikimedia):
    assert is_wikimedia(host) is wikimedia


@pytest.mark.parametrize(
    ("host", "asked", "rpm"),
    [
        ("de.wikipedia.org", None, 200),
        ("de.wikipedia.org", 30, 30),
        ("wiki.someone.net", None, 60),
        ("wiki.someone.net", 0, None),
        ("wiki.someone.net", 1000, 1000),
        ("127.0.0.1", 20, 20),
        *((host, None, None) for host in ("127.0.0.1", "localhost", "::1", "127.8.9.1")),
        *((host, None, 60) for host in ("128.0.0.1", "localhost.evil.net")),
    ],
)
def test_requests_a_minute(host, asked, rpm):
    assert limits_for(host, asked).rpm == rpm


@pytest.mark.parametrize(
    ("host", "rpm"), [("en.wikipedia.org", 201), ("en.wikipedia.org", 0), ("x.net", -1)]
)
def test_refused_rates(host, rpm):
    with pytest.raises(BadSource, match="--rpm"):
        limits_for(host, rpm)


def test_servers_of_files_have_budgets_of_their_own_and_elsewhere_all_share_one_rate():
    assert file_limits("127.0.0.1").rpm is None
    mirror = file_limits("mirror.example.org")
    assert (mirror.rpm, mirror.at_once, mirror.slow_reply, mirror.pause) == (200, 1, None, 0.0)
    assert not mirror.wikimedia
    assert mirror.server == "the server"  # which may be one of texts
    hosts = "dumps.wikimedia.org", "DUMPS.wikimedia.org.", "a%2Fb.wikimedia.org"
    locks = [file_limits(host).lock for host in hosts]
    assert locks == [
        "dumps.wikimedia.org.lock",
        "dumps.wikimedia.org.lock",
        "a_2fb.wikimedia.org.lock",
    ]
    wiki = Wiki("https://wiki.someone.net/w/api.php", version="0", rpm=100)
    assert wiki.page_limits == wiki.limits


@pytest.mark.parametrize(
    ("asked", "api", "pages"), [(None, 200, 480), (200, 200, 200), (30, 30, 30)]
)
def test_a_given_rate_bounds_pages_and_the_api(asked, api, pages):
    wiki = Wiki(
        "https://en.wikipedia.org/w/api.php",
        version="0",
        contact="me@wiki-reader.org",
        rpm=asked,
    )
    assert (wiki.limits.rpm, wiki.limits.at_once) == (api, 1)
    assert (wiki.page_limits.rpm, wiki.page_limits.at_once) == (pages, 4)


@pytest.mark.parametrize(
    ("typed", "places"),
    [
        ("https://w.net/x/api.php", ["https://w.net/x/api.php"]),
        ("https://w.net/x/api.php?action=help#a", ["https://w.net/x/api.php"]),
        ("https://w.net", ["https://w.net/w/api.php", "https://w.net/api.php"]),
        (
            "https://w.net/wiki/Main_Page",
            [f"https://w.net/{place}api.php" for place in ("w/", "", "wiki/", "wiki/w/")],
        ),
        (
            "https://w.net:81/w/index.php?title=A",
            ["https://w.net:81/w/api.php", "https://w.net:81/api.php"],
        ),
        (
            "https://w.net/my/",
            [f"https://w.net/{place}api.php" for place in ("my/", "my/w/", "w/", "")],
        ),
        (
            "https://w.net/de/index.php/A/B",
            [f"https://w.net/{place}api.php" for place in ("de/", "de/w/", "w/", "")],
        ),
        (
            "https://w.net//my/../de/wiki/A",
            [
                f"https://w.net/{place}api.php"
                for place in ("de/", "de/w/", "de/wiki/", "de/wiki/w/", "w/", "")
            ],
        ),
        (
            "https://zh.wikipedia.org/zh-hans/A",
            [
                f"https://zh.wikipedia.org/{place}api.php"
                for place in ("w/", "", "zh-hans/A/", "zh-hans/A/w/", "zh-hans/", "zh-hans/w/")
            ],
        ),
    ],
)
def test_where_the_api_may_be(typed, places):
    assert [str(u) for u in api_candidates(typed)] == places


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "w.net",
        "ftp://w.net",
        "https://",
        "https://a:b@w.net",
        "https://w.net:99999/",
        "http://[::1",
    ],
)
def test_no_address(typed):
    with pytest.raises(BadSource):
        api_candidates(typed)


def test_languages():
    assert language_api("zh-YUE") == "https://zh-yue.wikipedia.org/w/api.php"
    assert language_api("en\n") == "https://en.wikipedia.org/w/api.php"
    for bad in ("", "e", "../x", "en.evil.net/", "e\nn"):
        with pytest.raises(BadSource):
            language_api(bad)


WIKIPEDIA_LIKE = """
# comment
User-agent: BadBot
User-agent: Worse
Disallow: /

User-agent: *
Allow: /w/api.php?action=mobileview&
Allow: /w/load.php?
Disallow: /w/
Disallow: /api/
Disallow: /trap/
Disallow: /wiki/Special:
Disallow: /wiki/Spezial:
Disallow: /wiki/Wikipedia%3AArticles_for_deletion/
Disallow: /wiki/Ä$
Disallow: /*?*oldid=
Disallow:
"""


def test_rules_for_everyone():
    allows = Robots(WIKIPEDIA_LIKE, "wikitopics").allows
    for path in ("Topic_model", "Special", "%C3%84rger", "A?b=1"):
        assert allows(f"/wiki/{path}"), path
    page = "Articles_for_deletion/X"
    for path in (
        "Special:Random",
        "%C3%84",
        "A?b=1&oldid=3",
        f"Wikipedia:{page}",
        f"Wikipedia%3a{page}",
    ):
        assert not allows(f"/wiki/{path}"), path
    assert [allows(path) for path in ("/w/index.php", "/w/load.php?x", "/")] == [False, True, True]


def test_the_group_for_us_alone_counts_and_in_it_the_longest_rule():
    ours = "User-Agent: WikiTopics/1.0\nDisallow: /x\n"
    text = f"User-agent: *\nDisallow: /\n\n{ours}user-agent: other\nAllow: /\n"
    assert Robots(text, "wikitopics").allows("/wiki/A")
    assert not Robots(text, "wikitopics").allows("/x")
    assert Robots(text, "other").allows("/x")
    assert not Robots(text, "third").allows("/wiki/A")
    robots = Robots("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /c\nAllow: /c\n", "x")
    assert not robots.allows("/a/c")
    assert robots.allows("/a/b/c")
    assert robots.allows("/c")
    robots = Robots("User-agent: *\nDisallow: /*.pdf$\nDisallow: /x*y*z\n", "x")
    assert not robots.allows("/a.pdf")
    assert robots.allows("/a.pdf?b")
    assert not robots.allows("/x1y2z3")
    assert robots.allows("/x1z2y3")
    robots = Robots("User-agent: *\n" + "Disallow: /" + "*a" * 5000 + "b\n" * 3, "x")
    # Without a bound it would take for ever and meet the test run's own limit.
    assert robots.allows("/" + "a" * 20_000)


@pytest.mark.parametrize(
    "text", ["", "\ufeff", "garbage\x00\xff", "Disallow: /\n", "User-agent\nDisallow: /"]
)
def test_no_rules_allow_everything(text):
    assert Robots(text, "x").allows("/wiki/A")
