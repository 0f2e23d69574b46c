"""Work in fixed blocks of documents or words, for the same result from any number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar, cast

import numpy as np

from wikitopics.model.minibatch import Vector

Result = TypeVar("Result")


class Threads:
    """Runs a function over the blocks [0, size), [size, 2 size) … of n items, on several threads.

    Blocks depend only on n and size, and results come back in the order of the blocks, so that
    adding them up in that order gives the same bits from one thread as from many. Each call must
    write to its own places. Threads run at the same time where the function calls kernels, which
    release the GIL.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    @property
    def threads(self) -> int:
        """How many there are; setting it raises ValueError for less than 1."""
        return self._threads

    @threads.setter
    def threads(self, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self._threads = threads

    def map(self, work: Callable[[int, int], Result], n: int, size: int) -> list[Result]:
        """[work(start, stop) for each block], in order."""
        blocks = [(start, min(start + size, n)) for start in range(0, n, size)]
        if self.threads == 1 or len(blocks) < 2:
            return [work(start, stop) for start, stop in blocks]
        if self._pool is None:
            # Each starts when it is first needed.
            most = max(self.threads, os.cpu_count() or 1)
            self._pool = ThreadPoolExecutor(most, thread_name_prefix="model")
        waiting = iter(enumerate(blocks))  # from which each thread takes the next block
        results: list[Result | None] = [None] * len(blocks)

        def work_off_blocks() -> None:
            for number, (start, stop) in waiting:
                results[number] = work(start, stop)

        # One task per thread, this one included: a task per block would cost a tenth of the work.
        n_threads = min(self.threads, len(blocks))
        others = [self._pool.submit(work_off_blocks) for _ in range(n_threads - 1)]
        try:
            work_off_blocks()
        finally:
            wait(others)
        for other in others:
            other.result()  # raises what was raised there
        return cast(list[Result], results)

    def run(self, kernel: Callable[..., None], n: int, size: int, *arguments: Any) -> None:
        """kernel(start, stop, *arguments) for each block."""

        def block(start: int, stop: int) -> None:
            kernel(start, stop, *arguments)

        self.map(block, n, size)

    def total(
        self,
        kernel: Callable[..., None],
        n: int,
        size: int,
        K: int,
        *arguments: Any,
    ) -> Vector:
        """(K,) what a kernel adds to its last argument, an array of zeros for each block, summed
        over the blocks in their order."""

        def block(start: int, stop: int) -> Vector:
            of_block = np.zeros(K)
            kernel(start, stop, *arguments, of_block)
            return of_block

        return sum(self.map(block, n, size), np.zeros(K))


ALONE = Threads(1)
"""For those who bring no threads."""
