"""The workers of a Dask cluster as an `Executor`; work that is lost is done again.

A job is a task for one worker. Its bytes stay here until its answer has come, so a worker that ends, or a
scheduler that is restarted, costs only the work under way.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from itertools import count
from typing import Any, ParamSpec, TypeVar

from wikitopics.crawler.source import Activity, SourceInfo
from wikitopics.session.errors import Damaged, SessionError
from wikitopics.session.options import CLUSTER
from wikitopics.session.training.intake.cluster.answers import fields_of, unpack
from wikitopics.session.training.intake.cluster.fitness import difference, in_use
from wikitopics.session.training.intake.cluster.scheduler import (
    LOOK_SECONDS,
    FarWorker,
    Gone,
    Scheduler,
    TaskFailed,
    Unreachable,
)
from wikitopics.session.training.intake.cluster.work import DIED, FAILED, packed
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied
from wikitopics.vocab import Vocabulary

P = ParamSpec("P")
T = TypeVar("T")

FIRST_PATIENCE = 30.0
"""Seconds within which a worker must be available when a run begins."""
PATIENCE = 600.0
"""Seconds to wait for a lost scheduler, or after the last worker is lost."""
RETRY_SECONDS = 2.0
JOBS_A_THREAD = 2
"""Jobs per thread, so that a worker has the next job at hand when it finishes one."""
MOST_LOST = 3
"""A job over which this many workers were lost may be to blame."""


LOST, NO_WORKER = "the cluster's scheduler is lost", "the cluster has no worker"

Place = tuple[float, int, FarWorker | None]
"""A worker's work for each of its threads, a number for the order, and the worker; None: there is no room any
more, and never will be."""


class Cluster(Executor):
    """Counts the pages of one source. Everything with Dask happens in a separate thread."""

    def __init__(self, address: str, vocabulary: Vocabulary, info: SourceInfo, activity: Activity) -> None:
        self._address = address
        self._activity = activity
        self._n_words = len(vocabulary)
        self._told = in_use(vocabulary.fingerprint)
        self._initial = packed(vocabulary.lines, info)
        self._scheduler: Scheduler | None = None
        self._end: SessionError | None = None
        self._refusals: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # about tasks that Dask leaves behind
        self._places: asyncio.PriorityQueue[Place] = asyncio.PriorityQueue()
        """Room for one job each, of the workers with the least work first."""
        self._numbers = count()
        self._keeping: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)

    @property
    def workers(self) -> list[FarWorker]:
        """The workers used now."""
        scheduler = self._scheduler
        return [] if scheduler is None else list(scheduler.workers.values())

    @property
    def threads(self) -> int:
        """The number of jobs that they take at a time."""
        return sum(worker.threads for worker in self.workers)

    def jobs(self) -> int:
        """The number of jobs that must be in progress so that no worker is idle."""
        return JOBS_A_THREAD * self.threads

    def connect(self) -> None:
        """Return once there is a worker. Raises SessionError."""
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()
        except BaseException:
            self.shutdown()
            raise

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call ``fn``, one of the three counting functions."""
        assert not kwargs
        return asyncio.run_coroutine_threadsafe(self._job(fn, args), self._loop)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Abandon all jobs, and disconnect from the cluster."""
        if not self._thread.is_alive():
            return
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(6.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    async def _begin(self) -> None:
        try:
            scheduler = await Scheduler.connect(self._address, self._initial, self._refused)
        except Unreachable as error:
            raise SessionError(f"no Dask scheduler answers at {self._address} ({error})") from None
        self._scheduler = scheduler
        enough = time.monotonic() + FIRST_PATIENCE
        try:
            while not scheduler.workers:
                await self._look(scheduler)
                if not scheduler.workers and (scheduler.unfit or time.monotonic() > enough):
                    raise self._no_worker()
                await asyncio.sleep(0 if scheduler.workers else LOOK_SECONDS)
        except Unreachable as error:
            raise SessionError(f"the Dask scheduler at {self._address} is lost ({error})") from None
        self._keeping = asyncio.create_task(self._keep(scheduler))

    async def _stop(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
        if self._scheduler is not None:
            await self._scheduler.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=2.0)

    async def _look(self, scheduler: Scheduler) -> None:
        """Make use of new workers. Raises `Unreachable`."""
        for worker in await scheduler.look():
            for number in range(JOBS_A_THREAD * worker.threads):
                self._places.put_nowait((number / worker.threads, next(self._numbers), worker))

    async def _keep(self, scheduler: Scheduler) -> None:
        """Watch workers come and go, and reconnect, until all of them are lost for good."""
        last_seen = time.monotonic()
        try:
            while True:
                try:
                    await self._look(scheduler)
                except Unreachable:
                    self._scheduler = None
                    await scheduler.close()
                    self._scheduler = scheduler = await self._again()
                    last_seen = time.monotonic()
                if scheduler.workers:
                    last_seen = time.monotonic()
                    self._hinder(None)
                else:
                    self._hinder(NO_WORKER)
                    if time.monotonic() - last_seen > PATIENCE:
                        raise self._no_worker()
                await asyncio.sleep(LOOK_SECONDS)
        except SessionError as error:
            self._end = error
            self._places.put_nowait((-1.0, next(self._numbers), None))

    async def _again(self) -> Scheduler:
        """A new connection to a scheduler that was lost."""
        self._note(LOST)
        enough = time.monotonic() + PATIENCE
        while True:
            found = None
            self._hinder(LOST)  # set again on every try, since arriving pages clear it
            try:
                found = await Scheduler.connect(self._address, self._initial, self._refused)
                await self._look(found)
            except Unreachable as error:
                if found is not None:
                    await found.close()
                if time.monotonic() > enough:
                    raise SessionError(
                        f"the cluster's scheduler has not answered for {PATIENCE:.0f} s ({error})"
                    ) from None
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self._hinder(None)
                self._note("the cluster's scheduler is back")
                return found

    async def _job(self, fn: Callable[..., Any], args: Sequence[Any]) -> Any:
        job = packed(fn, *args)
        lost = 0
        while True:
            place = await self._places.get()
            worker = place[2]
            if worker is None:
                self._places.put_nowait(place)  # for all others that wait
                assert self._end is not None
                raise self._end
            if worker.gone.is_set():
                continue
            scheduler = worker.scheduler
            try:
                data = await scheduler.ask(worker, job)
                fields = fields_of(data)
                if other := difference(fields, self._told):
                    scheduler.refuse(worker, f"it has {other}")
                    continue
                for kind, error in ((FAILED, JobFailed), (DIED, WorkerDied)):
                    if kind in fields:
                        raise error(str(fields[kind])[:300])
                assert isinstance(data, bytes)
                return unpack(fn, args, data, fields, self._n_words)
            except Gone:
                lost += self._scheduler is scheduler
            except TaskFailed as error:
                lost += 1
                scheduler.refuse(worker, f"it failed: {error}")
            except Damaged:
                lost += 1
                scheduler.refuse(worker, "it sent something other than word counts")
            finally:
                self._places.put_nowait(place)
            if lost >= MOST_LOST:
                raise WorkerDied(f"{lost} workers of the cluster were lost over it")

    def _no_worker(self) -> SessionError:
        if self._refusals:
            return SessionError(f"no worker of the cluster can be used: {self._refusals[-1]}")
        return SessionError(
            f"the cluster has no worker: start one with `dask worker`, for the scheduler of {CLUSTER.flag}"
        )

    def _refused(self, why: str) -> None:
        if why not in self._refusals:
            self._refusals.append(why)
            self._note(f"a worker of the cluster is not used: {why}")

    def _note(self, line: str) -> None:
        """Write a line to the session's log; it contains no address."""
        self._activity.note(time.time(), line)

    def _hinder(self, trouble: str | None) -> None:
        """Tell what keeps the cluster from work; None: nothing."""
        if trouble is not None or self._activity.trouble in (LOST, NO_WORKER):
            self._activity.trouble = trouble
