"""README and docs against the program: what they name exists, its Python runs."""

import re
import shlex
from functools import cache
from pathlib import Path

import click
import pytest

from tests.commands import ROOT
from wikitopics.cli import run
from wikitopics.cli.main import wikitopics

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
NOT_OURS = {"--notes"}
"""Options of the packages that docs/extending.md writes."""
PROGRAM = click.Context(wikitopics, info_name="wikitopics", **wikitopics.context_settings)
"""The parent of each command's context, since click keeps a command's help option as first requested."""
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def spans(page: Path) -> list[str]:
    """What stands between backquotes in the prose of a page."""
    prose = FENCED.sub("", text(page))
    return [span.replace("\\|", "|").replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose)]


def command_at(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that these words begin with, and the words behind its name."""
    command: click.Command = wikitopics
    while isinstance(command, click.Group) and words and re.match(r"[a-z]", words[0]):
        found = command.get_command(PROGRAM, words[0])
        assert found is not None, f"`{words[0]}` is no command of {command.name}"
        command, words = found, words[1:]
    return command, words


def options(command: click.Command) -> set[str]:
    parameters = command.get_params(click.Context(command, parent=PROGRAM))
    return {option for parameter in parameters for option in parameter.opts}


def commands() -> list[list[str]]:
    """Every `wikitopics …` in README and docs, as words behind the program's name."""
    found = []
    for page in PAGES:
        found += [span for span in spans(page) if re.match(r"wikitopics( |$)", span)]
        for line in "\n".join(FENCED.findall(text(page))).splitlines():
            found += re.findall(r"(?:^|&& )(?:\.venv/bin/)?(wikitopics(?: .*)?)$", line)
    return sorted({tuple(shlex.split(one.replace("…", ""), comments=True)[1:]) for one in found})


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_exists_with_its_options(words: tuple[str, ...]) -> None:
    command, rest = command_at(list(words))
    for word in rest:
        if word.startswith("-"):
            assert word in options(command) | NOT_OURS, f"`{' '.join(words)}`: there is no {word}"


def test_the_table_of_commands_is_complete() -> None:
    table = text(README).split("| command | does |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(?:wikitopics )?([a-z]+)", table))
    assert set(wikitopics.list_commands(PROGRAM)) <= named


def known_options() -> set[str]:
    known: set[str] = set()
    for name in wikitopics.list_commands(PROGRAM):
        command = wikitopics.get_command(PROGRAM, name)
        assert command is not None
        known |= options(command)
        if isinstance(command, click.Group):
            known |= {one for sub in command.commands.values() for one in options(sub)}
    return known


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_the_text_exist(page: Path) -> None:
    known = known_options()
    for span in spans(page):
        if span.startswith(("python", "pip", "curl", "dask")):
            continue  # another program's
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span):
            assert option in known | NOT_OURS, f"{page.name} names {option}"


def test_its_two_commands_stand_on_one_line_each_where_they_are_looked_for() -> None:
    demo = re.findall(r"^python3 -m venv \.venv && .*wikitopics demo$", text(README), re.MULTILINE)
    tests = re.findall(r"^python3 -m venv .*pytest$", text(README), re.MULTILINE)
    assert len(demo) == len(tests) == 1
    runner = ROOT / ".ci" / "run"
    if runner.exists():
        (pattern,) = re.findall(r"grep -m1 -E '([^']+)' README\.md", runner.read_text(encoding="utf-8"))
        assert re.search(pattern, text(README), re.MULTILINE)[0] == tests[0]  # type: ignore[index]


def test_the_readme_stays_short() -> None:
    assert len(text(README).splitlines()) <= 150


def test_every_exit_code_is_explained() -> None:
    from crawler import errors as crawling
    from session import errors as sessions

    classes = [one for room in (crawling, sessions) for one in vars(room).values() if isinstance(one, type)]
    codes = {one.exit_code for one in classes if isinstance(getattr(one, "exit_code", None), int)}
    table = text(ROOT / "docs" / "commands.md").split("| exit code | means |")[1].split("\n\n")[0]
    assert {str(code) for code in codes} <= set(re.findall(r"^\| (\d+) \|", table, re.MULTILINE))


def headings(page: Path) -> set[str]:
    """The places within a page that a link may name, as they are made from its headings."""
    titles = re.findall(r"^#+ (.*)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_linked_files_and_headings_exist(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", text(page)):
        if "://" in link:
            continue
        name, _, place = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name} links {link}"
        assert not place or place in headings(target), f"{page.name} links {link}"


def test_the_index_leads_to_every_page() -> None:
    linked = set(re.findall(r"\]\((\w+\.md)\)", text(ROOT / "docs" / "index.md")))
    assert linked | {"index.md"} == {page.name for page in PAGES if page != README}


def test_python_in_the_text_runs_from_top_to_bottom(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is an optional extra")
    assert run(["demo", "--headless", "--articles", "600"]) == 0
    monkeypatch.chdir(tmp_path)
    printed = {}
    for page in (README, ROOT / "docs" / "python.md"):
        for command in re.findall(r"^wikitopics (export .*)$", text(page), re.MULTILINE):
            assert run(command.split()) == 0
        capsys.readouterr()
        names: dict[str, object] = {}
        for block in re.findall(r"^```python\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE):
            exec(compile(block, page.name, "exec"), names)
        printed[page.name] = capsys.readouterr().out
    assert "<StoredSession demo: " in printed["README.md"]
    assert "(2, 50)" in printed["README.md"]
    for shape in ("(4, 50) [", "(50, 8000) 1.0", "(4, 2)"):
        assert shape in printed["python.md"]
