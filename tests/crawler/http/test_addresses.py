"""Where an article can be read in a browser: on its wiki, whatever its title and its source
hold."""

import pytest
from yarl import URL

from wikitopics.crawler.dumps.kinds import Dump
from wikitopics.crawler.embedded import Demo
from wikitopics.crawler.mediawiki.kinds import Api
from wikitopics.crawler.texts.kinds import Texts

HERE = {"api_url": "https://wiki.org/", "api": "https://wiki.org/mw/api.php"}
MAIN = {"base": "https://wiki.org/wiki/Main_Page"}
SECRET = "https://user:secret@wiki.org/wiki/Main"
ENCODED = "C%C3%A9pheid_A%2FB"
HOSTILE = [
    "javascript:alert(1)",
    "//evil.org/x",
    "../../evil",
    "\x1b]8;;http://evil.org\x1b\\",
    "quote \" and ' and <b>",
    "right\u202eto left",
    "&oldid=1#fragment",
    "100% ?x=y",
    "a\ud800b",
]


@pytest.mark.parametrize(
    ("kind", "identity", "address"),
    [
        (Api, HERE, f"https://wiki.org/mw/index.php?title={ENCODED}&oldid=7"),
        (
            Api,
            {"api_url": "https://w.org/w/api.php"},
            f"https://w.org/w/index.php?title={ENCODED}&oldid=7",
        ),
        (Api, {"api_url": "ftp://wiki.org/"}, None),
        (Dump, MAIN, "https://wiki.org/wiki/C%C3%A9pheid_A/B?oldid=7"),
        (
            Dump,
            {"base": "http://w.org/i.php?title=Main"},
            f"http://w.org/i.php?title={ENCODED}&oldid=7",
        ),
        *((kind, {}, None) for kind in (Dump, Demo)),
        *(
            (Dump, {"base": base}, None)
            for base in ("javascript:alert(1)", "file:///etc/passwd", SECRET)
        ),
        (Texts, {"texts": ["/x"]}, None),
    ],
)
def test_the_revision_that_was_read(kind, identity, address):
    assert kind().address(identity, "Cépheid A/B", 7) == address


def test_the_wiki_is_known_by_the_api_that_was_found():
    assert Api().wiki(HERE) == HERE["api"]
    assert Api().wiki({"api_url": "https://wiki.org/"}) == "https://wiki.org/w/api.php"
    assert not Api().fault(HERE)
    assert "api is not text" in Api().fault({**HERE, "api": 7})
    for key in HERE:
        assert Api().fault({**HERE, key: "file:///etc/passwd"}).startswith(f"{key}: ")


def test_without_a_revision_it_is_the_page():
    assert Api().address(HERE, "A", 0) == "https://wiki.org/mw/index.php?title=A"
    assert Dump().address(MAIN, "A", 0) == "https://wiki.org/wiki/A"


@pytest.mark.parametrize("title", HOSTILE)
@pytest.mark.parametrize(("kind", "identity"), [(Api(), HERE), (Dump(), MAIN)])
def test_a_title_leads_nowhere_else(kind, identity, title):
    address = kind.address(identity, title, 7)
    url = URL(address)
    assert address.isascii()
    assert address.isprintable()
    assert not set(" \"'<>") & set(address)
    assert (url.scheme, url.host, url.fragment) == ("https", "wiki.org", "")
    assert url.query["oldid"] == "7"
