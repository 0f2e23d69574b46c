"""One option that a user may set, as data: for the command line, for dialogs, for models, sources
and files.

Imports nothing else of wikitopics, so that every room can declare its own.
"""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from keyword import iskeyword
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsFloat, TypeVar

from wikitopics.visible import visible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


# Things looked up by name: built into this program, or provided by other packages through an entry
# point.

T = TypeVar("T")
ROOMS = ("crawler", "model", "session", "tui", "vocab")
"""Packages of `wikitopics` that packages for versions before 1.1 import under these names alone."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
"""A valid name, one that can be written in a command and stored in a file."""


def install_command(requirement: str) -> str:
    """The command that installs a package, such as "wikitopics[report]", where this program is
    installed.

    It names this interpreter: another one's pip knows nothing of a wikitopics that came from a
    checkout.
    """
    python = shlex.quote(sys.executable or "python3")
    if find_spec("pip") is None:  # as in environments that uv has made
        return f"uv pip install --python {python} '{requirement}'"
    return f"{python} -m pip install '{requirement}'"


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


T_co = TypeVar("T_co", covariant=True)
Scope = Literal["session", "run", "outside"]
"""session: stored, and compared on resume · run: may change from run to run · outside: acts outside
the program, never stored in a session and never taken from one."""
_NAME = re.compile("[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Option(Generic[T_co]):
    """One option that a user may set.

    of: str, int, float, bool, or tuple for texts if it may be given several times
    name: the key in files; `flag` is how it is written at the command line
    metavar: the placeholder for its value in help, such as "N"
    path: whether it is a file, so that ~ is resolved
    least, most: the range of a number, ends included; `above` instead of `least` if that end is
    excluded
    choices: the accepted words: instead of any text, or besides numbers, such as "learn"
    default: the value if it is not given; None if `help` states it, or the model decides by itself
    scope: of an option of a source: how long it applies
    needed: whether its source cannot do without it
    derived: whether a new session derives its default from its source, and stores it
    kept_as: the key under which a session keeps it, if not its name; a source may still use the
    name
    label: its label in a dialog; "" leaves it out
    shared: of an option of a model: whether a value given for all models of a session reaches this
    one too
    """

    of: type[T_co]
    name: str
    help: str
    _: KW_ONLY
    metavar: str = ""
    path: bool = False
    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()
    default: T_co | str | None = None
    scope: Scope = "session"
    needed: bool = False
    derived: bool = False
    kept_as: str = ""
    label: str = ""
    shared: bool = True

    @property
    def flag(self) -> str:
        """The option as written at the command line."""
        return flag(self.name)

    def parse(self, text: str) -> object:
        """The value of one word of the command line, or of a dialog. Raises ValueError saying what
        is accepted."""
        if self.of is tuple:  # one text of several
            if not text:
                raise ValueError("is empty")
            return text
        value: object = text
        with suppress(ValueError):  # a word, such as "learn", may stand for a number
            if self.of is int:
                value = int(text)
            elif self.of is float:
                value = float(text)
        if self._accepts(value):
            return value
        if not text:
            raise ValueError("is empty")
        raise ValueError(f"must be {self.takes()}, not {text!r}")

    def check(self, value: object) -> T_co:
        """A value from a file, checked. Raises ValueError saying what is accepted."""
        if not self._accepts(value):
            raise ValueError(f"must be {self.takes()}")
        return value  # type: ignore[return-value]  # mypy does not follow `of`

    def convert(self, value: object) -> T_co | str | None:
        """The number of an argument: a number, its text, or one of the words; None gives the
        default.

        Raises ValueError with one line that names the option and what it takes.
        """
        if value is None:
            return self.default
        is_choice = isinstance(value, str) and value in self.choices
        number = value if is_choice else _number(value, self.of)
        if not self._accepts(number):
            shown = visible(" ".join(str(value).split())[:80]) or "an empty one"
            raise ValueError(f"{self.name} must be {self.takes()}, not {shown}")
        return number  # type: ignore[return-value]  # as in `check`

    def value(self, given: object, usual: T_co | None = None) -> T_co:
        """The value of an argument, as `convert` gives it; None gives ``usual``, or else the
        default.

        Raises ValueError as `convert` does, and if there is neither a value nor a default.
        """
        if given is None:
            given = usual
        value = self.convert(given)
        if value is None:
            raise ValueError(f"{self.name} must be {self.takes()}")
        return value  # type: ignore[return-value]  # as in `check`

    def resolved(self, value: object, local: Callable[[str], str]) -> object:
        """The value, with each file name in it transformed by ``local``. An address stays as it
        is."""
        if not self.path:
            return value
        if isinstance(value, tuple):
            return tuple(_local_name(str(name), local) for name in value)
        return _local_name(str(value), local)

    def takes(self) -> str:
        """The accepted values, in words: "a whole number from 1 to 256", "a number over 0, or
        learn"."""
        if self.of is bool:
            return "true or false"
        if self.of is tuple:
            return "a tuple of texts"
        if self.of not in (int, float):
            if self.choices:
                return f"one of {', '.join(self.choices)}"
            return "text"
        kind = "a whole number" if self.of is int else "a number"
        bounds = [kind]
        if self.above > -math.inf:
            bounds.append(f"over {self.above:g}")
        if self.least > -math.inf:
            bounds.append(f"from {self.least:g}")
        if self.most < math.inf:
            most = f"{self.most:,}" if isinstance(self.most, int) else f"{self.most:,.10g}"
            bounds.append(f"to {most}")
        return ", or ".join([" ".join(bounds), *self.choices])

    def _accepts(self, value: object) -> bool:
        """Whether this is one of the accepted values."""
        if isinstance(value, str):
            if self.choices:
                return value in self.choices
            return self.of is str and value != ""
        if isinstance(value, bool) or self.of not in (int, float):
            return type(value) is self.of
        if not isinstance(value, int | float):
            return False
        if self.of is int and isinstance(value, float):
            return False
        is_finite = abs(value) < math.inf
        return is_finite and self.above < value and self.least <= value <= self.most


def _local_name(name: str, local: Callable[[str], str]) -> str:
    """The name of a file, transformed; an address as it is."""
    return name if "://" in name else local(name)


def _number(value: object, of: type) -> float:
    """The value as a number; NaN if it is none. ``of``: int makes an int of a whole number."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat | str):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):  # an array raises TypeError
        return math.nan
    return int(number) if of is int and number.is_integer() else number


def fault_in(options: object, taken: Sequence[str] = ()) -> str:
    """Why these cannot be the options of a model or a source; "" if they can. ``taken``: names that
    other options have."""
    if not isinstance(options, tuple) or not all(isinstance(option, Option) for option in options):
        return "has options that are not a tuple of Options"
    names = [*taken, *(option.name for option in options)]
    for name in names:
        if names.count(name) > 1 or not _NAME.fullmatch(name) or iskeyword(name):
            return (
                f"has an option {name!r}: its name must be unique: a lower-case letter, then "
                "lower-case letters, digits or _, but not a Python keyword"
            )
    return ""


def flag(name: str) -> str:
    """The option of this name as written at the command line."""
    return "--" + name.replace("_", "-")


@dataclass(frozen=True)
class OptionValues:
    """Values of options by name: those given, or those stored in a file."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def get(self, option: Option[T]) -> T | None:
        """The value, or None if there is none."""
        value: T | None = self.values.get(option.name)
        return value

    def __getitem__(self, option: Option[T]) -> T:
        """The value, or the option's default. Raises KeyError if there is neither."""
        value = self.values.get(option.name, option.default)
        if value is None:
            raise KeyError(option.name)
        typed: T = value
        return typed

    def __contains__(self, option: Option[Any]) -> bool:
        return option.name in self.values
