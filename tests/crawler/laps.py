"""A whole lap through a wiki, in pieces."""

import json
from contextlib import aclosing

import pytest


async def crawl(make, batches_each):
    """Every page, and the number of those skipped: sources that ``make`` makes read so many batches
    each, from the stored position of the one before."""
    pages = []
    skipped = 0
    share = 0.0
    position = None
    while True:
        source = make()
        n_batches = 0
        try:
            async with aclosing(source.batches(position)) as batches:
                async for batch in batches:
                    pages += batch.pages
                    skipped += sum(batch.skips.values())
                    position = json.loads(json.dumps(batch.position))
                    assert batch.lap is not None
                    assert share <= batch.lap <= 1
                    share = batch.lap
                    n_batches += 1
                    if n_batches == batches_each:
                        break
        finally:
            await source.close()
        if n_batches < batches_each:
            assert share == pytest.approx(1.0)
            return pages, skipped
