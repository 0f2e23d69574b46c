"""What a run tells of its work: how long it has run, and how long it has been saving."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from wikitopics.crawler.source import Activity
from wikitopics.session.training import run as runs
from wikitopics.session.training.run import Limits, Run


def run_of(commit):
    progress = SimpleNamespace(elapsed_seconds=0.0, bytes_read=0)
    stream = SimpleNamespace(progress=progress, commit=commit)
    return Run(SimpleNamespace(close=lambda: None), stream, SimpleNamespace(activity=Activity()), Limits())


@pytest.fixture
def clock(monkeypatch):
    """The time in seconds, as a list of one."""
    now = [100.0]
    monkeypatch.setattr(runs, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_time_in_which_the_process_was_suspended_is_no_running_time(clock):
    run, ran = run_of(None), []
    for now in (101.0, 102.0, 702.0, 703.0):
        clock[0] = now
        ran.append(run.ran())
    assert ran == [1.0, 2.0, 2.0, 3.0]


async def test_how_long_a_commit_has_taken_is_told_while_it_lasts(clock):
    seen = []

    def commit(*_):
        clock[0] += 3
        seen.append(run.saving_seconds())

    run = run_of(commit)
    assert run.saving_seconds() == 0
    await run.commit()
    assert (seen, run.saving_seconds()) == ([3], 0)
    await run.close()


async def test_all_work_is_done_by_one_thread_and_so_in_turn():
    go_on = threading.Event()
    run = run_of(lambda *_: go_on.wait())
    before = set(threading.enumerate())
    commits = [asyncio.create_task(run.commit()) for _ in range(2)]
    await asyncio.sleep(0)
    begun = set(threading.enumerate()) - before
    go_on.set()
    await asyncio.gather(*commits)
    await run.close()
    assert len(begun) == 1
