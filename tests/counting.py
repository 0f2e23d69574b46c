"""Small dumps, read and counted in this process."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

import pytest

from tests.crawler.dump_server import SMALL
from wikitopics.session.training.blocks import start_worker


class _Here(Executor):
    """The workers of one pool, played by this process."""

    jobs = 1

    def __init__(self, words: Sequence[str], info: Any) -> None:
        start_worker(words, info)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.fixture
def counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count pages in this process: starting others takes longer than the rest of a small test."""
    monkeypatch.setattr("wikitopics.session.training.blocks.Workers", lambda _, __, known: _Here(*known))


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Request a dump in pieces so small that a small dump has many."""
    for name, value in SMALL.items():
        monkeypatch.setattr(f"wikitopics.crawler.dumps.{name}", value)
