"""One option that a user may set, as data: for the command line, for dialogs, for models, sources
and files.

Imports nothing else of wikitopics but `visible`, so that every room can declare its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from keyword import iskeyword
from typing import Any, Generic, Literal, SupportsFloat, TypeVar

from wikitopics.visible import visible

T = TypeVar("T")
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
