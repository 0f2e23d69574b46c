"""The command line's answers to wrong usage, and its help."""

import click
import pytest

from wikitopics.cli import wikitopics
from wikitopics.session import __version__

COMMANDS = wikitopics.list_commands(click.Context(wikitopics))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["train", "--topics", "0"], "topics must be a whole number from 1"),
        (["train", "--eta", "inf"], "eta must be"),
        (["train", "--held-out", "-1"], "'--held-out': must be a whole number from 0 to 1,000,000"),
        (["train", "--articles", "9" * 16], "from 1 to 1,000,000,000,000"),
        (["demo", "--headless", "--wiki-size", "9" * 400], "from 1 to 1,000,000,000,000"),
        (["train", "--hours", "0"], "'--hours': must be a number over 0"),
        (["train", "--max-mb", "nan"], "'--max-mb': must be a number over 0"),
        (
            ["train", "--seed", "5000000000"],
            "'--seed': must be a whole number from 0 to 4,294,967,295",
        ),
        (["train", "--model", "lda:colour=red"], "colour"),
        (["train", "--alpha", "1e308"], "alpha must be a number from 1e-09 to 1,000,000,000"),
        (["train", "--contact", "me@Example.org"], "nobody can be reached at example.org"),
        (["demo"], "`wikitopics demo --headless`"),
        (["demo", "--session", "a"], "`wikitopics demo --headless --session a`"),
        (["--session", "two"], "`wikitopics train --session two`"),
        (["status", "--session", "./x.db-wal"], "a part of a session"),
        (["vocab"], "Missing command"),
        (["vocab", "build", "/none", "-o", "/none/x"], "no folder"),
        (["vocab", "build", "/none", "-o", "x"], "no such file"),
        (
            ["vocab", "build", "/none", "-o", "x.txt.gz"],
            "vocabularies are not compressed; leave out .gz",
        ),
        (["vocab", "build", "/dev/zero", "-o", "x"], "a device, not a regular file"),
        (["vocab", "show", "/dev/zero"], "not a regular file"),
        (["train", "--counts", "/dev/zero"], "a device, not a regular file"),
        (["train", "--dump", "/dev/zero"], "read from standard input"),
        (
            ["train", "--model", "lda:batch_size=64", "--model", "hdp:batch_size=48"],
            "does not divide",
        ),
        (["train", "--source", "telepathy"], "--source"),
        (["train", "--source", "counts"], "needs --counts"),
        (["train", "--source", "dump"], "no contact, and Wikimedia asks"),
        (["train", "--dump", "http://127.0.0.1:1/x.bz2", "--contact", "me@host.org"], "add --yes"),
        (["train", "--dump", "https://me:secret@host.org/x.bz2"], "not contain a user name"),
        (["train", "--counts", "/none.npz"], "no such file"),
        (["train", "--dump", "/none.xml", "--counts", "x"], "give one"),
        (["train", "--lang", "de"], "contact"),
        (["train", "--lang", "lo"], "Lao is written without spaces"),
        (["train", "--lang", "BO", "--source", "html"], "Tibetan is written without spaces"),
        (["train", "--lang", "zh-yue"], "Cantonese"),
        (["vocab", "build", "--lang", "km", "-o", "x"], "Khmer is written without spaces"),
        (
            ["train", "--lang", "de", "--source", "recent", "--contact", "me@host.org"],
            "vocabulary of de",
        ),
        (["train", "--lang", "../x", "--vocab", "english"], "--lang"),
        (["train", "--api-url", "ftp://x", "--contact", "me@host.org"], "http"),
        (["train", "--api-url", "", "--contact", "me@host.org"], "'--api-url': is empty"),
        (["train", "--vocab", "klingon"], "klingon"),
        (["train", "--vocab", "/none.txt"], "/none.txt"),
        (["train", "--vocab", "~nobody-of-that-name/x"], "no such user"),
        (["train", "--frobnicate"], "--frobnicate"),
        (["train", "--contact", "me@host.org\r\nX: y"], "contact"),
        (["train", "--rpm", "100000", "--contact", "me@host.org"], "200"),
        (["frobnicate"], "No such command 'frobnicate'. Available: demo, train"),
        (["wath"], "Did you mean 'watch'?"),
        (["train"], "Wikimedia asks who runs a crawler"),
        (["vocab", "build", "-o", "x"], "give files to read, or --lang or --api-url to crawl"),
        (
            ["--session", "x", "status"],
            "put --session after the command: wikitopics status --session",
        ),
        (["--json", "status"], "put --json after the command: wikitopics status --json"),
        (["--batch-size", "9", "train"], "put --batch-size after the command"),
        (
            ["topics", "--session", "x", "rename", "0", "a"],
            "after the command: wikitopics topics rename --s",
        ),
        (
            ["sessions", "--session", "x", "rm", "y"],
            "after the command: wikitopics sessions rm --session",
        ),
        (["status", "--session", ".."], "session name"),
        (["export", "everything"], "everything"),
        (["articles"], "Missing option '--topic' (see `wikitopics articles --help`)"),
        (["train", "--on-end"], "'--on-end' requires an argument (see `wikitopics train --help`)"),
        (["topics", "name", "--command"], "requires an argument (see `wikitopics topics"),
        (["articles", "--topic", "-1"], "'--topic': must be a whole number from 0, not '-1'"),
        (["history", "first"], "must be a whole number from 0, not 'first'"),
        (
            ["vocab", "build", "pyproject.toml", "-o", "./pyproject.toml"],
            "is one of the files to read: name",
        ),
        (
            ["vocab", "build", "x", "-o", "y", "--min-df", "5%"],
            "'--min-df': must be a number of documents",
        ),
        (["vocab", "build", "x", "-o", "y", "--stop-words", "none.txt"], "none.txt: no such file"),
        (["vocab", "build", "x", "-o", "y", "--stop-words", ""], "'': no such file"),
        (["backup"], "FILE"),
        (["train", "x", "y"], "unexpected arguments (x y) (see `wikitopics train --help`)"),
        (
            ["train", "--texts", "README.md", "CITATION.cff", "LICENSE"],
            "unexpected arguments (CITATION.cff LICENSE): give their folder, or --texts before each",
        ),
        (["vocab", "show", "klingon"], "klingon"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_code_2(cli, home, arguments, says, one_line):
    one_line(cli(*arguments), 2, says)
    assert not list(home.glob("*.db"))


def test_a_path_may_lead_elsewhere_and_sessions_are_named(
    cli,
    tmp_path,
    monkeypatch,
    one_line,
    home,
):
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    one_line(cli("status", "--session", "../../etc"), 1, "there is no session")
    (tmp_path / "etc").mkdir()
    one_line(cli("status", "--session", "../../etc"), 5, "folder")
    one_line(cli("status"), 1, "wikitopics demo")
    home.mkdir()
    (home / "night.db").write_bytes(b"")
    one_line(cli("status"), 1, "Available: night")


@pytest.mark.parametrize(
    "command", [*([name] for name in COMMANDS), ["vocab", "show"], ["vocab", "build"]]
)
def test_every_command_has_examples_and_takes_a_session(cli, command):
    told = cli.ok(*command, "--help")
    assert f"Usage: wikitopics {' '.join(command)} " in told.out
    assert "Example" in told.out
    assert "--session NAME" in told.out


def test_a_sessions_vocabulary(cli, trained, corpus):
    words = cli("vocab", "show", "--session", "default")
    assert words.out.split() == list(corpus.words)
    assert cli("vocab", "--session", "default", "show") == words


def test_the_help_names_every_command_and_has_examples(cli):
    assert cli("--version").out == f"wikitopics {__version__}\n"
    out = cli("--help").out
    assert "Examples:" in out
    assert all(f"  {command} " in out for command in COMMANDS)
    assert "...\n" not in out.partition("Commands:")[2]  # none is cut
    assert "-h, --help" in out


def test_the_screen_needs_a_terminal(cli, trained, one_line):
    one_line(cli("watch"), 2, "terminal", "`wikitopics status`")
    one_line(cli(), 2, "terminal", "`wikitopics train`")


@pytest.mark.parametrize("arguments", [["train", "--ye"], ["sessions", "rm", "x", "--yess"]])
def test_a_mistyped_option_is_told_what_it_may_mean(cli, arguments, one_line):
    one_line(cli(*arguments), 2, arguments[-1], "'--yes'")
