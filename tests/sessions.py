"""Sessions over the small corpora, and how to compare them."""

import gzip
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.corpora import SMALL, Corpus
from tests.sharing import Once

RELEASES = Path(__file__).parent / "session" / "storage" / "releases"


@pytest.fixture
def short_layouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainers in this process lay out maps of articles in few steps, of which the usual number is
    most of what a small session computes. What the steps do is tested with the model."""
    monkeypatch.setattr("wikitopics.model.article_map.ROUNDS", 5)
    monkeypatch.setattr("wikitopics.model.article_map.LATER_ROUNDS", 4)


@pytest.fixture
def one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainers in this process start one process to count texts, not one for each core: a few
    hundred texts are counted in less time than it takes to start."""
    monkeypatch.setattr("wikitopics.session.training.opening.MOST_WORKERS", 1)


@pytest.fixture(scope="session")
def trained_once(corpus: Corpus, made_once: Once) -> Path:
    """A finished session over the corpus; nobody may write to it."""
    from wikitopics.cli import run

    def train(folder: Path) -> None:
        options = [*corpus.options(), "--topics", "5", *SMALL]
        assert run(["train", *options, "--session", str(folder / "trained.db")]) == 0

    return made_once("trained", train) / "trained.db"


@pytest.fixture
def trained(trained_once: Path, home: Path) -> Path:
    """A copy of that session as the session `default`, which a test may change."""
    home.mkdir(exist_ok=True)
    return Path(shutil.copy(trained_once, home / "default.db"))


@pytest.fixture
def released(home: Path, request: pytest.FixtureRequest) -> Path:
    """A session of 1.0.0, or of the version that is the test's parameter, as `default`: see
    `session/storage/test_released.py`."""
    home.mkdir(exist_ok=True)
    path = home / "default.db"
    version = getattr(request, "param", "1.0.0")
    path.write_bytes(gzip.decompress((RELEASES / f"{version}.sqlite.gz").read_bytes()))
    return path


@pytest.fixture
def new_session() -> Callable[..., Path]:
    """Makes a session over a corpus without training it: ``new_session(path, corpus,
    model=("lda",), …)``."""
    import asyncio

    from wikitopics.session.request import TrainRequest, new_settings
    from wikitopics.session.training.kinds import Counts
    from wikitopics.session.training.new_session import complete, create
    from wikitopics.session.training.opening import open_source

    def make(path: Path, corpus: Corpus, **options: Any) -> Path:
        request = TrainRequest(
            source="counts",
            counts=str(corpus.counts),
            vocab=str(corpus.vocabulary),
            **{"passes": 1, **options},
        )
        kind = Counts()
        asked = request.asked(kind)
        settings, vocabulary = new_settings(request, kind)
        opened = asyncio.run(open_source(kind, settings.source_options, asked, vocabulary, print))
        asyncio.run(opened.feed.close())
        create(path, complete(settings, request, opened), vocabulary)
        return path

    return make


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of one model over three words, nothing trained yet: see `rows.py`."""
    from tests.session.rows import WORDS, row, settings
    from wikitopics.session.storage import writer as stores

    path = tmp_path / "home" / "s.db"
    stores.create(path, settings(), stores.Beginning(WORDS, [row()]))
    return path


HOLDER = """
import sys, time
from pathlib import Path
from wikitopics.session.system import TrainerLock

with TrainerLock(Path(sys.argv[1])):
    print('held', flush=True)
    time.sleep(600)
"""


def holder(path: Path) -> "subprocess.Popen[str]":
    """A process that holds a session's lock, as a trainer does."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def states() -> Callable[[Path], list[dict[str, Any]]]:
    """Reads the whole state of every model and replica in the session at a path; of an array type,
    shape and a hash of its bits."""
    from wikitopics.session.options import REPLICAS
    from wikitopics.session.storage.reader import SessionReader

    def comparable(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return value.dtype, value.shape, hashlib.sha256(value.tobytes()).hexdigest()

    def read(path: Path) -> list[dict[str, Any]]:
        with SessionReader(path) as reader:
            replicas = reader.settings()[REPLICAS]
            found = [
                reader.model_state(name, replica)
                for replica in range(1 + replicas)
                for name in reader.models()
            ]
        assert found
        return [{name: comparable(value) for name, value in state.items()} for state in found]

    return read
