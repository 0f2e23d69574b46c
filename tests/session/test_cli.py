"""The command line as the outside relies on it: exit codes, one line for every mistake, data apart."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from session.lock import trainer_lock
from session.schema import VERSION
from session.version import __version__

ROOT = Path(__file__).resolve().parents[2]
STATUS = {
    "session": str,
    "running": bool,
    "pid": int | None,
    "source": str,
    "articles": int,
    "tokens": int,
    "held_out": int,
    "crawled": int,
    "pending": int,
    "skipped": int,
    "elapsed_seconds": float,
    "articles_per_hour": float,
    "bytes_read": int,
    "checkpoint_age_seconds": float | None,
    "waiting_for": str | None,
    "models": list,
}
MODEL = {
    "name": str,
    "kind": str,
    "topics": int,
    "topics_in_use": int,
    "updates": int,
    "rho": float,
    "perplexity": float | None,
    "log_likelihood": float | None,
}
COMMANDS = [
    "demo", "train", "watch", "status", "topics", "articles", "infer", "export", "vocab",
    "sessions", "stop", "pause", "resume", "save", "backup", "doctor",
]  # fmt: skip


def one_line(outcome, code, *says):
    assert outcome.code == code, outcome.err
    assert outcome.err.startswith("wikitopics: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.endswith("\n")
    assert outcome.out == ""
    for text in says:
        assert text in outcome.err


class TestUsage:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["train", "--topics", "0"], "topics must be from 1"),
            (["train", "--topics", "-3"], "topics must be from 1"),
            (["train", "--topics", "many"], "whole number"),
            (["train", "--kappa", "3"], "kappa must be from 0.5 to 1"),
            (["train", "--kappa", "nan"], "kappa must be from 0.5 to 1"),
            (["train", "--tau0", "-1"], "tau0 must be"),
            (["train", "--alpha", "0"], "alpha must be"),
            (["train", "--eta", "inf"], "eta must be"),
            (["train", "--batch-size", "-1"], "batch-size must be from 1"),
            (["train", "--batch-size", "1.5"], "whole number"),
            (["train", "--documents", "0"], "--documents"),
            (["train", "--held-out", "-1"], "--held-out"),
            (["train", "--articles", "0"], "--articles"),
            (["train", "--hours", "0"], "--hours"),
            (["train", "--hours", "nan"], "--hours"),
            (["train", "--max-mb", "nan"], "--max-mb"),
            (["train", "--threads", "0"], "--threads"),
            (["train", "--threads", "1000000"], "--threads"),
            (["train", "--seed", "-1"], "--seed"),
            (["train", "--seed", "5000000000"], "--seed"),
            (["train", "--rpm", "-1"], "--rpm"),
            (["train", "--model", "lda:colour=red"], "colour"),
            (["train", "--model", "gpt"], "no kind of model"),
            (["train", "--model", "lda", "--model", "lda"], "two models are named"),
            (["train", "--model", "lda:batch_size=64", "--model", "hdp:batch_size=48"], "does not divide"),
            (["train", "--source", "telepathy"], "--source"),
            (["train", "--source", "counts"], "needs --counts"),
            (["train", "--source", "dump"], "needs --dump"),
            (["train", "--counts", "/none.npz"], "No such file"),
            (["train", "--dump", "/none.xml", "--counts", "x"], "give one"),
            (["train", "--lang", "de"], "vocab build --lang de"),
            (["train", "--lang", "../x", "--vocab", "english"], "--lang"),
            (["train", "--api-url", "ftp://x", "--contact", "me@host.org"], "http"),
            (["train", "--api-url", "", "--contact", "me@host.org"], "--api-url is empty"),
            (["train", "--vocab", "klingon"], "klingon"),
            (["train", "--vocab", "/none.txt"], "/none.txt"),
            (["train", "--vocab", "~nobody-of-that-name/x"], "no such user"),
            (["train", "--counts", "~nobody-of-that-name/x"], "no such user"),
            (["train", "--frobnicate"], "--frobnicate"),
            (["train", "extra"], "extra"),
            (["train"], "contact"),
            (["train", "--contact", "x"], "contact"),
            (["train", "--contact", "me@host.org\r\nX: y"], "contact"),
            (["train", "--rpm", "100000", "--contact", "me@host.org"], "200"),
            (["frobnicate"], "No such command"),
            (["--session", "x", "status"], "behind the command"),
            (["status", "--session", "../../etc"], ""),
            (["status", "--session", ".."], "session name"),
            (["export", "everything"], "everything"),
            (["articles"], "--topic"),
            (["articles", "--topic", "-1"], "--topic"),
            (["topics", "--top", "0"], "--top"),
            (["backup"], "FILE"),
            (["vocab", "build"], ""),
            (["vocab", "show", "klingon"], "klingon"),
            (["watch", "--session", "a b"], "session name"),
        ],
    )  # fmt: skip
    def test_what_makes_no_sense_is_one_line_and_code_2(self, cli, home, arguments, says):
        outcome = cli(*arguments)
        if arguments[:3] == ["status", "--session", "../../etc"]:
            one_line(outcome, 5, "folder") if Path("../../etc").exists() else one_line(outcome, 1)
        else:
            one_line(outcome, 2, says)
        assert not list(home.glob("*.db"))

    def test_help_has_examples_everywhere(self, cli):
        assert "Examples:" in cli("--help").out
        for command in COMMANDS:
            outcome = cli(command, "--help")
            assert outcome.code == 0, command
            assert "Example" in outcome.out, command

    def test_the_help_names_every_command(self, cli):
        out = cli("--help").out
        assert all(f"  {command} " in out for command in COMMANDS)

    def test_the_screen_needs_a_terminal(self, cli, trained):
        one_line(cli("watch"), 2, "terminal")
        one_line(cli(), 2, "terminal")
        one_line(cli("demo"), 2, "terminal")


class TestFiles:
    @pytest.mark.parametrize("command", ["status", "topics", "watch", "infer"])
    def test_a_session_that_is_not_there(self, cli, command, home):
        one_line(cli(command), 1, "there is no session", "train")
        assert not home.exists()

    @pytest.mark.parametrize("command", [["stop"], ["pause"], ["resume"], ["save"]])
    def test_no_trainer_to_speak_to(self, cli, command, trained):
        one_line(cli(*command), 1, "no trainer runs")

    @pytest.mark.parametrize(
        "command",
        [
            ["status"],
            ["topics"],
            ["train"],
            ["export", "model"],
            ["articles", "--topic", "0"],
            ["backup", "x"],
        ],
    )
    def test_a_file_that_is_no_session(self, cli, command, home, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        home.mkdir()
        path = home / "default.db"
        for content in (b"", b"my thesis", b"SQLite format 3\0" + b"\x77" * 4096):
            path.write_bytes(content)
            one_line(cli(*command), 5)
            assert path.read_bytes() == content
        path.unlink()
        path.mkdir()
        one_line(cli(*command), 5, "folder")

    @pytest.mark.parametrize("command", [["status"], ["train"], ["export", "topics"]])
    def test_a_newer_format(self, cli, command, trained):
        with contextlib.closing(sqlite3.connect(trained)) as connection:
            connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        one_line(cli(*command), 5, "newer", "upgrade")

    def test_a_second_trainer(self, cli, corpus, trained):
        with trainer_lock(trained):
            one_line(cli("train", *corpus.options()), 4, f"pid {os.getpid()}")
            status = json.loads(cli("status", "--json").out)
            assert (status["running"], status["pid"]) == (True, os.getpid())

    def test_damage_in_the_middle_is_one_line(self, cli, trained):
        data = bytearray(trained.read_bytes())
        data[4096 : len(data) // 2] = os.urandom(len(data) // 2 - 4096)
        trained.write_bytes(bytes(data))
        for command in (["status"], ["topics"], ["export", "articles"], ["train"]):
            outcome = cli(*command)
            assert outcome.code in (1, 5)
            assert outcome.err.count("\n") == 1
            assert outcome.err.startswith("wikitopics: ")

    def test_the_session_folder_is_a_file(self, cli, home, corpus):
        home.write_text("")
        one_line(cli("train", *corpus.options()), 1, "folder")


class TestResume:
    def test_what_a_session_is_made_of_cannot_change(self, cli, trained, corpus, corpus_of, home):
        other = corpus_of(50)
        words = corpus_of(10, words=61)
        for arguments, option in (
            (["--seed", 4], "--seed"),
            (["--held-out", 41], "--held-out"),
            (["--topics", 6], "--topics"),
            (["--model", "hdp"], "--model"),
            (["--api-url", "http://127.0.0.1:1/"], "--api-url"),
            (["--source", "api"], "--source"),
            (["--counts", other.counts], "--counts"),
            (["--vocab", words.vocabulary], "--vocab"),
            (["--documents", 5], "--documents"),
            (["--keep-articles", "none"], "--keep-articles"),
        ):
            one_line(cli("train", *arguments), 2, option)

    def test_what_may_change(self, cli, trained, corpus):
        made = ["--seed", 3, "--topics", 5, "--batch-size", 64, "--held-out", 40]
        new = ["--threads", 2, "--hours", 1, "--rpm", 7, "--contact", "other@host.org", "--articles", 100]
        outcome = cli("train", *corpus.options(), *made, *new)
        assert outcome.code == 0, outcome.err

    def test_a_file_that_has_moved_is_named_again(self, cli, trained, corpus, tmp_path):
        moved = tmp_path / "moved.npz"
        moved.write_bytes(corpus.counts.read_bytes())
        assert cli("train", "--counts", moved).code == 0


class TestLook:
    def test_status_has_exactly_the_keys_and_types(self, cli, trained):
        value = json.loads(cli("status", "--json").out)
        assert list(value) == list(STATUS)
        assert list(value["models"][0]) == list(MODEL)
        for known, found in ((STATUS, value), (MODEL, value["models"][0])):
            for key, kind in known.items():
                assert isinstance(found[key], kind), key
                assert not (isinstance(found[key], bool) and kind is int), key
        assert value["session"] == str(trained)
        assert value["crawled"] == 700
        assert (value["articles"], value["held_out"], value["pending"], value["skipped"]) == (657, 40, 0, 3)
        assert value["running"] is False
        assert value["pid"] is None

    def test_status_before_anything_is_measured(self, cli, new_session, corpus, home):
        new_session(home / "default.db", corpus)
        value = json.loads(cli("status", "--json").out)
        assert value["checkpoint_age_seconds"] is None
        assert value["models"][0]["perplexity"] is None
        assert value["models"][0]["log_likelihood"] is None
        assert value["articles_per_hour"] == 0.0
        assert cli("status").code == 0
        assert cli("topics").code == 0
        assert json.loads(cli("topics", "--json").out) == []
        assert cli("articles", "--topic", "0").out == ""
        assert cli("export", "topics").out == "model,topic,rank,word,probability,share\n"
        assert cli("export", "articles", "--format", "json").out == "[]\n"

    def test_topics_come_by_share(self, cli, trained):
        value = json.loads(cli("topics", "--json", "--top", 3).out)
        shares = [topic["share"] for topic in value]
        assert shares == sorted(shares, reverse=True)
        assert sorted(topic["topic"] for topic in value) == [0, 1, 2, 3, 4]
        assert all(len(topic["words"]) == 3 for topic in value)
        assert len(cli("topics").out.splitlines()) == 5

    def test_articles_of_a_topic_come_by_proportion(self, cli, trained):
        value = json.loads(cli("articles", "--topic", 2, "--limit", 1_000_000, "--json").out)
        shares = [article["proportion"] for article in value]
        assert shares == sorted(shares, reverse=True)
        assert len(shares) > 20
        assert len(cli("articles", "--topic", 2).out.splitlines()) == 20
        one_line(cli("articles", "--topic", 5), 2, "topics 0 to 4")
        one_line(cli("articles", "--topic", 0, "--model", "hdp"), 2, "lda")

    def test_infer_sums_to_one(self, cli, trained, tmp_path, corpus):
        text, empty = tmp_path / "text", tmp_path / "empty"
        text.write_text(" ".join(corpus.words[:12]) + " unknown")
        empty.write_bytes(b"\xff\xfe\0")
        value = json.loads(cli("infer", text, empty, "--json").out)
        assert [one["words"] for one in value] == [12, 0]
        for one in value:
            assert abs(sum(one["proportions"]) - 1) < 1e-4
        one_line(cli("infer", tmp_path / "none"), 1, "No such file")
        one_line(cli("infer", tmp_path), 1)

    def test_sessions(self, cli, trained, home):
        (home / "broken.db").write_text("x")
        outcome = cli("sessions")
        assert outcome.code == 0
        assert "default" in outcome.out
        assert "broken.db is no wikitopics session" in outcome.out
        assert {one["name"] for one in json.loads(cli("sessions", "--json").out)} == {"default", "broken"}

    def test_no_escape_codes_where_there_is_no_terminal(self, cli, trained):
        for command in (
            ["status"],
            ["topics"],
            ["sessions"],
            ["articles", "--topic", "0"],
            ["doctor"],
            ["--help"],
        ):
            outcome = cli(*command)
            assert "\x1b" not in outcome.out + outcome.err


class TestProcesses:
    def python(self, script, *arguments):
        return subprocess.run(
            [sys.executable, "-c", f"import sys\nfrom session.cli import run\n{script}", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )

    def test_the_version_loads_nothing_heavy(self, spawn):
        heavy = "{'numpy', 'scipy', 'numba', 'textual', 'aiohttp', 'sqlite_utils'}"
        done = self.python(f"code = run(['--version'])\nprint(sorted({heavy} & set(sys.modules)), code)")
        assert done.stdout == f"wikitopics {__version__}\n[] 0\n"
        assert done.stderr == ""

    def test_train_never_loads_the_screen(self, corpus, home):
        screen = "[name for name in sys.modules if name.split('.')[0] in ('textual', 'tui', 'rich')]"
        few = ["--topics", "2", "--articles", "64", "--held-out", "10"]
        done = self.python(
            f"code = run(sys.argv[1:])\nprint({screen}, code)", "train", *corpus.options(), *few
        )
        assert done.stdout == "[] 0\n", done.stderr

    def test_progress_goes_to_standard_error_and_data_to_standard_output(self, cli, corpus):
        outcome = cli("train", *corpus.options(), "--topics", 2, "--held-out", 10)
        assert outcome.out == ""
        assert "everything is saved" in outcome.err
        outcome = cli(
            "train", *corpus.options(), "--topics", 2, "--held-out", 10, "--json", "--session", "other"
        )
        lines = [json.loads(line) for line in outcome.out.splitlines()]
        assert lines[-1]["reason"] == "finished"
        assert lines[-1]["articles"] == 687

    @pytest.mark.parametrize(
        "arguments",
        [["topics"], ["export", "history"], ["export", "articles", "--format", "json"], ["vocab", "show"]],
    )
    def test_a_pipe_closed_early_is_no_error(self, spawn, trained, arguments):
        process = spawn(*arguments)
        process.stdout.close()
        error = process.stderr.read()
        process.wait()
        process.stderr.close()
        assert "Traceback" not in error
        assert "BrokenPipe" not in error
        assert process.returncode == 0

    def test_progress_that_nobody_reads_is_no_error(self, spawn, corpus, home, cli):
        process = spawn("train", *corpus.options(), "--topics", "3", "--json")
        process.stdout.readline()
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait() == 0, error
        process.stderr.close()
        assert "Traceback" not in error
        assert "Exception ignored" not in error
        assert cli("status").code == 0

    def test_stop_save_pause_and_resume_a_real_trainer(self, spawn, corpus_of, home, cli):
        many = corpus_of(8000)
        arguments = ["train", *many.options(), "--model", "hdp:topics=50,batch_size=1", "--held-out", "50"]
        process = spawn(*arguments)
        deadline = time.monotonic() + 60

        def status():
            with contextlib.suppress(json.JSONDecodeError):
                return json.loads(cli("status", "--json").out)
            return {"articles": 0, "running": False}

        while not status()["articles"] and time.monotonic() < deadline:
            time.sleep(0.1)
        second = spawn(*arguments)
        _, error = second.communicate()
        assert second.returncode == 4
        assert str(process.pid) in error
        assert cli("pause").code == 0
        while "paused" not in cli("status").out and time.monotonic() < deadline:
            time.sleep(0.1)
        assert cli("save").code == 0
        assert cli("backup", home / "copy.db").code == 0
        assert cli("resume").code == 0
        outcome = cli("stop")
        assert outcome.code == 0, outcome.err
        _, error = process.communicate()
        assert process.returncode == 0
        assert "SIGTERM" in error
        now = status()
        assert (now["running"], now["pid"]) == (False, None)
        assert 0 < now["articles"] < 7950

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_while_the_wiki_is_asked_ends_well(self, spawn, home, number):
        import socket

        with socket.create_server(("127.0.0.1", 0)) as silent:
            process = spawn("train", "--api-url", f"http://127.0.0.1:{silent.getsockname()[1]}/w/api.php")
            silent.settimeout(60)
            connection, _ = silent.accept()
            process.send_signal(number)
            _, error = process.communicate(timeout=30)
            connection.close()
        assert process.returncode == 0, error
        assert "stopped before it began" in error
        assert not list(home.glob("*.db"))


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root to become somebody else"
)
class TestReadOnly:
    """As a user who may not write; root may write everywhere."""

    def as_nobody(self, *arguments, home):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "WIKITOPICS_HOME": str(home),
            "NUMBA_CACHE_DIR": "/nonexistent",
            "HOME": "/nonexistent",
        }
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        return subprocess.run(
            [*nobody, sys.executable, "-m", "session.cli", *arguments],
            capture_output=True,
            text=True,
            env=environment,
        )

    @pytest.fixture
    def shown(self, trained, tmp_path):
        """The session where everyone may read, nobody write."""
        for folder in (tmp_path, *tmp_path.parents):
            if folder == Path("/tmp"):
                break
            folder.chmod(folder.stat().st_mode | 0o055)
        trained.chmod(0o444)
        trained.parent.chmod(0o555)
        return trained.parent

    def test_it_can_be_looked_at(self, shown):
        for arguments in (["status"], ["topics"], ["export", "topics"], ["articles", "--topic", "0"]):
            done = self.as_nobody(*arguments, home=shown)
            assert done.returncode == 0, done.stderr
            assert done.stderr == ""
        assert os.listdir(shown) == ["default.db"] or sorted(os.listdir(shown)) == [
            "default.db",
            "default.db.lock",
        ]

    def test_but_not_trained(self, shown, corpus):
        done = self.as_nobody("train", home=shown)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert "cannot write" in done.stderr

    def test_nor_with_a_folder_that_can_be_written_to(self, shown):
        shown.chmod(0o777)
        (shown / "default.db.lock").unlink(missing_ok=True)
        done = self.as_nobody("train", home=shown)
        assert done.returncode in (1, 2)
        assert done.stderr.count("\n") == 1
        assert "Traceback" not in done.stderr

    def test_a_session_that_one_may_not_read(self, shown):
        (shown / "default.db").chmod(0o600)
        done = self.as_nobody("status", home=shown)
        assert done.returncode == 1
        assert "Permission denied" in done.stderr
        assert done.stderr.count("\n") == 1
