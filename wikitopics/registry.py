"""Things looked up by name: built into this program, or provided by other packages through an entry
point."""

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
        brought = [name for name in self._brought() if NAME.fullmatch(name)]
        others = [name for name in brought if name not in self.built_in]
        return (*self.built_in, *others)

    def __contains__(self, name: str) -> bool:
        """Whether this name is known; looks for packages only if it is not built in."""
        return name in self.built_in or name in self.names()

    def load(self, name: str) -> T:
        """The thing of this name."""
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            built_in: T = getattr(import_module(module), attribute)
            return built_in
        point = self._point(name)
        where = f"the {self.noun} {name!r} ({point.value})"
        if not NAME.fullmatch(name):
            raise self.error(
                f"{where} needs a name that begins with a letter: letters, digits, '_' and '-'"
            )
        candidate = self._loaded(point, where)
        try:
            return self.check(name, candidate)
        except ValueError as error:
            raise self.error(f"{where} {error}") from None

    def _point(self, name: str) -> EntryPoint:
        """The only entry point of this name."""
        points = self._brought().get(name, [])
        if not points:
            known = [known_name for known_name in self.names() if known_name not in self.unnamed]
            near = get_close_matches(name, known, n=1)
            advice = f"Did you mean '{near[0]}'?" if near else f"Available: {', '.join(known)}"
            raise self.error(f"{name!r} is not a {self.noun}. {advice}")
        if len(points) > 1:
            packages = " and ".join(map(_package_of, points))
            raise self.error(
                f"the {self.noun} {name!r} comes from {packages}: uninstall all but one"
            )
        return points[0]

    def _loaded(self, point: EntryPoint, where: str) -> object:
        """What an entry point gives; ``where`` begins the message if it cannot be loaded."""
        try:
            loaded: object = point.load()
        except SystemExit as error:
            raise self.error(f"{where} cannot be loaded: it exits the program ({error})") from None
        except Exception as error:  # noqa: BLE001 (somebody else's package, broken in whatever way)
            reason = str(error).partition("\n")[0] or type(error).__name__
            if isinstance(error, ImportError):
                missing = str(error.name).partition(".")[0]
                if missing in ROOMS:
                    reason = f"{reason}; import wikitopics.{missing} instead"
            raise self.error(f"{where} cannot be loaded: {reason}") from None
        return loaded

    def _brought(self) -> dict[str, list[EntryPoint]]:
        from importlib.metadata import entry_points

        brought: dict[str, list[EntryPoint]] = {}
        for point in entry_points(group=self.group):
            brought.setdefault(point.name, []).append(point)
        return brought


def _package_of(point: EntryPoint) -> str:
    """The package that an entry point comes from, and what it names there."""
    package = point.dist.name if point.dist else "a package"
    return f"{package} ({point.value})"


def check_subclass(candidate: object, base: type, called: str, name: str, key: str) -> None:
    """Raise ValueError unless ``candidate`` is a complete subclass of ``base`` whose ``key`` is
    ``name``."""
    if not (isinstance(candidate, type) and issubclass(candidate, base)):
        raise ValueError(f"is not a subclass of {called}")
    lacking = getattr(candidate, "__abstractmethods__", ())
    if lacking:
        raise ValueError(f"lacks {', '.join(sorted(lacking))}")
    own_name = getattr(candidate, key, None)
    if own_name != name:
        raise ValueError(f"calls itself {own_name!r}; both names must be the same")
