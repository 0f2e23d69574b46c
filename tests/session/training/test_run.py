"""A run over a source in memory: to its end, to its limits, as it is asked to from outside."""

import asyncio
import os

from tests.session.memory import account_holds, log_of, pages_of, pause, reasons, status
from tests.waiting import until_true
from wikitopics.session import control
from wikitopics.session.training.run import Limits, Run
from wikitopics.session.training.stream import Stream


async def test_to_the_end_of_the_source_and_no_further(trainer_of, memory):
    assert await trainer_of(memory) == "finished"
    now = status(trainer_of.path)
    assert (now.state, now.articles, now.held_out, now.pending) == ("finished", 570, 30, 0)
    assert now.skipped == 100 + 70
    assert now.skips == {"no known word": 100, "disambiguation": 70}
    assert now.crawled == 770
    assert now.bytes_read == 70_000
    assert now.models[0].perplexity is not None
    assert pages_of(trainer_of.path) == list(range(1, 701))
    assert reasons(trainer_of.path) == ["finished"]
    log = [text for _, text in log_of(trainer_of.path)]
    assert "skipped so far: 170 (no known word 100, disambiguation 70)" in log
    assert any(line.startswith("after 570 documents: perplexity lda ") for line in log)
    assert await trainer_of(memory) == "finished"
    after = status(trainer_of.path)
    assert (after.articles, after.crawled, after.models) == (now.articles, now.crawled, now.models)


async def test_rates_fade_while_nothing_is_learnt(trainer_of, memory, monkeypatch):
    monkeypatch.setattr("wikitopics.session.training.intake.blocks.SECONDS", 0.5)
    memory.hang_at = 400
    run = asyncio.create_task(trainer_of(memory))
    await until_true(memory.hanging.is_set)

    def rests():
        now = status(trainer_of.path)
        return now.articles and (now.activity.train_rate, now.activity.crawl_rate) == (0.0, 0.0)

    await until_true(rests)
    assert status(trainer_of.path).state == "running"
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


async def test_what_was_learnt_is_saved_before_a_step_that_would_keep_it_waiting(
    trainer_of, memory, monkeypatch
):
    real, seen = Stream.step, []

    def step(self, elapsed):
        seen.append((self.measures_next, status(trainer_of.path).articles == self.progress.articles))
        return real(self, elapsed)

    monkeypatch.setattr(Run, "commits_before", lambda _, work: work is not None and work.measures)
    monkeypatch.setattr(Stream, "step", step)
    assert await trainer_of(memory) == "finished"
    assert [number for number, (measures, _) in enumerate(seen, start=1) if measures] == [1, 2, 4, 8]
    assert all(saved for measures, saved in seen if measures)
    assert not all(saved for _, saved in seen)


async def test_hours_are_this_runs(trainer_of, memory):
    memory.hang_at = 0
    assert "--hours" in await trainer_of(memory, Limits(hours=0.1 / 3600))
    assert "--hours" in await trainer_of(memory, Limits(hours=0.1 / 3600))
    assert status(trainer_of.path).elapsed_seconds >= 0.2


async def test_megabytes_are_this_runs(trainer_of, memory):
    memory.slow = 0.001
    assert "--max-mb" in await trainer_of(memory, Limits(megabytes=0.02))
    first = status(trainer_of.path)
    assert first.bytes_read >= 20_000
    assert account_holds(first)
    await trainer_of(memory, Limits(megabytes=0.02))
    assert status(trainer_of.path).bytes_read >= first.bytes_read + 20_000


async def test_pause_and_resume(trainer_of, memory):
    memory.slow = 0.02
    memory.hang_at = 600  # the run cannot be over before it is paused
    path = trainer_of.path

    async def meanwhile(run):
        await until_true(lambda: run.stream.progress.crawled > 0)
        await pause(path, run)
        await asyncio.sleep(0.1)
        before = run.stream.progress.crawled
        await asyncio.sleep(0.4)
        assert run.stream.progress.crawled == before
        await until_true(lambda: status(path).state == "paused")
        await until_true(lambda: run.learnt.of_steps() == 0.0)
        await asyncio.to_thread(control.ask, path, paused=False)
        memory.slow = 0.0
        memory.go_on.set()
        await until_true(lambda: run.stream.progress.crawled > before)

    assert await trainer_of(memory, meanwhile=meanwhile) == "finished"
    assert pages_of(path) == list(range(1, 701))


async def test_a_save_that_is_asked_for_is_made_though_none_is_due(trainer_of, memory, monkeypatch):
    monkeypatch.setattr(Run, "commits_before", lambda *_: False)
    memory.hang_at = 140

    async def ask(run):
        await memory.hanging.wait()
        await until_true(lambda: run.stream.progress.articles == 64)
        assert status(trainer_of.path).crawled == 0
        await asyncio.to_thread(control.ask, trainer_of.path, save=True)
        await until_true(lambda: status(trainer_of.path).articles == 64)
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=ask) == "enough"


async def test_hours_end_a_paused_run_too(trainer_of, memory, monkeypatch):
    memory.hang_at = 400
    passed = 0
    ran = Run.ran
    monkeypatch.setattr(Run, "ran", lambda run: ran(run) + passed)

    async def meanwhile(run):
        nonlocal passed
        await until_true(lambda: run.stream.progress.crawled > 0)
        await pause(trainer_of.path, run)
        passed = 3600

    assert "--hours" in await trainer_of(memory, Limits(hours=1), meanwhile)


async def test_the_heartbeat_says_what_goes_on(trainer_of, memory):
    memory.hang_at = 100

    async def look(run):
        await memory.hanging.wait()
        await until_true(lambda: status(trainer_of.path).waiting_for == "the wiki")
        now = status(trainer_of.path)
        assert (now.running, now.pid, now.state) == (True, os.getpid(), "running")
        assert now.heartbeat_age_seconds < 60
        run.stop("enough")

    await trainer_of(memory, meanwhile=look)
    now = status(trainer_of.path)
    assert (now.running, now.pid, now.waiting_for) == (False, None, None)
