"""README, docs and other files against the program: what they name exists, and their Python
runs."""

import csv
import io
import json
import re
import shlex
import shutil
from dataclasses import fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import get_args

import click
import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.commands import ROOT, python
from tests.session.rows import sql
from wikitopics.cli import run, wikitopics
from wikitopics.session import __version__
from wikitopics.session.analysis.exports import TABLES, ExportRequest
from wikitopics.session.analysis.formats import FORMATS
from wikitopics.session.records import TopicChange, TopicEvent
from wikitopics.session.storage.reader import SessionReader

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
LINKING = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINKING += [*(ROOT / "crawler").rglob("*.md"), *(ROOT / "vocab").rglob("*.md")]
"""Decisions are of their time, and may name what is gone; but what a page links is there."""
NOT_OURS = {"--notes"}
"""Options of the packages that docs/extending.md writes."""
PROGRAM = click.Context(wikitopics, info_name="wikitopics", **wikitopics.context_settings)
"""The parent of each command's context, since click keeps a command's help option as first
requested."""
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)


@cache
def text(page):
    return page.read_text(encoding="utf-8")


def spans(page):
    """What stands between backquotes in the prose of a page."""
    prose = FENCED.sub("", text(page))
    return [span.replace("\\|", "|").replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose)]


def command_at(words):
    """The command that these words begin with, and the words behind its name."""
    command = wikitopics
    while isinstance(command, click.Group) and words and re.match(r"[a-z]", words[0]):
        found = command.get_command(PROGRAM, words[0])
        assert found is not None, f"`{words[0]}` is no command of {command.name}"
        command = found
        words = words[1:]
    return command, words


def options(command):
    parameters = command.get_params(click.Context(command, parent=PROGRAM))
    return {option for parameter in parameters for option in parameter.opts}


def in_prose():
    """Every `wikitopics …` in a sentence."""
    return [span for page in PAGES for span in spans(page) if re.match(r"wikitopics( |$)", span)]


def in_blocks(page):
    """Every line `wikitopics …` of a page that a reader may copy."""
    lines = "\n".join(FENCED.findall(text(page)))
    return re.findall(r"(?:^|&& )(?:\.venv/bin/)?(wikitopics(?: .*)?)$", lines, re.MULTILINE)


def words_of(found):
    """What stands behind the program's name."""
    return sorted({tuple(shlex.split(one.replace("…", ""), comments=True)[1:]) for one in found})


@pytest.mark.parametrize(
    "words", words_of(one for page in PAGES for one in in_blocks(page)), ids=" ".join
)
def test_every_line_to_copy_is_understood(words):
    command, rest = command_at(list(words))
    if not NOT_OURS & set(words):
        command.make_context(command.name, rest, parent=PROGRAM)


@pytest.mark.parametrize("words", words_of(in_prose()), ids=" ".join)
def test_every_command_exists_with_its_options(words):
    command, rest = command_at(list(words))
    for word in rest:
        if word.startswith("-"):
            assert word in options(command) | NOT_OURS, f"`{' '.join(words)}`: there is no {word}"


def test_the_table_of_commands_is_complete():
    table = text(README).split("| command | does |")[1].split("\n\n")[0]
    named = set(re.findall(r"`(?:wikitopics )?([a-z]+)", table))
    assert set(wikitopics.list_commands(PROGRAM)) <= named


def known_options():
    commands = [wikitopics.get_command(PROGRAM, name) for name in wikitopics.list_commands(PROGRAM)]
    for group in [command for command in commands if isinstance(command, click.Group)]:
        commands += group.commands.values()
    return {one for command in commands for one in options(command)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_the_text_exist(page):
    known = known_options()
    for span in spans(page):
        if span.startswith(("python", "pip", "curl", "dask")):
            continue  # another program's
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", span):
            assert option in known | NOT_OURS, f"{page.name} names {option}"


def test_the_readme_is_short_and_its_two_commands_stand_where_they_are_looked_for():
    demo = re.findall(r"^python3 -m venv \.venv && .*wikitopics demo$", text(README), re.MULTILINE)
    tests = re.findall(r"^python3 -m venv .*pytest$", text(README), re.MULTILINE)
    assert len(demo) == len(tests) == 1
    runner = ROOT / ".ci" / "run"
    if runner.exists():
        (pattern,) = re.findall(
            r"grep -m1 -E '([^']+)' README\.md", runner.read_text(encoding="utf-8")
        )
        assert re.search(pattern, text(README), re.MULTILINE)[0] == tests[0]  # type: ignore[index]
    assert len(text(README).splitlines()) <= 150


def test_every_exit_code_is_explained():
    from wikitopics.crawler import errors as crawling
    from wikitopics.session import errors as sessions

    classes = [
        one for room in (crawling, sessions) for one in vars(room).values() if isinstance(one, type)
    ]
    codes = {one.exit_code for one in classes if isinstance(getattr(one, "exit_code", None), int)}
    table = text(ROOT / "docs" / "commands.md").split("| exit code | means |")[1].split("\n\n")[0]
    assert {str(code) for code in codes} <= set(re.findall(r"^\| (\d+) \|", table, re.MULTILINE))


def headings(page):
    """The places within a page that a link may name, as they are made from its headings."""
    titles = re.findall(r"^#+ (.*)$", text(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_linked_files_and_headings_exist(page):
    for link in re.findall(r"\]\(([^)]+)\)", text(page)):
        if "://" in link:
            continue
        name, _, place = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), f"{page.name} links {link}"
        assert not place or place in headings(target), f"{page.name} links {link}"


def test_the_index_leads_to_every_page():
    linked = set(re.findall(r"\]\((\w+\.md)\)", text(ROOT / "docs" / "index.md")))
    assert linked | {"index.md"} == {page.name for page in PAGES if page != README}


def test_the_index_of_decisions_has_a_line_for_each():
    decisions = ROOT / "docs" / "decisions"
    index = text(decisions / "README.md")
    linked = re.findall(r"^\| \[\d+\]\((\S+)\) \|", index, re.MULTILINE)
    assert linked == sorted(page.name for page in decisions.glob("0*.md"))


RUN_HERE = ("README.md", "python.md", "texts.md", "how.md", "gallery.md")
OFFLINE = re.compile(
    r"wikitopics ((?:export|articles|vocab build|train --session reviews[\w-]*) .*"
    r"|(?:topics|history|find|similar|infer|report|backup) .*--session demo.*)"
)
"""Commands that need neither a wiki nor a screen."""


def run_through(page):
    """Run all Python of a page, and of its commands those that can be, in their order, in this
    folder."""
    names = {}
    for language, block in re.findall(
        r"^```(\w*)\n(.*?)^```", text(page), re.DOTALL | re.MULTILINE
    ):
        if language == "python":
            exec(compile(block, page.name, "exec"), names)
        lines = [] if language else block.splitlines()
        for command in map(OFFLINE.fullmatch, lines):
            if command is None or (".parquet" in command[1] and not find_spec("pyarrow")):
                continue
            assert run(shlex.split(command[1])) == 0


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch, trainers_run_here, made_once, home):
    """Where the text is run: beside a demo's session, tables called reviews.csv, reviews.parquet
    and articles.csv, and an essay."""

    def run_demo(folder):
        with monkeypatch.context() as patched:
            patched.setenv("WIKITOPICS_HOME", str(folder))
            assert run(["demo", "--headless", "--articles", "600"]) == 0

    shutil.copytree(made_once("demo-of-600", run_demo), home)
    monkeypatch.chdir(tmp_path)
    words = ["battery"] + [a + b + c for a in "bdfgk" for b in "aeiou" for c in "lmnrs"]
    texts = [" ".join(words[row % 20 :: 20] * 4) for row in range(200)]
    rows = (
        f"{row},{text},{'ab'[row % 2]},2026-0{row % 9 + 1}-11" for row, text in enumerate(texts)
    )
    Path("reviews.csv").write_text(
        "number,review,product,date\n" + "\n".join(rows), encoding="utf-8"
    )
    if find_spec("pyarrow"):
        from pyarrow import csv, parquet

        parquet.write_table(csv.read_csv("reviews.csv"), "reviews.parquet")
    articles = (
        f"{text},{'AB'[row % 2]},{row // 20 * 10 + 1900}" for row, text in enumerate(texts[:60])
    )
    Path("articles.csv").write_text("text,country,decade\n" + "\n".join(articles), encoding="utf-8")
    Path("posts.jsonl").write_text(
        "".join(f'{{"body": "{text}"}}\n' for text in texts), encoding="utf-8"
    )
    Path("essay.txt").write_text("The orchestra played a symphony.", encoding="utf-8")


def test_all_python_in_the_text_is_run():
    """The rest by tests/packages.py."""
    with_python = {page.name for page in PAGES if "```python" in text(page)}
    assert with_python == {*RUN_HERE, "exports.md", "extending.md"}


@pytest.mark.usefixtures("in_a_folder")
def test_python_in_the_text_runs_from_top_to_bottom(capsys):
    pytest.importorskip("sklearn", reason="scikit-learn is an optional extra")
    printed = {}
    # python.md and how.md make reports; without that extra, the test in a notebook runs the former.
    for name in RUN_HERE if find_spec("jinja2") else ("README.md", "texts.md"):
        run_through(next(page for page in PAGES if page.name == name))
        printed[name] = capsys.readouterr().out
    assert "<StoredSession demo: " in printed["README.md"]
    assert "(2, 50)" in printed["README.md"]
    for shape in ("(4, 50) [", "(50, 8000) 1.0", "(4, 2)") if "python.md" in printed else ():
        assert shape in printed["python.md"]
    assert Path("reviews.txt").is_file()
    assert Path("counts.npz").is_file()
    if "how.md" in printed:
        assert "(600, 50)" in printed["how.md"]
        made = ("topics.csv", "reviews.png", "night.db", "demo.html", "posts.txt")
        assert all(Path(name).is_file() for name in made)


@pytest.mark.interop
@pytest.mark.usefixtures("in_a_folder")
def test_python_runs_in_a_notebook_which_shows_sessions_and_topics():
    nbclient = pytest.importorskip("nbclient")
    from nbformat import v4

    blocks = re.findall(
        r"^```python\n(.*?)^```", text(ROOT / "docs" / "python.md"), re.DOTALL | re.MULTILINE
    )
    cells = [v4.new_code_cell(block) for block in blocks]
    nbclient.NotebookClient(v4.new_notebook(cells=cells), kernel_name="python3").execute()
    shown = [
        "".join(one.get("data", {}).get("text/html", "") for one in cell.outputs) for cell in cells
    ]
    told = "(texts from a Python program); lda", "topics of lda", "of all words"
    for page, says in zip(shown, told, strict=False):
        assert says in page
        assert "<svg" in page
        assert not re.search(r"(?:src|href)=|https?:|<script|@import|url\(", page)
    told = "".join(one.get("text", "") for one in cells[0].outputs)
    assert "my-reviews" in told, "a progress bar, of text where there are no widgets"
    assert Path("reviews.html").is_file()


@pytest.mark.interop
@pytest.mark.usefixtures("in_a_folder")
def test_the_notebook_runs_over_some_of_its_texts():
    nbclient = pytest.importorskip("nbclient")
    import nbformat

    notebook = nbformat.read(ROOT / "docs" / "afternoon.ipynb", as_version=4)
    packages = 'packages = ["numpy", "pandas", "scipy", "sklearn", "matplotlib"]'
    loading = next(cell for cell in notebook.cells if packages in cell.source)
    loading.source = loading.source.replace(packages, 'packages = ["pandas", "scipy"]')
    files = 'sorted(folder.rglob("*.py"))'
    assert files in loading.source
    few = f'[*{files}[::10], *folder.rglob("_stats_py.py")]'  # the last is looked for below
    loading.source = loading.source.replace(files, few)
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    outputs = [one for cell in notebook.cells for one in cell.get("outputs", ())]
    pictures = [one for one in outputs if "image/png" in one.get("data", ())]
    assert len(pictures) == 5
    assert Path("afternoon.html").is_file()
    assert Path("afternoon.xlsx").is_file()


def test_the_notebook_is_kept_as_it_was_run():
    """Every cell of code has run, in order; nothing in it names the machine."""
    page = text(ROOT / "docs" / "afternoon.ipynb")
    cells = [cell for cell in json.loads(page)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [one for cell in cells for one in cell["outputs"]]
    assert {one["output_type"] for one in outputs} <= {"stream", "display_data", "execute_result"}
    for one in outputs:
        one.get("data", {}).pop("image/png", None)  # which may have any letters
        assert not re.search("/tmp|/home|/root|/work|site-packages", json.dumps(one))


@pytest.mark.interop
@pytest.mark.usefixtures("in_a_folder")
def test_python_for_other_programs_runs():
    for program in ("duckdb", "gensim", "polars", "pyarrow", "pyLDAvis"):
        pytest.importorskip(program)
    wt.train(pd.read_csv("reviews.csv")["review"], "my-reviews", progress=False)
    run_through(ROOT / "docs" / "exports.md")
    assert Path("demo.html").is_file()


def test_the_citation_is_of_this_version():
    citation = text(ROOT / "CITATION.cff")
    assert f"\nversion: {__version__}\n" in citation
    (date,) = re.findall(r"^date-released: (\S+)$", citation, re.MULTILINE)
    assert f"\n## {__version__} - {date}\n" in text(ROOT / "CHANGELOG.md")


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
STOPS = re.findall(r"^\| `([\w.]+)`[^|]* \| `([\w/]+)\.py`", CONTRIBUTING, re.MULTILINE)


@pytest.mark.parametrize(("function", "module"), STOPS)
def test_a_function_of_the_tour_is_where_it_says(function, module):
    assert callable(attrgetter(function)(import_module("wikitopics." + module.replace("/", "."))))


OF_JSON = (
    (ROOT / "docs" / "commands.md")
    .read_text(encoding="utf-8")
    .split("## JSON\n")[1]
    .split("\n## ")[0]
)
KEYS = {
    command: (kind, re.findall(r"`(\w+)`", keys))
    for command, kind, keys in re.findall(
        r"^\| `([^`]+)` \| ([\w ,]+) \| (.*) \|$", OF_JSON, re.MULTILINE
    )
}
"""What the page says of each command: "object", "array" or "an object per line", or both of these;
and its keys."""


@pytest.mark.parametrize("command", [row for row in KEYS if row != "history"])
def test_keys_are_those_of_the_page(command, cli, trained, tmp_path):
    with SessionReader(trained) as reader:
        title = next(row.title for row in reader.recent_articles(10_000) if row.role == "trained")
        text = tmp_path / "text"
        text.write_text(" ".join(reader.vocabulary()), encoding="utf-8")
        table = tmp_path / "rows.csv"
        table.write_text(f"id,text\n7,{text.read_text()}\n", encoding="utf-8")
    given = {
        "K": "0",
        "TOPIC": "0",
        "TITLE": title,
        "WORDS": title,
        "FILE": str(text),
        "FILE.csv": str(table),
        "SESSION": "default",
    }
    offline = ["--offline"] if command == "doctor" else []
    outcome = cli(*(given.get(word, word) for word in command.split()), *offline, "--json")
    kind, keys = KEYS[command]
    told = outcome.out
    if kind == "an object per line":
        *_, told = told.splitlines()
    found = json.loads(told)
    is_array = kind.startswith("array")
    assert isinstance(found, list) == is_array
    objects = found if is_array else [found]
    assert objects
    assert all(list(one) == keys for one in objects)


def test_every_command_with_json_is_on_the_page():
    """The session above is too short to have any."""
    assert len(KEYS) == OF_JSON.count("\n| `")
    assert KEYS["history"] == ("array", [field.name for field in fields(TopicEvent)])
    listed = {command.split()[0] for command in KEYS}
    context = click.Context(wikitopics)
    for name in wikitopics.list_commands(context):
        command = wikitopics.get_command(context, name)
        assert command is not None
        parameters = list(command.params)
        if isinstance(command, click.Group):
            for subcommand in command.commands.values():
                parameters += subcommand.params
        takes_json = any("--json" in parameter.opts for parameter in parameters)
        assert takes_json == (name in listed | {"demo"}), name  # the demo prints what `train` does


OF_EXPORTS = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
TYPES = {"text": str, "boolean": bool, "integer": int, "number": (int, float)}


def tables(title):
    """The tables of a section by the head of their first column: the cells of each row."""
    _, *after = re.split(rf"^#+ {title}\n", OF_EXPORTS, maxsplit=1, flags=re.MULTILINE)
    assert after, f"docs/exports.md has no section {title!r}"
    text = after[0].split("\n#")[0]
    found = {}
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = (re.split(r" \| ", line.strip("| \n")) for line in table.splitlines())
        found[head[0]] = [[cells[0].strip("`"), *cells[1:]] for cells in rows]
    return found


@pytest.mark.parametrize("what", [name for name, table in TABLES.items() if table.columns])
def test_columns_are_those_of_the_file_and_of_these_types(what, cli, trained):
    # In so short a session nothing happens.
    sql(trained, "INSERT INTO topic_events VALUES (NULL, 0, 64, 'split', 1, 2, 'birds')")
    listed = tables(what)["column"]
    table = TABLES[what]
    assert [row[0] for row in listed] == [*table.columns, *table.optional]
    with SessionReader(trained) as reader:
        header = table.header(ExportRequest(reader, ["lda"]))
    rows = cli.rows(what)
    assert rows
    table = csv.DictReader(io.StringIO(cli("export", what).out))
    assert list(table) == [
        {key: "" if v is None else str(v) for key, v in row.items()} for row in rows
    ]
    types = {name: kind for name, kind, *_ in listed}
    for row in rows:
        assert tuple(row) == header
        for column, value in row.items():
            kind, _, empty = types[column].partition(" or ")
            assert isinstance(value, TYPES[kind]) or (value is None and empty), (column, value)


@pytest.mark.parametrize("what", [name for name, table in TABLES.items() if "npz" in table.formats])
def test_arrays_are_those_of_the_file_and_of_these_shapes(what, cli, trained, tmp_path):
    assert cli("export", what, "--format", "npz", "-o", tmp_path / "a.npz").code == 0
    sizes = {}
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert list(arrays) == [row[0] for row in tables(what)["array"]]
        for name, shape, *_ in tables(what)["array"]:
            wanted = re.findall(r"\w(?: \+ 1)?", shape)
            assert len(wanted) == arrays[name].ndim
            for letter, size in zip(wanted, arrays[name].shape, strict=True):
                more = letter.endswith("+ 1")
                known = (
                    int(letter) if letter.isdigit() else sizes.setdefault(letter[0], size - more)
                )
                assert size == known + more, name


def test_keys_for_ldavis(cli, trained):
    found = json.loads(cli("export", "model", "--format", "ldavis").out)
    assert list(found) == [row[0] for row in tables("For LDAvis")["key"]]


def test_every_export_form_and_event_has_its_place():
    assert set(re.findall(r"^## (\w+)$", OF_EXPORTS, re.MULTILINE)) == set(TABLES)
    assert [row[0].split("`")[0] for row in tables("Exports")["`--format`"]] == list(FORMATS)
    (events,) = (meaning for name, _, meaning in tables("events")["column"] if name == "event")
    assert re.findall(r"`(\w+)`", events) == list(get_args(TopicChange))


MAKE = Path(__file__).parents[2] / "docs" / "man" / "make.py"


def test_the_manual_page_is_of_today():
    # In a process of its own, since click keeps a command's help option as it was first requested.
    script = "import runpy, sys; sys.stdout.write(runpy.run_path(sys.argv[1])['made']())"
    made = python(script, MAKE)
    written = MAKE.with_name("wikitopics.1").read_text(encoding="utf-8")
    assert written == made, "the help has changed: run `python docs/man/make.py`"
    assert ".SS wikitopics topics rename" in made
    assert str(Path.home()) not in made


def test_all_that_is_copied_is_let_through_and_exists():
    ignored = (ROOT / ".containerignore").read_text().splitlines()
    instructions = [line.split() for line in (ROOT / "Containerfile").read_text().splitlines()]
    copies = (words for words in instructions if words[:1] == ["COPY"])
    copied = {name for words in copies if not words[1].startswith("--from") for name in words[1:-1]}
    assert "pyproject.toml" in copied
    assert copied <= {line[1:] for line in ignored if line.startswith("!")}
    assert [name for name in copied if not (ROOT / name).exists()] == []
