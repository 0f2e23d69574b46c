"""A part of the measurements: a module with a `PART`, whose points are functions that return figures."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks import parts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


CODE = (
    *("crawler", "crawler/checking.py", "model", "model/checking.py"),
    *("session", "session/analysis", "tui", "vocab", "wikitopics"),
)
"""The rooms of the program. What is in a room within another one is in that room only."""
ENGINE_ROOMS = ("crawler", "model", "session", "vocab")
TRAINER_ROOMS = (*ENGINE_ROOMS, *(f"wikitopics/{name}.py" for name in ("__main__", "cli/main", "cli/train")))
"""What `wikitopics train` runs; of the command line, where it begins."""
WATCHED_ROOMS = (*TRAINER_ROOMS, "tui")
"""A trainer and a screen."""
MODEL_ROOMS = ("model", "vocab")


class Unavailable(Exception):
    """This machine lacks what a point needs."""


Figures = Mapping[str, object]
"""Figures by name: numbers, and whatever else about them JSON can hold."""
Measure = Callable[[], Figures]


@dataclass(frozen=True)
class Point:
    """What is measured in one go, in a process of its own."""

    measure: Measure
    minutes: float
    """The time it takes on a quiet machine with two cores."""
    needs: tuple[str, ...]
    """Packages that must be installed."""

    def missing(self) -> list[str]:
        return [package for package in self.needs if importlib.util.find_spec(package) is None]


@dataclass
class Part:
    """Points that belong together; their results are in one file."""

    name: str
    what: str
    """One line for people."""
    rooms: tuple[str, ...] = CODE
    """Those that its points run. A change to another room does not outdate their figures."""
    points: dict[str, Point] = field(default_factory=dict)
    pages: dict[str, Callable[[Mapping[str, Figures]], str]] = field(default_factory=dict)
    """Tables for docs by name, as Markdown made from the figures of all points."""
    pictures: dict[str, Callable[[Mapping[str, Figures]], Figure]] = field(default_factory=dict)
    """Pictures likewise; they go to docs/pictures/PART-NAME.svg."""

    def point(self, *needs: str, minutes: float = 1.0) -> Callable[[Measure], Measure]:
        """Register a function as a point, under its name."""

        def register(measure: Measure) -> Measure:
            self.add(measure.__name__, measure, *needs, minutes=minutes)
            return measure

        return register

    def add(self, name: str, measure: Measure, *needs: str, minutes: float = 1.0) -> None:
        self.points[name] = Point(measure, minutes, needs)

    def strays(self) -> list[str]:
        """Rooms that this process has imported although none of the points is said to run them."""
        others = [room for room in CODE if room not in self.rooms]
        return [room for room in others if _module(room) in sys.modules]


def _module(room: str) -> str:
    if room == "wikitopics":
        return "wikitopics.cli"  # every room's import loads the package itself
    return f"wikitopics.{room.removesuffix('.py').replace('/', '.')}"


def names() -> list[str]:
    """Of all parts."""
    return [module.name for module in pkgutil.iter_modules(parts.__path__)]


def load(name: str) -> Part:
    """A part by its name. Raises KeyError."""
    if name not in names():
        raise KeyError(name)
    part = importlib.import_module(f"{parts.__name__}.{name}").PART
    assert isinstance(part, Part)
    return part


def chosen(asked: list[str]) -> Iterator[tuple[Part, str]]:
    """(part, point) of everything named as `part` or `part.point`; of all points if nothing is named.

    Raises KeyError for an unknown name.
    """
    for one in asked or names():
        name, _, wanted = one.partition(".")
        part = load(name)
        if wanted and wanted not in part.points:
            raise KeyError(one)
        yield from ((part, point) for point in part.points if wanted in ("", point))
