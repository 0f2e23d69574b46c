"""Figures in results/PART.json, each point with the commit, the machine and its load, and the versions."""

import ast
import datetime
import io
import json
import os
import platform
import re
import subprocess
import tokenize
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
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
    code: str
    """The digest of what was measured, as by `code`."""
    date: str
    machine: str
    load: float
    """The load of the minute before it began. Other work makes wall-clock figures worthless."""
    seconds: float
    versions: dict[str, str]


def commit() -> str:
    """The last commit that touched the program."""
    last = _git("log", "-1", "--format=%h", "--", *CODE)
    return last + (CHANGED if _git("status", "--porcelain", "--", *CODE) else "")


def code(rooms: tuple[str, ...]) -> str:
    """A digest of the program's files in some rooms, but for documentation, docstrings and comments.

    It says what was measured, whatever becomes of the commit: squashed, rebased, or not in this clone.
    """
    digest = sha256()
    for path in sorted(path for room in rooms for path in _files(ROOT / room)):
        name = path.relative_to(ROOT).as_posix()
        holders = (room for room in {*CODE, *rooms} if f"{name}/".startswith(f"{room}/"))
        if max(holders, key=len) in rooms:
            content = path.read_bytes()
            digest.update(f"{name}\0".encode() + (_executed(content) if path.suffix == ".py" else content))
    return digest.hexdigest()[:12]


def _executed(source: bytes) -> bytes:
    """Python source without docstrings, comments and blank lines.

    Made of the text and not of the syntax tree, which has another form in each version of Python.
    """
    lines = source.splitlines()
    for kind, _, (row, column), _, _ in tokenize.tokenize(io.BytesIO(source).readline):
        if kind == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1].decode()[:column].encode()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str()), lineno=first, end_lineno=int(last)):
                lines[first - 1 : last] = [b""] * (last - first + 1)
    return b"\n".join(filter(None, map(bytes.rstrip, lines)))


def _files(room: Path) -> list[Path]:
    """A room may be a single file."""
    found = [path for path in room.rglob("*") if path.is_file()] if room.is_dir() else [room]
    return [path for path in found if path.suffix != ".md" and "__pycache__" not in path.parts]


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


def begin(rooms: tuple[str, ...], needs: tuple[str, ...]) -> Run:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Run(commit(), code(rooms), today, machine(), round(os.getloadavg()[0], 2), 0.0, versions(needs))


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
