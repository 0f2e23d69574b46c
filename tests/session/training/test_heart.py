"""A heartbeat that dies: the run ends at once, in order, with what it has."""

import pytest

from tests.session.memory import account_holds, log_of, pause, reasons, status
from tests.waiting import until_true
from wikitopics.session.errors import DiskFull, SessionError
from wikitopics.session.storage.trainer import HeartbeatWriter


@pytest.fixture
def break_heart(monkeypatch):
    """`break_heart(error)`: from now on every beat fails."""

    def break_it(error):
        """Returns the beats that have failed."""
        failed = []

        def beat(self, *arguments, **more):
            failed.append(error)
            raise error

        monkeypatch.setattr(HeartbeatWriter, "beat", beat)
        return failed

    return break_it


@pytest.mark.parametrize("error", [RuntimeError("a bug"), SessionError("s.db cannot be written")])
@pytest.mark.parametrize("paused", [False, True])
async def test_its_death_ends_the_run_at_once_and_loses_nothing(
    trainer_of, memory, break_heart, error, paused
):
    """Though the run waits for a source that never answers, or for the end of a pause."""
    memory.hang_at = 140

    async def die(run):
        await memory.hanging.wait()
        await until_true(lambda: run.stream.progress.articles == 64 and not run.busy)
        if paused:
            await pause(trainer_of.path, run)
        break_heart(error)
        await until_true(lambda: run.stopping.is_set())

    with pytest.raises(type(error), match=str(error)):
        await trainer_of(memory, meanwhile=die)
    now = status(trainer_of.path)
    assert (now.articles, now.pending, now.crawled) == (64, 120 - 30 - 64, 140 + 14)
    assert account_holds(now)
    assert reasons(trainer_of.path) == [f"the heartbeat failed: {error}"]
    assert log_of(trainer_of.path)[-1][1] == f"the trainer ended: the heartbeat failed: {error}"


async def test_it_outlives_a_disk_that_is_full_for_a_while(trainer_of, memory, break_heart, monkeypatch):
    memory.hang_at = 100
    real = HeartbeatWriter.beat

    async def fill(run):
        await memory.hanging.wait()
        failed = break_heart(DiskFull("the disk is full: s.db"))
        await until_true(lambda: len(failed) > 2)
        assert not run.stopping.is_set()
        monkeypatch.setattr(HeartbeatWriter, "beat", real)
        await pause(trainer_of.path, run)
        run.stop("enough")

    assert await trainer_of(memory, meanwhile=fill) == "enough"
