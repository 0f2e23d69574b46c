"""Signals that ask for an end are noted within the block, and passed on once somebody listens."""

import asyncio
import signal

from wikitopics.session.signals import Signals


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
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals() as signals:
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signals.noted == []
    finally:
        signal.signal(signal.SIGHUP, before)
