"""What a Dask cluster costs the trainer: for counting, and for an E-step, which the program never
sends."""

from __future__ import annotations

import asyncio
import bz2
import contextlib
import math
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
    """The rows of lambda that a minibatch needs, the seconds of sending them and sums of the same
    size back, and those of the E-step.

    Each time is the least of some tries, so that other work does not blur it.
    """
    import numpy as np
    from distributed import Client

    from benchmarks.data import split
    from wikitopics.model import OnlineLDA

    documents = split("short").train[:batch]
    model = OnlineLDA(n_topics=TOPICS, n_words=split("short").n_words, n_documents=7_000_000)
    model.learn(documents)
    e_step_seconds = _least_seconds(lambda: model.infer(documents), time.thread_time)
    rows = len(np.unique(documents.word_ids))
    sent = np.ones((rows, TOPICS), np.float32)
    with dask(workers=1) as address, Client(address, set_as_default=False) as client:

        def there_and_back() -> None:
            [at_worker] = client.scatter([sent], direct=True, hash=False)
            sums = client.submit(_other_values, at_worker, pure=False)
            client.gather(sums, direct=True)

        there_and_back()
        seconds = _least_seconds(there_and_back, time.perf_counter)
        own_seconds = _least_seconds(there_and_back, time.process_time)
    return {
        "rows": rows,
        "mb_each_way": round(sent.nbytes / 1e6, 2),
        "e_step_seconds": round(e_step_seconds, 4),
        "there_and_back_seconds": round(seconds, 4),
        "there_and_back_own_cpu_seconds": round(own_seconds, 4),
    }


def _least_seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    least = math.inf
    for _ in range(TRIES):
        seconds, _ = timed(work, clock)
        least = min(least, seconds)
    return least


def _other_values(rows: Any) -> Any:
    """As many numbers, but new ones, so that they have to be sent."""
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
    """What counting a dump costs the trainer's own process; `address`: of a cluster.

    An open connection takes some CPU whatever is counted, and takes more of it on a busy machine,
    which counts slowly. So the CPU of an idle trainer is measured separately, and taken off.
    """
    from benchmarks.experiments.dump import pages, write

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dump.xml.bz2"
        megabytes_of_file = write(path, pages(ARTICLES), bz2.compress, each=True)
        packed_megabytes_of_file = path.stat().st_size / 1e6
        links = [path.with_name(f"{number}.bz2") for number in range(LINKS)]
        for link in links:
            link.symlink_to(path)
        counting = asyncio.run(_read([str(link) for link in links], address))
    files_read = counting.articles / ARTICLES
    megabytes = files_read * megabytes_of_file
    cpu_of_counting = counting.cpu_seconds - counting.idle_share * counting.seconds
    return {
        "articles": counting.articles,
        "xml_mb": round(megabytes, 1),
        "compressed_mb": round(files_read * packed_megabytes_of_file, 1),
        "of_a_core_while_idle": round(counting.idle_share, 4),
        "ms_a_mb_of_xml": round(1000 * cpu_of_counting / megabytes, 2),
        "xml_mb_a_second": round(megabytes / counting.seconds, 2),
        "cores": os.cpu_count(),
    }


class Counting(NamedTuple):
    articles: int
    seconds: float
    cpu_seconds: float
    """Of the trainer's own process."""
    idle_share: float
    """CPU seconds a second while nothing is counted."""


async def _read(names: Sequence[str], address: str | None) -> Counting:
    """Count the articles of these files but the held-out ones, which are read once, however large
    the dump is."""
    from benchmarks.experiments.dump import opened, read
    from wikitopics.vocab import Vocabulary

    feed = await opened(names, Vocabulary.load("english"), address)
    await asyncio.sleep(1)
    cpu_before = time.process_time()
    await asyncio.sleep(IDLE_SECONDS)
    idle_share = (time.process_time() - cpu_before) / IDLE_SECONDS
    cpu_before = time.process_time()
    begun = time.monotonic()
    articles = await read(feed, {"round": 1, "done": 0})
    seconds = time.monotonic() - begun
    cpu_seconds = time.process_time() - cpu_before
    return Counting(articles, seconds, cpu_seconds, idle_share)


@contextlib.contextmanager
def dask(workers: int) -> Iterator[str]:
    """A scheduler and its workers on loopback, in processes of their own; gives the scheduler's
    address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        scheduler = _start(folder, "scheduler", "--host", "127.0.0.1", "--port", str(port))
        while scheduler.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.2)
        options = (address, "--nworkers", str(workers), "--nthreads", "1")
        parent_of_workers = _start(folder, "worker", *options)
        try:
            yield address
        finally:
            for process in (parent_of_workers, scheduler):
                process.terminate()
                process.wait()


def _start(folder: str, what: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments, "--no-dashboard"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
