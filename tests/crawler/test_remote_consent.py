"""What is refused of a dump on a server, and what a person has to agree to first."""

import gzip

import pytest
from aiohttp import web

from tests.crawler.dump_server import part, range_of, says, serving
from tests.crawler.dumps import dump
from tests.crawler.remote import DATA, NUMBERS, PATH, of_files, read, remote
from wikitopics.crawler.dumps import VERSIONS
from wikitopics.crawler.dumps.source import DUMP, Dump
from wikitopics.crawler.source import Asked, BadSource, ContactMissing, Unconfirmed, WikiUnreachable

pytestmark = pytest.mark.usefixtures("in_small_pieces", "counted_here")


async def _whole(request, data):
    return web.Response(body=data)


async def _compressed(request, data):
    return part(data, *range_of(request), Content_Encoding="gzip")


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (_whole, "does not support ranges; download it: curl -A"),
        (says(404), "no such file"),
        (says(416), "it is empty"),
        (_compressed, "compresses what it sends"),
    ],
)
async def test_what_cannot_be_read_is_refused_in_a_line(server, clock, act, told):
    server.always = act
    with pytest.raises(BadSource, match=told):
        await read(remote([server.url + PATH], clock))
    assert len(server.asked) == 1


@pytest.mark.parametrize("files", [1, 2])
async def test_a_size_that_no_dump_has_is_not_believed(server, clock, files):
    async def vast(request, data):
        size = (1 << 44) // files + 1
        return part(data, *range_of(request), Content_Range=f"bytes 0-499/{size}")

    server.always = vast
    with pytest.raises((BadSource, WikiUnreachable), match=r"over 17,592|a different range"):
        await read(remote([server.url + PATH] * files, clock))


async def test_a_large_file_of_one_frame_is_refused(clock, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.dumps.shuffled.LARGEST", 1000)
    async with serving({PATH: gzip.compress(dump(NUMBERS))}) as server:
        with pytest.raises(BadSource, match="only be read from its start"):
            await read(remote([server.url + PATH], clock))


async def test_a_redirect_elsewhere_needs_agreement(server, clock, tmp_path):
    async with serving({}) as first:
        first.always = says(302, Location=server.url + PATH)
        with pytest.raises(Unconfirmed, match=r"redirects to .* contact .* whatever its size"):
            await read(remote([first.url + PATH], clock, agreed=False))
        assert server.asked == []
        found, _, _ = await read(remote([first.url + PATH], clock))
        assert found == await of_files(tmp_path, DATA)
        assert len(first.asked) == 2  # from then on it is asked for where it is


async def test_a_redirect_on_the_same_server_is_followed(server, clock, tmp_path):
    async def moved(request, data):
        return None if request.path == PATH else web.Response(status=301, headers={"Location": PATH})

    server.always = moved
    found, _, _ = await read(remote([server.url + "/old"], clock, agreed=False))
    assert found == await of_files(tmp_path, DATA)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "/loop", "http://[", "ftp://127.0.0.1/x"])
async def test_redirects_to_nowhere_are_not_followed(server, clock, target):
    server.always = says(302, Location=target)
    with pytest.raises(WikiUnreachable, match="redirect"):
        await read(remote([server.url + PATH], clock))


async def test_the_contact_goes_to_no_other_server_unasked(server, clock):
    with pytest.raises(Unconfirmed, match=r"your contact is sent there, and .* whatever its size"):
        remote([server.url + PATH], clock, agreed=False, contact="me@host.org")
    with pytest.raises(ContactMissing):
        remote(["https://dumps.wikimedia.org/x.bz2"], clock)
    await remote(["https://dumps.wikimedia.org/x.bz2"], clock, agreed=False, contact="me@host.org").close()
    assert server.asked == []


async def test_the_contact_is_kept_nowhere_whoever_repeats_it(server, clock):
    async def repeats(request, data):
        return part(data, *range_of(request), ETag='"me@host.org"')

    server.always = repeats
    source = remote([server.url + PATH], clock, contact="me@host.org")
    info = await source.open()
    await source.close()
    assert "host.org" not in str(info)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["https://me:secret@host.org/x.bz2"], "not contain a user name"),
        (["ftp://host.org/x.bz2"], "http:// or https://"),
        (["https://host.org/x.bz2", "/x.bz2"], "not both"),
        (["https://host.org/x.bz2", "https://other.org/y.bz2"], "one server"),
    ],
)
def test_addresses_that_are_refused(given, told):
    with pytest.raises(BadSource, match=told) as caught:
        Dump().identity(Asked({DUMP.name: tuple(given)}))
    assert "secret" not in str(caught.value)


FILE = {DUMP.name: ["https://host.org/x.bz2"]}
FOLDER = {"home": "https://host.org/", "api_url": "https://de.wikipedia.org/w/api.php"}


@pytest.mark.parametrize(
    ("kept", "wrong", "told"),
    [
        (FILE, {VERSIONS: 1}, "versions is not a list of versions"),
        (FILE, {VERSIONS: []}, "versions is not a list of versions"),
        (FILE, {VERSIONS: ["a\r\nb"]}, "versions is not a list of versions"),
        (FILE, {"home": 1}, "home is not text"),
        (FILE, {"api_url": None}, "api_url is not text"),
        (FOLDER, {"home": "here"}, "'here' is not an address of a dump"),
        (FOLDER, {DUMP.name: None}, "dump is not a list of files"),
        (FOLDER, {DUMP.name: ["/x.bz2", "https://host.org/y.bz2"]}, "files and addresses are mixed"),
    ],
)
def test_a_damaged_identity_is_told(kept, wrong, told):
    assert Dump().fault(kept) == ""
    assert Dump().fault(kept | wrong).startswith(told)
