"""README against the program: what it names exists, and its commands are those that are checked."""

import re
import shlex
from pathlib import Path

import click
import pytest

from wikitopics.cli import run
from wikitopics.cli.main import wikitopics

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\w*\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
PROSE = re.sub(r"^```.*?^```", "", README, flags=re.DOTALL | re.MULTILINE)
SPANS = [span.replace("\\|", "|").replace("\n", " ") for span in re.findall(r"`([^`]+)`", PROSE)]


def command_at(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that these words begin with, and the words behind its name."""
    command: click.Command = wikitopics
    context = click.Context(wikitopics, info_name="wikitopics")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, f"README names `{words[0]}`, which is no command of {command.name}"
        command, words = found, words[1:]
    return command, words


def options(command: click.Command) -> set[str]:
    parameters = command.get_params(click.Context(command))
    return {option for parameter in parameters for option in parameter.opts} | {"--help", "-h"}


def commands() -> list[list[str]]:
    """Every `wikitopics …` in README, as words behind the program's name."""
    lines = [line for block in BLOCKS for line in block.splitlines()]
    found = [span for span in SPANS if re.match(r"wikitopics( |$)", span)]
    for line in lines:
        found += re.findall(r"(?:^|&& )(?:\.venv/bin/)?(wikitopics(?: .*)?)$", line)
    return [shlex.split(text.replace("…", ""), comments=True)[1:] for text in found]


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_exists_with_its_options(words: list[str]) -> None:
    command, rest = command_at(words)
    for word in rest:
        if word.startswith("-"):
            assert word in options(command), f"`{' '.join(words)}`: there is no {word}"


def test_the_table_of_commands_is_complete() -> None:
    table = README.split("| command | does |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(?:wikitopics )?([a-z]+)", table))
    assert set(wikitopics.list_commands(click.Context(wikitopics))) <= named


def test_options_in_the_text_exist() -> None:
    context = click.Context(wikitopics)
    known: set[str] = set()
    for name in wikitopics.list_commands(context):
        command = wikitopics.get_command(context, name)
        assert command is not None
        known |= options(command)
        if isinstance(command, click.Group):
            known |= {one for sub in command.commands.values() for one in options(sub)}
    for span in SPANS:
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span):
            assert option in known, f"README names {option}"


def test_its_two_commands_stand_on_one_line_each_where_they_are_looked_for() -> None:
    demo = re.findall(r"^python3 -m venv \.venv && .*wikitopics demo$", README, re.MULTILINE)
    tests = re.findall(r"^python3 -m venv .*pytest$", README, re.MULTILINE)
    assert len(demo) == len(tests) == 1
    runner = ROOT / ".ci" / "run"
    if runner.exists():
        (pattern,) = re.findall(r"grep -m1 -E '([^']+)' README\.md", runner.read_text(encoding="utf-8"))
        assert re.search(pattern, README, re.MULTILINE)[0] == tests[0]  # type: ignore[index]


def test_every_exit_code_is_explained() -> None:
    from crawler import errors as crawling
    from session import errors as sessions

    classes = [one for room in (crawling, sessions) for one in vars(room).values() if isinstance(one, type)]
    codes = {one.exit_code for one in classes if isinstance(getattr(one, "exit_code", None), int)}
    table = README.split("| exit code | means |")[1].split("\n\n")[0]
    assert {str(code) for code in codes} <= set(re.findall(r"^\| (\d+) \|", table, re.MULTILINE))


def test_linked_files_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    for link in links:
        assert "://" in link or (ROOT / link).exists(), f"README links {link}"


def test_its_python_runs_from_top_to_bottom(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is an optional extra")
    assert run(["demo", "--headless", "--articles", "600"]) == 0
    monkeypatch.chdir(tmp_path)
    for command in re.findall(r"^wikitopics (export .*)$", README, re.MULTILINE):
        assert run(command.split()) == 0
    capsys.readouterr()
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE):
        exec(compile(block, "README.md", "exec"), names)
    out = capsys.readouterr().out
    for printed in ("<StoredSession demo: ", "(4, 50) [", "(50, 8000) 1.0", "(4, 2)"):
        assert printed in out
