"""A dump in parts, counted by workers: every article once, whatever happens to a worker or a
run."""

import asyncio
import bz2
from concurrent.futures import Future

import pytest

from tests.crawler.dumps import multistream
from tests.session.memory import Pool, blocks_of
from wikitopics.crawler.dumps.shuffled import LocalDump
from wikitopics.crawler.errors import BadPosition, BadSource
from wikitopics.crawler.source import Asked
from wikitopics.session.training.blocks import Intake
from wikitopics.session.training.jobs import counting_workers
from wikitopics.session.training.workers import Workers

WORDS = ("article", "r")
ASKED = Asked({}, seed=5, held_out=30)
NUMBERS = range(1, 901)
POISONED = """
import os
from wikitopics.crawler.page import SourceInfo
from wikitopics.session.training import jobs as counting
count = counting.count_pages
def choosy(pages, *known):
    for page in pages:
        if page.page_id == 700:
            os._exit(1)
        if page.page_id == 30:
            raise ValueError("&#999")
    return count(pages, *known)
counting.count_pages = choosy
counting.start_worker(words, info)
"""


# What other processes do when they break has its own test.
pytestmark = pytest.mark.usefixtures("counted_here")


@pytest.fixture
def source(tmp_path):
    """Makes a dump's source; the first opening chooses the order."""
    path = tmp_path / "dump.bz2"
    path.write_bytes(multistream(NUMBERS, bz2.compress, every=9))
    kept = []

    async def opened():
        identity = {"dump": [str(path)]}
        if kept:
            identity["schedule"] = kept[0]
        made = LocalDump(identity, ASKED)
        info = await made.open()
        kept.append(dict(info.identity["schedule"]))
        return made, info

    return opened


async def read(source, position=None, blocks=None):
    made, info = await source()
    feed = Intake(made, counting_workers(WORDS, info, 2))
    return await blocks_of(feed, position, blocks), feed


def ids(blocks):
    return [number for block in blocks for number in block.page_ids.tolist()]


async def test_every_article_once_from_any_position_on(source, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.rounds.BLOCK", 20)
    whole, feed = await read(source)
    assert sorted(ids(whole)) == list(NUMBERS)
    assert whole[-1].lap == 1
    assert feed.queued == 0
    for n in (1, 7, len(whole) - 1, len(whole)):
        rest, _ = await read(source, whole[n - 1].position)
        assert ids(rest) == ids(whole[n:])


async def test_no_more_parts_are_in_memory_than_workers_need(source, monkeypatch):
    made, info = await source()
    read = made.part
    held = 0
    most = 0

    async def read_one(*which):
        nonlocal held, most
        held += 1
        most = max(most, held)
        return await read(*which)

    workers = counting_workers(WORDS, info, 2)

    def submit(fn, job):
        result = workers.submit(fn, job)
        answer = Future()

        def done():
            nonlocal held
            held -= 1
            answer.set_result(result.result())

        asyncio.get_running_loop().call_later(0.01, done)  # a worker takes a while
        return answer

    made.part = read_one
    assert sorted(ids(await blocks_of(Intake(made, Pool(submit, 2))))) == list(NUMBERS)
    assert most <= 9


async def test_a_page_that_breaks_its_worker_is_left_out_alone(source, monkeypatch):
    def poisoned(number, _, known):
        words, info, _ = known
        return Workers(number, exec, (POISONED, {"words": words, "info": info}))

    whole, _ = await read(source)
    monkeypatch.setattr("wikitopics.session.training.jobs.Workers", poisoned)
    found, _ = await read(source)
    assert ids(found) == ids(whole)
    empty = {
        int(n) for block in found for n in block.page_ids[block.indptr[1:] == block.indptr[:-1]]
    }
    assert empty == {30, 700}
    assert sum(block.n_unread for block in found) == 2
    told = [line for block in found for line in block.warnings]
    assert sorted(line.split(" (")[0] for line in told) == ["page 30", "page 700"]


async def test_a_dump_that_goes_away_ends_the_run_where_it_stood(source, tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.rounds.BLOCK", 20)
    whole, _ = await read(source)
    made, info = await source()
    feed = Intake(made, counting_workers(WORDS, info, 2))
    path = tmp_path / "dump.bz2"
    away = path.rename(path.with_name("away"))
    with pytest.raises(BadSource, match="cannot be read"):
        await blocks_of(feed, whole[6].position)
    away.rename(path)
    rest, _ = await read(source, whole[6].position)
    assert ids(rest) == ids(whole[7:])


async def test_a_position_behind_its_round_is_at_the_rounds_end(source):
    blocks, _ = await read(source, {"round": 1, "done": 10**9}, blocks=1)
    assert ids(blocks) == []
    assert blocks[0].position == {"round": 2, "done": 0}


@pytest.mark.parametrize("second", [b"", b"[1, 2]", b"7z\xbc\xaf\x27\x1c"])
async def test_a_second_file_that_is_no_dump_is_told_at_once(tmp_path, second):
    files = [tmp_path / "1.bz2", tmp_path / "2.bz2"]
    files[0].write_bytes(multistream(NUMBERS))
    files[1].write_bytes(second)
    made = LocalDump({"dump": [str(file) for file in files]}, ASKED)
    with pytest.raises(BadSource, match=r"not a MediaWiki dump|7z is not supported"):
        await made.open()


@pytest.mark.parametrize(
    "position", [{}, {"round": -1, "done": 0}, {"round": 0}, {"round": 0, "done": "1"}]
)
async def test_a_position_of_another_source_is_damaged(source, position):
    with pytest.raises(BadPosition):
        await read(source, position)
