"""Things known by name: those of this program, and those that other packages provide by an entry point."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
ROOMS = ("crawler", "model", "session", "tui", "vocab")
"""Packages of `wikitopics` that packages for versions before 1.1 import under these names alone."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
"""A valid name, one that can be written in a command and stored in a file."""


@dataclass(frozen=True)
class Registry(Generic[T]):
    """Loads a thing only when it is asked for by name; a built-in one cannot be replaced.

    noun: what such a thing is called, such as "kind of model"
    group: of the entry points, name → thing
    built_in: name → "module:attribute"
    check: returns what an entry point gave, or raises ValueError with what is wrong with it
    error: raised, with one line, for what does not exist or cannot be used
    unnamed: built-in ones that cannot be asked for by name
    """

    noun: str
    group: str
    built_in: Mapping[str, str]
    check: Callable[[str, object], T]
    error: type[Exception]
    unnamed: Sequence[str] = ()

    def names(self) -> tuple[str, ...]:
        """Every name, the built-in ones first; loads nothing."""
        brought = (name for name in self._brought() if NAME.fullmatch(name))
        return (*self.built_in, *(name for name in brought if name not in self.built_in))

    def __contains__(self, name: str) -> bool:
        """Whether this name is known; looks for packages only if it is not built in."""
        return name in self.built_in or name in self.names()

    def load(self, name: str) -> T:
        """The thing of this name."""
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            built_in: T = getattr(import_module(module), attribute)
            return built_in
        points = self._brought().get(name, [])
        if not points:
            known = [one for one in self.names() if one not in self.unnamed]
            near = get_close_matches(name, known, n=1)
            there_are = f"did you mean {near[0]}?" if near else f"available: {', '.join(known)}"
            raise self.error(f"{name!r} is not a {self.noun}; {there_are}")
        if len(points) > 1:
            packages = " and ".join(f"{_package(point)} ({point.value})" for point in points)
            raise self.error(f"the {self.noun} {name!r} comes from {packages}: uninstall all but one")
        return self._loaded(name, points[0])

    def _brought(self) -> dict[str, list[EntryPoint]]:
        from importlib.metadata import entry_points

        brought: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self.group):
            brought.setdefault(point.name, []).append(point)
        return brought

    def _loaded(self, name: str, point: EntryPoint) -> T:
        where = f"the {self.noun} {name!r} ({point.value})"
        if not NAME.fullmatch(name):
            raise self.error(f"{where} needs a name of letters, digits, '_' and '-', a letter first")
        try:
            found = point.load()
        except SystemExit as error:
            raise self.error(f"{where} cannot be loaded: it exits the program ({error})") from None
        except Exception as error:  # noqa: BLE001 (somebody else's package, broken in whatever way)
            reason = str(error).partition("\n")[0] or type(error).__name__
            if isinstance(error, ImportError) and (room := str(error.name).partition(".")[0]) in ROOMS:
                reason = f"{reason}; import wikitopics.{room} instead"
            raise self.error(f"{where} cannot be loaded: {reason}") from None
        try:
            return self.check(name, found)
        except ValueError as error:
            raise self.error(f"{where} {error}") from None


def check_subclass(found: object, base: type, called: str, name: str, key: str) -> None:
    """Raise ValueError unless ``found`` is a complete subclass of ``base`` whose ``key`` is ``name``."""
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ValueError(f"is not a subclass of {called}")
    if missing := getattr(found, "__abstractmethods__", ()):
        raise ValueError(f"lacks {', '.join(sorted(missing))}")
    if getattr(found, key, None) != name:
        raise ValueError(f"calls itself {getattr(found, key, None)!r}; both names must be the same")


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "a package"
