"""What is loaded when, and what is not: starts are quick, and `train` needs no screen."""

import click
import pytest

import wikitopics as wt
import wikitopics.model
from tests.commands import python
from wikitopics.cli import wikitopics as program

COMMANDS = program.list_commands(click.Context(program))
DESCRIBED = """
from wikitopics.model import kinds
for kind in map(kinds.load, kinds.names()):
    assert kind.label and [option.takes() for option in kind.options]
"""
RUN = "from wikitopics.cli import run\n"
HELP = f"{RUN}for name in {COMMANDS}: assert run([name, '--help']) == 0"
WORKERS = """
import wikitopics.crawler.dumps.shuffled
from wikitopics.crawler import extract_html, extract_wikitext
"""
TRAIN = f"{RUN}assert run(['train', *sys.argv[1:]]) == 0"
VERSION = f"{RUN}assert run(['--version']) == 0"
REPORT = "import wikitopics.cli.export, wikitopics.session.analysis.report.contents"

FILES = """
from pathlib import Path
from wikitopics import crawler
from wikitopics.crawler.dumps.kinds import Dump
from wikitopics.crawler.texts.kinds import Texts
folder = Path(crawler.__file__).parent / "data"
for kind, identity in ((Texts(), {"texts": [str(folder)]}), (Dump(), {"dump": ["-"]})):
    kind.open(identity, crawler.Asked({}))
    assert not kind.download(identity)
"""

LOADED = {
    "kinds by name": (
        "from wikitopics.model import Option, kinds; kinds.names()",
        "numpy numba scipy",
    ),
    "kinds described": (DESCRIBED, "numba scipy"),
    "import": ("import wikitopics", "numpy scipy numba sqlite_utils msgspec click textual"),
    "version": (VERSION, "numpy scipy numba textual aiohttp sqlite_utils msgspec"),
    "help": (HELP, "msgspec numpy scipy numba textual textual_serve aiohttp yarl sqlite3 bs4 lxml"),
    "train": (TRAIN, "textual wikitopics.tui rich pandas aiohttp"),
    "train in Python": ("import wikitopics; wikitopics.train", "numba scipy textual pandas"),
    "files": (FILES, "aiohttp yarl"),
    "reader": ("import wikitopics.session.storage.reader", "sqlite_utils"),
    "workers": (WORKERS, "numpy aiohttp bs4 lxml mwparserfromhell"),
    "screen": ("import wikitopics.tui.viewer", "textual_serve aiohttp.web jinja2"),
    "report": (REPORT, "matplotlib jinja2"),
}
"""What is run, and what it may not load."""


@pytest.mark.parametrize(("code", "heavy"), LOADED.values(), ids=LOADED)
def test_nothing_heavy_is_loaded_before_it_is_needed(code, heavy, corpus):
    options = []
    if code == TRAIN:
        options = [*corpus.options(), "--topics", 2, "--articles", 64, "--held-out", 10]
    show_loaded = f"print(sorted(sys.modules.keys() & set({heavy.split()})))"
    printed = python(f"import sys\n{code}\n{show_loaded}", *options)
    assert printed.splitlines()[-1] == "[]"


@pytest.mark.parametrize("module", [wt, wt.model])
def test_every_public_name_can_be_loaded_and_no_other(module):
    assert all(getattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="OnlineLSD"):
        module.OnlineLSD  # noqa: B018
