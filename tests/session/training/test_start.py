"""What is said while a source is being opened."""

import asyncio
import time

import pytest

from crawler.source import Activity
from session.training.intake.opening import patiently


class Slow:
    """Opens once it has been told."""

    def __init__(self, activity):
        self.activity = activity
        self.told = asyncio.Event()

    async def open(self):
        await self.told.wait()
        return "opened"


@pytest.mark.parametrize(
    ("trying", "waiting", "says"),
    [
        (30, None, "no address; trying for another "),
        (None, 3600, "no address; next request at "),
        (None, None, "no address"),
    ],
)
async def test_how_long_a_wait_will_be_is_told_as_it_is(trying, waiting, says):
    now = time.time()
    activity = Activity(
        waiting_for="no address",
        trying_until=now + trying if trying else None,
        waiting_until=now + waiting if waiting else None,
    )
    source, said = Slow(activity), []

    def say(line):
        said.append(line)
        source.told.set()

    assert await asyncio.wait_for(patiently(source, say), 30) == "opened"
    assert said[0].startswith(says)
    assert ("trying" in said[0]) == bool(trying)
