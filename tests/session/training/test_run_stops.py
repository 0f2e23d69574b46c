"""However a run is brought to an end, what arrived is saved, and the next one goes on there."""

import os
import signal
import threading

import pytest

from tests.session.memory import account_holds, log_of, pages_of, reasons, status
from tests.waiting import until_true
from wikitopics.crawler.source import WikiRefused, WikiUnreachable
from wikitopics.session.training.intake import blocks as feed_module
from wikitopics.session.training.stream import Stream


@pytest.mark.parametrize("reason", ["enough", "stopped by SIGTERM"])
async def test_a_stop_keeps_all_that_was_fetched_and_trains_no_short_minibatch(trainer_of, memory, reason):
    memory.hang_at = 140

    async def stop(run):
        await memory.hanging.wait()
        await until_true(lambda: run.stream.progress.articles == 64 and not run.busy)
        if reason == "enough":
            run.stop(reason)
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    assert await trainer_of(memory, meanwhile=stop) == reason
    now = status(trainer_of.path)
    assert (now.state, now.articles, now.pending, now.crawled) == ("stopped", 64, 120 - 30 - 64, 140 + 14)
    assert account_holds(now)
    memory.hang_at = None
    assert await trainer_of(memory) == "finished"
    assert memory.starts == [0, 140]
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_a_stop_with_batches_under_way_drains_them(trainer_of, memory, monkeypatch):
    held, count = threading.Event(), feed_module.count_job
    monkeypatch.setattr(feed_module, "count_job", lambda job: held.wait() and count(job))

    async def stop(run):
        await until_true(lambda: run.feed.queued == 80)
        run.stop("enough")
        held.set()

    await trainer_of(memory, meanwhile=stop)
    now = status(trainer_of.path)
    assert (now.articles, now.crawled, now.pending) == (0, 88, 80 - 11 - 30)
    assert account_holds(now)
    await trainer_of(memory)
    assert memory.starts == [0, 80]
    assert status(trainer_of.path).crawled == 770
    assert pages_of(trainer_of.path) == list(range(1, 701))


@pytest.mark.parametrize(
    "error", [WikiUnreachable("gone"), WikiRefused("403: go away"), RuntimeError("a bug")]
)
async def test_an_error_of_the_source_saves_what_came_before_it(trainer_of, memory, error):
    memory.fail_at, memory.error = 150, error
    with pytest.raises(type(error), match=str(error)):
        await trainer_of(memory)
    now = status(trainer_of.path)
    assert (now.articles, now.crawled) == (64, 150 + 15)
    assert account_holds(now)
    assert reasons(trainer_of.path) == [str(error)]
    assert any(str(error) in text for _, text in log_of(trainer_of.path))
    memory.fail_at = None
    assert await trainer_of(memory) == "finished"
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_a_reader_of_progress_that_went_away_stops_the_run(trainer_of, memory):
    def report(_):
        raise BrokenPipeError

    memory.hang_at = 100
    assert "nothing reads" in await trainer_of(memory, report=report)
    assert account_holds(status(trainer_of.path))


async def test_a_step_that_fails_saves_nothing_half_done(trainer_of, memory, monkeypatch):
    real, calls = Stream.step, []

    def step(self, elapsed):
        calls.append(1)
        if len(calls) == 3:
            self.models[0].learn = None
        return real(self, elapsed)

    monkeypatch.setattr(Stream, "step", step)
    with pytest.raises(TypeError):
        await trainer_of(memory)
    monkeypatch.setattr(Stream, "step", real)
    assert account_holds(status(trainer_of.path))
    assert await trainer_of(memory) == "finished"
    assert status(trainer_of.path).articles == 570
    assert pages_of(trainer_of.path) == list(range(1, 701))


@pytest.mark.parametrize("work", ["step", "finish", "replace_topics"])
async def test_a_stop_gives_up_what_would_take_long_and_loses_nothing(trainer_of, memory, monkeypatch, work):
    monkeypatch.setattr("wikitopics.session.training.run.PATIENCE", 0.1)
    monkeypatch.setattr(
        "wikitopics.session.training.measuring.renewal_due", lambda before, after: after == 256
    )
    real, begun, held = getattr(Stream, work), threading.Event(), threading.Event()

    def slow(self, *arguments):
        real(self, *arguments)
        if work != "step" or self.progress.articles > 250:
            begun.set()
            held.wait()

    async def stop(run):
        await until_true(begun.is_set)
        run.stop("enough")

    monkeypatch.setattr(Stream, work, slow)
    try:
        assert await trainer_of(memory, meanwhile=stop) == "enough"
        now = status(trainer_of.path)
        assert account_holds(now)
        assert now.articles < 570 or work == "finish"
    finally:
        held.set()
    monkeypatch.setattr(Stream, work, real)
    assert await trainer_of(memory) == "finished"
    assert memory.starts[1] == now.crawled // 11 * 10
    assert status(trainer_of.path).articles == 570
    assert pages_of(trainer_of.path) == list(range(1, 701))


async def test_workers_that_stand_still_are_told_of(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.run.QUIET_SECONDS", 0.3)
    held, count = threading.Event(), feed_module.count_job
    monkeypatch.setattr(feed_module, "count_job", lambda job: held.wait() and count(job))

    def told():
        return [text for level, text in log_of(trainer_of.path) if level == "error"]

    async def wait(run):
        await until_true(
            lambda: "the processes that parse documents" in (status(trainer_of.path).waiting_for or "")
        )
        await until_true(told)  # the heart notes it after its beat
        monkeypatch.setattr("wikitopics.session.training.run.QUIET_SECONDS", 60)
        held.set()
        await until_true(lambda: status(trainer_of.path).waiting_for is None)

    assert await trainer_of(memory, meanwhile=wait) == "finished"
    assert sum("the processes that parse documents" in message for message in told()) == 1
