"""Counting on a Dask cluster: the same as here, whatever becomes of its processes and whatever they
send."""

import asyncio
import bz2
import gc
import signal
import socket

import pytest

from tests.clusters import kill
from tests.crawler.dumps import multistream
from wikitopics.crawler.dumps.shuffled import LocalDump
from wikitopics.crawler.page import SourceInfo
from wikitopics.crawler.source import Activity, Asked
from wikitopics.session.errors import SessionError
from wikitopics.session.training.blocks import Intake
from wikitopics.session.training.jobs import counting_workers
from wikitopics.vocab import Vocabulary

pytestmark = pytest.mark.interop

VOCABULARY = Vocabulary.from_words(("article", "r"))
POISON = """
import os, sys
if sys.argv[0] == "-m":  # the process that counts
    from wikitopics.session.training import jobs as counting
    count = counting.count_pages
    def choosy(pages, *known):
        if any(page.page_id == 200 for page in pages):
            os._exit(1)
        return count(pages, *known)
    counting.count_pages = choosy
"""


@pytest.fixture
def dump(tmp_path):
    path = tmp_path / "dump.bz2"
    path.write_bytes(multistream(range(1, 401), bz2.compress, every=9))
    return str(path)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small blocks, many rounds, one job after another, and parts that hold too little."""
    monkeypatch.setattr("wikitopics.crawler.rounds.BLOCK", 30)
    monkeypatch.setattr("wikitopics.crawler.dumps.schedule.LANES", 2)
    monkeypatch.setattr("wikitopics.session.training.blocks.MOST_AHEAD", 1)
    monkeypatch.setattr("wikitopics.crawler.dumps.parts.BEYOND", 300)
    monkeypatch.setattr("wikitopics.session.training.cluster.FIRST_PATIENCE", 100)


async def read(dump, cluster=None, meanwhile=lambda source: None):
    """All blocks, counted here or on a cluster; ``meanwhile`` is called with the source after the
    third."""
    source = LocalDump({"dump": [dump]}, Asked({}, seed=5, held_out=30))
    info = await source.open()
    if cluster is None:
        pool = counting_workers(VOCABULARY.words, info, 1)
    else:
        from wikitopics.session.training.opening import far_pool

        pool = await far_pool(
            cluster, VOCABULARY, info, source, lambda _: None, keeps_snippets=False
        )
    feed = Intake(source, pool)
    feed.start(None)
    found = []
    try:
        while (block := await feed.next()) is not None:
            found.append(block)
            if len(found) == 3:
                await asyncio.to_thread(meanwhile, source)
    finally:
        await feed.close()
    return found, source


def plain(blocks):
    """All that a trainer makes use of, to be compared."""
    return [
        (one.to_bytes(), dict(one.skips), one.position, one.lap, one.warnings) for one in blocks
    ]


def notes(source):
    return "\n".join(error.text for error in source.activity.errors)


async def test_the_same_as_here_though_a_worker_is_lost(dump, dask):
    dask.start_scheduler()
    for _ in range(2):
        dask.start_worker()
    local, _ = await read(dump)

    far, source = await read(dump, dask.address)
    assert plain(far) == plain(local)
    assert notes(source) == ""

    far, source = await read(dump, dask.address, lambda _: kill(dask.workers[0]))
    assert plain(far) == plain(local)
    assert str(dask.port) not in notes(source)  # the session keeps them


async def test_a_scheduler_that_is_lost_ends_the_run(dump, dask):
    scheduler = dask.start_scheduler()
    dask.start_worker()
    with pytest.raises(SessionError, match="the Dask scheduler of --cluster is lost") as caught:
        await read(dump, dask.address, lambda _: kill(scheduler))
    assert caught.value.exit_code == 1
    assert str(dask.port) not in str(caught.value)


def worker_that_runs(code, dask):
    """The only worker of a new scheduler, whose processes run this first."""
    folder = dask.folder / "other"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code)
    dask.start_scheduler()
    return dask.start_worker(folder)


async def test_a_worker_of_another_version_is_refused(dump, dask):
    worker_that_runs("import wikitopics.session\nwikitopics.session.__version__ = '9.9.9'\n", dask)
    with pytest.raises(SessionError, match=r"has wikitopics 9\.9\.9 \(the trainer: \d"):
        await read(dump, dask.address)


async def test_a_page_that_kills_its_process_is_left_out_alone(dump, dask):
    worker = worker_that_runs(POISON, dask)
    local, _ = await read(dump)
    far, _ = await read(dump, dask.address)
    pages = [block.page_ids.tolist() for block in far]
    assert pages == [block.page_ids.tolist() for block in local]
    told = [line for block in far for line in block.warnings]
    assert [line.split(" (")[0] for line in told] == ["page 200"]
    assert worker.poll() is None


async def test_a_cluster_without_workers_is_told_in_a_line(dump, dask, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.cluster.FIRST_PATIENCE", 0)
    dask.start_scheduler()
    with pytest.raises(SessionError, match="the cluster has no worker"):
        await read(dump, dask.address)


ANSWERS = """
from wikitopics.session.training import cluster

class Evil:
    def __reduce__(self):
        return open, ({path!r}, "w")

cluster.answer = lambda *_: {found}
"""


async def test_what_listens_and_never_answers_is_given_up_at_the_start(dump, dask, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.cluster.REPLY_SECONDS", 1)
    says = r"no Dask scheduler answers at .* in time"
    with socket.create_server(("127.0.0.1", dask.port)), pytest.raises(SessionError, match=says):
        await read(dump, dask.address)


async def test_a_suspended_worker_is_given_up(dump, dask, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL", "10s")
    dask.start_scheduler()
    worker = dask.start_worker()
    local, _ = await read(dump)

    def suspend(_):
        worker.send_signal(signal.SIGSTOP)
        dask.start_worker()

    far, _ = await read(dump, dask.address, suspend)
    assert plain(far) == plain(local)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ("bytes(65 << 20)", "failed: an answer of over 64 MB"),
        ("bytes(9)", "sent something other than word counts"),
        ("Evil()", "failed: Could not serialize object of type Evil"),
        ("1 / 0", "failed: division by zero"),
    ],
)
async def test_an_answer_that_is_none_ends_the_run(dump, dask, found, why):
    touched = dask.folder / "touched"
    worker_that_runs(ANSWERS.format(found=found, path=str(touched)), dask)
    with pytest.raises(SessionError, match=f"a worker of the cluster {why}"):
        await read(dump, dask.address)
    assert not touched.exists()  # nothing was unpickled


def test_what_dask_leaves_behind_is_not_reported(caplog):
    """As after a scheduler's restart: "Future exception was never retrieved", on standard error."""
    executor = pytest.importorskip("wikitopics.session.training.cluster")
    cluster = executor.Cluster(
        "tcp://127.0.0.1:9",
        VOCABULARY,
        SourceInfo("", None),
        Activity(),
        keeps_snippets=False,
    )

    async def leave():
        asyncio.get_running_loop().create_future().set_exception(TimeoutError("Timeout"))

    cluster._loop.run_until_complete(leave())
    cluster._loop.close()
    gc.collect()
    assert caplog.text == ""
