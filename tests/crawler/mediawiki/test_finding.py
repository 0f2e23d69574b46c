"""The api.php of an address: what the page there says, and never another wiki's."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from yarl import URL

from tests.crawler.conftest import siteinfo
from wikitopics.crawler.errors import WikiRefused, WikiUnreachable
from wikitopics.crawler.mediawiki import finding
from wikitopics.crawler.mediawiki.finding import is_page_of
from wikitopics.crawler.mediawiki.wiki import Wiki


@dataclass
class Host:
    """A host with several wikis: the paths of their articles by those of their api.php."""

    wikis: dict[str, str] = field(default_factory=dict)
    pages: dict[str, web.Response] = field(default_factory=dict)
    """What is sent at other paths than those of the wikis' scripts."""
    asked: list[str] = field(default_factory=list)
    hangs: asyncio.Event | None = None
    """Until when other paths than those of the wikis' scripts are not answered."""
    url: str = ""

    async def answer(self, request):
        self.asked.append(request.path)
        if request.path in self.wikis:
            reply = siteinfo(7)
            reply["query"]["general"]["articlepath"] = self.wikis[request.path]
            return web.json_response(reply)
        if self.hangs is not None:
            await self.hangs.wait()
        kept = self.pages.get(request.path)
        if kept is None:
            return web.Response(
                status=404, text="<html>404 Not Found</html>", content_type="text/html"
            )
        return web.Response(status=kept.status, body=kept.body, headers=kept.headers)


@asynccontextmanager
async def serving(host):
    app = web.Application()
    app.router.add_get("/{path:.*}", host.answer)
    server = TestServer(app)
    await server.start_server(shutdown_timeout=0.1)
    host.url = str(server.make_url("")).rstrip("/")
    try:
        yield host
    finally:
        await server.close()


@pytest.fixture
async def host():
    async with serving(Host()) as made:
        yield made


@pytest.fixture
def find(host, clock):
    """The path of the api.php that is found for an address on the host."""

    async def found(path, **options):
        wiki = Wiki(host.url + path, version="0", clock=clock, **options)
        try:
            await wiki.open()
            return wiki.api.path
        finally:
            await wiki.close()

    return found


def page(text, status=200, **headers):
    return web.Response(text=f"<html><head>{text}</head></html>", status=status, headers=headers)


def edit_uri(href):
    return f'<link rel="EditURI" type="application/rsd+xml" href="{href}?action=rsd">'


@pytest.mark.parametrize(
    ("wikis", "address"),
    [
        ({"/w/api.php": "/wiki/$1"}, "/"),
        ({"/w/api.php": "/wiki/$1"}, ""),
        ({"/w/api.php": "/wiki/$1"}, "/wiki/Main_Page"),
        ({"/w/api.php": "/wiki/$1"}, "/wiki"),
        ({"/w/api.php": "/wiki/$1"}, "/w/index.php?title=A"),
        ({"/w/api.php": "/wiki/$1"}, "/w"),
        ({"/api.php": "/w/$1"}, "/w/Page_1"),
        ({"/api.php": "/$1"}, "/Page_1"),
        ({"/api.php": "/index.php?title=$1"}, "/index.php?title=Main_Page"),
        ({"/api.php": "/index.php/$1"}, "/index.php/Main_Page"),
        ({"/mediawiki/api.php": "/mediawiki/index.php/$1"}, "/mediawiki/index.php/Main_Page"),
        ({"/mediawiki/api.php": "/mediawiki/index.php/$1"}, "/mediawiki"),
        ({"/wiki/api.php": "/wiki/index.php?title=$1"}, "/wiki/"),
        ({"/de/api.php": "/de/$1", "/w/api.php": "/wiki/$1"}, "/de/Page_1"),
        ({"/de/api.php": "/de/wiki/$1", "/w/api.php": "/wiki/$1"}, "/de/wiki/Page_1"),
        ({"/de/w/api.php": "/de/wiki/$1", "/w/api.php": "/wiki/$1"}, "/de/"),
        ({"/de/w/api.php": "/de/wiki/$1", "/api.php": "/$1"}, "/de/wiki/A/B/C"),
        ({"/de/api.php": "http://HOST/de/a/$1", "/w/api.php": "/wiki/$1"}, "/de/a/X"),
        ({"/fr/api.php": "/fr/$1", "/de/api.php": "/de/$1"}, "/fr/Caf%C3%A9"),
    ],
)
async def test_the_wiki_says_which_addresses_are_its_own(host, find, wikis, address):
    """The first wiki of each is the right one."""
    host.wikis = wikis
    assert await find(address) == next(iter(wikis))


@pytest.mark.parametrize(
    ("others", "address"),
    [
        ({"/w/api.php": "/wiki/$1"}, "/de/"),
        ({"/w/api.php": "/wiki/$1"}, "/de/wiki/Page_1"),
        ({"/api.php": "/wiki/$1"}, "/mediawiki/index.php/Main_Page"),
        ({"/api.php": "/$1"}, "/de/Page_1"),
        ({"/w/api.php": "/wiki/$1", "/fr/api.php": "/fr/$1"}, "/de/Page_1"),
    ],
)
async def test_never_another_wikis(host, find, clock, others, address):
    """What was tried is told, at once."""
    host.wikis = others
    before = clock.now
    with pytest.raises(
        WikiUnreachable, match=r"^no API found for http://127\.0\.0\.1:.*: tried /"
    ) as caught:
        await find(address)
    told = str(caught.value)
    assert clock.now - before <= 2
    assert f"{next(iter(others))} (another wiki, with its articles at " in told
    assert "(404)" in told
    assert "--api-url" in told
    assert "\n" not in told


@pytest.mark.parametrize(
    "head",
    [
        edit_uri("/scripts/api.php"),
        edit_uri("//HOST/scripts/api.php"),
        edit_uri("http://HOST/scripts/api.php"),
        edit_uri("https://HOST/scripts/api.php").replace("https://127.0.0.1", "http://127.0.0.1"),
        "<LINK HREF='../scripts/api.php?action=rsd' REL=EditURI>",
        '<link rel="edituri" href="/scripts/api&#46;php?action=rsd&amp;x=1" />',
        '<script>mw.config.set({"wgArticlePath":"/x/$1","wgScriptPath":"/scripts"});</script>',
        r'<script>var wgScriptPath = "\/scripts";</script>',
        f"{'<link ' + 'x' * 1990 + '>'}" * 50 + edit_uri("/scripts/api.php"),
    ],
)
@pytest.mark.parametrize("status", [200, 404])
async def test_the_page_says_where(host, find, head, status):
    """Also that of a missing article; of a wiki with guessable scripts nothing is asked."""
    host.wikis = {"/w/api.php": "/wiki/$1", "/scripts/api.php": "/de/$1"}
    host.pages = {"/de/Page_1": page(head.replace("HOST", URL(host.url).authority), status)}
    assert await find("/de/Page_1") == "/scripts/api.php"
    assert host.asked == ["/de/Page_1", "/scripts/api.php"]


async def test_a_page_that_is_elsewhere_on_the_host_says_where(host, find):
    host.wikis = {"/w/api.php": "/wiki/$1", "/scripts/api.php": "/a/$1"}
    host.pages = {
        "/": page("", 302, Location="/a/Main_Page"),
        "/a/Main_Page": page(edit_uri("/scripts/api.php")),
    }
    assert await find("/") == "/scripts/api.php"


async def test_a_folder_is_no_page_of_the_wiki_around_it(host, find):
    host.wikis = {"/w/api.php": "/$1"}
    assert await find("/de") == "/w/api.php"
    host.pages = {"/de": page("", 301, Location="/de/"), "/de/": page("another program")}
    with pytest.raises(WikiUnreachable, match="another wiki, with its articles at /"):
        await find("/de")


@pytest.mark.parametrize(
    "named", ["http://{}/w/api.php", "//{}/w/api.php", "http://me:secret@{}/w/api.php"]
)
async def test_no_other_host_is_asked(host, find, named):
    async with serving(Host({"/w/api.php": "/wiki/$1"})) as other:
        href = named.format(URL(other.url).authority)
        host.pages = {"/a/": page(edit_uri(href))}
        with pytest.raises(WikiUnreachable, match="no API found") as caught:
            await find("/a/")
        told = f"the page names {other.url}/w/api.php, on another host, which is not followed"
        assert (told in str(caught.value)) == ("secret" not in named)
        assert "secret" not in str(caught.value)
        assert other.asked == []
        host.wikis = {"/w/api.php": "/a/$1"}  # its server knows itself by another name
        assert await find("/a/") == "/w/api.php"
        assert other.asked == []


@pytest.mark.parametrize("status", [403, 429, 500, 503])
async def test_the_api_may_answer_though_the_page_does_not(host, find, status):
    host.wikis = {"/w/api.php": "/wiki/$1"}
    host.pages = {"/wiki/A": page("", status)}
    assert await find("/wiki/A") == "/w/api.php"


async def test_a_page_that_hangs_leaves_time_for_the_api(host, monkeypatch):
    host.wikis = {"/w/api.php": "/wiki/$1"}
    host.hangs = asyncio.Event()
    monkeypatch.setattr(finding, "_OF_PAGE", replace(finding._OF_PAGE, most_seconds=0.2))
    wiki = Wiki(f"{host.url}/wiki/A", version="0")
    try:
        await wiki.open()
    finally:
        host.hangs.set()
        await wiki.close()
    assert wiki.api.path == "/w/api.php"


async def test_a_refusal_is_told_if_nothing_else_answers(host, find):
    host.pages = {"/w/api.php": page("members only", 403)}
    with pytest.raises(WikiRefused, match="members only"):
        await find("/")
    host.wikis = {"/api.php": "/$1"}  # some servers refuse every script that is not there
    assert await find("/") == "/api.php"


@pytest.mark.parametrize("body", ["<p>welcome", "hello"])
async def test_a_host_that_answers_everything_is_no_wiki(host, find, clock, body):
    """Its page is no answer of a wiki: it is not tried for a day."""
    host.pages = {path: page(body) for path in ("/", "/w/api.php", "/api.php")}
    before = clock.now
    with pytest.raises(
        WikiUnreachable, match=r"^no valid reply within 30 s: no API found .*/w/api\.php, /api"
    ):
        await find("/")
    assert clock.now - before <= 31


async def test_what_was_found_is_tried_first_when_it_goes_on(host, find):
    host.wikis = {"/w/api.php": "/wiki/$1", "/de/api.php": "/de/$1"}
    stored = {"stored_api": f"{host.url}/w/api.php"}
    assert await find("/de/", **stored) == "/w/api.php"
    assert host.asked == ["/w/api.php"]
    del host.wikis["/w/api.php"]
    assert await find("/de/", **stored) == "/de/api.php"
    async with serving(Host({"/w/api.php": "/wiki/$1"})) as other:
        named = other.url.replace("127.0.0.1", "localhost")
        assert await find("/de/", stored_api=f"{named}/w/api.php") == "/de/api.php"
        assert other.asked == []


async def test_an_address_of_an_api_is_asked_alone(host, find):
    host.wikis = {"/x/api.php": "/wiki/$1"}
    assert await find("/x/api.php?action=help") == "/x/api.php"
    assert host.asked == ["/x/api.php"]
    with pytest.raises(WikiUnreachable, match=r"/y/api\.php is not a MediaWiki API \(404\)"):
        await find("/y/api.php")


async def test_a_redirect_to_another_host_is_told_at_once(host, find, clock):
    host.pages = {"/w/api.php": page("", 301, Location="http://www.somewhere.invalid/w/api.php")}
    before = clock.now
    with pytest.raises(
        WikiUnreachable, match=r"redirects to another host, www\.somewhere\.invalid: not fol"
    ):
        await find("/w/api.php")
    assert clock.now == before


@pytest.mark.parametrize(
    "general",
    [{}, {"articlepath": 7}, {"articlepath": ""}, {"articlepath": "/wiki/"}, {"articlepath": "$1"}],
)
def test_a_wiki_that_does_not_say_where_its_articles_are(general):
    api = URL("http://w.org/mw/api.php")
    for path, belongs in {"/mw/index.php": True, "/mw": True, "/": True, "/wiki/A": False}.items():
        assert is_page_of(URL(f"http://w.org{path}"), general, api) == belongs
