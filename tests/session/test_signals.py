"""Signals that ask for an end are noted within the block, and passed on once somebody listens."""

import asyncio
import signal

import pytest

from wikitopics.session.signals import ENDING, Signals


@pytest.fixture(autouse=True)
def heeded():
    """Also where the tests were started by nohup, which has SIGHUP ignored."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


async def test_what_came_before_anybody_listened_is_passed_on():
    heard = []
    before = signal.getsignal(signal.SIGTERM)
    with Signals() as signals:
        signal.raise_signal(signal.SIGTERM)
        signals.tell(heard.append)
        signal.raise_signal(signal.SIGHUP)
        while len(heard) < 2:
            await asyncio.sleep(0.01)
    assert heard == signals.noted == [signal.SIGTERM, signal.SIGHUP]
    assert signal.getsignal(signal.SIGTERM) is before


def test_one_that_is_ignored_stays_ignored():
    """As nohup has it for SIGHUP."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with Signals() as signals:
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert signals.noted == []
