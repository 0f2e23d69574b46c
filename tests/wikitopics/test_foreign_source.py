"""A source of somebody else's package: one class and an entry point, and it is used like ours."""

import json

import pytest

SOURCE = """
from pathlib import Path

from crawler import Option, Page, PageBatch, PageKind, SourceInfo
from crawler.source import Activity

FOLDER = Option(str, "notes", "A folder of notes.", metavar="FOLDER", path=True, needed=True, label="Folder")
STARRED = Option(int, "stars", "Only notes with so many stars.", metavar="N", least=0, default=0)


class Notes(PageKind):
    name = "notes"
    label = "My notes"
    options = (FOLDER, STARRED)

    def identity(self, asked):
        return {"notes": asked[FOLDER], "stars": asked[STARRED]}

    def open(self, identity, asked):
        return Reader(Path(identity["notes"]))


class Reader:
    def __init__(self, folder):
        self.activity = Activity()
        self.lines = (folder / "all.txt").read_text().splitlines()

    async def open(self):
        return SourceInfo("my notes", len(self.lines))

    async def batches(self, position):
        for number in range(position["line"] if position else 0, len(self.lines)):
            page = Page(number + 1, f"note {number}", 0, self.lines[number], "text")
            yield PageBatch((page,), {"line": number + 1})

    async def close(self):
        pass
"""


@pytest.fixture
def notes(install, corpus, tmp_path):
    install(SOURCE, "wikitopics.sources", notes="notes_package:Notes")
    folder = tmp_path / "notes"
    folder.mkdir()
    words = corpus.words
    lines = [" ".join(words[(7 * line + i) % len(words)] for i in range(9)) for line in range(150)]
    (folder / "all.txt").write_text("\n".join(lines))
    return ["--source", "notes", "--notes", folder, "--vocab", corpus.vocabulary]


def test_it_is_trained_resumed_and_looked_at_like_ours(cli, notes, one_line, tmp_path):
    settings = ["--topics", 3, "--batch-size", 32, "--held-out", 20]
    outcome = cli("train", *notes, *settings, "--articles", 64)
    assert outcome.code == 0, outcome.err
    one_line(
        cli("train", "--source", "notes", "--notes", tmp_path),
        2,
        f"--notes {tmp_path}: this session was made with",
    )
    one_line(cli("train", "--source", "notes", "--stars", 3), 2, "--stars 3: this session was made with 0")
    one_line(cli("train", "--source", "api"), 2, "--source api: this session was made with notes")
    outcome = cli("train")
    assert outcome.code == 0, outcome.err
    now = json.loads(cli("status", "--json").out)
    assert (now["source"], now["articles"], now["held_out"]) == ("notes", 130, 20)


def test_its_options_are_told_and_checked_once_it_is_named(cli, notes, one_line, tmp_path):
    assert "--notes FOLDER" in cli("train", "--source", "notes", "--help").out
    assert "--notes" not in cli("train", "--help").out
    one_line(cli("train", "--source=notes", "--stars", "-1"), 2, "--stars", "a whole number from 0")
    one_line(cli("train", "--source", "notes"), 2, "--source notes needs --notes FOLDER")
    one_line(cli("train", "--source", "notes", "--notes", tmp_path, "--lang", "de"), 2, "leave --lang out")
    one_line(cli("train", "--stars", 3), 2, "No such option")


def test_a_session_is_read_where_the_package_is_gone(cli, notes, one_line, install, monkeypatch):
    assert cli("train", *notes, "--topics", 3, "--batch-size", 32, "--held-out", 20).code == 0
    from importlib import metadata

    from session import sources

    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    sources.described.cache_clear()
    one_line(cli("train"), 2, "'notes' is no kind of source")
    for command in (["status"], ["topics"], ["articles", "--topic", 0], ["export", "articles"]):
        assert cli(*command).code == 0, command
    assert "wikitopics train" in cli("status").out or "finished" in cli("status").out


@pytest.mark.parametrize("source", ["raise RuntimeError('broken on purpose')", "Notes = 3"])
def test_a_broken_package_is_one_line(cli, install, one_line, source):
    install(source, "wikitopics.sources", notes="notes_package:Notes")
    one_line(cli("train", "--source", "notes"), 2, "--source", "'notes' (notes_package:Notes)")
