"""Proxies that the environment names."""

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from yarl import URL

from tests.crawler.dumps import ids
from wikitopics.crawler.errors import BadSource, WikiUnreachable
from wikitopics.crawler.http.wire import proxy_for


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """No proxy of the machine that the tests run on."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
async def proxy(wiki):
    """A proxy behind which every host is the scripted wiki."""

    async def relay(request):
        return web.json_response(wiki.reply(dict(request.query)))

    server = RawTestServer(relay)
    await server.start_server()
    yield f"127.0.0.1:{server.port}"
    await server.close()


def test_proxies_of_the_environment(monkeypatch):
    monkeypatch.setenv("https_proxy", "proxy.home:3128")
    monkeypatch.setenv("no_proxy", "inside.net")
    assert proxy_for(URL("https://en.wikipedia.org/")) == URL("http://proxy.home:3128")
    assert proxy_for(URL("https://inside.net/")) is None
    assert proxy_for(URL("http://en.wikipedia.org/")) is None
    assert proxy_for(URL("https://127.0.0.1/")) is None
    for odd in ("http://[bad", "http://proxy.home:x", "http://", "http://proxy.home:99999"):
        monkeypatch.setenv("https_proxy", odd)
        with pytest.raises(BadSource, match="environment"):
            proxy_for(URL("https://en.wikipedia.org/"))
    monkeypatch.setenv("https_proxy", "socks5://proxy.home:1080")
    with pytest.raises(BadSource, match="socks5"):
        proxy_for(URL("https://en.wikipedia.org/"))


async def test_a_wiki_behind_a_proxy(proxy, source, read, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://me:secret@{proxy}")
    assert ids(await read(source("http://wiki.invalid/w/api.php"))) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("reached", [True, False])
async def test_a_proxy_that_does_not_serve_us(reached, source, read, monkeypatch):
    async def refuse(request):
        return web.Response(status=407)

    server = RawTestServer(refuse)
    await server.start_server()
    monkeypatch.setenv("https_proxy", f"http://me:secret@127.0.0.1:{server.port}")
    if not reached:
        await server.close()
    s = source("https://wiki.invalid/w/api.php")
    with pytest.raises(WikiUnreachable, match="proxy named in the environment") as caught:
        await read(s)
    await server.close()
    assert "secret" not in str(caught.value)
