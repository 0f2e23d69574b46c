"""A connection to a Dask scheduler: which workers it has, and tasks for each of them."""

from __future__ import annotations

import asyncio
import logging
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import dask
from distributed import Client, Future, KilledWorker, Security

from session.errors import BadUsage, SessionError
from session.options import CLUSTER
from session.training.intake.cluster.address import ENCRYPTED
from session.training.intake.cluster.fitness import PACKAGES, Versions
from session.training.intake.cluster.work import Job, answer, prepare

CONNECT_SECONDS = 10.0
LOOK_SECONDS = 1.0
"""Seconds between two looks at the list of workers."""
REPLY_SECONDS = 60.0
CLOSE_SECONDS = 3.0
_ADDRESS = re.compile(r"<.*>|\w+://[^\s,>]+|[\w.\[\]-]+:\d{2,5}\b")
JOBS_A_THREAD = 2
"""Jobs per thread, so that a worker has the next job at hand when it finishes one."""


class Unreachable(Exception):
    """No scheduler answers; the message says why."""


class Gone(Exception):
    """The worker, or the scheduler, was lost before it answered."""


class TaskFailed(Exception):
    """A worker could not even start a task; the message says why."""


@dataclass(eq=False)
class FarWorker:
    """One process of the cluster."""

    address: str
    threads: int
    counting: Future
    """The result of its preparation."""
    jobs: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def has_room(self) -> bool:
        return self.jobs < JOBS_A_THREAD * self.threads


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
        self._here = Versions.here()

    @classmethod
    async def connect(cls, address: str, initial: Job, refused: Callable[[str], None]) -> Scheduler:
        """Connect. Raises :class:`Unreachable`, or :class:`SessionError` if trying again would not help."""
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
            await client
            scheduler = cls(client, initial, refused)
            await scheduler._check_scheduler()
        except SessionError:
            await _closed(client)
            raise
        except Exception as error:  # noqa: BLE001 (of sockets, TLS, Dask, and whatever else listens there)
            await _closed(client)
            raise Unreachable(_reason(error)) from None
        return scheduler

    async def look(self) -> bool:
        """Update the list of workers; returns whether there is a new one. Raises :class:`Unreachable`."""
        if self._client.status != "running":
            raise Unreachable("the connection is lost")
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                found = (await self._client.scheduler.identity(n_workers=-1))["workers"]
                there = {address: told for address, told in found.items() if told["status"] != "closed"}
                new = there.keys() - self.workers.keys() - self.unfit.keys()
                versions = await self._versions() if new else {}
        except Exception as error:  # noqa: BLE001 (as in connect)
            raise Unreachable(_reason(error)) from None
        for address in self.workers.keys() - there.keys():
            self.workers.pop(address).gone.set()
        self.unfit = {address: why for address, why in self.unfit.items() if address in there}
        for address in sorted(new):
            if address in versions:  # otherwise it has just gone, or is not up yet
                self._take(address, int(there[address]["nthreads"]), versions[address])
        return bool(new)

    async def ask(self, worker: FarWorker, job: Job) -> object:
        """The answer to a job. Raises :class:`Gone`, :class:`TaskFailed`."""
        task = self._submit(answer, worker.counting, *job, worker.address)
        asking = asyncio.ensure_future(_result(task))
        lost = asyncio.ensure_future(worker.gone.wait())
        try:
            await asyncio.wait({asking, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise Gone
            return asking.result()
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
            self.unfit[worker.address] = why
            self._refused(why)

    async def close(self) -> None:
        """Close everything; never raises."""
        for worker in self.workers.values():
            worker.gone.set()
            worker.counting.release()
        self.workers.clear()
        await _closed(self._client)

    async def _check_scheduler(self) -> None:
        async with asyncio.timeout(REPLY_SECONDS):
            told = await self._client.scheduler.versions(packages=list(PACKAGES))
        if wrong := Versions.there(told).differs(self._here):
            raise SessionError(
                f"the scheduler of {CLUSTER.flag} has {wrong}: install the same versions on all machines"
            )

    async def _versions(self) -> Mapping[str, object]:
        found: Mapping[str, object] = await self._client.scheduler.broadcast(
            msg={"op": "versions", "packages": list(PACKAGES)}, on_error="ignore"
        )
        return found

    def _take(self, address: str, threads: int, told: object) -> None:
        if wrong := Versions.there(told).differs(self._here):
            self.unfit[address] = f"it has {wrong}: install the same versions there"
            self._refused(self.unfit[address])
            return
        counting = self._submit(prepare, *self._initial, address)
        self.workers[address] = FarWorker(address, threads, counting)

    def _submit(self, fn: Callable[..., object], *args: Any) -> Future:
        """A task for the worker whose address is the last argument."""
        *values, address = args
        return self._client.submit(fn, *values, workers=[address], allow_other_workers=False, pure=False)


async def _result(task: Future) -> object:
    try:
        return await task
    except Exception as error:  # noqa: BLE001 (what the task raised, or Dask)
        if task.status == "error" and not isinstance(error, KilledWorker):
            raise TaskFailed(_reason(error)) from None
        raise Gone from None


async def _closed(client: Client) -> None:
    with suppress(Exception):
        await client.close(timeout=CLOSE_SECONDS)
    client.status = "closed"  # otherwise it tries again when it is deleted, without its loop


def _reason(error: BaseException) -> str:
    """An error in a line, without the addresses that Dask tends to include, since a session may store the
    line."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return _ADDRESS.sub("…", line)[:300] or type(error).__name__


def _be_quiet() -> None:
    """Silence Dask's own reports, which we give in our own words."""
    for name in ("distributed", "distributed.client", "tornado", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    warnings.filterwarnings("ignore", module=r"distributed\.")
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
