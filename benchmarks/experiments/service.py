"""docs/service/wikitopics.service under a real systemd: what comes back, what stays away, how it stops.

The unit is installed for this boot only, under another name and with commands in place of its own: shells
that end with each exit code, then a real trainer on the embedded wiki, which is killed and stopped.
Everything else, above all the restarting, is that of the file itself. Everything is removed again.
Needs a systemd user manager (`systemctl --user` works).
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.harness import ROOT, Experiment, Figures, Unavailable

EXPERIMENT = Experiment("service", "the unit of docs/service under a real systemd")
UNIT = ROOT / "docs" / "service" / "wikitopics.service"
NAME = "wikitopics-proof"
COMES_BACK = {0: False, 1: True, 2: False, 3: True, 4: False, 5: False, 6: False}
"""By exit code, see docs/commands.md."""
PAUSE = 30
"""Seconds between restarts in the unit."""
LONGEST_STOP = 5.0


def systemctl(*words: str) -> str:
    return subprocess.run(
        ["systemctl", "--user", *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def show(name: str) -> str:
    return systemctl("show", "--value", "--property", name, NAME)


def wait_for(what: Callable[[], bool], seconds: float) -> float:
    """Seconds until it was true; raises TimeoutError."""
    begun = time.monotonic()
    while not what():
        if time.monotonic() - begun > seconds:
            raise TimeoutError(f"nothing came of it in {seconds:.0f} s: {show('SubState')}, {show('Result')}")
        time.sleep(0.05)
    return time.monotonic() - begun


@contextlib.contextmanager
def installed(command: str, *more: str) -> Iterator[None]:
    """The unit with another command and more settings, started; gone afterwards."""
    folder = Path(os.environ["XDG_RUNTIME_DIR"]) / "systemd" / "user"
    unit, changes = folder / f"{NAME}.service", folder / f"{NAME}.service.d" / "command.conf"
    changes.parent.mkdir(parents=True, exist_ok=True)
    unit.write_text(UNIT.read_text())
    changes.write_text("\n".join(["[Service]", "ExecStart=", f"ExecStart={command}", *more]) + "\n")
    try:
        systemctl("daemon-reload")
        systemctl("start", NAME)
        yield
    finally:
        systemctl("stop", NAME)
        subprocess.run(["systemctl", "--user", "reset-failed", NAME], capture_output=True)
        changes.unlink()
        changes.parent.rmdir()
        unit.unlink()
        systemctl("daemon-reload")


def exit_code(code: int) -> str:
    """Whether the unit comes back after that code."""
    with installed(f"/bin/sh -c 'sleep 0.3; exit {code}'"):
        wait_for(lambda: show("SubState") in ("dead", "failed", "auto-restart"), 10)
        comes_back = show("SubState") == "auto-restart"
        if comes_back != COMES_BACK[code]:
            raise AssertionError(f"exit code {code}: {show('SubState')}")
        if not comes_back:
            return f"stays away ({show('SubState')})"
        seconds = wait_for(lambda: show("NRestarts") == "1", PAUSE + 10)
        return f"comes back after {seconds:.0f} s"


def articles(session: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "wikitopics", "status", "--session", str(session), "--json"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return 0
    return int(json.loads(done.stdout)["articles"])


def trainer(folder: Path) -> Iterator[tuple[str, str]]:
    """A real trainer, killed and stopped."""
    session = folder / "night.db"
    command = f"{sys.executable} -m wikitopics demo --headless --session {session}"
    with installed(command, f"Environment=PYTHONPATH={ROOT}", f"WorkingDirectory={folder}"):
        wait_for(lambda: articles(session) > 0, 60)
        first = show("MainPID")
        systemctl("kill", "--kill-whom=main", "--signal=SIGKILL", NAME)
        wait_for(lambda: show("SubState") == "auto-restart", 10)
        before = articles(session)
        seconds = wait_for(lambda: show("MainPID") not in ("0", first), PAUSE + 10)
        wait_for(lambda: articles(session) > before, 60)
        yield "SIGKILL", f"comes back after {seconds:.0f} s and goes on from {before:,} articles"
        begun = time.monotonic()
        systemctl("stop", NAME)
        seconds = time.monotonic() - begun
        after = articles(session)
        if seconds > LONGEST_STOP or show("Result") != "success" or after < before:
            raise AssertionError(f"stop: {seconds:.1f} s, {show('Result')}, {after} articles after {before}")
        yield "systemctl stop", f"ends after {seconds:.1f} s with exit code 0, {after:,} articles saved"


@EXPERIMENT.point(minutes=3)
def unit() -> Figures:
    """What happens with the unit, one line each."""
    try:
        systemctl("list-units")
    except (FileNotFoundError, subprocess.CalledProcessError):
        raise Unavailable("`systemctl --user` reaches no systemd here") from None
    happened = {f"exit code {code}": exit_code(code) for code in COMES_BACK}
    with tempfile.TemporaryDirectory() as name:
        happened |= dict(trainer(Path(name)))
    return happened
