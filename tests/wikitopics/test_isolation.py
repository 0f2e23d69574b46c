"""A file of the user's own called `model.py` or `json.py` is never run in place of another one."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.commands import ROOT, python
from tests.crawler.dumps import dump
from wikitopics.registry import ROOMS

PROGRAM = Path(sysconfig.get_path("scripts")) / "wikitopics"
NAMES = [
    *ROOMS,
    "wikitopics",
    "numpy",
    "click",
    "json",
    "pickle",
    "signal",
    "logging",
    "multiprocessing",
]
NAMES += ["sitecustomize"]
COMMANDS = ["--version", "status"]
LONG = [
    "doctor --offline",
    "demo --headless --articles 100",
    "infer here.txt",
    "export model -o model.npz",
]
LONG += ["train --articles 128 --threads 1", "vocab build here.txt -o words.txt"]

installed = pytest.mark.skipif(not PROGRAM.exists(), reason="the command is not installed")


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """The working directory: whatever is imported from it says so in a file beside it."""
    folder = tmp_path / "hostile"
    told = tmp_path / "told"
    folder.mkdir()
    code = (
        f"with open({str(told)!r}, 'a') as file: file.write(__name__ + '\\n')\nraise "
        "SystemExit(99)\n"
    )
    for name in NAMES:
        (folder / f"{name}.py").write_text(code)
    words = [a + b for a in ("river", "lake", "song", "star") for b in "abcdefgh"]
    (folder / "here.txt").write_text(
        "\n\n".join(" ".join(words[n % 9 :: 3]) for n in range(60)) + " aaa aab"
    )
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    yield
    assert not told.exists(), told.read_text()


@installed
@pytest.mark.parametrize(
    "command", [*COMMANDS, *(pytest.param(one, marks=pytest.mark.long) for one in LONG)]
)
def test_commands(trained, hostile, command):
    # Long enough to compile the kernels first.
    done = subprocess.run([PROGRAM, *command.split()], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr


@installed
@pytest.mark.long
def test_the_trainer_that_the_screen_starts(hostile, home, tmp_path):
    home.mkdir()
    script = tmp_path / "screen.py"
    script.write_text(
        "from pathlib import Path; from wikitopics.session.control import start_trainer\n"
        f"path = Path({str(home / 'demo.db')!r})\n"
        "trainer = start_trainer(path, ['demo', '--headless', '--articles', '60'])\n"
        "raise SystemExit(trainer.wait())"
    )
    done = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONSAFEPATH": ""}, timeout=500
    )
    log = home / "demo.db.log"
    assert done.returncode == 0, log.read_text() if log.exists() else ""
    assert "60 articles" in log.read_text()


IN_A_NOTEBOOK = """
import sys
from pathlib import Path

import numpy as np

import wikitopics as wt
from wikitopics.sklearn import OnlineHDPEstimator, OnlineLDAEstimator, SCVB0Estimator

session = wt.open({!r})
assert len(session.topics()) > 1 and session.infer(["some text"]).size and session.model().topics().size
for estimator in (OnlineHDPEstimator, OnlineLDAEstimator, SCVB0Estimator):
    assert estimator(n_components=2).fit_transform(np.eye(4, dtype=int)).shape == (4, 2)
wt.check_model(wt.OnlineLDA)
"""

EVERYTHING = """
import contextlib, pkgutil, sys, wikitopics
from importlib import import_module

for module in pkgutil.walk_packages(wikitopics.__path__, "wikitopics."):
    if "__main__" not in module.name:
        with contextlib.suppress(ModuleNotFoundError):  # an extra that is not installed
            import_module(module.name)
assert "wikitopics.tui.app" in sys.modules
print([name for name in sys.modules if name.partition(".")[0] in {rooms!r}])
"""


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """The working directory, where Python looks first: a module of the name of each room, not to be
    run."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for room in ROOMS:
        (folder / f"{room}.py").write_text("raise SystemExit(f'{__name__} was imported')")
    monkeypatch.chdir(folder)
    return folder


def test_rooms_are_found_in_a_notebook(theirs, trained):
    python(IN_A_NOTEBOOK.format(str(trained)))


def test_rooms_are_found_by_workers_and_a_model_of_another_package(theirs, unigrams, spawn):
    Path("dump.xml").write_bytes(dump(range(1, 200), text="A river of water."))
    models = ("--model", "unigrams:topics=2", "--model", "lda:topics=2")
    trainer = spawn("train", "--dump", "dump.xml", "--threads", "2", *models)
    _, error = trainer.communicate(timeout=500)
    assert trainer.returncode == 0, error


@pytest.mark.interop
def test_rooms_are_found_by_workers_of_a_cluster(theirs, dask, cli, tmp_path):
    path = tmp_path / "dump.xml"
    path.write_bytes(dump(range(1, 200), text="A river of water."))
    dask.start_scheduler()
    dask.start_worker(path=theirs)
    outcome = cli.ok("train", "--dump", path, "--topics", 2, "--cluster", dask.address)
    assert "counting on a cluster" in outcome.err


def test_nothing_of_ours_has_a_name_of_its_own():
    assert python(EVERYTHING.format(rooms=ROOMS)) == "[]\n"


@pytest.mark.parametrize(
    "what", ["from model import OnlineModel", "import session.errors", "import model.online"]
)
def test_a_package_for_an_older_version_is_told_the_new_name(
    what,
    install,
    cli,
    one_line,
    monkeypatch,
):
    room = what.split()[1].partition(".")[0]
    # First: it is what remembers the path, and without this repository, as after a wheel's
    # installation, it would never come back.
    install(f"{what}\nclass Kind: pass", "wikitopics.models", old="old_model:Kind")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(ROOT))])
    one_line(cli("train", "--model", "old"), 2, f"import wikitopics.{room} instead")
