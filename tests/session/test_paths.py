"""Where sessions are, and how commands about them are written."""

from pathlib import Path

import pytest

from wikitopics.session import paths
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import session_folder, session_name, session_path


def test_names_live_in_the_session_folder_and_paths_are_paths(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert session_folder() == home
    for name, path in {
        "night.2-b_c": home / "night.2-b_c.db",
        "x.db": tmp_path / "x.db",
        "./x": tmp_path / "x",
        str(tmp_path / "a b" / "c"): tmp_path / "a b" / "c",
        "~/x.db": Path.home() / "x.db",
    }.items():
        assert session_path(name) == path
    assert session_name(session_path("night")) == "night"


def test_a_command_is_named_as_it_was_called_if_only_its_folder_finds_it(
    home, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    demo = session_path("demo")
    for called, named in {
        ".venv/bin/wikitopics": ".venv/bin/wikitopics",
        "./wikitopics": "./wikitopics",
        "/a b/wikitopics": "'/a b/wikitopics'",
        "/usr/lib/wikitopics/__main__.py": "wikitopics",
        "pytest": "wikitopics",
    }.items():
        monkeypatch.setattr("sys.argv", [called])
        assert paths.command("topics", demo) == f"{named} topics --session demo"
    (tmp_path / "wikitopics").touch(mode=0o755)
    monkeypatch.setattr("sys.argv", [".venv/bin/wikitopics"])
    assert paths.command("topics", demo) == "wikitopics topics --session demo"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "a b", "a\nb", "ä", "a\0b", "x" * 129, "$(x)", "a;b", "[bold]"],
)
def test_no_name_leaves_the_folder(name):
    with pytest.raises(BadUsage, match="session name"):
        session_path(name)


LONG_NAME = "x" * 300 + ".db"


@pytest.mark.parametrize(
    ("command", "name", "code"),
    [
        ("status", "~nobody-of-that-name/x.db", 2),
        ("status", "/" + LONG_NAME, 1),
        ("status", LONG_NAME, 1),
        ("train", "~nobody-of-that-name/x.db", 2),
        ("train", "/" + LONG_NAME, 2),
        ("train", LONG_NAME, 2),
        ("stop", "/", 1),
        ("save", "/", 1),
    ],
)
def test_paths_that_cannot_be_are_one_line(command, name, code, cli, one_line):
    one_line(cli(command, "--session", name), code)


def test_without_the_variable_the_platforms_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("WIKITOPICS_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert session_folder().is_relative_to(tmp_path)
    assert session_folder().name == "wikitopics"
