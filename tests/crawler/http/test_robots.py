import pytest

from wikitopics.crawler.http.rules import Robots

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
    for path in ("Special:Random", "%C3%84", "A?b=1&oldid=3", f"Wikipedia:{page}", f"Wikipedia%3a{page}"):
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
