"""What tests of every room share: small corpora, sessions made of them, the command line run in this process.

Nothing of the user's own settings, and no session of theirs, is touched.
"""

import contextlib
import functools
import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests import packages

ROOT = Path(__file__).resolve().parents[1]

# How long an example takes is the machine's affair.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The session folder of one test, empty at first."""
    folder = tmp_path / "home"
    monkeypatch.setenv("WIKITOPICS_HOME", str(folder))
    monkeypatch.delenv("WIKITOPICS_CONTACT", raising=False)
    return folder


def letters(n: int) -> list[str]:
    """``n`` distinct words of three letters."""
    return ["".join(word) for word in itertools.islice(itertools.product("abcdefghijklmnop", repeat=3), n)]


@dataclass(frozen=True)
class Corpus:
    """A vocabulary file and a counts file over it."""

    vocabulary: Path
    counts: Path
    words: tuple[str, ...]
    indptr: Any
    word_ids: Any
    numbers: Any

    def options(self) -> list[str]:
        return ["--source", "counts", "--counts", str(self.counts), "--vocab", str(self.vocabulary)]


def write_corpus(
    folder: Path, documents: int, words: int = 60, seed: int = 0, empty: Sequence[int] = ()
) -> Corpus:
    """Documents from five planted topics; those in ``empty`` hold no word."""
    random = np.random.default_rng(seed)
    beta = np.full((5, words), 0.2 / words)
    for k in range(5):
        beta[k, k * words // 5 : (k + 1) * words // 5] += 4.0 / words
    beta /= beta.sum(axis=1, keepdims=True)
    rows = [
        random.multinomial(random.poisson(25) + 2, random.dirichlet(np.full(5, 0.2)) @ beta)
        for _ in range(documents)
    ]
    ids = [
        np.flatnonzero(row) if d not in set(empty) else np.empty(0, np.int64) for d, row in enumerate(rows)
    ]
    indptr = np.concatenate(([0], np.cumsum([len(i) for i in ids]))).astype(np.int64)
    word_ids = np.concatenate(ids).astype(np.int32)
    numbers = np.concatenate([row[i] for row, i in zip(rows, ids, strict=True)]).astype(np.int32)
    folder.mkdir(parents=True, exist_ok=True)
    names = tuple(letters(words))
    vocabulary, counts = folder / "words.txt", folder / "counts.npz"
    vocabulary.write_text("\n".join(names) + "\n")
    np.savez(counts, indptr=indptr, word_ids=word_ids, counts=numbers, n_words=words)
    return Corpus(vocabulary, counts, names, indptr, word_ids, numbers)


@pytest.fixture
def corpus_of(tmp_path: Path) -> Callable[..., Corpus]:
    """Makes a corpus: ``corpus_of(documents, …)``."""
    number = itertools.count()
    return lambda documents, **more: write_corpus(tmp_path / f"corpus{next(number)}", documents, **more)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """700 documents over 60 words, three of them empty."""
    return write_corpus(tmp_path_factory.mktemp("corpus"), 700, empty=(3, 200, 699))


@dataclass
class Outcome:
    """What a command gave back."""

    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the command line in this process: ``cli("status", "--json")``."""
    from wikitopics.cli import run

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


@pytest.fixture
def one_line() -> Callable[..., None]:
    """Asserts that a command failed with this exit code and one line of error, which says these things."""

    def check(outcome: Outcome, code: int, *says: str) -> None:
        assert outcome.code == code, outcome.err
        assert outcome.err.startswith("wikitopics: ")
        assert outcome.err.count("\n") == 1
        assert outcome.err.endswith("\n")
        assert outcome.out == ""
        for text in says:
            assert text in outcome.err

    return check


@pytest.fixture
def spawn() -> Callable[..., subprocess.Popen[str]]:
    """Starts the command line in a process of its own."""

    def start(*arguments: object, **more: Any) -> subprocess.Popen[str]:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        environment = {**os.environ, "PYTHONPATH": path}
        return subprocess.Popen(
            [sys.executable, "-m", "wikitopics", *map(str, arguments)],
            **{
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "text": True,
                "env": environment,
                **more,
            },
        )

    return start


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a package of one module: ``install(source, group, name="module:Class", …)``."""

    def put(source: str, group: str, *, package: str = "", **points: str) -> None:
        module = package or next(iter(points.values())).partition(":")[0]
        site = tmp_path / f"site-{module}"
        packages.by_hand(site, module.replace("_", "-"), module, source, {group: points})
        packages.Package(module, site).install(monkeypatch)

    return put


class _Here(Executor):
    """The workers of one pool, played by this process."""

    def __init__(self, words: Sequence[str], info: Any) -> None:
        from session.training.intake.count_pages import start_worker

        start_worker(words, info)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.fixture
def counted_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are counted in this process: starting others takes longer than the rest of a small test."""
    from session.training.intake.pool import CountingPool

    monkeypatch.setattr(CountingPool, "_new_executor", lambda pool: _Here(*pool._initial))


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump is asked for in pieces of which a small one has many."""
    from tests.crawler.dump_server import SMALL

    for name, value in SMALL.items():
        monkeypatch.setattr(f"crawler.{name}", value)


@pytest.fixture(scope="session")
def documented(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], packages.Package]:
    """The package of a section of docs/extending.md, made once; a test puts it on its path by `install`."""
    return functools.cache(lambda title: packages.from_document(title, tmp_path_factory.mktemp("documented")))


@pytest.fixture
def unigrams(
    documented: Callable[[str], packages.Package], monkeypatch: pytest.MonkeyPatch
) -> packages.Package:
    """Somebody else's model, installed."""
    package = documented("A model of your own")
    package.install(monkeypatch)
    return package


@pytest.fixture(scope="session")
def raced(
    documented: Callable[[str], packages.Package], corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The race of docs/extending.md over the corpus, run once."""
    path = tmp_path_factory.mktemp("raced") / "race.db"
    (race,) = packages.commands(packages.section("A model of your own"))
    small = [
        *corpus.options(),
        "--batch-size",
        "64",
        "--held-out",
        "40",
        "--seed",
        "3",
        "--session",
        str(path),
    ]
    site = documented("A model of your own").site
    subprocess.run(
        [sys.executable, "-m", "wikitopics", *race, *small],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(site)))},
        timeout=100,
    )
    return path


@pytest.fixture
def race(raced: Path, unigrams: packages.Package, home: Path) -> Path:
    """The session `default` of that race, finished."""
    home.mkdir(exist_ok=True)
    return Path(shutil.copy(raced, home / "default.db"))


@pytest.fixture(scope="session")
def trained_once(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished session over the corpus; nobody may write to it."""
    from wikitopics.cli import run

    path = tmp_path_factory.mktemp("trained") / "trained.db"
    small = ["--topics", "5", "--batch-size", "64", "--held-out", "40", "--seed", "3"]
    assert run(["train", *corpus.options(), *small, "--session", str(path)]) == 0
    return path


@pytest.fixture
def trained(trained_once: Path, home: Path) -> Path:
    """The same as the session `default`, to do with as one likes."""
    home.mkdir(exist_ok=True)
    return Path(shutil.copy(trained_once, home / "default.db"))


@pytest.fixture
def wait_for_articles() -> Callable[[Path, int, subprocess.Popen[str]], None]:
    """Returns once a trainer has committed so many: ``wait_for_articles(path, articles, trainer)``."""
    from session.errors import NoSession
    from session.storage.reader import SessionReader

    def wait(path: Path, articles: int, trainer: subprocess.Popen[str]) -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with contextlib.suppress(NoSession), SessionReader(path) as reader:
                if reader.status().articles >= articles:
                    return
            assert trainer.poll() is None, trainer.communicate()
            time.sleep(0.01)
        raise AssertionError(f"{articles} articles were never trained")

    return wait


@pytest.fixture
def states() -> Callable[[Path], list[dict[str, Any]]]:
    """Every model's whole state in the session at this path."""
    from session.storage.reader import SessionReader

    def read(path: Path) -> list[dict[str, Any]]:
        with SessionReader(path) as reader:
            return [reader.model_state(name) for name in reader.models()]

    return read


@pytest.fixture
def assert_same_states() -> Callable[[list[dict[str, Any]], list[dict[str, Any]]], None]:
    """Asserts that two lists of model states are equal bit for bit."""

    def check(left: list[dict[str, Any]], right: list[dict[str, Any]]) -> None:
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert one.keys() == other.keys()
            for key, value in one.items():
                if isinstance(value, np.ndarray):
                    assert value.dtype == other[key].dtype, key
                    assert value.tobytes() == other[key].tobytes(), key
                else:
                    assert value == other[key], key

    return check


@pytest.fixture
def new_session() -> Callable[..., Path]:
    """Makes a session over a corpus without training it: ``new_session(path, corpus, model=("lda",), …)``."""
    import asyncio

    from session.request import TrainRequest
    from session.training.creation import create, load_vocabulary, settle
    from session.training.intake.counts_kind import Counts
    from session.training.intake.opening import open_source

    def make(path: Path, corpus: Corpus, **options: Any) -> Path:
        request = TrainRequest(
            source="counts", counts=str(corpus.counts), vocab=str(corpus.vocabulary), **options
        )
        vocabulary = load_vocabulary(str(corpus.vocabulary))
        kind, asked = Counts(), request.asked(Counts())
        opened = asyncio.run(open_source(kind, kind.identity(asked), asked, vocabulary, print))
        settings = settle(request, kind, vocabulary, opened)
        asyncio.run(opened.close())
        create(path, settings, vocabulary)
        return path

    return make


@pytest.fixture
def memory(corpus: Corpus) -> Any:
    """A source of 700 pages: see `memory.py`."""
    from tests.session.memory import Memory

    return Memory(list(corpus.words))


@pytest.fixture
def trainer_of(
    tmp_path: Path, corpus: Corpus, new_session: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """Runs a session over a source, counting in threads: `await trainer_of(source, limits)`."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    from session.storage.coordination.lock import trainer_lock
    from session.storage.writer import SessionWriter
    from session.training.intake.count_pages import count_pages
    from session.training.intake.crawl import CrawledBlocks
    from session.training.intake.pool import CountingPool
    from session.training.running.run import Limits, Run
    from session.training.stream import Stream
    from tests.session.memory import INFO
    from vocab import Vocabulary

    path = new_session(tmp_path / "s.db", corpus, model=("lda:topics=3,batch_size=64",), held_out=30)
    vocabulary = Vocabulary.from_words(corpus.words)
    monkeypatch.setattr(CountingPool, "_new_executor", lambda self: ThreadPoolExecutor(2))
    monkeypatch.setattr(
        "session.training.intake.crawl.count_in_worker", lambda pages: count_pages(pages, vocabulary, INFO)
    )

    async def run(
        source: Any,
        limits: Any = None,
        meanwhile: Any = None,
        report: Any = lambda _: None,
        articles: int | None = None,
    ) -> str:
        limits = limits or Limits()
        with trainer_lock(path):
            store = SessionWriter(path)
            trainer = Stream(store, article_limit=articles, threads=1)
            feed = CrawledBlocks(source, INFO, corpus.words)
            one = Run(path, store, trainer, feed, limits, report, lambda _: None)
            try:
                task = asyncio.create_task(one())
                if meanwhile is not None:
                    await meanwhile(one)
                return await asyncio.wait_for(task, 100)
            finally:
                await feed.close()

    run.path = path  # type: ignore[attr-defined]
    return run


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Headless Chromium, driven by selenium; for tests marked `interop`, skipped where one is missing."""
    webdriver = pytest.importorskip("selenium.webdriver")
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        pytest.skip("no Chromium")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "no-first-run",
        "disable-sync",
        "disable-background-networking",
        "disable-component-update",
        "disable-dev-shm-usage",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield opened
    opened.quit()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session of one model over three words, nothing trained yet: see `rows.py`."""
    from session.storage import writer as stores
    from tests.session.rows import WORDS, row, settings

    path = tmp_path / "home" / "s.db"
    stores.create(path, settings(), WORDS, [row()])
    return path
