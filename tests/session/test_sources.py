"""Kinds of sources, ours and those of other packages; the extras that some need."""

import re
import sys
import tomllib
from importlib import metadata

import pytest

from tests.commands import ROOT
from wikitopics.option import ROOMS
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage
from wikitopics.session.sources import EXTRAS, LANGUAGES, ZST
from wikitopics.vocab.segmenters import PACKAGES

NOTES = """
from wikitopics.crawler import Option, PageKind
class Notes(PageKind):
    name = "notes"
    label = "Notes"
    options = (Option(str, "notes", "A folder.", path=True),)
    def identity(self, asked):
        return {"notes": asked.values["notes"]}
    def open(self, identity, asked):
        return identity["notes"]
"""


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("1 / 0", "cannot be loaded: division by zero"),
        ("Notes = 3", "not a subclass of wikitopics.crawler.PageKind"),
        ("class Notes: name = 'notes'", "not a subclass of wikitopics.crawler.PageKind"),
        (
            "from wikitopics.crawler import PageKind\nclass Notes(PageKind): name = 'notes'",
            "lacks identity, open",
        ),
        (NOTES + "Notes.name = 'other'", "calls itself 'other'"),
        (
            NOTES.replace('str, "notes"', 'str, "topics"'),
            "an option --topics, which wikitopics has already",
        ),
        *(
            (
                NOTES.replace('str, "notes"', f'str, "{name}"'),
                f"option '{name}': its name must be unique: ",
            )
            for name in ("min-lines", "Notes", "ä", "class", "_n", "")
        ),
        (NOTES.replace("True),)", "True))"), "options that are not a tuple"),
        (
            NOTES.replace('str, "notes"', 'str, "dump"'),
            "has an option --dump, which wikitopics has already",
        ),
    ],
)
def test_a_kind_that_does_not_work_is_one_line_and_does_not_keep_from_reading(
    install, source, says
):
    install(source, "wikitopics.sources", notes="notes_package:Notes")
    with pytest.raises(BadUsage, match=says) as caught:
        sources.load("notes")
    assert "\n" not in str(caught.value)
    assert sources.described("notes").shown("my notes") == "my notes"


def test_a_source_that_does_not_exist():
    with pytest.raises(BadUsage, match=r"'apo' is not a kind of source\. Did you mean 'api'"):
        sources.load("apo")


def test_pyproject_declares_the_same_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    del extras["test"]  # for developers
    declared = {
        name: {re.match(r"[\w.-]+", need)[0] for need in needs} for name, needs in extras.items()
    }
    assert {extra.name: set(extra.packages) for extra in EXTRAS} == declared
    assert {extra.name: extra.packages for extra in LANGUAGES} == PACKAGES


def test_every_extra_that_is_named_exists():
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts += [path for room in ("wikitopics", *ROOMS) for path in (ROOT / room).rglob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in texts)
    named = set(",".join(re.findall(r"wikitopics\[([a-z,]+)\]", text)).split(","))
    assert "sklearn" in named
    assert named <= {extra.name for extra in EXTRAS}


def test_doctor_says_which_extras_are_missing_and_what_each_is_for(cli, monkeypatch):
    version = metadata.version

    def without(package):
        if package == "zstandard":
            raise metadata.PackageNotFoundError(package)
        return version(package)

    before = cli("doctor", "--offline").code
    monkeypatch.setattr("wikitopics.extra.metadata.version", without)
    outcome = cli("doctor", "--offline")
    assert outcome.code == before, "a missing extra is no fault"
    told = (
        r"^-- +extra zst +not installed \(zstandard\): `\S+ -m pip install 'wikitopics\[zst\]'` "
        r"adds"
    )
    assert re.search(rf"{told} dumps and texts that end in \.zst$", outcome.out, re.MULTILINE)
    checks = {check["check"]: check for check in cli.json("doctor", "--offline")}
    for extra in EXTRAS:
        assert checks[f"extra {extra.name}"]["ok"]
        assert extra.purpose in checks[f"extra {extra.name}"]["detail"]


def test_whoever_lacks_an_extra_is_told_the_command(cli, tmp_path, monkeypatch, one_line):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    dump = tmp_path / "dump.xml.zst"
    dump.write_bytes(b"\x28\xb5\x2f\xfd\0\0\0\0")
    one_line(cli("vocab", "build", dump, "-o", tmp_path / "words.txt"), 2, ZST.command)


@pytest.mark.interop
def test_all_extras_are_installed_where_these_tests_run():
    extras = (extra for extra in EXTRAS if extra.name not in PACKAGES)  # which are a large download
    assert not [package for extra in extras for package in extra.missing()]
