"""A session of somebody else's, as a user who may not write; root may write everywhere."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.commands import ROOT

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0
    or shutil.which("setpriv") is None
    or subprocess.run([*NOBODY, sys.executable, "-c", ""], capture_output=True).returncode != 0,
    reason="needs root to become somebody else, who may read this Python",
)


def as_nobody(*arguments, home):
    ours = {"PYTHONPATH": str(ROOT), "WIKITOPICS_HOME": str(home), "HOME": "/nonexistent"}
    # Nobody has kept kernels, and to compile them takes long.
    environment = {**os.environ, **ours, "NUMBA_DISABLE_JIT": "1"}
    program = [*NOBODY, sys.executable, "-m", "wikitopics", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, env=environment)


@pytest.fixture
def home(monkeypatch):
    """Where others may look: pytest shuts its own folder to them, at each start of another run
    too."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("WIKITOPICS_HOME", f"{folder}/home")
        yield Path(folder) / "home"


def show(session):
    """Let everyone read the session and nobody write; returns its folder."""
    session.chmod(0o444)
    session.parent.chmod(0o555)
    return session.parent


@pytest.fixture
def shown(trained):
    return show(trained)


def test_it_can_be_looked_at(shown):
    for arguments in (
        ["status"],
        ["topics", "--json"],
        ["export", "topics"],
        ["articles", "--topic", "0"],
    ):
        done = as_nobody(*arguments, home=shown)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert set(os.listdir(shown)) - {"default.db.lock"} == {"default.db"}


@pytest.mark.long
def test_so_can_one_of_the_first_release(released, home):
    before = released.read_bytes()
    show(released)
    for arguments, says in (
        (["status"], ""),
        (["topics", "--json"], "Coherence (npmi) is still that of an earlier version"),
        (["export", "metrics"], ""),
        (["articles", "--topic", "0"], ""),
    ):
        done = as_nobody(*arguments, home=home)
        assert done.returncode == 0
        assert done.stderr.partition(",")[0].rstrip() == says
    anyones = home.with_name("open")
    anyones.mkdir()
    anyones.chmod(0o777)
    done = as_nobody("backup", anyones / "copy.db", home=home)
    assert done.returncode == 0, done.stderr
    few = ["--topics", 3, "--held-out", 20, "--batch-size", 64, "--articles", 64]
    again = ["--session", anyones / "again.db"]
    done = as_nobody("train", "--counts", released, *few, *again, home=home)
    assert done.returncode == 0, done.stderr
    assert os.listdir(home) == ["default.db"]
    assert released.read_bytes() == before


@pytest.mark.parametrize(("mode", "codes"), [(0o555, {1}), (0o777, {1, 2})])
def test_but_not_trained_even_where_the_folder_can_be_written_to(shown, mode, codes):
    shown.chmod(mode)
    (shown / "default.db.lock").unlink(missing_ok=True)
    done = as_nobody("train", home=shown)
    assert done.returncode in codes
    assert done.stderr.startswith("wikitopics: ")
    assert done.stderr.count("\n") == 1
    assert mode == 0o777 or "cannot write" in done.stderr


@pytest.mark.parametrize(
    "command", [("status",), ("sessions",), ("sessions", "rm", "default", "--yes")]
)
def test_a_session_or_a_folder_that_one_may_not_look_into(shown, command):
    (shown / "default.db").chmod(0o600)
    if command != ("sessions",):  # which lists it with the reason
        done = as_nobody(*command, home=shown)
        assert done.returncode == 1
        assert "Permission denied" in done.stderr
        assert done.stderr.count("\n") == 1
    shown.chmod(0o700)
    done = as_nobody(*command, home=shown)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"wikitopics: {shown}: Permission denied\n"
