"""The command line as processes: what it loads, pipes, signals, and a trainer told what to do."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.commands import ROOT, python
from tests.session.training.own_texts import committed
from tests.waiting import until


def test_progress_goes_to_standard_error_and_data_to_standard_output(cli, corpus):
    outcome = cli("train", *corpus.options(), "--topics", 2, "--held-out", 10)
    assert outcome.out == ""
    assert "everything is saved" in outcome.err
    outcome = cli(
        "train",
        *corpus.options(),
        "--topics",
        2,
        "--held-out",
        10,
        "--json",
        "--session",
        "other",
    )
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    assert (lines[-1]["state"], lines[-1]["reason"]) == ("finished", "finished")
    assert lines[-1]["articles"] == 687


def test_a_source_with_nothing_left_to_train_on_says_so(cli, corpus_of, one_line):
    few = corpus_of(30, empty=(4,))
    outcome = cli("train", *few.options(), "--topics", 2, "--held-out", 50)
    one_line(outcome, 2, "no document to train on (of 30; held out: 30)", "hold out fewer")
    assert cli("train", *few.options(), "--topics", 2, "--held-out", 28).code == 2, "one is empty"
    assert cli("train", *few.options(), "--topics", 2, "--session", "other").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics"],
        ["export", "history"],
        ["export", "articles", "--format", "json"],
        ["vocab", "show"],
    ],
)
def test_a_pipe_closed_early_is_no_error(spawn, trained, arguments):
    with spawn(*arguments) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert "Traceback" not in error
    assert "BrokenPipe" not in error
    assert process.returncode == 0


def test_progress_that_nobody_reads_is_no_error(spawn, corpus, cli):
    with spawn("train", *corpus.options(), "--topics", "3", "--json") as process:
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
    assert process.returncode == 0, error
    assert "Traceback" not in error
    assert "Exception ignored" not in error
    assert cli("status").code == 0


STARTING = "wikitopics.session.training.start"
COUNTS = "wikitopics.session.training.kinds"


@pytest.mark.parametrize(
    ("slow", "number"),
    [
        ("socket.getaddrinfo", signal.SIGTERM),
        (f"{COUNTS}.Counts.open", signal.SIGTERM),
        ("wikitopics.session.request.load_vocabulary", signal.SIGINT),
        (f"{STARTING}.Stream", signal.SIGTERM),
    ],
)
def test_a_stop_is_heard_while_inputs_are_read_or_a_name_server_keeps_silent(
    spawn,
    corpus,
    slow,
    number,
):
    script = f"""
import os, signal, socket, sys, time
import {COUNTS}, {STARTING}
from wikitopics.cli import main

def reading(*_, **__):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [{int(number)}])
    os.kill(os.getpid(), {int(number)})
    time.sleep(600)

{slow} = reading
signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}])  # so that it does not wake the event loop
main(sys.argv[1:])
"""
    wiki = ["--api-url", "https://wiki.invalid/w/api.php"]
    source = wiki if "socket" in slow else corpus.options()
    trainer = spawn("train", *source, program=("-c", script))
    _, error = trainer.communicate()
    assert trainer.returncode == 0
    assert error.endswith("stopped before training began\n")
    assert "Traceback" not in error


def test_stop_save_pause_and_resume_a_real_trainer(
    spawn,
    spawn_resting,
    corpus_of,
    home,
    cli,
    monkeypatch,
):
    monkeypatch.setattr(
        "wikitopics.session.control.OBEY_SECONDS", 60.0
    )  # a signal would end a slow one
    many = corpus_of(8000)
    arguments = [
        "train",
        *many.options(),
        "--model",
        "hdp:topics=50,batch_size=1",
        "--held-out",
        "50",
    ]
    process = spawn_resting(7900, *arguments)

    def status():
        with contextlib.suppress(json.JSONDecodeError):
            return json.loads(cli("status", "--json").out)
        return {"articles": 0, "state": "new", "running": False}

    until(lambda: status()["articles"])
    assert cli("pause").code == 0
    until(lambda: status()["state"] == "paused")
    second = spawn(*arguments)
    _, error = second.communicate()
    assert second.returncode == 4
    assert str(process.pid) in error
    assert cli("save").code == cli("backup", home / "copy.db").code == 0
    assert "stopped; `wikitopics train" in cli("status", "--session", home / "copy.db").out
    assert cli("resume").code == 0
    cli.ok("stop")
    _, error = process.communicate()
    assert process.returncode == 0
    assert "stopped by `wikitopics stop`" in error
    now = status()
    assert (now["running"], now["pid"]) == (False, None)
    assert 0 < now["articles"] < 7950


@pytest.mark.long
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_an_end_at_once_says_nothing_and_leaves_nothing(
    spawn, number, code, home, tmp_path, monkeypatch
):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = spawn("demo", "--headless", "--json", start_new_session=True)
    until(lambda: committed(home / "demo.db"))
    while process.poll() is None:
        process.send_signal(number)
        time.sleep(0.002)
    error = process.communicate()[1]
    assert process.returncode in (
        code,
        0,
    )  # 0: on a busy machine the first Ctrl+C has done its work
    assert "resource_tracker" not in error
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_short_memory_is_one_line(cli, corpus, one_line, monkeypatch, error):
    def refused(*_, **__):
        raise error

    monkeypatch.setattr("wikitopics.session.training.start.Stream", refused)
    one_line(cli("train", *corpus.options()), 1, "out of memory")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_wiki_is_asked_ends_well(spawn, home, number):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = spawn(
            "train", "--api-url", f"http://127.0.0.1:{silent.getsockname()[1]}/w/api.php"
        )
        silent.settimeout(300)
        connection, _ = silent.accept()
        process.send_signal(number)
        _, error = process.communicate()
        connection.close()
    assert process.returncode == 0, error
    assert "stopped before training began" in error
    assert not list(home.glob("*.db"))


def test_ctrl_c_before_anything_has_begun_is_no_fault(tmp_path):
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    program = "import runpy; runpy.run_module('wikitopics', run_name='__main__')"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


FILES = ("ulimit -n 8", "allows too few open files: set a limit of 64 or more")
MEMORY = ("ulimit -v 250000", "leaves too little memory: set a higher limit")


@pytest.mark.parametrize(
    ("limit", "says", "command"),
    [
        *((*FILES, command) for command in ("", "train", "topics", "demo --headless")),
        *((*MEMORY, command) for command in ("", "train", "infer", "report")),
        ("ulimit -v 600000", MEMORY[1], "train"),
    ],
)
def test_too_few_files_or_too_little_memory_to_compute_is_told_in_a_line(limit, says, command):
    """OpenBLAS would try for ever to get more memory, and no signal would be heard: beside a
    trainer's threads even where it can be loaded alone."""
    if "-v" in limit and sys.platform != "linux":
        pytest.skip("other systems do not keep this limit")
    words = f"{limit}; exec '{sys.executable}' -m wikitopics {command}"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (1, f"wikitopics: `{limit}` {says}\n")


BLAS_THREADS = """
import os
from wikitopics import __main__, cli

cli.main = lambda: print(os.environ["OPENBLAS_NUM_THREADS"])
__main__.main()
"""


@pytest.mark.parametrize(("given", "taken"), [(None, "1"), ("3", "3")])
def test_blas_works_with_one_thread_unless_another_number_is_given(monkeypatch, given, taken):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    environment = {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    assert python(BLAS_THREADS, **environment) == f"{taken}\n"
