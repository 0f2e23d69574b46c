"""Worker processes that run the jobs sent through a pipe, as an `Executor`.

Unlike a `multiprocessing` pool, they need no semaphores (``/dev/shm`` may be full or read-only), no
server and no tracker. They leave nothing behind however they end, and a worker that dies loses only
its own job.
"""

import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar, cast

from wikitopics.processes import collect_rarely, end_with_parent, start_python

PROTOCOL = 5
"""Of pickle: arrays and large bytes go into the pipe without being copied first."""
P = ParamSpec("P")
T = TypeVar("T")


class WorkerDied(Exception):
    """A worker ended before it answered, or did not start. The message says how, as far as that is
    known."""


class JobFailed(Exception):
    """A job raised an exception; the message is its ``repr``."""


class Pool(Executor):
    """Workers that know a vocabulary and a source."""

    jobs: int
    """The number of jobs done at a time; it may change."""


class Workers(Pool):
    """Up to ``number`` processes, started when there is work for them; each runs ``initializer``
    first.

    Functions and arguments are pickled. A future raises `JobFailed` if its job raised an exception,
    and `WorkerDied` if the process was lost; the next job gets a new process.
    """

    def __init__(
        self,
        number: int,
        initializer: Callable[..., object],
        initargs: tuple[Any, ...],
    ) -> None:
        self.jobs = number
        self._first_call = (initializer, initargs)
        # One thread waits for each worker, so that the job that killed it is known.
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="worker")
        self._of_thread = threading.local()
        self._workers: set[_Worker] = set()
        self._changing = threading.Lock()
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call ``fn``."""
        return self._threads.submit(self._compute, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """With ``wait``, finish the jobs in progress; otherwise kill their workers."""
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        with self._changing:
            self._closed = True
            workers = self._workers
            self._workers = set()
        for worker in workers:
            worker.end()

    def _compute(self, fn: Callable[P, T], args: Any, kwargs: Any) -> T:
        """The result of ``fn``, called by this thread's worker, which is started if there is none.
        Raises `JobFailed` for an error in ``fn``, and `WorkerDied`."""
        worker: _Worker | None = getattr(self._of_thread, "worker", None)
        if worker is None:
            worker = self._start()
            self._of_thread.worker = worker
        try:
            return worker.ask(fn, args, kwargs)
        except JobFailed:
            raise
        except BaseException:  # it died, or half a message is in its pipe
            self._of_thread.worker = None
            with self._changing:
                self._workers.discard(worker)
            worker.end()
            raise

    def _start(self) -> "_Worker":
        with self._changing:
            if self._closed:
                raise WorkerDied("the workers have been shut down")
            worker = _Worker()
            self._workers.add(worker)
        worker.tell(*self._first_call)
        return worker


class _Worker:
    """One process, and the pipes to it."""

    def __init__(self) -> None:
        self._ending = threading.Lock()
        try:
            self._process = start_python(
                __name__,
                [str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise WorkerDied(f"could not be started: {error.strerror}") from None

    def tell(self, fn: Callable[..., object], args: Any, kwargs: Any = None) -> None:
        """Make it call ``fn``."""
        assert self._process.stdin is not None
        try:
            pickle.dump((fn, args, kwargs or {}), self._process.stdin, PROTOCOL)
            self._process.stdin.flush()
        except (OSError, ValueError):  # ValueError: closed by end() in another thread
            raise self._died() from None

    def ask(self, fn: Callable[..., T], args: Any, kwargs: Any) -> T:
        """The result of ``fn``."""
        assert self._process.stdout is not None
        self.tell(fn, args, kwargs)
        try:
            value, failure = pickle.load(self._process.stdout)  # noqa: S301 (our own process)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise self._died() from None
        if failure is not None:
            raise JobFailed(failure)
        return cast(T, value)

    def end(self) -> str:
        """Kill it; returns the last line that it wrote to standard error. May be called from any
        thread, more than once."""
        with self._ending:
            self._process.kill()
            _, said = self._process.communicate()
        for line in reversed(said.decode(errors="replace").splitlines()):
            if line.strip():
                return line
        return ""

    def _died(self) -> WorkerDied:
        """The error for a worker that has ended, or hangs: how it ended, and its last line."""
        with contextlib.suppress(subprocess.TimeoutExpired):  # for one that hangs
            self._process.wait(5)
        last_line = self.end()
        code = self._process.wait()
        if code >= 0:
            how = f"ended with code {code}"
        else:
            how = f"was killed by {signal.Signals(-code).name}"
        return WorkerDied(f"{how}: {last_line}" if last_line else how)


def main() -> None:
    """Run as a worker: do the jobs that arrive, in order, until standard input ends."""
    end_with_parent()
    collect_rarely()
    if os.getppid() != int(sys.argv[1]):  # it has ended already
        return
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not pass for an answer
    os.set_blocking(2, False)  # it is read only at the end, and a full pipe must not block
    # Unbuffered: what the pipe cannot take is dropped; a buffer would raise BlockingIOError in the
    # job.
    unbuffered = open(2, "wb", buffering=0, closefd=False)  # noqa: SIM115 (stays open)
    printed = io.TextIOWrapper(
        unbuffered,
        "utf-8",
        "backslashreplace",
        write_through=True,
    )
    sys.stdout = printed
    sys.stderr = printed
    jobs = sys.stdin.buffer
    with answers, contextlib.suppress(EOFError):  # the parent has ended
        initializer, args, kwargs = pickle.load(jobs)  # noqa: S301 (from our own parent, like all of them)
        initializer(*args, **kwargs)
        while True:
            fn, args, kwargs = pickle.load(jobs)  # noqa: S301
            value = None
            failure = None
            try:
                value = fn(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 (it is told to whoever asked)
                failure = repr(error)
            pickle.dump((value, failure), answers, PROTOCOL)
            answers.flush()


if __name__ == "__main__":
    main()
