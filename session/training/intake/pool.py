"""Counts pages in worker processes that survive whatever a page does to its reader."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import ParamSpec, TypeVar

from wikitopics.crawler.source import Page, SourceInfo
from wikitopics.session.errors import SessionError
from wikitopics.session.storage.block import Block
from wikitopics.session.training.intake.count_pages import (
    CALL_SECONDS,
    count_in_worker,
    skipped,
    start_worker,
)
from wikitopics.session.training.intake.workers import JobFailed, WorkerDied, Workers

P = ParamSpec("P")
T = TypeVar("T")

MOST_DEATHS = 3
"""If more jobs than this in a row kill their workers, the pages are not to blame."""


class CountingPool:
    """Has pages counted by the workers of an executor, which know a vocabulary and a source."""

    def __init__(self, executor: Executor, jobs: Callable[[], int]) -> None:
        self._executor = executor
        self.jobs = jobs
        """The number of jobs that must be in progress so that no worker is idle; it may change."""
        self._deaths = 0

    @classmethod
    def here(cls, words: Sequence[str], info: SourceInfo, workers: int) -> "CountingPool":
        """Processes on this machine."""
        return cls(Workers(workers, start_worker, (tuple(words), info)), lambda: workers)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a worker call ``fn``."""
        return self._executor.submit(fn, *args, **kwargs)

    async def result(self, job: Future[T]) -> T:
        """The job's result. Cancelling the wait does not cancel the job.

        Raises `JobFailed`, `WorkerDied`, and SessionError if one worker after another dies.
        """
        made = asyncio.wrap_future(job)
        made.add_done_callback(_look_at)
        try:
            found = await asyncio.shield(made)
        except WorkerDied as death:
            self._deaths += 1
            if self._deaths > MOST_DEATHS:
                raise SessionError(
                    "the processes that parse articles keep dying, perhaps out of memory "
                    f"(the last one {death})"
                ) from None
            raise
        self._deaths = 0
        return found

    async def one_by_one(self, pages: Sequence[Page]) -> Block:
        """Count pages one at a time; a page that still fails or kills its worker is left empty, with a
        warning."""
        parts: list[Block] = []
        warnings: list[str] = []
        for page in pages:
            try:
                parts.append(await self.result(self.submit(count_in_worker, (page,))))
                continue
            except WorkerDied:
                reason = f"the process that read it was killed, or took over {CALL_SECONDS} s"
            except JobFailed as error:
                reason = str(error)[:200]
            warnings.append(skipped(page, reason))
            parts.append(Block.uncounted(page))
        return replace(Block.concatenate(parts), warnings=tuple(warnings))

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def _look_at(made: asyncio.Future[T]) -> None:
    """Retrieve the error, so that asyncio does not report it when nothing waits for it any more."""
    if not made.cancelled():
        made.exception()
