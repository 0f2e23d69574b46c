"""A connection to a Dask scheduler: which workers it has, and tasks for each of them."""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, Security

from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.options import CLUSTER
from wikitopics.session.training.intake.cluster.address import ENCRYPTED
from wikitopics.session.training.intake.cluster.answers import LARGEST
from wikitopics.session.training.intake.cluster.fitness import PACKAGES, difference, installed, reported
from wikitopics.session.training.intake.cluster.work import Job, answer, prepare

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 1.0
"""Seconds between two looks at the list of workers."""
REPLY_SECONDS = 30.0
"""The most seconds that the scheduler may take to answer, and to speak at all: Dask sets no limit to that."""
ANSWER_SECONDS = 600
"""The most seconds that a worker may take for a job. They are counted one by one, without those in which this
process was suspended."""
CLOSE_SECONDS = 3.0
_AT_ONCE = 4
"""The most answers received at a time: each takes several times its size."""
_PLAIN = ("msgpack", "error")
"""Dask's ways to send a value that are read without unpickling anything."""
_ADDRESS = re.compile(r"<.*>|\w+://[^\s,>]+|[\w.\[\]-]+:\d{2,5}\b")


class Unreachable(Exception):
    """No scheduler answers; the message says why."""


class Gone(Exception):
    """The worker, or the scheduler, was lost before it answered."""


class TaskFailed(Exception):
    """A worker could not even start a task; the message says why."""


@dataclass(eq=False)
class FarWorker:
    """One process of the cluster."""

    scheduler: Scheduler
    address: str
    threads: int
    counting: Future
    """The result of its preparation."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class Scheduler:
    """One connection, used from one event loop. A lost connection is closed, and another is made."""

    def __init__(self, client: Client, initial: Job, refused: Callable[[str], None]) -> None:
        """``refused`` is called for each worker that is not used, with the reason."""
        self.workers: dict[str, FarWorker] = {}
        self.unfit: dict[str, str] = {}
        """Why other workers are not used, by their addresses."""
        self._client = client
        self._initial = initial
        self._refused = refused
        self._here = installed()
        self._receiving = asyncio.Semaphore(_AT_ONCE)

    @classmethod
    async def connect(cls, address: str, initial: Job, refused: Callable[[str], None]) -> Scheduler:
        """Connect. Raises `Unreachable`, or `SessionError` if trying again would not help."""
        _be_quiet()
        security = Security()  # from Dask's configuration
        if (
            address.split(":")[0] in ENCRYPTED
            and security.get_connection_args("client").get("ssl_context") is None
        ):
            raise BadUsage(
                f"{CLUSTER.flag} {address} needs certificates: name them in Dask's configuration "
                "(distributed.comm.tls; docs/scaling.md)"
            )
        client = Client(
            address,
            asynchronous=True,
            set_as_default=False,
            direct_to_workers=False,
            timeout=CONNECT_SECONDS,
            security=security,
            name="wikitopics",
        )
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                await client
                for topic in ("print", "warn"):  # what workers want to be written here
                    client.unsubscribe_topic(topic)
                scheduler = cls(client, initial, refused)
                told = await client.scheduler.versions(packages=list(PACKAGES))
            if wrong := difference(reported(told), scheduler._here):
                raise SessionError(
                    f"the scheduler of {CLUSTER.flag} has {wrong}: install the same versions on all machines"
                )
        except Exception as error:
            await _closed(client)
            if isinstance(error, SessionError):
                raise
            raise Unreachable(_reason(error)) from None
        return scheduler

    async def look(self) -> list[FarWorker]:
        """Update the list of workers; returns the new ones. Raises `Unreachable`."""
        if self._client.status != "running":
            raise Unreachable("the connection is lost")
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                found = (await self._client.scheduler.identity(n_workers=-1))["workers"]
                there = {address: told for address, told in found.items() if told["status"] != "closed"}
                new = sorted(there.keys() - self.workers.keys() - self.unfit.keys())
            versions = dict(zip(new, await asyncio.gather(*map(self._versions, new)), strict=True))
            for address in self.workers.keys() - there.keys():
                self.workers.pop(address).gone.set()
            self.unfit = {address: why for address, why in self.unfit.items() if address in there}
            return [
                taken
                for address, told in versions.items()
                # otherwise it has just gone, or is not up yet
                if told is not None and (taken := self._take(address, int(there[address]["nthreads"]), told))
            ]
        except Exception as error:  # noqa: BLE001 (as in connect)
            raise Unreachable(_reason(error)) from None

    async def ask(self, worker: FarWorker, job: Job) -> object:
        """The answer to a job. Raises `Gone`, `TaskFailed`."""
        task = self._submit(answer, worker.counting, *job, worker.address)
        asking = asyncio.ensure_future(self._result(task))
        lost = asyncio.ensure_future(worker.gone.wait())
        try:
            for _ in range(ANSWER_SECONDS):
                if (await asyncio.wait({asking, lost}, timeout=1.0, return_when=asyncio.FIRST_COMPLETED))[0]:
                    break
            if asking.done():
                return asking.result()
            if lost.done():
                raise Gone
            raise TaskFailed(f"no answer within {ANSWER_SECONDS} s")
        finally:
            for each in (asking, lost):
                each.cancel()
            await asyncio.gather(asking, lost, return_exceptions=True)
            with suppress(Exception):  # the client may be closed by now
                task.release()

    def refuse(self, worker: FarWorker, why: str) -> None:
        """Stop using a worker."""
        if self.workers.pop(worker.address, None) is not None:
            worker.gone.set()
            self._leave_out(worker.address, why)

    def _leave_out(self, address: str, why: str) -> None:
        self.unfit[address] = why
        self._refused(why)

    async def close(self) -> None:
        """Close everything; never raises."""
        for worker in self.workers.values():
            worker.gone.set()
            worker.counting.release()
        self.workers.clear()
        await _closed(self._client)

    async def _result(self, task: Future) -> object:
        """What a task returned, as plain bytes. Raises as `ask` does."""
        try:
            failure = await task.exception()
            if failure is None:
                return await self._received(task.key)
        except TypeError as error:  # of Dask, about anything but plain bytes
            raise TaskFailed(_reason(error)) from None
        except Exception:  # noqa: BLE001 (the connection, or what it needs, is lost)
            raise Gone from None
        if isinstance(failure, KilledWorker):
            raise Gone
        raise TaskFailed(_reason(failure))

    async def _received(self, key: str) -> object:
        async with self._receiving:
            if (await self._client.nbytes([key], summary=False)).get(key, 0) > LARGEST:
                raise TypeError(f"an answer of over {LARGEST >> 20} MB")
            return (await self._client.scheduler.gather(keys=[key], deserializers=_PLAIN))["data"][key]

    async def _versions(self, address: str) -> object:
        """What a worker tells of itself; None if it is not there. Asked alone: another may never answer."""
        msg = {"op": "versions", "packages": list(PACKAGES)}
        with suppress(TimeoutError):
            async with asyncio.timeout(REPLY_SECONDS):
                found = await self._client.scheduler.broadcast(msg=msg, workers=[address], on_error="ignore")
                return found.get(address)
        self._leave_out(address, "it does not answer")
        return None

    def _take(self, address: str, threads: int, told: object) -> FarWorker | None:
        if wrong := difference(reported(told), self._here):
            self._leave_out(address, f"it has {wrong}: install the same versions there")
            return None
        counting = self._submit(prepare, *self._initial, address)
        self.workers[address] = taken = FarWorker(self, address, threads, counting)
        return taken

    def _submit(self, fn: Callable[..., object], *args: Any) -> Future:
        """A task for the worker whose address is the last argument."""
        *values, address = args
        return self._client.submit(fn, *values, workers=[address], allow_other_workers=False, pure=False)


async def _closed(client: Client) -> None:
    with suppress(Exception):
        await client.close(timeout=CLOSE_SECONDS)
    client.status = "closed"  # otherwise it tries again when it is deleted, without its loop


def _reason(error: BaseException) -> str:
    """An error in a line, without the addresses that Dask tends to include, since a session may store the
    line."""
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return _ADDRESS.sub("…", line)[:300] or type(error).__name__


def _be_quiet() -> None:
    """Silence Dask's own reports, which we give in our own words."""
    for name in ("distributed", "distributed.client", "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module=r"distributed\.")
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
