"""Files of the user's own called `model.py` or `session.py` do no harm, and ours have no such names."""

import sys
from pathlib import Path

import pytest

from tests.commands import ROOT, python
from tests.crawler.dumps import dump
from wikitopics.option import ROOMS

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
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, where Python looks first: a module of the name of each room, not to be run."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for room in ROOMS:
        (folder / f"{room}.py").write_text("raise SystemExit(f'{__name__} was imported')")
    monkeypatch.chdir(folder)
    return folder


def test_in_a_notebook(theirs, trained):
    python(IN_A_NOTEBOOK.format(str(trained)))


def test_workers_and_a_model_of_another_package(theirs, unigrams, spawn):
    Path("dump.xml").write_bytes(dump(range(1, 200), text="A river of water."))
    models = ("--model", "unigrams:topics=2", "--model", "lda:topics=2")
    trainer = spawn("train", "--dump", "dump.xml", "--threads", "2", *models)
    _, error = trainer.communicate(timeout=500)
    assert trainer.returncode == 0, error


@pytest.mark.interop
def test_workers_of_a_cluster(theirs, dask, cli, tmp_path):
    path = tmp_path / "dump.xml"
    path.write_bytes(dump(range(1, 200), text="A river of water."))
    dask.start_scheduler()
    dask.start_worker(path=theirs)
    outcome = cli("train", "--dump", path, "--topics", 2, "--cluster", dask.address)
    assert outcome.code == 0, outcome.err
    assert "counting on a cluster" in outcome.err


def test_nothing_of_ours_has_a_name_of_its_own():
    assert python(EVERYTHING.format(rooms=ROOMS)) == "[]\n"


@pytest.mark.parametrize(
    "what", ["from model import OnlineModel", "import session.errors", "import model.online"]
)
def test_a_package_for_an_older_version_is_told_the_new_name(what, install, cli, one_line, monkeypatch):
    room = what.split()[1].partition(".")[0]
    # First: it is what remembers the path, and without this repository, as after a wheel's installation, it
    # would never come back.
    install(f"{what}\nclass Kind: pass", "wikitopics.models", old="old_model:Kind")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(ROOT))])
    one_line(cli("train", "--model", "old"), 2, f"import wikitopics.{room} instead")
