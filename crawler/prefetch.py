"""Work ahead: the next request is on its way while the caller still digests the last reply."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


async def ahead(items: AsyncGenerator[T], most: int = 1) -> AsyncGenerator[T]:
    """The same items, of which up to ``most`` wait ready beside the one under way.

    An exception comes out behind the items that came before it. Closing this generator ends
    ``items`` too.
    """
    queue: asyncio.Queue[T | _End] = asyncio.Queue(most)
    task = asyncio.create_task(_fill(items, queue))
    try:
        while not isinstance(item := await queue.get(), _End):
            yield item
        await task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # seen: either raised above or nobody is left to hear it


class _End:
    """Stands behind the last item."""


async def _fill(items: AsyncGenerator[T], queue: "asyncio.Queue[T | _End]") -> None:
    try:
        async with aclosing(items) as closing:
            async for item in closing:
                await queue.put(item)
    finally:
        task = asyncio.current_task()
        if task is None or not task.cancelling():
            await queue.put(_End())
