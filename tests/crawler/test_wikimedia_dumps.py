"""The newest complete dump of a wiki is found in both of Wikimedia's layouts."""

import pytest
from aiohttp import web
from yarl import URL

from tests.crawler.dump_server import new_layout, old_layout, says, serving
from tests.crawler.dumps import multistream
from wikitopics.crawler.dumps.kinds import DUMP, YES, Dump
from wikitopics.crawler.errors import BadSource, Unconfirmed
from wikitopics.crawler.source import Asked

ONE = multistream(range(1, 31))
TWO = multistream(range(31, 61))
OLD = old_layout("dewiki", "20261020", ONE)
NEW = new_layout("dewiki", "2026-11-01", {"p31p60": TWO, "p1p30": ONE})
FOLDER = "/other/mediawiki_content_current/dewiki/2026-11-01/xml/bzip2/"


NOW = 1_795_000_000  # 2026-11-18
LATER = [f"{year}-01-01" for year in range(2027, 2037)]


@pytest.fixture(autouse=True)
def now(monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.http.pace.Clock.wall", lambda self: NOW)


async def opened(server, *, agreed=True, folder="/", lang="de", contact=None):
    given = {DUMP.name: (server.url + folder,), "lang": lang}
    if agreed:
        given[YES.name] = True
    if contact:
        given["contact"] = contact
    asked = Asked(given, version="1")
    source = Dump().open(Dump().identity(asked), asked)
    try:
        return [URL(url) for url in (await source.open()).identity[DUMP.name]]
    finally:
        await source.close()


async def names(server, folder="/"):
    return [url.name for url in await opened(server, folder=folder)]


OF_OLD = ["dewiki-20261020-pages-articles-multistream.xml.bz2"]
OF_NEW = ["dewiki-2026-11-01-p1p30.xml.bz2", "dewiki-2026-11-01-p31p60.xml.bz2"]


def merged(dumps):
    return {path: data for dump in dumps for path, data in dump.items()}


NEWEST = {
    "newest": (NEW | OLD, OF_NEW),
    "old": (OLD, OF_OLD),
    "incomplete": (
        OLD | new_layout("dewiki", "2026-11-01", {"p1p30": ONE}, complete=False),
        OF_OLD,
    ),
    "in progress": (OLD | old_layout("dewiki", "20261101", TWO, status="in-progress"), OF_OLD),
    "of one date the new layout": (NEW | old_layout("dewiki", "20261101", ONE), OF_NEW),
    "a later date of the old": (
        NEW | old_layout("dewiki", "20261102", ONE),
        ["dewiki-20261102-pages-articles-multistream.xml.bz2"],
    ),
    "many old": (
        merged(old_layout("dewiki", f"202610{day:02}", ONE) for day in range(1, 10)),
        ["dewiki-20261009-pages-articles-multistream.xml.bz2"],
    ),
    "many new": (
        merged(new_layout("dewiki", f"2026-10-{day:02}", {"p1p30": ONE}) for day in range(1, 10)),
        ["dewiki-2026-10-09-p1p30.xml.bz2"],
    ),
}


@pytest.mark.parametrize(("files", "found"), NEWEST.values(), ids=NEWEST)
async def test_the_newest_complete_one_is_found(files, found):
    async with serving(files) as server:
        assert await names(server) == found


async def test_dates_in_the_future_are_passed_over():
    """However many there are, only the newest of the others are checked."""
    files = dict(OLD)
    for date in LATER:
        files |= new_layout("dewiki", date, {"p1p30": TWO}) | old_layout(
            "dewiki", date.replace("-", ""), TWO
        )
    async with serving(files) as server:
        assert await names(server) == OF_OLD


@pytest.mark.parametrize(
    "pages", [("p1p60", "p31p60"), ("p1p30", "p1p20", "p21p30"), ("p1p30", "p25p60")], ids=" ".join
)
async def test_files_that_hold_the_same_pages_are_refused_and_an_older_dump_is_found(pages):
    files = new_layout("dewiki", "2026-11-01", dict.fromkeys(pages, ONE))
    async with serving(files) as server:
        with pytest.raises(
            BadSource, match=r"-p\d+p\d+.xml.bz2 hold the same pages; give .* with --dump$"
        ):
            await opened(server)
    async with serving(files | OLD) as server:
        assert await names(server) == OF_OLD


async def test_files_that_follow_one_another_are_not():
    files = new_layout(
        "dewiki", "2026-11-01", {"p1p30": ONE, "p30p60": TWO, "p61p61": TWO, "p61p90": ONE}
    )
    async with serving(files) as server:
        assert len(await opened(server)) == 4


async def test_a_person_is_told_wiki_date_size_and_host_and_where_there_is_none():
    async with serving(NEW) as server:
        with pytest.raises(
            Unconfirmed, match=r"^dewiki of 2026-11-01, 0.0 MB in 2 files, comes from 127"
        ):
            await opened(server, agreed=False)
    async with serving(NEW | OLD) as server:
        assert await names(server, folder=FOLDER) == OF_NEW
        assert await names(server, folder="/dewiki/20261020/") == OF_OLD
    async with serving(NEW) as server:
        with pytest.raises(BadSource, match="no complete dump of zh_yuewiki"):
            await opened(server, lang="zh-yue")


async def test_a_person_is_told_where_the_contact_goes(monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.http.ranges.is_wikimedia", lambda host: True)
    async with serving(OLD) as server:
        with pytest.raises(
            Unconfirmed, match=r"1 file, comes from 127.0.0.1, which receives your contact; "
        ):
            await opened(server, agreed=False, contact="me@host.org")


async def test_a_folder_whose_server_takes_the_slash_away():
    async def without_slash(request, data):
        if request.path.endswith("/") and server.usual(request).status == 200:
            return web.Response(status=301, headers={"Location": request.path.rstrip("/")})
        links = "".join(
            f'<a href="{path}">x</a>' for path in NEW if path.startswith(f"{request.path}/")
        )
        return web.Response(text=links, content_type="text/html") if links else None

    async with serving(NEW) as server:
        server.always = without_slash
        assert await names(server, folder=FOLDER) == OF_NEW


async def test_a_folder_of_endless_files_is_not_walked_through():
    files = new_layout("dewiki", "2026-11-01", {f"p{n}p{n}": b"" for n in range(5001)})
    async with serving(files) as server:
        with pytest.raises(BadSource, match="lists 5,001 files"):
            await opened(server)
        assert len(server.asked) < 20


ELSEWHERE = "http://other.org/dewiki-2026-11-02-p1p2.xml.bz2"
HOSTILE = ("../../x.bz2", "%2e%2e/x.bz2", ELSEWHERE, "http://[", "\x1b[2J", "a" * 600)


async def test_names_that_are_none_of_a_dump_are_passed_over():
    """Whatever a listing links to, only files in its folder with the names of dumps are read."""
    links = "".join(
        f'<a href="{name}">x</a>' for name in (*HOSTILE, "SHA256SUMS", "_SUCCESS", *NEW)
    )
    files = {path: data for path, data in NEW.items() if path.endswith(".bz2")}

    async def listing(request, data):
        return (
            web.Response(text=links, content_type="text/html") if request.path == FOLDER else None
        )

    async with serving(files) as server:
        server.always = listing
        found = await opened(server, folder=FOLDER)
    assert {url.parent.path for url in found} == {FOLDER.rstrip("/")}
    assert found[0].name == "dewiki-2026-11-01-p1p30.xml.bz2"


@pytest.mark.parametrize(
    "status",
    [
        *(b"", b"[1]", b"{", b'{"jobs": 1}'),
        b'{"jobs": {"articlesmultistreamdump": 1}}',
        b'{"jobs": {"articlesmultistreamdump": {"status": "done", "files": [1]}}}',
        b'{"jobs": {"articlesmultistreamdump": {"status": "done", "files": {"../../x.bz2": {}}}}}',
    ],
)
async def test_a_status_that_is_none_is_not_believed(status):
    files = {path: status if path.endswith(".json") else data for path, data in OLD.items()}
    async with serving(files) as server:
        server.acts = [None] * 5 + [says(404)] * 30
        with pytest.raises(BadSource, match="no complete dump"):
            await opened(server)
