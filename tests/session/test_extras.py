"""The table of extras agrees with what installs them and with what is said of them."""

import json
import re
import sys
import tomllib
from importlib import metadata

import pytest

from tests.commands import ROOT
from wikitopics.option import ROOMS
from wikitopics.session.sources import EXTRAS, ZST

FOR_DEVELOPERS = {"test"}


def test_pyproject_declares_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {
        name: {re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in needs}
        for name, needs in project["optional-dependencies"].items()
        if name not in FOR_DEVELOPERS
    }
    assert {extra.name: set(extra.packages) for extra in EXTRAS} == declared


def test_every_extra_that_is_named_exists():
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts += [path for room in ("wikitopics", *ROOMS) for path in (ROOT / room).rglob("*.py")]
    named = {
        name
        for path in texts
        for names in re.findall(r"wikitopics\[([a-z,]+)\]", path.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert "sklearn" in named
    assert named <= {extra.name for extra in EXTRAS}


def test_doctor_says_which_are_missing_and_what_each_is_for(cli, monkeypatch):
    version = metadata.version

    def without(package):
        if package == "zstandard":
            raise metadata.PackageNotFoundError(package)
        return version(package)

    before = cli("doctor", "--offline").code
    monkeypatch.setattr("wikitopics.crawler.source.metadata.version", without)
    outcome = cli("doctor", "--offline")
    assert outcome.code == before, "a missing extra is no fault"
    assert re.search(
        r"^-- +extra zst +not installed \(zstandard\): `pip install 'wikitopics\[zst\]'` adds dumps and "
        r"texts that end in \.zst$",
        outcome.out,
        re.MULTILINE,
    )
    checks = {check["check"]: check for check in json.loads(cli("doctor", "--offline", "--json").out)}
    for extra in EXTRAS:
        assert checks[f"extra {extra.name}"]["ok"]
        assert extra.purpose in checks[f"extra {extra.name}"]["detail"]


def test_whoever_lacks_one_is_told_the_command(cli, tmp_path, monkeypatch, one_line):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    dump = tmp_path / "dump.xml.zst"
    dump.write_bytes(b"\x28\xb5\x2f\xfd\0\0\0\0")
    one_line(cli("vocab", "build", dump, "-o", tmp_path / "words.txt"), 2, ZST.command)


@pytest.mark.interop
def test_all_of_them_are_installed_where_these_tests_run():
    assert not [package for extra in EXTRAS for package in extra.missing()]
