"""What a Dask cluster costs the trainer: for counting, and for an E-step, which the program never
sends."""

from __future__ import annotations

import asyncio
import bz2
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import Figures
from benchmarks.measuring import timed

BATCHES = (256, 1_024, 4_096, 16_384)
TOPICS = 100
TRIES = 7
ARTICLES = 8_000
LINKS = 6
"""Equal files of the dump that is counted: enough for parts of 1 MB, as in a large dump."""
IDLE_SECONDS = 10


def e_step(batch: int) -> Figures:
    """Rows of lambda that a minibatch needs, what it takes to send them and sums back, and the
    E-step.

    Each is the least of some tries, so that other work does not blur it.
    """
    import numpy as np
    from distributed import Client

    from benchmarks.data import split
    from wikitopics.model import OnlineLDA

    documents = split("short").train[:batch]
    model = OnlineLDA(n_topics=TOPICS, n_words=split("short").n_words, n_documents=7_000_000)
    model.learn(documents)
    seconds = min(timed(lambda: model.infer(documents), time.thread_time)[0] for _ in range(TRIES))
    rows = len(np.unique(documents.word_ids))
    sent = np.ones((rows, TOPICS), np.float32)
    with dask(workers=1) as address, Client(address, set_as_default=False) as client:

        def there_and_back() -> None:
            [far] = client.scatter([sent], direct=True, hash=False)
            client.gather(client.submit(_same, far, pure=False), direct=True)

        there_and_back()
        wall = min(timed(there_and_back, time.perf_counter)[0] for _ in range(TRIES))
        own = min(timed(there_and_back, time.process_time)[0] for _ in range(TRIES))
    return {
        "rows": rows,
        "mb_each_way": round(sent.nbytes / 1e6, 2),
        "e_step_seconds": round(seconds, 4),
        "there_and_back_seconds": round(wall, 4),
        "there_and_back_own_cpu_seconds": round(own, 4),
    }


def _same(rows: Any) -> Any:
    return rows + 1


def remote() -> Figures:
    """CPU seconds of the trainer's own process for a megabyte of XML that is counted on a
    cluster."""
    with dask(workers=2) as address:
        return _counted(address)


def here() -> Figures:
    """The same on this machine, with a worker process a core."""
    return _counted(None)


def _counted(address: str | None) -> Figures:
    """An open connection takes some CPU whatever is counted, and a busy machine counts slowly. So
    that CPU is measured separately, and included as in a run at 16 MB a second."""
    from benchmarks.experiments.dump import pages, write

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.xml.bz2"
        megabytes = write(path, pages(ARTICLES), bz2.compress, each=True)
        packed = path.stat().st_size / 1e6
        links = [path.with_name(f"{number}.bz2") for number in range(LINKS)]
        for link in links:
            link.symlink_to(path)
        idle, seconds, own, found = asyncio.run(_read([str(link) for link in links], address))
    share = found / ARTICLES
    each = (own - idle * seconds) / (share * megabytes)
    return {
        "articles": found,
        "xml_mb": round(share * megabytes, 1),
        "compressed_mb": round(share * packed, 1),
        "of_a_core_while_idle": round(idle, 4),
        "ms_a_mb_of_xml": round(1000 * each, 2),
        "xml_mb_a_second": round(share * megabytes / seconds, 2),
        "cores": os.cpu_count(),
    }


async def _read(names: Sequence[str], address: str | None) -> tuple[float, float, float, int]:
    """(CPU seconds a second while nothing is counted, seconds and CPU seconds of counting,
    articles).

    Held-out articles are left out: they are read once, however large the dump is.
    """
    from benchmarks.experiments.dump import opened, read
    from wikitopics.vocab import Vocabulary

    feed = await opened(names, Vocabulary.load("english"), address)
    await asyncio.sleep(1)
    begin = time.process_time()
    await asyncio.sleep(IDLE_SECONDS)
    idle = (time.process_time() - begin) / IDLE_SECONDS
    begin = time.process_time()
    clock = time.monotonic()
    articles = await read(feed, {"round": 1, "done": 0})
    return idle, time.monotonic() - clock, time.process_time() - begin, articles


@contextlib.contextmanager
def dask(workers: int) -> Iterator[str]:
    """A scheduler and its workers on loopback, in processes of their own; the address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        started = [_start(folder, "scheduler", "--host", "127.0.0.1", "--port", str(port))]
        while started[0].poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.2)
        options = (address, "--nworkers", str(workers), "--nthreads", "1")
        started.append(_start(folder, "worker", *options))
        try:
            yield address
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def _start(folder: str, what: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments, "--no-dashboard"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
