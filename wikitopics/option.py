"""One option that a user may set, as data: for the command line, for dialogs, for models, sources and files.

Imports nothing else of wikitopics, so that every room can declare its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from keyword import iskeyword
from typing import Any, Generic, Literal, SupportsFloat, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Scope = Literal["session", "run", "outside"]
"""session: stored, and compared on resume · run: may change from run to run · outside: acts outside the
program, never stored in a session and never taken from one."""
_NAME = re.compile("[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Option(Generic[T_co]):
    """One option that a user may set.

    of: str, int, float, bool, or tuple for texts if it may be given several times
    name: the key in files; `flag` is how it is written at the command line
    metavar: the placeholder for its value in help, such as "N"
    path: whether it is a file, so that ~ is resolved
    least, most: the range of a number, ends included; `above` instead of `least` if that end is excluded
    choices: the accepted words: instead of any text, or besides numbers, such as "learn"
    default: the value if it is not given; None if `help` states it, or the model decides by itself
    scope: of an option of a source: how long it applies
    needed: whether its source cannot do without it
    derived: whether a new session derives its default from its source, and stores it
    kept_as: the key under which a session keeps it, if not its name
    label: its label in a dialog; "" leaves it out
    shared: of an option of a model: whether a value given for all models of a session reaches this one too
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
        """As written at the command line."""
        return flag(self.name)

    def parse(self, text: str) -> object:
        """The value of one word of the command line, or of a dialog. Raises ValueError saying what is
        accepted."""
        try:
            value: object = int(text) if self.of is int else float(text) if self.of is float else text
        except ValueError:
            value = text
        if not (bool(text) if self.of is tuple else self._takes(value)):
            raise ValueError(f"must be {self.takes()}, not {text!r}" if text else "is empty")
        return value

    def check(self, value: object) -> T_co:
        """A value from a file, checked. Raises ValueError saying what is accepted."""
        if not self._takes(value):
            raise ValueError(f"must be {self.takes()}")
        return value  # type: ignore[return-value]  # mypy does not follow `of`

    def convert(self, value: object) -> T_co | str | None:
        """The number of an argument: a number, its text, or one of the words; None gives the default.

        Raises ValueError with one line that names the option and what it takes.
        """
        if value is None:
            return self.default
        number = value if isinstance(value, str) and value in self.choices else _number(value, self.of)
        if not self._takes(number):
            found = "an empty one" if isinstance(value, str) and not value.strip() else value
            raise ValueError(f"{self.name} must be {self.takes()}, not {found}")
        return number  # type: ignore[return-value]  # as in `check`

    def resolved(self, value: object, local: Callable[[str], str]) -> object:
        """The value, with each file name in it transformed by ``local``. An address stays as it is."""
        if not self.path:
            return value
        names = value if isinstance(value, tuple) else (value,)
        found = tuple(name if "://" in name else local(name) for name in map(str, names))
        return found if isinstance(value, tuple) else found[0]

    def takes(self) -> str:
        """The accepted values, in words: "a whole number from 1 to 256", "a number over 0, or learn"."""
        if self.of is bool:
            return "true or false"
        if self.of is tuple:
            return "a tuple of texts"
        if self.of not in (int, float):
            return f"one of {', '.join(self.choices)}" if self.choices else "text"
        bounds = ["a whole number" if self.of is int else "a number"]
        if self.above > -math.inf:
            bounds.append(f"over {self.above:g}")
        if self.least > -math.inf:
            bounds.append(f"from {self.least:g}")
        if self.most < math.inf:
            bounds.append(f"to {self.most:,}" if isinstance(self.most, int) else f"to {self.most:,.10g}")
        return ", or ".join([" ".join(bounds), *self.choices])

    def _takes(self, value: object) -> bool:
        if isinstance(value, str):
            return value in self.choices if self.choices else self.of is str and bool(value)
        if isinstance(value, bool) or self.of not in (int, float):
            return type(value) is self.of
        if not isinstance(value, int | float) or (self.of is int and isinstance(value, float)):
            return False
        return self.least <= value <= self.most and value > self.above and abs(value) < math.inf


def _number(value: object, of: type) -> float:
    """The value as a number, whole if it is one and ``of`` asks for it; NaN if it is no number."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat | str):
        return math.nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return int(number) if of is int and number.is_integer() else number


def fault_in(options: object, taken: Sequence[str] = ()) -> str:
    """Why these cannot be the options of a model or a source; "" if they can. ``taken``: names in use."""
    if not isinstance(options, tuple) or not all(isinstance(option, Option) for option in options):
        return "has options that are not a tuple of Options"
    names = [*taken, *(option.name for option in options)]
    for name in names:
        if names.count(name) > 1 or not _NAME.fullmatch(name) or iskeyword(name):
            return (
                f"has an option {name!r}: it needs a name of its own: a small letter, then small "
                "letters, digits or _, but not a Python keyword"
            )
    return ""


def flag(name: str) -> str:
    """The option of this name as written at the command line."""
    return "--" + name.replace("_", "-")


@dataclass(frozen=True)
class Given:
    """Values of options by name: those given, or those stored in a file."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def get(self, option: Option[T]) -> T | None:
        """The value, None if there is none."""
        value: T | None = self.values.get(option.name)
        return value

    def __getitem__(self, option: Option[T]) -> T:
        """The value, or the option's default. Raises KeyError if there is neither."""
        value = self.values.get(option.name, option.default)
        if value is None:
            raise KeyError(option.name)
        found: T = value
        return found

    def __contains__(self, option: Option[Any]) -> bool:
        return option.name in self.values
