"""Small dumps, read and counted in this process."""

from concurrent.futures import Future

import pytest

from tests.crawler.dump_server import SMALL
from tests.session.memory import Pool
from wikitopics.session.training.jobs import start_worker


@pytest.fixture
def counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count pages in this process: starting others takes longer than the rest of a small test."""

    def submit(count, job):
        done = Future()
        done.set_result(count(job))
        return done

    def here(_, __, known):
        start_worker(*known)
        return Pool(submit)

    monkeypatch.setattr("wikitopics.session.training.jobs.Workers", here)


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Request a dump in pieces so small that a small dump has many."""
    for name, value in SMALL.items():
        monkeypatch.setattr(f"wikitopics.crawler.{name}", value)
