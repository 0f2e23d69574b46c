"""Processes as others can check them, and signals that ask for an end."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from wikitopics.session.signals import Signals, acting_later
from wikitopics.session.system import UNKNOWN, Process

INTERRUPTED = """
import random, signal, subprocess, sys
from wikitopics.session.signals import acting_later
random.seed(int(sys.argv[1]))
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))  # in the middle of anything
for _ in range(1000):
    process = None
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 0.003))
        with acting_later() as signals:
            process = subprocess.Popen(["sleep", "20"])
            assert signals.wait(process, 20) is None
            process.kill()
            process.wait()
    except KeyboardInterrupt:
        assert process is None or process.poll() == -signal.SIGKILL
    else:
        raise AssertionError("the signal is lost")
print("all")
"""


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


def test_a_signal_that_is_ignored_stays_ignored():
    """As nohup has it for SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals() as signals:
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert signals.noted == []
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_acts_at_the_end_of_the_block_even_of_one_that_fails():
    done = []

    def interrupted(error=None):
        with acting_later():
            signal.raise_signal(signal.SIGINT)
            done.append(error)
            if error is not None:
                raise error

    for error in (None, OSError):
        with pytest.raises(KeyboardInterrupt):
            interrupted(error)
    assert done == [None, OSError]


def test_two_signals_both_act_although_the_first_raises():
    heard = []

    def interrupted():
        with acting_later():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def test_outside_the_main_thread_nothing_is_recorded():
    before = signal.getsignal(signal.SIGINT)
    found = []

    def look():
        with acting_later():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [before]


def test_a_process_is_waited_for_until_its_end_the_time_or_a_signal():
    with Signals() as signals:
        assert signals.wait(subprocess.Popen(["sh", "-c", "exit 3"]), 60) == 3
        with subprocess.Popen(["sleep", "600"]) as process:
            assert signals.wait(process, 0.1) is None
            threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGTERM]).start()
            begun = time.monotonic()
            assert signals.wait(process, 60) is None
            assert time.monotonic() - begun < 30
            process.kill()


def test_ctrl_c_at_any_moment_leaves_no_process_that_cannot_be_waited_for():
    """`Popen.wait(seconds)` hangs for ever after about one in 400 exceptions from a handler within
    it."""
    command = [sys.executable, "-c", INTERRUPTED]
    trials = [subprocess.Popen([*command, str(seed)], stdout=subprocess.PIPE) for seed in range(5)]
    try:
        assert [trial.communicate(timeout=300)[0] for trial in trials] == [b"all\n"] * 5
    finally:
        for trial in trials:
            with trial:  # closes its pipe, and waits
                trial.kill()


NOBODY = 999_999_999
"""No process has so high a number."""


def test_a_process_lives_until_its_number_is_free_or_anothers():
    own = Process.own()
    assert Process.from_text(own.as_text()) == own
    assert own.lives() is True
    assert UNKNOWN.lives() is None
    assert replace(own, pid=NOBODY).lives() is False
    assert replace(own, start="at another time").lives() is False


@pytest.mark.parametrize("pid", [Process.own().pid, NOBODY], ids=["own", "nobody"])
@pytest.mark.parametrize(
    "unknown", [{"place": ""}, {"start": ""}, {"place": "another container"}], ids=str
)
def test_without_its_place_or_its_start_nobody_knows(pid, unknown):
    assert replace(Process.own(), pid=pid, **unknown).lives() is None
