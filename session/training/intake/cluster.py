"""Counting on the workers of a Dask cluster: an executor whose jobs are tasks of `distributed`.

A job is a task for one worker. Its bytes stay here until its answer has come, so a worker that ends costs
only the work under way. Answers are bytes, which Dask does not unpickle, and they are checked like any
hostile input.
"""

import asyncio
import logging
import pickle
import platform
import re
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Annotated, Any, TypeVar

import dask
import distributed
import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from wikitopics.crawler.source import (
    LARGEST_TEXT,
    LONGEST_TITLE,
    Activity,
    FetchedPages,
    Job,
    Lack,
    Markup,
    Page,
    Skip,
    SourceInfo,
    utf8_size,
)
from wikitopics.session.errors import BadUsage, Damaged, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.options import CLUSTER
from wikitopics.session.storage.counts import Block
from wikitopics.session.training.intake.jobs import CountedJob, counting_workers, pages_of_job
from wikitopics.session.training.intake.opening import ENCRYPTED
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied
from wikitopics.session.version import __version__
from wikitopics.vocab import Vocabulary

T = TypeVar("T")
Buffer = NDArray[np.uint8]
Versions = Mapping[str, str | None]
"""Of what counts depend on, by name; None: not installed."""


PACKAGES = ("wikitopics", "distributed")
"""The packages of which a worker must have the same versions."""
CONNECT_SECONDS, CLOSE_SECONDS = 10.0, 3.0
FIRST_PATIENCE, PATIENCE = 30.0, 600.0
"""Seconds within which a worker must be available, when a run begins and after the last one is lost."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the list of workers."""
REPLY_SECONDS = 30.0
"""The most seconds that the scheduler may take to answer, and to speak at all: Dask sets no limit to that."""
ANSWER_SECONDS = 600
"""The most seconds that a worker may take for a job. They are counted one by one, without those in which this
process was suspended."""
JOBS_A_THREAD = 2
"""Jobs per thread, so that a worker has the next job at hand when it finishes one."""
MOST_LOST = 3
"""A job over which this many workers were lost may be to blame."""
MOST_PROCESSES = 256
"""The most processes of one worker. It has one for each job at a time, so one for each of its threads."""
LARGEST = 64 << 20
"""The most bytes of an answer: word counts take 0.1 MB, the texts of a part's pages some 5 MB."""
NO_WORKER = "the cluster has no worker"
_AT_ONCE = 4
"""The most answers received at a time: each takes several times its size."""
_ADDRESS = re.compile(r"<.*>|\w+://[^\s,>]+|[\w.\[\]-]+:\d{2,5}\b")
_PLACE = "an answer of the cluster"


class _Lost(Exception):
    """A worker is lost, before it answered or because of its answer; the message says why it is not used."""


class Answer(msgspec.Struct):
    """What a worker sends back, as msgpack."""

    versions: dict[str, str]
    failed: str = ""
    """What the job raised."""
    died: str = ""
    """How the job's process ended."""
    counts: bytes = b""
    skips: dict[Skip, Annotated[int, Meta(ge=0, le=10**15)]] = {}
    warnings: Annotated[tuple[str, ...], Meta(max_length=1)] = ()
    fault: Annotated[str, Meta(max_length=65_536)] = ""
    lack: Lack | None = None
    pages: list[tuple[int, str, int, str, Markup, str | None]] = []

    @classmethod
    def of(
        cls, found: CountedJob | tuple[tuple[Page, ...], CountedJob], versions: dict[str, str]
    ) -> "Answer":
        """The answer to a job that gave this."""
        pages, job = found if isinstance(found, tuple) else ((), found)
        block = job.block
        return cls(
            versions,
            counts=block.to_bytes(),
            skips=dict(block.skips),  # type: ignore[arg-type]
            warnings=block.warnings,
            fault=job.fault,
            lack=job.lack,
            pages=[(p.page_id, p.title, p.revision_id, p.text, p.markup, p.id) for p in pages],
        )

    @classmethod
    def read(cls, data: object) -> "Answer":
        """The answer in these bytes. Raises `Damaged`."""
        try:
            return msgspec.msgpack.decode(data if isinstance(data, bytes) else b"", type=cls)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise Damaged(f"{_PLACE}: {error}") from None

    def result(self, fn: Callable[..., Any], job: Job, n_words: int) -> Any:
        """The result of ``fn(job)``. Raises `Damaged` for anything that it cannot have returned."""
        block = _checked(Block.from_bytes(self.counts, _PLACE, n_words))
        if isinstance(job, FetchedPages) and fn is not pages_of_job:
            ids = block.ids or ("",) * len(block)
            rows = zip(block.page_ids.tolist(), block.revision_ids.tolist(), block.titles, ids, strict=True)
            if list(rows) != [(p.page_id, p.revision_id, p.title, p.id or "") for p in job.fetched]:
                raise Damaged(f"{_PLACE} is about other pages")
        block = replace(block, skips=self.skips, warnings=tuple(map(visible, self.warnings)))
        counted = CountedJob(block, visible(self.fault), self.lack)
        if fn is not pages_of_job:
            return counted
        pages = tuple(Page(*row) for row in self.pages)
        if any(utf8_size(page.text) > LARGEST_TEXT for page in pages):
            raise Damaged(f"{_PLACE} has a page that is too large")
        return pages, counted


def _checked(block: Block) -> Block:
    rises = np.diff(block.word_ids) > 0
    ends = block.indptr[(block.indptr > 0) & (block.indptr < len(block.word_ids))]
    rises[ends - 1] = True
    if not rises.all():
        raise Damaged(f"{_PLACE} counts a word twice")
    if any(utf8_size(title) > LONGEST_TITLE for title in block.titles):
        raise Damaged(f"{_PLACE} has a title that is too long")
    return block


# On a worker of the cluster --------------------------------------------------------------------------------


class Counting:
    """The processes that count for one trainer. They end when Dask drops this, as it does with its client.

    A page that crashes its parser, or takes a minute, ends only such a process and not Dask's worker, which
    may hold the work of others in memory.
    """

    def __init__(self, words: tuple[str, ...], info: SourceInfo) -> None:
        self._initial = words, info
        self._versions = versions_in_use(Vocabulary.from_lines(words).fingerprint)
        self._workers = counting_workers(words, info, MOST_PROCESSES)

    def __reduce__(self) -> tuple[type["Counting"], tuple[tuple[str, ...], SourceInfo]]:
        """Unpickled on another machine, it is created afresh."""
        return Counting, self._initial

    def __del__(self) -> None:
        if hasattr(self, "_workers"):
            self._workers.shutdown(wait=False, cancel_futures=True)

    def answer(self, fn: Callable[[Job], Any], job: Job) -> Answer:
        """The answer to a job, even one that failed or killed its process."""
        try:
            return Answer.of(self._workers.submit(fn, job).result(), self._versions)
        except JobFailed as error:
            return Answer(self._versions, failed=str(error))
        except WorkerDied as error:
            return Answer(self._versions, died=str(error))


def prepare(packed: Buffer) -> Counting:
    """A task of the cluster: what its worker needs before any job. Takes words and the source's info."""
    return Counting(*pickle.loads(packed.data))  # noqa: S301 (from the trainer, which may run anything here)


def answer(counting: Counting, packed: Buffer) -> bytes:
    """A task of the cluster: one job. Takes a function and the job."""
    data = msgspec.msgpack.encode(counting.answer(*pickle.loads(packed.data)))  # noqa: S301 (as in `prepare`)
    if len(data) > LARGEST:
        raise ValueError(f"an answer of over {LARGEST >> 20} MB")
    return data


def _packed(*values: object) -> Buffer:
    """The arguments of a task, as an array: Dask sends it as it is, and searches it for no names of tasks."""
    return np.frombuffer(pickle.dumps(values, protocol=5), np.uint8)


# Versions --------------------------------------------------------------------------------------------------


def versions_installed() -> Versions:
    """The versions on which counts depend, as installed on this machine."""
    return {"python": _minor(platform.python_version()), **{name: _installed(name) for name in PACKAGES}}


def versions_reported(reply: object) -> Versions:
    """The same, as Dask reports them for one of its processes."""
    packages, host = (reply.get(key) if isinstance(reply, Mapping) else None for key in ("packages", "host"))
    python = _minor(_text(host, "python") or "?")
    return {"python": python, **{name: _text(packages, name) for name in PACKAGES}}


def versions_in_use(fingerprint: str) -> dict[str, str]:
    """The versions in use in this process, as its answers report: installed ones may not be running."""
    return {"wikitopics": __version__, "python": _minor(platform.python_version()), "vocabulary": fingerprint}


def difference(there: object, here: Versions) -> str:
    """In what a worker differs from ``here``, in words; "" for nothing."""

    def name_of(name: str, value: str | None) -> str:
        return f"no {name}" if value is None else f"{name} {value[:16]}"

    return ", ".join(
        f"{name_of(name, _text(there, name))} (the trainer: {str(value)[:16]})"
        for name, value in here.items()
        if _text(there, name) != value
    )


def _text(found: object, name: str) -> str | None:
    value = found.get(name) if isinstance(found, Mapping) else None
    return value[:80] if isinstance(value, str) else None


def _minor(version: str) -> str:
    """Without the last number, since Unicode's tables change only with the others."""
    return ".".join(version.split(".")[:2])


def _installed(package: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return None


# In the trainer --------------------------------------------------------------------------------------------


@dataclass(eq=False)
class FarWorker:
    """One process of the cluster."""

    address: str
    threads: int
    counting: distributed.Future
    """The result of its preparation."""
    jobs: int = 0
    """Jobs in progress."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)


class Cluster(Executor):
    """Counts the jobs of one source. Everything with Dask happens in a separate thread."""

    def __init__(self, address: str, vocabulary: Vocabulary, info: SourceInfo, activity: Activity) -> None:
        self.workers: dict[str, FarWorker] = {}
        """The workers used now, by their addresses."""
        self._address, self._activity, self._n_words = address, activity, len(vocabulary)
        self._versions = versions_in_use(vocabulary.fingerprint)
        self._initial = _packed(vocabulary.lines, info)
        self._refusals: dict[str, str] = {}
        """Why other workers are not used."""
        self._end: SessionError | None = None
        self._client: Any = None
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # about tasks that Dask leaves behind
        self._changed = asyncio.Condition()
        self._receiving = asyncio.Semaphore(_AT_ONCE)
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)

    def jobs(self) -> int:
        """The number of jobs done at a time."""
        return sum(worker.threads for worker in list(self.workers.values()))

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a worker call ``fn`` with a job."""
        return asyncio.run_coroutine_threadsafe(self._job(fn, *args), self._loop)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Abandon all jobs, and disconnect from the cluster."""
        if not self._thread.is_alive():
            return
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(6.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5.0)

    def connect(self) -> None:
        """Return once there is a worker. Raises SessionError."""
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._connect(), self._loop).result()
        except BaseException:
            self.shutdown()
            raise

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    async def _connect(self) -> None:
        for name in ("distributed", "distributed.client", "tornado", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # we give its reports in our own words
        warnings.filterwarnings("ignore", module=r"distributed\.")
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
        security = distributed.Security()  # from Dask's configuration
        encrypted = self._address.split(":")[0] in ENCRYPTED
        if encrypted and security.get_connection_args("client").get("ssl_context") is None:
            raise BadUsage(
                f"{CLUSTER.flag} {self._address} needs certificates: name them in Dask's configuration "
                "(distributed.comm.tls; docs/scaling.md)"
            )
        self._client = distributed.Client(
            self._address,
            asynchronous=True,
            set_as_default=False,
            direct_to_workers=False,
            timeout=CONNECT_SECONDS,
            security=security,
            name="wikitopics",
        )
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                await self._client
                for topic in ("print", "warn"):  # what workers want to be written here
                    self._client.unsubscribe_topic(topic)
                reply = await self._client.scheduler.versions(packages=list(PACKAGES))
        except Exception as error:  # noqa: BLE001 (Dask raises what it likes)
            raise SessionError(f"no Dask scheduler answers at {self._address} ({_reason(error)})") from None
        if wrong := difference(versions_reported(reply), versions_installed()):
            raise SessionError(
                f"the scheduler of {CLUSTER.flag} has {wrong}: install the same versions on all machines"
            )
        begin = time.monotonic()
        while not self.workers:
            await self._look()
            if not self.workers and (self._refusals or time.monotonic() - begin > FIRST_PATIENCE):
                raise self._no_worker()
            await asyncio.sleep(0 if self.workers else LOOK_SECONDS)
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """See workers come and go, until the scheduler or all of them are lost for good."""
        last_seen = time.monotonic()
        try:
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                await self._look()
                if self.workers:
                    last_seen = time.monotonic()
                if self.workers or self._activity.trouble is None:  # arriving pages clear it
                    self._activity.trouble = None if self.workers else NO_WORKER
                if time.monotonic() - last_seen > PATIENCE:
                    raise self._no_worker()
        except SessionError as error:
            self._end = error
            for worker in self.workers.values():
                worker.gone.set()
            await self._tell()

    async def _look(self) -> None:
        """Update the list of workers. Raises SessionError."""
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                reply = (await self._client.scheduler.identity(n_workers=-1))["workers"]
            there = {
                name: int(state["nthreads"]) for name, state in reply.items() if state["status"] != "closed"
            }
        except Exception as error:  # noqa: BLE001 (as in _connect)
            raise SessionError(f"the Dask scheduler of {CLUSTER.flag} is lost ({_reason(error)})") from None
        for address in self.workers.keys() - there.keys():
            self.workers.pop(address).gone.set()
        self._refusals = {address: why for address, why in self._refusals.items() if address in there}
        new = sorted(there.keys() - self.workers.keys() - self._refusals.keys())
        for address, wrong in zip(new, await asyncio.gather(*map(self._fault, new)), strict=True):
            if wrong:
                self._refuse(address, wrong)
            elif wrong is not None:
                counting = self._task(address, prepare, self._initial)
                self.workers[address] = FarWorker(address, there[address], counting)
        await self._tell()

    async def _fault(self, address: str) -> str | None:
        """Why a worker may not count; "" if it may; None if it is not there. Asked alone: another may never
        answer."""
        msg = {"op": "versions", "packages": list(PACKAGES)}
        try:
            async with asyncio.timeout(REPLY_SECONDS):
                reply = await self._client.scheduler.broadcast(msg=msg, workers=[address], on_error="ignore")
        except TimeoutError:
            return "it does not answer"
        except Exception:  # noqa: BLE001 (the next look tells)
            return None
        if reply.get(address) is None:
            return None
        wrong = difference(versions_reported(reply[address]), versions_installed())
        return wrong and f"it has {wrong}: install the same versions there"

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _job(self, fn: Callable[..., T], job: Job) -> T:
        packed = _packed(fn, job)
        for _ in range(MOST_LOST):
            worker = await self._free_worker()
            worker.jobs += 1
            try:
                reply = await self._reply(worker, packed)
                if wrong := difference(reply.versions, self._versions):
                    raise _Lost(f"it has {wrong}")
                if reply.failed:
                    raise JobFailed(reply.failed[:300])
                if reply.died:
                    raise WorkerDied(reply.died[:300])
                result: T = reply.result(fn, job, self._n_words)
            except (_Lost, Damaged) as error:
                if not worker.gone.is_set():
                    self.workers.pop(worker.address).gone.set()
                    is_known = isinstance(error, _Lost)
                    self._refuse(
                        worker.address, str(error) if is_known else "it sent something other than word counts"
                    )
            else:
                return result
            finally:
                worker.jobs -= 1
                await self._tell()
        raise WorkerDied(f"{MOST_LOST} workers of the cluster were lost over it")

    async def _free_worker(self) -> FarWorker:
        """The worker with the least work for its threads. Raises SessionError if there will be none."""
        async with self._changed:
            while True:
                if self._end is not None:
                    raise self._end
                worker = min(self.workers.values(), key=lambda each: each.jobs / each.threads, default=None)
                if worker is not None and worker.jobs < JOBS_A_THREAD * worker.threads:
                    return worker
                await self._changed.wait()

    async def _reply(self, worker: FarWorker, packed: Buffer) -> Answer:
        """A worker's answer to a job. Raises `_Lost`, `Damaged`."""
        task = self._task(worker.address, answer, worker.counting, packed)
        answering = asyncio.ensure_future(self._bytes(task))
        leaving = asyncio.ensure_future(worker.gone.wait())
        try:
            for _ in range(ANSWER_SECONDS):
                both = {answering, leaving}
                if (await asyncio.wait(both, timeout=1.0, return_when=asyncio.FIRST_COMPLETED))[0]:
                    break
            if answering.done():
                return Answer.read(answering.result())
            raise _Lost(f"it failed: no answer within {ANSWER_SECONDS} s")
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
            with suppress(Exception):  # the client may be closed by now
                task.release()

    async def _bytes(self, task: distributed.Future) -> object:
        """What a task returned, as plain bytes, which Dask reads without unpickling anything."""
        try:
            failure = await task.exception()
        except Exception:  # noqa: BLE001 (the connection, or what it needs, is lost)
            failure = None
        if failure is not None and not isinstance(failure, distributed.KilledWorker):
            raise _Lost(f"it failed: {_reason(failure)}")
        async with self._receiving:
            try:
                size = (await self._client.nbytes([task.key], summary=False)).get(task.key, 0)
                if size > LARGEST:
                    raise _Lost(f"it failed: an answer of over {LARGEST >> 20} MB")
                gather = self._client.scheduler.gather(keys=[task.key], deserializers=("msgpack", "error"))
                data = (await gather)["data"][task.key]
            except TypeError as error:  # of Dask, about anything but plain bytes
                raise _Lost(f"it failed: {_reason(error)}") from None
            except _Lost:
                raise
            except Exception as error:  # noqa: BLE001 (as above)
                raise _Lost(f"it is lost: {_reason(error)}") from None
        return data

    def _task(self, address: str, fn: Callable[..., object], *args: object) -> distributed.Future:
        return self._client.submit(fn, *args, workers=[address], allow_other_workers=False, pure=False)

    def _refuse(self, address: str, why: str) -> None:
        if why not in self._refusals.values():
            # the line contains no address, since a session keeps it
            self._activity.note(time.time(), f"a worker of the cluster is not used: {why}")
        self._refusals[address] = why

    def _no_worker(self) -> SessionError:
        if self._refusals:
            return SessionError(f"no worker of the cluster can be used: {list(self._refusals.values())[-1]}")
        return SessionError(f"{NO_WORKER}: start one with `dask worker`, for the scheduler of {CLUSTER.flag}")

    async def _stop(self) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        for worker in self.workers.values():
            worker.counting.release()
        if self._client is not None:
            with suppress(Exception):
                await self._client.close(timeout=CLOSE_SECONDS)
            self._client.status = "closed"  # otherwise it tries again when it is deleted, without its loop


def _reason(error: BaseException) -> str:
    """An error in a line, without the addresses that Dask tends to include, since a session may store the
    line."""
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return _ADDRESS.sub("…", line)[:300] or type(error).__name__
