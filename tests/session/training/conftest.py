"""A run over a source in memory, in this process."""

import pytest


@pytest.fixture(autouse=True)
def layouts(short_layouts):
    """The maps of all runs here are laid out in a few steps."""


@pytest.fixture
def memory(corpus):
    """A source of 700 pages: see `memory.py`."""
    from tests.session.memory import Memory

    return Memory(list(corpus.words))


@pytest.fixture
def trainer_of(tmp_path, corpus, new_session, monkeypatch):
    """Runs a session over a source, counting in threads: `await trainer_of(source, limits)`."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from tests.session.memory import HELD_OUT, INFO
    from wikitopics.session.signals import Signals
    from wikitopics.session.storage.writer import SessionWriter
    from wikitopics.session.system import TrainerLock
    from wikitopics.session.training.blocks import Intake
    from wikitopics.session.training.jobs import CountedJob, count_pages
    from wikitopics.session.training.monitor import Monitor
    from wikitopics.session.training.run import Limits, Run
    from wikitopics.session.training.stream import Stream
    from wikitopics.vocab import Vocabulary

    path = new_session(
        tmp_path / "s.db",
        corpus,
        model=("lda:topics=3,batch_size=64",),
        held_out=HELD_OUT,
    )
    vocabulary = Vocabulary.from_words(corpus.words)
    # Tests wait for a heartbeat, or for the run to check its limits: make both come soon.
    monkeypatch.setattr("wikitopics.session.training.monitor.BEAT_SECONDS", 0.05)
    monkeypatch.setattr("wikitopics.session.training.run.COMMIT_SECONDS", 0.05)
    monkeypatch.setattr(
        "wikitopics.session.training.blocks.count_job",
        lambda job: CountedJob(count_pages(job.fetched, vocabulary, INFO)),
    )

    class Threads(ThreadPoolExecutor):
        jobs = 2

    async def run(source, limits=None, meanwhile=None, report=lambda _: None, say=lambda _: None):
        limits = limits or Limits()
        with TrainerLock(path), Signals() as signals:
            store = SessionWriter(path)
            trainer = Stream(store, article_limit=None, threads=1)
            feed = Intake(source, Threads(2))
            one = Run(store, trainer, feed, limits)
            signals.tell(lambda number: one.stop(f"stopped by {number.name}"))
            task = asyncio.create_task(Monitor(path, one, report, say, {}).follow())
            try:
                if meanwhile is not None:
                    await meanwhile(one)
                return await task
            finally:
                if not task.done():
                    # The test has failed: no other is to stumble over what is left of it.
                    task.cancel()
                    await asyncio.wait({task}, timeout=30)
                await feed.close()

    run.path = path  # type: ignore[attr-defined]
    return run


@pytest.fixture
def sessions(tmp_path, corpus, new_session):
    """Makes the session under test, with a model of each kind: `sessions("name", …)`."""
    from tests.session.training.driving import MODELS

    def make(name, of=corpus, **options):
        options = {"model": tuple(MODELS.values()), "held_out": 40, "seed": 5} | options
        return new_session(tmp_path / f"{name}.db", of, **options)

    return make


@pytest.fixture
def undisturbed(sessions, corpus, states):
    """Trains a session at once, and others that die again and again: all must end alike. The
    first's path."""
    import random

    from tests.session.training.driving import Driver, account

    def train(of=corpus, seeds=3, **options):
        calm = sessions("calm", of, **options)
        Driver(calm, of).run()
        deaths = 0
        for seed in range(seeds):
            rough = sessions(f"rough{seed}", of, **options)
            deaths += Driver(rough, of, threads=(1, 2), chance=random.Random(seed)).run().deaths
            assert states(rough) == states(calm)
            assert account(rough) == account(calm)
        assert deaths > 3 * seeds
        return calm

    return train
