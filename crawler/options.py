"""What can be set, as data: for the command line, for dialogs, for checks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Value = str | int | float | bool | tuple[str, ...]
Scope = Literal["session", "run", "outside"]
"""session: kept, and compared on resume · run: may change from run to run · outside: acts outside the
program, never kept in a session and never taken from one."""
Form = Literal["text", "path", "whole", "number", "flag"]


@dataclass(frozen=True, kw_only=True)
class Option:
    """One thing that a user may set.

    name: the key in files; `flag` is how it is written at the command line
    metavar: what stands for its value in help, such as "N"
    least, most: the range of a number, ends included; `above` in place of `least` where the end is not
    choices: the words that it may be, if not any
    repeatable: whether it may be given several times
    default: what holds where nothing is said; None where that depends, as `help` then says
    kept_as: the key under which a session keeps it, if not its name
    label: what a dialog calls it; "" keeps it out of there
    """

    name: str
    help: str
    metavar: str = ""
    form: Form = "text"
    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    choices: tuple[str, ...] = ()
    repeatable: bool = False
    default: Value | None = None
    scope: Scope = "session"
    kept_as: str = ""
    label: str = ""

    @property
    def flag(self) -> str:
        """As written at the command line."""
        return "--" + self.name.replace("_", "-")

    def parse(self, text: str) -> Value:
        """The value that one word of the command line, or of a dialog, means.

        Raises ValueError with what it takes.
        """
        if self.form in ("whole", "number"):
            return self.check(_number(text, whole=self.form == "whole"))
        return self.check(text)

    def check(self, value: object) -> Value:
        """A single value, as it is, if it fits. Raises ValueError with what it takes."""
        if isinstance(value, bool) or self.form == "flag":
            if isinstance(value, bool) and self.form == "flag":
                return value
        elif isinstance(value, str):
            if self.form in ("text", "path") and value and (not self.choices or value in self.choices):
                return value
        elif isinstance(value, int | float) and self.form in ("whole", "number"):
            is_whole = isinstance(value, int)
            fits = self.least <= value <= self.most and value > self.above and math.isfinite(value)
            if fits and (is_whole or self.form == "number"):
                return value
        raise ValueError(f"must be {self.takes()}")

    def takes(self) -> str:
        """What it takes, in words: "a whole number from 1 to 256"."""
        if self.form == "flag":
            return "yes or no"
        if self.form in ("text", "path"):
            return f"one of {', '.join(self.choices)}" if self.choices else "not empty"
        bounds = ["a whole number" if self.form == "whole" else "a number"]
        if self.above > -math.inf:
            bounds.append(f"over {self.above:g}")
        if self.least > -math.inf:
            bounds.append(f"from {self.least:g}")
        if self.most < math.inf:
            bounds.append(f"to {self.most:,.13g}")
        return " ".join(bounds)


def _number(text: str, *, whole: bool) -> float | str:
    """The text itself where it is no number."""
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return text
