"""What all experiments share: their points, and results with their provenance."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import importlib.util
import json
import os
import pkgutil
import platform
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import experiments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
"""The published results, which README and docs state."""
FOLDER = ROOT / "benchmarks" / "data"
"""Corpora, other programs, and the results of this machine: outside the repository."""
CODE = ("crawler", "model", "session", "tui", "vocab", "wikitopics")
"""The program's folders."""
ALWAYS = ("numpy", "scipy", "numba", "aiohttp", "textual")
"""Packages whose version matters to every figure."""


class Unavailable(Exception):
    """This machine lacks what a point needs."""


Figures = Mapping[str, Any]
"""Figures by name: numbers, and whatever else about them JSON can hold."""
Points = Mapping[str, Figures]
"""The figures of an experiment's points, by the points' names."""


@dataclass(frozen=True)
class Point:
    """What is measured in one go, in a process of its own."""

    measure: Callable[[], Figures]
    needs: tuple[str, ...]
    """Packages that must be installed."""

    def missing(self) -> list[str]:
        return [package for package in self.needs if importlib.util.find_spec(package) is None]


@dataclass
class Experiment:
    """Points that belong together; their results are in one file."""

    name: str
    what: str
    """One line for people."""
    data: str = "word counts"
    """What it reads. Files that are named are not in the repository."""
    programs: str = ""
    """The programs that it needs beside packages."""
    points: dict[str, Point] = field(default_factory=dict)
    tables: dict[str, Callable[[Points], str]] = field(default_factory=dict)
    """Tables for docs by name, as Markdown made from the figures of all points."""
    pictures: dict[str, Callable[[Points], Figure]] = field(default_factory=dict)
    """Pictures by name, made from the same figures; they go to
    docs/pictures/EXPERIMENT-NAME.svg."""

    def point(self, *needs: str) -> Callable[[Callable[[], Figures]], Callable[[], Figures]]:
        """Register a function as a point, under its name."""

        def register(measure: Callable[[], Figures]) -> Callable[[], Figures]:
            self.add(measure.__name__, measure, *needs)
            return measure

        return register

    def add(self, name: str, measure: Callable[[], Figures], *needs: str) -> None:
        self.points[name] = Point(measure, needs)


def names() -> list[str]:
    """The names of all experiments."""
    return [module.name for module in pkgutil.iter_modules(experiments.__path__)]


def load(name: str) -> Experiment:
    """An experiment by its name. Raises KeyError."""
    if name not in names():
        raise KeyError(name)
    found: Experiment = importlib.import_module(f"{experiments.__name__}.{name}").EXPERIMENT
    return found


def chosen(asked: list[str]) -> Iterator[tuple[Experiment, str]]:
    """(experiment, point) of everything named as `experiment` or `experiment.point`; of all points
    if nothing is named.

    Raises KeyError for an unknown name.
    """
    for key in asked or names():
        name, _, wanted = key.partition(".")
        experiment = load(name)
        if wanted and wanted not in experiment.points:
            raise KeyError(f"{key} (points of {name}: {', '.join(experiment.points)})")
        points = [wanted] if wanted else experiment.points
        for point in points:
            yield experiment, point


# -- results ---------------------------------------------------------------------


def stored(experiment: str, folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """What was measured, by point: its `figures`, and its `run`, which says where they come from.

    folder: of the results; by default the published ones
    """
    path = (folder or RESULTS) / f"{experiment}.json"
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def figures(experiment: str, folder: Path | None = None) -> Points:
    """The figures of all points that were measured."""
    return {name: point["figures"] for name, point in stored(experiment, folder).items()}


def keep(
    folder: Path,
    experiment: str,
    point: str,
    figures: Figures,
    run: Mapping[str, object],
) -> None:
    """Write a point's results, so that whoever stops the program here keeps what there is."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{experiment}.json"
    draft = path.with_suffix(".part")
    everything = {**stored(experiment, folder), point: {"run": run, "figures": figures}}
    draft.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    draft.replace(path)


def provenance(needs: tuple[str, ...]) -> dict[str, object]:
    """Where figures that are measured now come from; to be asked before they are."""
    distributions = metadata.packages_distributions()
    packages = [package for package in (*ALWAYS, *needs) if package in distributions]
    return {
        "commit": commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": _machine(),
        # Of the minute before: other work makes wall-clock figures worthless.
        "load": round(os.getloadavg()[0], 2),
        "versions": {package: metadata.version(distributions[package][0]) for package in packages},
    }


def commit() -> str:
    """The last commit that touched the program, with "+" behind it if the program was changed
    since."""
    last = _git("log", "-1", "--format=%h", "--", *CODE)
    changed = _git("status", "--porcelain", "--", *CODE)
    return f"{last}+" if changed else last


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _machine() -> str:
    processor = platform.machine()
    with contextlib.suppress(OSError):
        described = Path("/proc/cpuinfo").read_text()
        match = re.search(r"^model name\s*: (.*)$", described, re.MULTILINE)
        if match:
            processor = match[1]
    return (
        f"{os.cpu_count()} x {processor}, {platform.system()}, Python {platform.python_version()}"
    )


def compared(
    labels: Mapping[str, str],
    columns: Mapping[str, str],
    points: Points,
    what: str = "",
) -> str:
    """A table with a row for each point that was measured, under its label.

    labels: each point's label, by the point's name; columns: each column's format of figures, such
    as "{seconds:.1f}", by the column's head; what: the head of the labels' column. Where a point
    lacks a figure there is a dash.
    """
    rows = []
    for name, label in labels.items():
        if name in points:
            cells = [_cell(form, points[name]) for form in columns.values()]
            rows.append((label, *cells))
    return table((what, *columns), rows)


def _cell(form: str, found: Figures) -> str:
    try:
        return form.format(**found)
    except (KeyError, TypeError):  # there is no such figure, or it is None
        return "-"


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    rule = f"|{'---|' * len(head)}"
    lines = [_row(head), rule]
    lines += [_row(row) for row in rows]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
