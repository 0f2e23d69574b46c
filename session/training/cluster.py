"""Counting on the workers of a Dask cluster: an executor whose jobs are tasks of `distributed`.

The scheduler gives each task to a worker, and to another one if that worker is lost. Answers are
bytes, which Dask does not unpickle; they are checked like any untrusted input.
"""

import asyncio
import contextlib
import logging
import pickle
import platform
import re
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, TypeVar

import dask
import distributed
import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from wikitopics.crawler.page import LARGEST_TEXT, LONGEST_TITLE, Page, Skip, SourceInfo, utf8_size
from wikitopics.crawler.source import Activity, FetchedPages, Job, Lack
from wikitopics.session import __version__
from wikitopics.session.errors import BadUsage, Damaged, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.options import CLUSTER, ENCRYPTED
from wikitopics.session.records import Text
from wikitopics.session.storage.block import Block, ascends
from wikitopics.session.training.jobs import CountedJob, counting_workers, pages_of_job
from wikitopics.session.training.workers import JobFailed, Pool, WorkerDied
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.segmenters import installed_versions

T = TypeVar("T")
Buffer = NDArray[np.uint8]

CONNECT_SECONDS = 10.0
"""The most seconds for a connection to the scheduler."""
CLOSE_SECONDS = 3.0
"""The most seconds for its end."""
FIRST_PATIENCE = 30.0
"""Seconds within which there must be a worker when a run begins."""
PATIENCE = 600.0
"""The same after the last worker is lost."""
POLL_SECONDS = 1.0
"""Seconds between two checks of the list of workers."""
REPLY_SECONDS = 30.0
"""The most seconds for the scheduler to respond at all, and to answer: Dask sets no limit."""
IDLE_SECONDS = 60.0
"""Seconds without a job after which a worker ends the processes that counted for a trainer."""
MOST_PROCESSES = 256
"""The most processes of one worker. It has one for each concurrent job, so one for each of its
threads."""
LARGEST = 64 << 20
"""The most bytes of an answer: word counts take 0.1 MB, the texts of a part's pages some 5 MB."""
NO_WORKER = "the cluster has no worker"
_LONGEST_ID = 65_536
"""The most characters of a document's id."""
_AT_ONCE = 4
"""The most answers received at a time: each takes several times its size."""
_ADDRESS = re.compile(r"<.*>|\w+://[^\s,>]+|[\w.\[\]-]+:\d{2,5}\b")
_PLACE = "an answer from the cluster"


class Answer(msgspec.Struct):
    """What a worker sends back, as msgpack."""

    versions: dict[str, str]
    failed: str = ""
    """What the job raised."""
    died: str = ""
    """How the job's process ended."""
    counts: bytes = b""
    skips: dict[Skip, Annotated[int, Meta(ge=0, le=10**15)]] = {}
    warnings: Annotated[tuple[Text, ...], Meta(max_length=1)] = ()
    fault: Text = ""
    lack: Lack | None = None
    pages: tuple[Page, ...] = ()

    @classmethod
    def of(cls, job: CountedJob, versions: dict[str, str]) -> "Answer":
        """The answer to a job with this result."""
        block = job.block
        return cls(
            versions,
            counts=block.to_bytes(),
            skips=dict(block.skips),  # type: ignore[arg-type]
            warnings=block.warnings,
            fault=job.fault,
            lack=job.lack,
            pages=job.pages,
        )

    @classmethod
    def read(cls, data: object) -> "Answer":
        """The answer in these bytes. Raises `Damaged`."""
        if not isinstance(data, bytes):
            data = b""
        try:
            return msgspec.msgpack.decode(data, type=cls)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise Damaged(f"{_PLACE}: {error}") from None

    def result(self, fn: Callable[..., Any], job: Job, n_words: int) -> Any:
        """The result of ``fn(job)``. Raises `Damaged` if ``fn`` cannot have returned it."""
        block = Block.from_bytes(self.counts, _PLACE, n_words)
        if not ascends(block.word_ids, block.indptr):
            raise Damaged(f"{_PLACE} counts a word twice")
        if any(utf8_size(title) > LONGEST_TITLE for title in block.titles):
            raise Damaged(f"{_PLACE} has a title that is too long")
        if isinstance(job, FetchedPages):
            ids = block.ids or ("",) * len(block)
            counted = zip(
                block.page_ids.tolist(),
                block.revision_ids.tolist(),
                block.titles,
                ids,
                strict=True,
            )
            sent = [
                (page.page_id, page.revision_id, page.title, page.id or "") for page in job.fetched
            ]
            if list(counted) != sent:
                raise Damaged(f"{_PLACE} is about other pages")
        block = replace(block, skips=self.skips, warnings=tuple(map(visible, self.warnings)))
        pages = self.pages if fn is pages_of_job else ()
        for page in pages:
            if utf8_size(page.text) > LARGEST_TEXT or len(page.id or "") > _LONGEST_ID:
                raise Damaged(f"{_PLACE} has a page that is too large")
            for number in (page.page_id, page.revision_id):
                if not -(2**63) <= number < 2**63:
                    raise Damaged(f"{_PLACE} has a page whose number is out of range")
        return CountedJob(block, visible(self.fault), self.lack, pages)


# On a worker of the cluster.


class _Counting:
    """The processes that count for one trainer on this worker.

    A page that crashes its parser, or takes a minute, ends only such a process and not Dask's
    worker, which may have other users' work in memory.
    """

    def __init__(self, words: tuple[str, ...], info: SourceInfo, keeps_snippets: bool) -> None:
        self.versions = versions_in_use(Vocabulary.from_lines(words))
        self.workers = counting_workers(words, info, MOST_PROCESSES, keeps_snippets)
        self.used = time.monotonic()


_counting: dict[bytes, _Counting] = {}
_starting = threading.Lock()


def answer(initial: bytes, packed: Buffer) -> bytes:
    """The task of the cluster: one job, for a trainer with these (pickled) words and information.

    The answer also reports a job that failed or killed its process.
    """
    with _starting:
        if initial not in _counting:
            _counting[initial] = _Counting(*pickle.loads(initial))  # noqa: S301 (from the trainer)
            threading.Thread(target=_end_idle, args=(initial,), daemon=True).start()
        counting = _counting[initial]
        counting.used = float("inf")
    try:
        job = pickle.loads(packed.data)  # noqa: S301 (from the trainer)
        counted = counting.workers.submit(*job).result()
        reply = Answer.of(counted, counting.versions)
    except JobFailed as error:
        reply = Answer(counting.versions, failed=str(error))
    except WorkerDied as error:
        reply = Answer(counting.versions, died=str(error))
    finally:
        counting.used = time.monotonic()
    data = msgspec.msgpack.encode(reply)
    if len(data) > LARGEST:
        raise ValueError(f"an answer of over {LARGEST >> 20} MB")
    return data


def _end_idle(initial: bytes) -> None:
    """End the processes once they have been idle for a while."""
    counting = _counting[initial]
    while True:
        time.sleep(IDLE_SECONDS / 10)
        with _starting:  # no job can begin meanwhile
            if time.monotonic() - counting.used >= IDLE_SECONDS:
                del _counting[initial]
                break
    counting.workers.shutdown(wait=True)


def versions_in_use(vocabulary: Vocabulary) -> dict[str, str]:
    """The versions on which counts depend. The last number of Python's version does not matter:
    Unicode's tables change only with the others."""
    python = ".".join(platform.python_version_tuple()[:2])
    ours = {"wikitopics": __version__, "python": python, "vocabulary": vocabulary.fingerprint}
    return ours | installed_versions(vocabulary.rule.language)


# In the trainer.


class Cluster(Pool):
    """Counts the jobs of one source. All communication with Dask takes place in a separate
    thread."""

    def __init__(
        self,
        address: str,
        vocabulary: Vocabulary,
        info: SourceInfo,
        activity: Activity,
        *,
        keeps_snippets: bool,
    ) -> None:
        """``keeps_snippets``: whether blocks have the beginnings of the texts."""
        self.workers = 0
        """How many workers there are."""
        self._address = address
        self._activity = activity
        self._n_words = len(vocabulary)
        self._versions = versions_in_use(vocabulary)
        self._initial = pickle.dumps((vocabulary.lines, info, keeps_snippets))
        self.jobs = 0
        self._end: asyncio.Future[SessionError]
        self._client: Any = None
        self._loop = asyncio.new_event_loop()
        # Without complaints about tasks that Dask leaves behind.
        self._loop.set_exception_handler(lambda *_: None)
        self._receiving = asyncio.Semaphore(_AT_ONCE)
        self._thread = threading.Thread(target=self._run, name="cluster", daemon=True)

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Have a worker call ``fn`` with a job."""
        return asyncio.run_coroutine_threadsafe(self._job(fn, *args), self._loop)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Abandon all jobs, and disconnect from the cluster."""
        if not self._thread.is_alive():
            return
        with contextlib.suppress(Exception):
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
        """Connect to the scheduler, and wait for its first workers. Raises `BadUsage` if an
        encrypted address has no certificates, and `SessionError` if nobody answers."""
        # Nothing is logged: we report Dask's errors in our own words.
        for name in ("distributed", "distributed.client", "tornado", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        warnings.filterwarnings("ignore", module=r"distributed\.")
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
        security = distributed.Security()  # from Dask's configuration
        encrypted = self._address.split(":")[0] in ENCRYPTED
        if encrypted and security.get_connection_args("client").get("ssl_context") is None:
            raise BadUsage(
                f"{CLUSTER.flag} {self._address} needs certificates: name them in Dask's "
                "configuration (distributed.comm.tls; docs/scaling.md)"
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
                for topic in ("print", "warn"):  # which workers use to print here
                    self._client.unsubscribe_topic(topic)
        except Exception as error:  # noqa: BLE001 (Dask may raise anything)
            raise SessionError(
                f"no Dask scheduler answers at {self._address} ({_reason(error)})"
            ) from None
        self._end = self._loop.create_future()
        await self._find_workers(FIRST_PATIENCE)
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        try:
            while True:
                await asyncio.sleep(POLL_SECONDS)
                await self._find_workers(PATIENCE)
        except SessionError as error:
            self._end.set_result(error)

    async def _find_workers(self, patience: float) -> None:
        """Return once there are workers. Raises SessionError if there are none after ``patience``
        seconds."""
        begin = time.monotonic()
        while True:
            try:
                async with asyncio.timeout(REPLY_SECONDS):
                    reply = await self._client.scheduler.identity(n_workers=-1)
                threads = [
                    int(worker["nthreads"])
                    for worker in reply["workers"].values()
                    if worker["status"] != "closed"
                ]
            except Exception as error:  # noqa: BLE001 (as in _connect)
                raise self._lost(error) from None
            self.workers = len(threads)
            self.jobs = sum(threads)
            if self.workers:
                if self._activity.trouble == NO_WORKER:
                    self._activity.trouble = None
                return
            self._activity.trouble = NO_WORKER  # each time, since arriving pages clear it
            if time.monotonic() - begin > patience:
                start = f"start one with `dask worker`, for the scheduler of {CLUSTER.flag}"
                raise SessionError(f"{NO_WORKER}: {start}")
            await asyncio.sleep(POLL_SECONDS)

    async def _job(self, fn: Callable[..., T], job: Job) -> T:
        """The result of a job. Raises JobFailed, WorkerDied, SessionError."""
        # Dask sends an array as it is.
        packed = np.frombuffer(pickle.dumps((fn, job), protocol=5), np.uint8)
        task = self._client.submit(answer, self._initial, packed, pure=False)
        answering = asyncio.ensure_future(self._bytes(task))
        try:
            first: set[asyncio.Future[Any]] = {answering, self._end}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise self._end.result()
            reply = Answer.read(answering.result())
            for name, version in self._versions.items():
                ours = version[:16]
                theirs = reply.versions.get(name, "?")[:16]
                if theirs != ours:
                    raise SessionError(
                        f"a worker of the cluster has {name} {visible(theirs)} (the trainer: "
                        f"{ours}): install the same versions on all machines"
                    )
            if reply.failed:
                raise JobFailed(reply.failed[:300])
            if reply.died:
                raise WorkerDied(reply.died[:300])
            result: T = reply.result(fn, job, self._n_words)
        except Damaged:
            raise SessionError(
                "a worker of the cluster sent something other than word counts"
            ) from None
        finally:
            answering.cancel()
            with contextlib.suppress(Exception):  # the client may be closed by now
                task.release()
        return result

    async def _bytes(self, task: distributed.Future) -> object:
        """What a task returned, as plain bytes, which Dask reads without unpickling anything."""
        failed = partial("a worker of the cluster failed: {}".format)
        try:
            while True:
                failure = await task.exception()
                if isinstance(failure, distributed.KilledWorker):
                    raise WorkerDied("several workers of the cluster died while counting it")
                if failure is not None:
                    raise SessionError(failed(_reason(failure)))
                async with self._receiving:
                    sizes = await self._client.nbytes([task.key], summary=False)
                    if sizes.get(task.key, 0) > LARGEST:
                        raise SessionError(failed(f"an answer of over {LARGEST >> 20} MB"))
                    reply = await self._client.scheduler.gather(
                        keys=[task.key], deserializers=("msgpack", "error")
                    )
                if task.key in reply.get("data", ()):
                    return reply["data"][task.key]
                await asyncio.sleep(POLL_SECONDS)  # its worker has been lost: the task is run again
        except (SessionError, WorkerDied):
            raise
        except TypeError as error:  # by Dask, for anything but plain bytes
            raise SessionError(failed(_reason(error))) from None
        except Exception as error:  # noqa: BLE001 (as in _connect)
            raise self._lost(error) from None

    def _lost(self, error: Exception) -> SessionError:
        return SessionError(f"the Dask scheduler of {CLUSTER.flag} is lost ({_reason(error)})")

    async def _stop(self) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        if self._client is not None:
            with contextlib.suppress(Exception):
                await self._client.close(timeout=CLOSE_SECONDS)
            # Otherwise deleting it would close it again, without its loop.
            self._client.status = "closed"


def _reason(error: BaseException) -> str:
    """An error in one line, without the addresses that Dask tends to include, since a session may
    store the line."""
    if isinstance(error, TimeoutError):
        return "it does not answer in time"
    lines = str(error).strip().splitlines()
    first_line = lines[0].strip() if lines else ""
    return _ADDRESS.sub("…", first_line)[:300] or type(error).__name__
