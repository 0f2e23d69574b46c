"""The extras: which there are, and what those are told who lack one."""

import re
import sys
import tomllib
from importlib import metadata

import pytest

from tests.commands import ROOT
from wikitopics.extra import EXTRAS, ZST
from wikitopics.registry import ROOMS
from wikitopics.vocab.segmenters import PACKAGES


def package_of(requirement):
    """The name of the package, spelled as in the metadata of a distribution."""
    name = re.match(r"[\w.-]+", requirement)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def test_pyproject_declares_the_same_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    del extras["test"]  # for developers
    declared = {name: {package_of(need) for need in needs} for name, needs in extras.items()}
    assert {extra.name: set(extra.packages) for extra in EXTRAS} == declared
    assert all(extra.package in extra.packages for extra in EXTRAS)
    for language, packages in PACKAGES.items():
        assert {package_of(package) for package in packages} == declared[language]


def test_every_extra_that_is_named_exists():
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts += [path for room in ("wikitopics", *ROOMS) for path in (ROOT / room).rglob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in texts)
    named = set(",".join(re.findall(r"wikitopics\[([a-z,]+)\]", text)).split(","))
    assert "sklearn" in named
    assert named <= {extra.name for extra in EXTRAS}


def test_doctor_says_which_extras_are_missing_and_what_each_is_for(cli, monkeypatch):
    distribution = metadata.distribution

    def without(package):
        if package == "zstandard":
            raise metadata.PackageNotFoundError(package)
        return distribution(package)

    before = cli("doctor", "--offline").code
    monkeypatch.setattr("wikitopics.extra.metadata.distribution", without)
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
