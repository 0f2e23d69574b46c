"""Figures in results/PART.json, each point with the commit, the machine and its load, and the versions."""

import datetime
import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from benchmarks.frame.part import CODE, Figures

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
CHANGED = "+"
ALWAYS = ("numpy", "scipy", "numba", "aiohttp", "textual")
"""Packages whose version matters to every figure."""


@dataclass(frozen=True)
class Run:
    """Where figures come from."""

    commit: str
    """The last commit that changed the program, with `CHANGED` behind it if it was changed since."""
    date: str
    machine: str
    load: float
    """The load of the minute before it began. Other work makes wall-clock figures worthless."""
    seconds: float
    versions: dict[str, str]


def commit() -> str:
    """The last commit that touched the program; commits of results or docs do not outdate figures."""
    last = _git("log", "-1", "--format=%h", "--", *CODE)
    return last + (CHANGED if _git("status", "--porcelain", "--", *CODE) else "")


def unchanged(since: str, rooms: tuple[str, ...]) -> bool:
    """Whether rooms of the program are still what they were at a commit, which may be a changed one."""
    if since.endswith(CHANGED):
        return False
    above = {room for room in CODE for part in rooms if part.startswith(f"{room}/")}
    others = [f":(exclude){room}" for room in CODE if room not in {*rooms, *above}]
    command = ["git", "diff", "--quiet", since, "--", *rooms, *others, ":(exclude)*.md"]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


def machine() -> str:
    """Processors and system, in one line."""
    try:
        names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        names = []
    processor = names[0] if names else platform.machine()
    return f"{os.cpu_count()} x {processor}, {platform.system()}, Python {platform.python_version()}"


def versions(needs: tuple[str, ...]) -> dict[str, str]:
    """The versions of the packages that a point depends on."""
    distributions = metadata.packages_distributions()
    return {
        package: metadata.version(distributions[package][0])
        for package in (*ALWAYS, *needs)
        if package in distributions
    }


def begin(needs: tuple[str, ...]) -> Run:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Run(commit(), today, machine(), round(os.getloadavg()[0], 2), 0.0, versions(needs))


class Results:
    """The results of one part, written as soon as a point is measured."""

    def __init__(self, part: str, folder: Path = RESULTS) -> None:
        self._path = folder / f"{part}.json"
        self._points: dict[str, dict[str, Mapping[str, object]]] = (
            json.loads(self._path.read_text()) if self._path.exists() else {}
        )

    def run(self, point: str) -> Run | None:
        """Where the point's figures come from; None if it was never measured."""
        return Run(**self._points[point]["run"]) if point in self._points else None  # type: ignore[arg-type]

    def figures(self) -> dict[str, Figures]:
        """Of all points that were measured."""
        return {name: point["figures"] for name, point in self._points.items()}

    def keep(self, point: str, figures: Figures, run: Run) -> None:
        self._points[point] = {"run": asdict(run), "figures": figures}
        self._path.parent.mkdir(exist_ok=True)
        draft = self._path.with_suffix(".part")  # so that whoever stops it here keeps what there is
        draft.write_text(json.dumps(self._points, indent=1) + "\n", encoding="utf-8")
        draft.replace(self._path)
