"""Wikimedia's rules for servers of dumps and of streams: a second between requests, rests after
errors."""

from itertools import pairwise

import pytest
from yarl import URL

from tests.crawler.dump_server import says, serving
from tests.crawler.remote import DATA, NUMBERS, PATH, of_files, read, remote
from wikitopics.crawler.errors import TransientError, WikiUnreachable
from wikitopics.crawler.http import ranges
from wikitopics.crawler.http.client import Client
from wikitopics.crawler.http.rules import file_limits, wikimedia_service_limits
from wikitopics.crawler.source import Activity

pytestmark = pytest.mark.usefixtures("in_small_pieces", "counted_here")
CONTACT = "me@wiki-reader.org"


def strict(host):
    """Wikimedia's rules, for the server on this machine too."""
    return wikimedia_service_limits(host, "the dump server")


@pytest.fixture
def dump(server, clock, tmp_path, monkeypatch):
    """A source that reads the server's dump under Wikimedia's rules."""
    monkeypatch.setattr(ranges, "file_limits", strict)

    def make(kept=None, **more):
        options = {"contact": CONTACT, "budget_folder": tmp_path / "home", **more}
        return remote([server.url + PATH], clock, kept, **options)

    return make


def client(clock, tmp_path):
    who = {"version": "1", "contact": CONTACT, "budget_folder": tmp_path}
    return Client(strict("127.0.0.1"), Activity(), clock=clock, **who)


async def test_a_dump_is_read_with_a_second_between_two_requests(server, dump, clock, tmp_path):
    moments = []

    async def note(request, data):
        moments.append(clock.now)
        clock.now += 0.3
        moments.append(clock.now)

    server.always = note
    found, _, _ = await read(dump())
    assert found == await of_files(tmp_path, DATA)
    assert server.most_under_way == 1
    assert all(start - end >= 1.0 for end, start in zip(moments[1::2], moments[2::2], strict=False))
    assert (tmp_path / "home" / "127.0.0.1.lock").exists()


@pytest.mark.parametrize(
    ("status", "retry_after", "rest"), [(500, "", 900), (503, "7", 900), (502, "2000", 2000)]
)
async def test_after_a_server_error_all_rest(server, clock, tmp_path, status, retry_after, rest):
    url = URL(server.url + PATH)

    def read(reply):
        return reply.status

    first = client(clock, tmp_path)
    second = client(clock, tmp_path)
    for one in (first, second):
        assert await one.once(url, read) == 200
    server.acts = [says(status, **({"Retry_After": retry_after} if retry_after else {}))]
    with pytest.raises(TransientError) as caught:
        await first.once(url, read)
    before = clock.now
    asked = len(server.asked)
    assert caught.value.retry_after == rest
    restarted = client(clock, tmp_path)
    told = r"^waiting for the dump server, .*; try again after .*minutes$"
    with pytest.raises(WikiUnreachable, match=told):
        await restarted.once(url, read)
    assert len(server.asked) == asked, "a start does not ask in the rest"
    assert await second.once(url, read) == 200
    assert clock.now >= before + rest
    assert await restarted.once(url, read) == 200
    for one in (first, second, restarted):
        await one.close()


async def test_a_rest_in_the_middle_is_waited_out_and_shown(
    server,
    dump,
    clock,
    tmp_path,
    monkeypatch,
):
    source = dump()
    kept = dict((await source.open()).identity)
    await source.close()
    seen = set()
    sleep = clock.sleep

    async def watched(seconds):
        if continuation.activity.waiting_for and continuation.activity.waiting_until:
            long = continuation.activity.waiting_until - clock.wall() > 800
            assert continuation.activity.trouble or not long
            seen.add((continuation.activity.waiting_for, long))
        await sleep(seconds)

    monkeypatch.setattr(clock, "sleep", watched)
    continuation = dump(kept)
    before = clock.now
    server.acts = [None, None, says(500)]
    found, _, _ = await read(continuation)
    assert found == await of_files(tmp_path, DATA)
    assert clock.now - before >= 900
    assert ("127.0.0.1 answers 500", True) in seen
    assert [error.text for error in continuation.activity.errors] == ["127.0.0.1 answers 500"]


@pytest.mark.parametrize("before", [0, 1, 3], ids=["at once", "while sampled", "later"])
async def test_a_start_does_not_wait_out_a_rest(server, dump, clock, before):
    server.acts = [*[None] * before, says(503)]
    source = dump()
    began = clock.now
    told = r"(answers 503|after an error).*; try again after \d\d:\d\d:\d\d, in 15 minutes$"
    with pytest.raises(WikiUnreachable, match=told):
        await source.open()
    await source.close()
    assert clock.now - began < 60


async def test_a_redirect_leads_under_the_rules_of_the_server_there(clock, tmp_path, monkeypatch):
    """A mirror that has no rules may lead to Wikimedia."""
    moments = []

    async def note(request, data):
        moments.append(clock.now)

    def by_host(host):
        return file_limits("mirror.org") if host == "localhost" else strict(host)

    monkeypatch.setattr(ranges, "file_limits", by_host)
    async with serving({PATH: DATA}) as there, serving({}) as here:
        there.always = note
        here.always = says(302, Location=there.url + PATH)
        mirror = here.url.replace("127.0.0.1", "localhost")
        options = {"contact": CONTACT, "budget_folder": tmp_path / "home"}
        found, _, _ = await read(remote([mirror + PATH], clock, **options))
    assert sorted(found) == list(NUMBERS)
    assert len(moments) > 10
    assert all(b - a >= 1.0 for a, b in pairwise(moments))
