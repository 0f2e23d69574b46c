"""For every test: nothing of the user's own settings, and no session of theirs, is touched.

The fixtures that tests of several rooms share are in the modules named below, one subject each.
"""

import gc
import itertools
import os
import re
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.compiled import compile_once

pytest_plugins = (
    "tests.sharing",  # first: others import it
    "tests.browsers",
    "tests.clusters",
    "tests.commands",
    "tests.corpora",
    "tests.counting",
    "tests.packages",
    "tests.sessions",
)

# How long an example takes is the machine's affair. Before a change lands, the examples are the
# same each time: a new one that fails is found by whoever runs the tests at their desk.
settings.register_profile(
    "any machine",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")

# As in the program's own processes (`wikitopics/__main__.py`): BLAS's threads, of which each worker
# would have its own, mostly wait for one another, and take the cores from other tests meanwhile.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Many processes are started, and without compiled files each would compile the sources anew, as
# pytest would every file of tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shell's background jobs ignore Ctrl+C, and what nohup runs ignores SIGHUP. Every process that a
# test starts would inherit that.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


# Each test leaves cycles of widgets and tasks behind, among millions of objects that stay: looking
# for them as often as Python does takes a seventh of the time.
gc.set_threshold(300_000, 20, 100)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have kernels compiled before there are workers, each of which would compile the same."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if session.config.getoption("numprocesses", None) and not is_worker:
        compile_once()


def pytest_xdist_auto_num_workers() -> int:
    """Two for each core: a test that waits for a process or for the disk leaves its core idle."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)  # before those are left out that are not asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`.ci/run` finds the tests that it runs last by the marks that are written in their files:
    refuse a mark that comes from elsewhere."""
    marks = ("interop", "long")
    marked = {item.path for item in items for mark in marks if item.get_closest_marker(mark)}
    for path in sorted(marked):
        if not re.search(rf"pytest\.mark\.({'|'.join(marks)})\b", path.read_text("utf-8")):
            raise pytest.UsageError(f"{path}: write its mark as pytest.mark, in this file")


@pytest.fixture
def samples_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vocabularies are kept for other sessions, however few articles they are built from."""
    monkeypatch.setattr("wikitopics.session.training.new_session.LEAST_SHARED", 1)


_numbers = itertools.count()


@pytest.fixture(autouse=True)
def nothing_of_the_users(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each test has a session folder of its own, and no contact."""
    if "tmp_path" in request.fixturenames:
        folder = request.getfixturevalue("tmp_path")
    else:
        # Most of these tests write nothing: to make a folder for each would take longer than they
        # do. The program makes it if it is needed.
        folder = tmp_path_factory.getbasetemp() / f"of-its-own{next(_numbers)}"
    monkeypatch.setenv("WIKITOPICS_HOME", str(folder / "home"))
    monkeypatch.delenv("WIKITOPICS_CONTACT", raising=False)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The session folder of one test, which the program makes."""
    folder = tmp_path / "home"
    # Also for a test that asks for this one by its name, while it runs.
    monkeypatch.setenv("WIKITOPICS_HOME", str(folder))
    return folder
