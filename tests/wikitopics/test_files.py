"""Session files that are missing, foreign, newer, damaged or in use: one line and the right exit
code."""

import io
import json
import os

import pytest

from tests.session.memory import status
from tests.session.rows import sql
from wikitopics.cli.output import ReaderGone
from wikitopics.cli.screen import contact_missing
from wikitopics.cli.train import also_to
from wikitopics.session.errors import Damaged
from wikitopics.session.request import TrainRequest
from wikitopics.session.storage.database import VERSION
from wikitopics.session.system import TrainerLock


@pytest.mark.parametrize("command", ["status", "topics", "watch", "infer"])
def test_a_session_that_is_not_there(cli, command, home, one_line):
    one_line(cli(command), 1, "there is no session", "train")
    assert not home.exists()


@pytest.mark.parametrize(
    "command", ["status", "topics", "train", "export model", "articles --topic 0", "backup x"]
)
def test_a_file_that_is_no_session(cli, command, home, tmp_path, monkeypatch, one_line):
    monkeypatch.chdir(tmp_path)
    home.mkdir()
    path = home / "default.db"
    for content in (b"", b"my thesis", b"SQLite format 3\0" + b"\x77" * 4096):
        path.write_bytes(content)
        one_line(cli(*command.split()), 5)
        assert path.read_bytes() == content
    path.unlink()
    path.mkdir()
    one_line(cli(*command.split()), 5, "folder")


@pytest.mark.parametrize("command", [["status"], ["train"], ["export", "topics"]])
def test_a_newer_format(cli, command, trained, one_line):
    sql(trained, f"PRAGMA user_version = {VERSION + 1}")
    one_line(cli(*command), 5, "newer", "upgrade")


def test_a_second_trainer_is_told_how_to_watch_or_stop_the_first(
    cli,
    corpus,
    trained,
    home,
    one_line,
):
    for path, named in ((trained, ""), (home / "two.db", " --session two")):
        trained.rename(path)
        with TrainerLock(path):
            outcome = cli("train", *corpus.options(), "--session", path.stem)
            told = cli.json("status", "--session", path.stem)
        one_line(
            outcome,
            4,
            f"pid {os.getpid()}",
            f"`wikitopics watch{named}`",
            f"`wikitopics stop{named}`",
        )
        assert told["pid"] == os.getpid()


@pytest.mark.parametrize(
    "command", ["status", "topics", "train", "watch", "export topics", "backup copy.db"]
)
def test_a_session_that_is_no_regular_file(cli, command, tmp_path, monkeypatch, one_line):
    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe.db")
    for path in ("./pipe.db", "/dev/zero"):
        one_line(cli(*command.split(), "--session", path), 5, "not a session")
    if os.path.exists("/proc/self/mem"):
        one_line(
            cli(*command.split(), "--session", "/proc/self/mem"), 5, "not a wikitopics session"
        )


def test_counts_vocabulary_and_log_that_are_pipes(cli, corpus, tmp_path, one_line):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)  # nobody writes to it or reads it: to open it would wait for ever
    options = ["--source", "counts", "--counts", corpus.counts, "--vocab", corpus.vocabulary]
    for at, says in ((3, "a pipe, not a regular file"), (5, "not a regular file")):
        one_line(cli("train", *options[:at], pipe, *options[at + 1 :]), 2, says)
    one_line(cli("train", *options, "--log", pipe), 1, "a pipe, not a regular file")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    one_line(cli("train", *options, "--log", tmp_path / "link"), 1, "a symbolic link")
    assert not (tmp_path / "elsewhere").exists()


def test_damage_in_the_middle_is_one_line(cli, trained):
    data = bytearray(trained.read_bytes())
    data[4096 : len(data) // 2] = os.urandom(len(data) // 2 - 4096)
    trained.write_bytes(bytes(data))
    for command in (["status"], ["topics"], ["export", "articles"], ["train"]):
        outcome = cli(*command)
        assert outcome.code in (1, 5)
        assert outcome.err.count("\n") == 1
        assert outcome.err.startswith("wikitopics: ")


def test_the_session_folder_is_a_file(cli, home, corpus, one_line):
    home.write_text("")
    one_line(cli("train", *corpus.options()), 1, "folder")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE models SET arrays = x'6a756e6b'",
        "UPDATE models SET arrays = CAST(substr(arrays, 1, 200) || x'7f' || substr(arrays, 202) AS "
        "BLOB)",
        "UPDATE models SET scalars = '{'",
        "UPDATE models SET scalars = '[]'",
        "UPDATE models SET scalars = json_remove(scalars, '$.kappa')",
        "UPDATE held_out SET documents = substr(documents, 1, length(documents) - 9)",
        "UPDATE reference SET documents = substr(documents, 1, length(documents) - 9)",
    ],
)
@pytest.mark.parametrize("command", [["train"], ["infer", "FILE"], ["topics", "--top", "40"]])
def test_damage_within_a_value_is_one_line(cli, trained, change, command, tmp_path, one_line):
    (tmp_path / "text").write_text("aaa aab")
    sql(trained, change)
    words = [tmp_path / "text" if word == "FILE" else word for word in command]
    outcome = cli(*words)
    needless_for = {"held_out": ("infer", "topics"), "reference": ("infer",)}
    _, table, *_ = change.split()
    if command[0] in needless_for.get(table, ()):
        assert outcome.code == 0
    else:
        one_line(outcome, 5, "session")


@pytest.mark.parametrize(
    ("source", "identity"),
    [
        ("api", {}),
        ("api", {"api_url": "no address"}),
        ("html", {"api_url": 5}),
        ("dump", {}),
        ("dump", {"dump": 5}),
        ("dump", {"dump": ["/x.xml", "https://host.org/y.xml"]}),
        ("dump", {"dump": [], "home": "https://host.org/"}),
        ("dump", {"home": "https://host.org/"}),
        ("dump", {"home": "/x", "api_url": "https://wiki.org"}),
        ("texts", {"texts": []}),
    ],
)
@pytest.mark.parametrize("command", [["train"], ["compare", "default"]])
def test_damage_in_what_names_the_source_is_one_line(
    cli,
    trained,
    source,
    identity,
    command,
    one_line,
):
    for key, value in (("source", source), ("source_options", identity)):
        sql(trained, "UPDATE settings SET value = ? WHERE key = ?", json.dumps(value), key)
    one_line(cli(*command), 5, "damaged (settings.source_options: ")
    assert not contact_missing(trained, TrainRequest(contact="me@host.org"))
    with pytest.raises(Damaged, match="source_options"):
        contact_missing(trained, TrainRequest())


@pytest.mark.parametrize(
    "command",
    [
        "export topics -o",
        "export model -o",
        "vocab build A -o",
        "train --log",
        "backup",
        "train --session",
    ],
)
def test_nothing_is_written_over_a_session_or_a_part_of_one(
    cli,
    trained,
    command,
    tmp_path,
    one_line,
):
    (tmp_path / "text.txt").write_text("aaa aab aac")
    (tmp_path / "link").symlink_to(trained)
    before = trained.read_bytes()
    words = [tmp_path / "text.txt" if word == "A" else word for word in command.split()]
    targets = [
        trained.with_name(trained.name + ending) for ending in ("-wal", "-shm", "-journal", ".lock")
    ]
    if command != "train --session":
        targets += [trained, tmp_path / "link"]
    for target in targets:
        outcome = cli(*words, target)
        code = 1 if command == "backup" and "already exists" in outcome.err else 2
        one_line(outcome, code)
    assert trained.read_bytes() == before
    assert cli("status").code == 0


def test_a_new_session_is_not_its_own_log(cli, corpus, home, one_line):
    one_line(cli("train", *corpus.options(), "--log", home / "default.db"), 2, "the session itself")
    assert not (home / "default.db").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux only")
def test_a_log_on_a_full_disk_stops_nothing(cli, corpus, tmp_path, monkeypatch):
    opened = []

    def full(path):
        opened.append(path)
        return io.FileIO("/dev/full", "a")

    monkeypatch.setattr("wikitopics.session.storage.files.open_to_append", full)
    outcome = cli("train", *corpus.options(), "--topics", 5, "--log", tmp_path / "log")
    assert opened == [tmp_path / "log"]
    assert outcome.code == 0
    assert outcome.err.endswith("everything is saved\n")


def test_a_log_calls_it_no_error_that_nobody_reads_the_progress(tmp_path):
    def train():
        with also_to(tmp_path / "log", tmp_path / "s.db") as tell:
            tell("finished")
            raise ReaderGone

    with pytest.raises(ReaderGone):
        train()
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert line.endswith(" finished")


def test_nothing_acts_on_the_terminal_that_shows_the_log(cli, corpus, tmp_path):
    named = tmp_path / "\x1b[31mred\x9b.npz"
    named.write_bytes(corpus.counts.read_bytes())
    options = ["--source", "counts", "--counts", named, "--vocab", corpus.vocabulary, "--topics", 5]
    assert cli("train", *options, "--log", tmp_path / "log").code == 0
    told = (tmp_path / "log").read_text()
    assert r"\x1b[31mred\x9b.npz (" in told.splitlines()[0]
    assert not {"\x1b", "\x9b"} & set(told)


def test_the_default_session_is_not_gone_on_with_by_accident(cli, home, tmp_path, one_line):
    for name in "ab":
        rows = [
            json.dumps({"text": "aaa aab aac aad", "id": f"{name}{number}"}) for number in range(40)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    (tmp_path / "words.txt").write_text("aaa\naab\naac\naad\n")
    first, second = (("--texts", tmp_path / f"{name}.jsonl") for name in "ab")
    begun = (*first, "--vocab", tmp_path / "words.txt", "--model", "lda:topics=2", "--held-out", 4)
    cli.ok("train", *begun)
    cli.ok("train", *first)
    before = status(home / "default.db").documents
    holds = f"session default holds {before} documents (a.jsonl)"
    on_end = f'echo "$WIKITOPICS_EXIT_CODE|$WIKITOPICS_REASON" > "{tmp_path}/end"'
    refused = cli("train", *second, "--on-end", on_end)
    one_line(refused, 2, holds, "`--session NAME`", "`--session default`")
    assert (tmp_path / "end").read_text().startswith(f"2|{holds}")
    for other in (("--source", "api"), ("--topics", 7), ("--seed", 5)):
        one_line(
            cli("train", *other),
            2,
            holds,
            "`--session NAME`",
            f"{other[0]} {other[1]}: this session",
        )
    assert status(home / "default.db").documents == before
    cli.ok("train", *second, "--session", "default")
    assert status(home / "default.db").documents > before
