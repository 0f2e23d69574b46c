"""The work of a cluster's worker: it gives each job to a separate process, and returns bytes.

A page that crashes its parser, or takes a minute, ends only that process and not Dask's worker, which may
hold the work of others in memory.
"""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.source import SourceInfo
from wikitopics.session.training.intake.cluster.answers import pack
from wikitopics.session.training.intake.cluster.fitness import in_use
from wikitopics.session.training.intake.jobs import EMPTY, start_worker
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied, Workers
from wikitopics.vocab import Vocabulary

Buffer = NDArray[np.uint8]
Job = tuple[bytes, *tuple[Buffer, ...]]
"""A pickle, and the buffers that belong to it."""
MOST_PROCESSES = 256
"""The most processes of one Dask worker. It has one for each job at a time, so one for each of its
threads."""
FAILED, DIED = "failed", "died"


class Counting:
    """The processes that count for one trainer. They end when Dask drops this, as it does with its client."""

    def __init__(self, words: tuple[str, ...], info: SourceInfo) -> None:
        self._initial = words, info
        self._told = in_use(Vocabulary.from_lines(words).fingerprint)
        self._workers = Workers(MOST_PROCESSES, start_worker, self._initial)

    def __reduce__(self) -> tuple[type["Counting"], tuple[tuple[str, ...], SourceInfo]]:
        """Unpickled on another machine, it is created afresh."""
        return Counting, self._initial

    def __del__(self) -> None:
        if hasattr(self, "_workers"):
            self._workers.shutdown(wait=False, cancel_futures=True)

    def answer(self, job: Job) -> bytes:
        """The answer to a job, even one that failed or killed its process."""
        try:
            return self._workers.submit(_packed, job, self._told).result()
        except JobFailed as error:
            return pack(EMPTY, {**self._told, FAILED: str(error)})
        except WorkerDied as error:
            return pack(EMPTY, {**self._told, DIED: str(error)})


def packed(*values: object) -> Job:
    """The arguments of a task, packed: Dask searches plain ones for the names of other tasks.

    The bytes of a part follow as arrays, which Dask sends without copying, as it would not send bytes.
    """
    beside: list[pickle.PickleBuffer] = []
    head = pickle.dumps(values, protocol=5, buffer_callback=beside.append)
    return (head, *(np.frombuffer(each.raw(), np.uint8) for each in beside))


def prepare(head: bytes, *beside: Buffer) -> Counting:
    """A task of the cluster: what its worker needs before any job. Takes words and the source's info."""
    return Counting(*_unpacked((head, *beside)))


def answer(counting: Counting, head: bytes, *beside: Buffer) -> bytes:
    """A task of the cluster: one job. Takes a function and its arguments."""
    return counting.answer((head, *beside))


def _packed(job: Job, told: dict[str, str]) -> bytes:
    fn, *args = _unpacked(job)
    return pack(fn(*args), told)


def _unpacked(job: Job) -> Sequence[Any]:
    """The inverse of `packed`."""
    head, *beside = job
    # From the trainer, which may run anything here.
    found: Sequence[Any] = pickle.loads(head, buffers=[bytes(each) for each in beside])  # noqa: S301
    return found
