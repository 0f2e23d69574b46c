"""Work on fixed blocks of documents or words: the same result from any number of threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar, cast

T = TypeVar("T")


class Workers:
    """Runs a function over blocks [0, size), [size, 2 size) … of n items; kernels inside it release the GIL.

    Blocks depend only on n and size, and results come back in the order of the blocks, so adding them up in
    that order gives the same bits from one thread as from many. Each call must write to places of its own.
    """

    def __init__(self, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def map(self, work: Callable[[int, int], T], n: int, size: int) -> list[T]:
        """[work(start, stop) for each block], in order."""
        blocks = [(start, min(start + size, n)) for start in range(0, n, size)]
        if self.threads == 1 or len(blocks) < 2:
            return [work(start, stop) for start, stop in blocks]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="model")
        waiting = deque(enumerate(blocks))
        results: list[T | None] = [None] * len(blocks)

        def drain() -> None:
            while True:
                try:
                    i, (start, stop) = waiting.popleft()
                except IndexError:
                    return
                results[i] = work(start, stop)

        # One task per thread, including this one: handing over every block would cost a tenth of the work.
        others = [self._pool.submit(drain) for _ in range(min(self.threads, len(blocks)) - 1)]
        try:
            drain()
        finally:
            wait(others)
        for other in others:
            other.result()
        return cast(list[T], results)
