"""Parquet files on a server: the same stream as from the files, of which only what is needed is
requested."""

import asyncio

import pytest
from aiohttp import web
from yarl import URL

from tests.crawler.dump_server import part, range_of, says, serving
from tests.crawler.parquet import in_small_steps, read, source_of, table, write  # noqa: F401
from wikitopics.crawler.errors import BadSource, ContactMissing, CrawlerError, Unconfirmed
from wikitopics.crawler.source import Asked
from wikitopics.crawler.texts.kinds import TEXTS, Texts
from wikitopics.crawler.texts.parquet_columns import ColumnNames
from wikitopics.crawler.texts.parquet_remote import DOWNLOAD_BYTES, RemoteParquet, Requests, Windows

pytestmark = [pytest.mark.interop, pytest.mark.usefixtures("in_small_steps")]
pytest.importorskip("pyarrow", reason="pyarrow is an optional extra")
OTHERS = ["more words that nobody reads"] * 400


@pytest.fixture(params=[30, 400], ids=["some groups", "one group"])
def files(request, tmp_path):
    """800 documents in two files, with a large column that is not needed."""
    paths = []
    for number, name in enumerate(("a.parquet", "b.parquet")):
        numbers = range(1 + 400 * number, 401 + 400 * number)
        others = [f"{n} {n * n} {OTHERS[0]} {n**5}" * 20 for n in numbers]
        made = table(numbers, others=others)
        paths.append(write(tmp_path / name, made, group=request.param, use_dictionary=False))
    return paths


def contents(files):
    data = {}
    for path in files:
        name = path.rpartition("/")[2]
        with open(path, "rb") as file:
            data[f"/{name}"] = file.read()
    return data


def remote(server, clock, *, resuming=False, agreed=True, contact=None, urls=None):
    asked = Asked({}, seed=3, version="1", resuming=resuming)
    if urls is None:
        urls = [server.url + path for path in sorted(server.files)]
    return RemoteParquet(
        [URL(url) for url in urls],
        ColumnNames(),
        asked,
        contact=contact,
        agreed=agreed,
        clock=clock,
    )


@pytest.mark.parametrize("window", [700, 4 << 20])
async def test_the_stream_is_that_of_the_files(files, clock, monkeypatch, window):
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_remote._WINDOW", window)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_remote.FIRST", window // 2)
    ids, _, _, pages = await read(source_of(*files))
    async with serving(contents(files)) as server:
        found, _, _, found_pages = await read(remote(server, clock, contact="me@host.org"))
    assert found == ids
    assert found_pages == pages
    assert server.most_under_way == 1
    for request in server.asked:
        assert request.headers["User-Agent"].startswith("wikitopics/1 (me@host.org) aio")


async def test_only_the_columns_that_are_read_are_requested(files, clock, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_remote._WINDOW", 700)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_remote.FIRST", 300)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_remote._TAIL", 9000)
    data = contents(files)
    async with serving(data) as server:
        source = remote(server, clock)
        info = await source.open()
        size = info.identity[DOWNLOAD_BYTES]
        await source.close()
        total = sum(map(len, data.values()))
        assert size < total / 4
        server.sent = 0
        await read(remote(server, clock))
    # Up to twice for the documents that are held out, and some beginnings for the first ones.
    assert server.sent < total


async def test_it_is_resumed(files, clock):
    whole, _, _, _ = await read(source_of(*files))
    async with serving(contents(files)) as server:
        first, _, position, _ = await read(remote(server, clock), stop_after=7)
        rest, _, _, _ = await read(remote(server, clock, resuming=True), position)
        assert first + rest == whole
        (tail,) = [path for path in server.files if "b.parquet" in path]
        server.files[tail] = server.files[tail].replace(b"river", b"rivet")
        footer = bytearray(server.files[tail])
        footer[-30] ^= 1
        server.files[tail] = bytes(footer)
        with pytest.raises(BadSource, match=r"have changed since|its footer is damaged"):
            await read(remote(server, clock, resuming=True), position)


async def test_a_file_that_changes_meanwhile_is_told(files, clock):
    async with serving(contents(files)) as server:
        source = remote(server, clock)
        info = await source.open()
        for path in server.files:
            server.files[path] = server.files[path].replace(b"river", b"rivet")
        with pytest.raises(CrawlerError, match="the file has changed since this session began"):
            async for _ in source.batches(info.start):
                pass
        await source.close()


async def test_faults_are_overcome(files, clock):
    whole, _, _, _ = await read(source_of(*files))

    async def short(request, data):
        start, stop = range_of(request)
        answer = part(data, start, stop)
        answer.body = data[start : (start + stop) // 2]
        return answer

    async with serving(contents(files)) as server:
        server.acts = [None] * 5 + [says(503), short, says(500), None, short]
        found, _, _, _ = await read(remote(server, clock))
    assert found == whole


async def page(request, data):
    return web.Response(text="<html>", content_type="text/html")


async def test_what_is_no_parquet_file_is_told(clock):
    async with serving({"/a.parquet": b"<html>not found</html>" * 100}) as server:
        for path, message, act in (
            ("/a.parquet", r"/a\.parquet: not a Parquet file", None),
            ("/b.parquet", "no such file", None),
            ("/a.parquet", "support ranges", says(200, "whole")),
            ("/folder/", "/folder/: give the address of a .parquet file", says(200, "listing")),
            ("/a.parquet", "/a.parquet: give the address of a .parquet file", page),
        ):
            server.always = act
            source = remote(server, clock, urls=[server.url + path])
            with pytest.raises(BadSource, match=message):
                await source.open()
            await source.close()


async def test_another_server_must_be_agreed_to(files, clock):
    with pytest.raises(Unconfirmed, match="is not Wikimedia's: your contact is sent there"):
        remote(None, clock, urls=["http://host.org/a.parquet"], agreed=False, contact="me@x.org")
    with pytest.raises(ContactMissing):
        remote(None, clock, urls=["https://dumps.wikimedia.org/a.parquet"])


def test_addresses_are_kept_as_they_are():
    url = "https://host.org/a%2Fb.parquet?download=true"
    asked = Asked({TEXTS.name: (url,), "contact": "me@x.org", "yes": True})
    identity = Texts().identity(asked)
    assert identity == {TEXTS.name: [url]}
    assert not Texts().fault(identity)
    assert not Texts().needs_contact(identity)
    wikimedia = {TEXTS.name: ["https://dumps.wikimedia.org/a.parquet"]}
    assert Texts().needs_contact(wikimedia)
    assert Texts().fault({TEXTS.name: ["ftp://host.org/a.parquet"]})
    assert Texts().fault({TEXTS.name: ["http://a.org/a.parquet", "http://b.org/a.parquet"]})
    with pytest.raises(BadSource, match="files or addresses, not both"):
        Texts().open({TEXTS.name: [url, "/tmp/a.parquet"]}, asked)


def test_windows_are_requested_once(monkeypatch):
    from concurrent.futures import Future

    monkeypatch.setattr("wikitopics.crawler.texts.parquet_remote._WINDOW", 100)
    monkeypatch.setattr("wikitopics.crawler.texts.parquet_remote.FIRST", 10)
    data = bytes(range(256)) * 10
    asked = []

    def request(start, stop):
        asked.append((start, stop))
        future = Future()
        future.set_result(data[start:stop])
        return future

    windows = Windows(request, [(300, 800), (1000, 1900)])
    for start in range(300, 800, 7):
        assert windows.read(start, min(start + 7, 800)) == data[start : min(start + 7, 800)]
        if start < 700:
            assert windows.read(start + 20, start + 90) == data[start + 20 : start + 90]
    assert windows.read(1000, 1900) == data[1000:1900]
    assert windows.read(795, 1005) == data[795:1005]
    inside = [span for span in asked if span[0] < 800]
    assert len(inside) <= len(set(inside)) + 1
    assert asked[:2] == [(300, 310), (310, 410)]
    small = Windows(request, [(20, 40), (60, 90)])
    asked.clear()
    assert small.read(60, 90) == data[60:90]
    assert small.read(20, 40) == data[20:40]
    assert asked == [(20, 90)]
    only_texts = Windows(request, [(0, 300)])
    asked.clear()
    assert only_texts.read(0, 5) == data[:5]
    assert asked == [(0, 10)]


async def test_nothing_is_requested_after_the_end():
    async def bytes_of_a_file():
        return b"bytes"

    requests = Requests()
    assert await asyncio.wrap_future(requests.make(bytes_of_a_file())) == b"bytes"
    requests.end()
    with pytest.raises(CrawlerError, match="stopped while"):
        requests.make(bytes_of_a_file())
