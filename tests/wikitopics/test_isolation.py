"""A file of the user's own called `model.py` or `json.py` is never run in place of another one."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from wikitopics.option import ROOMS

PROGRAM = Path(sysconfig.get_path("scripts")) / "wikitopics"
NAMES = (
    *(*ROOMS, "wikitopics", "numpy", "click"),
    *("json", "pickle", "signal", "logging", "multiprocessing", "sitecustomize"),
)
COMMANDS = ["--version", "status"]
LONG = [
    "doctor --offline",
    "demo --headless --articles 100",
    "infer here.txt",
    "export model -o model.npz",
    "train --articles 128 --threads 1",
    "vocab build here.txt -o words.txt",
]

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the command is not installed")


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """The working directory: whatever is imported from it says so in a file beside it."""
    folder, told = tmp_path / "hostile", tmp_path / "told"
    folder.mkdir()
    code = f"with open({str(told)!r}, 'a') as file: file.write(__name__ + '\\n')\nraise SystemExit(99)\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(code)
    words = [a + b for a in ("river", "lake", "song", "star") for b in "abcdefgh"]
    (folder / "here.txt").write_text("\n\n".join(" ".join(words[n % 9 :: 3]) for n in range(60)) + " aaa aab")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    yield
    assert not told.exists(), told.read_text()


@pytest.mark.parametrize("command", [*COMMANDS, *(pytest.param(one, marks=pytest.mark.long) for one in LONG)])
def test_commands(trained, hostile, command):
    # Long enough to compile the kernels first.
    done = subprocess.run([PROGRAM, *command.split()], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr


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
    environment = {**os.environ, "PYTHONSAFEPATH": ""}
    done = subprocess.run([sys.executable, script], env=environment, timeout=500)
    log = home / "demo.db.log"
    assert done.returncode == 0, log.read_text() if log.exists() else ""
    assert "60 articles" in log.read_text()
