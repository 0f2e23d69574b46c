"""Worker processes: what a lost one costs, and that none outlives who started it."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from tests.session.memory import blocks_of
from tests.session.training.own_texts import over_few_words, write
from tests.waiting import gone, until
from wikitopics.processes import start_python
from wikitopics.session.errors import SessionError
from wikitopics.session.training.blocks import Intake
from wikitopics.session.training.workers import JobFailed, WorkerDied, Workers

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


@pytest.fixture
def workers():
    """Two, prepared by nothing."""
    pool = Workers(2, int, ())
    yield pool
    pool.shutdown(wait=False, cancel_futures=True)
    assert not pool._workers


def test_what_a_job_returns_raises_and_prints(workers, capfd):
    assert workers.submit(max, 3, 4).result(600) == 4
    with pytest.raises(JobFailed, match=r"ValueError\(.*'x'"):
        workers.submit(int, "x").result(600)
    assert workers.submit(print, "is no answer").result(600) is None
    assert capfd.readouterr() == ("", "")


def test_a_lost_worker_takes_its_own_job_and_no_other(workers):
    slow = workers.submit(time.sleep, 0.5)
    with pytest.raises(WorkerDied, match="ended with code 7"):
        workers.submit(os._exit, 7).result(600)
    with pytest.raises(WorkerDied, match="SIGKILL"):
        workers.submit(signal.raise_signal, signal.SIGKILL).result(600)
    assert slow.result(600) is None
    assert workers.submit(len, "four").result(600) == 4


def test_after_half_a_message_the_next_job_gets_a_new_worker():
    pool = Workers(1, int, ())
    assert pool.submit(len, "four").result(600) == 4
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pool.submit(len, [b"x" * (1 << 20), lambda: None]).result(600)
    assert pool.submit(len, "four").result(600) == 4
    assert len(pool._workers) == 1
    pool.shutdown()


def test_a_worker_that_never_ends_is_killed_with_the_pool():
    pool = Workers(1, int, ())
    job = pool.submit(time.sleep, 600)
    until(job.running)
    until(lambda: pool._workers)
    pool.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(WorkerDied):
        job.result(600)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_much_that_a_job_prints_does_not_hold_a_worker_up(monkeypatch, stream):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    pool = Workers(1, int, ())
    job = f"import sys\nfor _ in range(400): sys.{stream}.write('x' * 1000)"
    assert pool.submit(exec, job).result(600) is None
    pool.shutdown()


@linux
@pytest.mark.parametrize("stopped", [False, True])
def test_no_worker_outlives_a_killed_parent(stopped, tmp_path):
    job = (
        f"import os, time; open({str(tmp_path)!r} + f'/{{os.getpid()}}', 'w').close(); "
        "time.sleep(600)"
    )
    script = (
        "import time; from wikitopics.session.training.workers import Workers\n"
        f"pool = Workers(2, int, ()); jobs = [pool.submit(exec, {job!r}) for _ in range(2)]\n"
        "while len(pool._workers) < 2: time.sleep(0.01)\n"
        "print(*(one._process.pid for one in pool._workers), flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    if stopped:
        # Each has told the kernel whom to follow before it works.
        until(lambda: all((tmp_path / str(pid)).exists() for pid in pids))
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
    parent.kill()
    parent.communicate()
    assert len(pids) == 2
    try:
        until(lambda: all(gone(pid) for pid in pids))
    finally:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_worker_ends_though_its_parent_died_while_it_sent_a_job():
    """Neither is the job whole, nor does anybody read what the worker says of it."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    worker = start_python("wikitopics.session.training.workers", [str(os.getpid())], **pipes)
    with worker:
        worker.stderr.close()
        worker.stdin.write(pickle.dumps((int, ("1" * 1000,), {}))[:500])
        worker.stdin.close()
        try:
            until(lambda: worker.poll() is not None)
        finally:
            worker.kill()
    assert worker.returncode > 0  # 120 if Python notices that its last words went nowhere


@pytest.mark.long
def test_a_full_dev_shm_is_nothing_to_the_trainer(tmp_path):
    """Where semaphores cannot be made, a pool of multiprocessing fails with "No space left on
    device"."""
    script = (
        "import _multiprocessing, errno, sys\n"
        "def full(*_, **__): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "_multiprocessing.SemLock = full\n"
        "from wikitopics.cli import run; sys.exit(run(sys.argv[1:]))"
    )
    texts = ("--texts", str(write(tmp_path / "a.jsonl", 0, 100)), *over_few_words(tmp_path))
    command = [sys.executable, "-c", script, "train", *texts, "--passes", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "everything is saved" in done.stderr


async def test_workers_that_cannot_start_are_one_clear_error(memory, capfd):
    feed = Intake(memory, Workers(1, exec, ("raise MemoryError('for a worker')",)))
    with pytest.raises(
        SessionError, match=r"often of too little memory.*code 1: MemoryError"
    ) as caught:
        await blocks_of(feed)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""
