"""What a cluster sends that is not word counts, and what it never sends: the run ends with a line."""

import asyncio
import gc
import signal
import socket

import pytest

from tests.session.training.intake.cluster.test_cluster import VOCABULARY, dump, plain, read, small
from wikitopics.crawler.source import Activity, SourceInfo
from wikitopics.session.errors import SessionError

__all__ = ["dump", "small"]

pytestmark = pytest.mark.interop

ANSWERS = """
from wikitopics.session.training.intake import cluster

class Evil:
    def __reduce__(self):
        return open, ({path!r}, "w")

cluster.answer = lambda *_: {found}
"""


async def test_what_listens_and_never_answers_is_given_up_at_the_start(dump, dask, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.intake.cluster.REPLY_SECONDS", 1)
    with (
        socket.create_server(("127.0.0.1", dask.port)),
        pytest.raises(SessionError, match=r"no Dask scheduler answers at .* in time"),
    ):
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
    folder, touched = dask.folder / "other", dask.folder / "touched"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(ANSWERS.format(found=found, path=str(touched)))
    dask.start_scheduler()
    dask.start_worker(folder)
    with pytest.raises(SessionError, match=f"a worker of the cluster {why}"):
        await read(dump, dask.address)
    assert not touched.exists()  # nothing was unpickled


def test_what_dask_leaves_behind_is_not_reported(caplog):
    """As after a scheduler's restart: "Future exception was never retrieved", on standard error."""
    executor = pytest.importorskip("wikitopics.session.training.intake.cluster")
    cluster = executor.Cluster("tcp://127.0.0.1:9", VOCABULARY, SourceInfo("", None), Activity())

    async def leave():
        asyncio.get_running_loop().create_future().set_exception(TimeoutError("Timeout"))

    cluster._loop.run_until_complete(leave())
    cluster._loop.close()
    gc.collect()
    assert caplog.text == ""
