"""The service files: which exit codes bring a trainer back, and that a stop reaches it."""

import configparser
import os
import plistlib
import signal
import subprocess
import time

import pytest

from tests.commands import ROOT
from tests.waiting import gone, until

SERVICE = ROOT / "docs" / "service"
COMES_BACK = {0: False, 1: True, 2: False, 3: True, 4: False, 5: False, 6: False}
"""Whether systemd starts the trainer again, by exit code: see docs/commands.md."""


@pytest.fixture
def launch(tmp_path):
    """Starts what launchd would, with the given shell script in place of the program."""
    job = plistlib.loads((SERVICE / "org.wikitopics.trainer.plist").read_bytes())
    assert job["KeepAlive"] == {"SuccessfulExit": False}
    program = tmp_path / "wikitopics" / ".venv" / "bin" / "wikitopics"
    program.parent.mkdir(parents=True)

    def start(script):
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o700)
        return subprocess.Popen(
            job["ProgramArguments"], env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        )

    return start


@pytest.mark.parametrize("code", COMES_BACK)
def test_launchd_sees_a_failure_only_where_trying_again_helps(launch, code):
    assert (launch(f"exit {code}").wait() != 0) == COMES_BACK[code]


def test_launchd_sees_a_killed_trainer_as_a_failure(launch):
    assert launch("kill -9 $$").wait() != 0


def test_a_stop_by_launchd_waits_until_the_trainer_has_saved(launch, tmp_path):
    begun = tmp_path / "begun"
    saved = tmp_path / "saved"
    shell = launch(
        f"trap 'sleep 0.3; : > {saved}; exit 0' TERM; : > {begun}\nwhile :; do sleep 0.05; done"
    )
    until(begun.exists)
    shell.send_signal(signal.SIGTERM)
    assert shell.wait() == 0
    assert saved.exists()


def test_a_stop_at_the_first_instant_leaves_no_trainer(launch, tmp_path):
    pids = tmp_path / "pids"
    script = f"echo $$ >> {pids}\ntrap 'exit 0' TERM\nwhile :; do sleep 0.02; done"
    for number in range(40):
        shell = launch(script)
        time.sleep(number * 0.0001)
        shell.send_signal(signal.SIGTERM)
        assert shell.wait() in (0, -signal.SIGTERM, 128 + signal.SIGTERM)
    # Some came far enough to write.
    left = [pid for pid in map(int, pids.read_text().split()) if not gone(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def test_the_folder_of_the_log_is_made_and_an_error_told_once_and_logged(
    cli,
    corpus,
    tmp_path,
    one_line,
):
    log = tmp_path / "not" / "yet" / "night.log"
    arguments = [
        "train",
        *corpus.options(),
        "--topics",
        "2",
        "--articles",
        "64",
        "--held-out",
        "10",
    ]
    assert cli(*arguments, "--session", tmp_path / "night.db", "--log", log).code == 0
    assert "64 documents" in log.read_text()
    one_line(cli("train", *corpus.options(), "--model", "lda:name=a b", "--log", log), 2, "name")
    assert "wikitopics: " in log.read_text()


def test_systemd_keeps_away_after_the_same_codes():
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read(SERVICE / "wikitopics.service")
    service = unit["Service"]
    assert service["Restart"] == "on-failure"
    stays = {int(code) for code in service["RestartPreventExitStatus"].split()} | {0}
    assert stays == {code for code, comes_back in COMES_BACK.items() if not comes_back}
