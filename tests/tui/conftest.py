"""Canned sessions, one of each kind a test run, and the app on them."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import canned
from standins import Told

from session.reader import SessionReader
from tui.app import Wikitopics


@pytest.fixture(scope="session")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session with lda and hdp; nobody may write to it."""
    path = tmp_path_factory.mktemp("canned") / "two.db"
    return canned.build(path, canned.Recipe(models=("lda", "hdp")))


@pytest.fixture
def live(two_models: Path) -> Iterator[Path]:
    """The same, held by a trainer (this process)."""
    with canned.live(two_models):
        yield two_models


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def open_app(told: Told) -> Callable[..., Wikitopics]:
    """Make the app on a session."""

    def make(path: Path, *, started_trainer: bool = False, keys: dict[str, str] | None = None) -> Wikitopics:
        return Wikitopics(SessionReader, path, told.controls(), started_trainer=started_trainer, keys=keys)

    return make
