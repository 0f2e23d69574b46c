"""Packages of somebody else's: the examples of docs/extending.md, each installed in a folder of its
own."""

import importlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT
from tests.corpora import SMALL, Corpus
from tests.sharing import Once

# Tests that are marked import scikit-learn themselves: to import it here would take longer than to
# collect all the others.
needs_scikit_learn = pytest.mark.skipif(
    importlib.util.find_spec("sklearn") is None, reason="scikit-learn is an optional extra"
)
DOCUMENT = ROOT / "docs" / "extending.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")


def section(title: str) -> str:
    """The part of the document under this heading of the second level."""
    _, _, from_here = TEXT.partition(f"\n## {title}\n")
    assert from_here, title
    here, _, _ = from_here.partition("\n## ")
    return here


def blocks(text: str, language: str = "") -> list[str]:
    """The fenced blocks of one language that are not named as files."""
    return re.findall(rf"(?<!`)\n\n```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def files(text: str) -> dict[str, str]:
    """The fenced blocks below a file's name, by that name."""
    return dict(re.findall(r"^`([\w.-]+)`\n\n```\w+\n(.*?)^```", text, re.DOTALL | re.MULTILINE))


def module_of(title: str) -> dict[str, Any]:
    """What the one module of a section defines."""
    sources = [text for name, text in files(section(title)).items() if name.endswith(".py")]
    (source,) = sources
    names: dict[str, Any] = {"__name__": "extending"}
    exec(compile(source, str(DOCUMENT), "exec"), names)
    return names


def commands(text: str) -> list[list[str]]:
    """What the lines `wikitopics …` in the text have behind the program's name."""
    found = []
    for block in blocks(text):
        for line in block.splitlines():
            if line.startswith("wikitopics "):
                _, *arguments = shlex.split(line)
                found.append(arguments)
    return found


@dataclass(frozen=True)
class Package:
    """A package that is installed in the folder `site`, which is on no test's path before
    `install`."""

    module: str
    site: Path

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Put it on the path, also of processes that are started from here."""
        monkeypatch.syspath_prepend(self.site)
        monkeypatch.setenv("PYTHONPATH", str(self.site), prepend=os.pathsep)
        self._forget(monkeypatch)

    def uninstall(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take it off the path again."""
        site = str(self.site)
        others = [folder for folder in sys.path if folder != site]
        monkeypatch.setattr(sys, "path", others)
        folders = set(os.environ["PYTHONPATH"].split(os.pathsep))
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(folders - {site}))
        self._forget(monkeypatch)

    def _forget(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Forget what was imported of the package, and what was found out about it."""
        from wikitopics.session import sources

        sources.kind_named.cache_clear()
        importlib.invalidate_caches()
        # Set first, so that what the test imports is forgotten at its end, too.
        monkeypatch.setitem(sys.modules, self.module, None)
        monkeypatch.delitem(sys.modules, self.module)


def from_document(title: str, folder: Path) -> None:
    """Install the package of a section of the document beneath ``folder``."""
    package = folder / "package"
    site = folder / "site"
    package.mkdir(parents=True)
    for name, text in files(section(title)).items():
        (package / name).write_text(text, encoding="utf-8")
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        *offline,
        "--target",
        site,
        package,
    ]
    subprocess.run(command, check=True)


def by_hand(
    site: Path,
    name: str,
    module: str,
    source: str,
    points: Mapping[str, Mapping[str, str]],
) -> None:
    """Install a package of one module without pip; ``points``: its entry points by group."""
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / f"{module}.py").write_text(source, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, values in points.items():
        lines.append(f"[{group}]")
        lines += [f"{point} = {value}" for point, value in values.items()]
        lines.append("")
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a package of one module: ``install(source, group, name="module:Class", …)``."""

    def put(source: str, group: str, *, package: str = "", **points: str) -> None:
        if package:
            module = package
        else:
            first_point, *_ = points.values()
            module, _, _ = first_point.partition(":")
        site = tmp_path / f"site-{module}"
        by_hand(site, module.replace("_", "-"), module, source, {group: points})
        Package(module, site).install(monkeypatch)

    return put


@pytest.fixture(scope="session")
def documented(made_once: Once) -> Callable[[str], Package]:
    """The package of a section of docs/extending.md, made once; a test puts it on its path by
    `install`."""

    def package(title: str) -> Package:
        folder = made_once(title.replace(" ", "-"), lambda folder: from_document(title, folder))
        (module,) = (folder / "package").glob("*.py")
        return Package(module.stem, folder / "site")

    return package


@pytest.fixture
def unigrams(documented: Callable[[str], Package], monkeypatch: pytest.MonkeyPatch) -> Package:
    """Somebody else's model, installed."""
    package = documented("A model of your own")
    package.install(monkeypatch)
    return package


@pytest.fixture(scope="session")
def raced(documented: Callable[[str], Package], corpus: Corpus, made_once: Once) -> Path:
    """The race of docs/extending.md over the corpus, run once."""
    (race,) = commands(section("A model of your own"))
    small = [*corpus.options(), *SMALL]
    site = documented("A model of your own").site

    def run(folder: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "wikitopics",
            *race,
            *small,
            "--session",
            str(folder / "race.db"),
        ]
        path = os.pathsep.join((str(ROOT), str(site)))
        subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})

    return made_once("raced", run) / "race.db"


@pytest.fixture
def race(raced: Path, unigrams: Package, home: Path) -> Path:
    """The session `default` of that race, finished."""
    home.mkdir(exist_ok=True)
    return Path(shutil.copy(raced, home / "default.db"))
