"""What a run's one thread of work tells of itself."""

import asyncio
import threading
from types import SimpleNamespace

from wikitopics.session.training import learner as learners
from wikitopics.session.training.learner import Learner, Orders, RunningTime


def learner_of(commit):
    progress = SimpleNamespace(elapsed_seconds=0.0, bytes_read=0)
    stream = SimpleNamespace(progress=progress, commit=commit)
    return Learner(stream, SimpleNamespace(close=lambda: None), Orders())


def test_time_in_which_the_process_was_suspended_is_no_running_time():
    ran = RunningTime(iter((0.0, 1.0, 2.0, 602.0, 603.0)).__next__)
    assert [ran() for _ in range(4)] == [1.0, 2.0, 2.0, 3.0]


async def test_how_long_a_commit_has_taken_is_told_while_it_lasts(monkeypatch):
    now, seen = [100.0], []
    monkeypatch.setattr(learners, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def commit(*_):
        now[0] += 3
        seen.append(learner.saving_seconds())

    learner = learner_of(commit)
    assert learner.saving_seconds() == 0
    await learner.commit(0)
    assert (seen, learner.saving_seconds()) == ([3], 0)
    await learner.close()


async def test_all_work_is_done_by_one_thread_and_so_in_turn():
    go_on = threading.Event()
    learner = learner_of(lambda *_: go_on.wait())
    before = set(threading.enumerate())
    commits = [asyncio.create_task(learner.commit(0)) for _ in range(2)]
    await asyncio.sleep(0)
    begun = set(threading.enumerate()) - before
    go_on.set()
    await asyncio.gather(*commits)
    await learner.close()
    assert len(begun) == 1
