"""The options of a kind of model as data, for parsers, help, dialogs and checks; loads no numpy."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from keyword import iskeyword
from typing import SupportsFloat

Value = float | int | str
TAKEN = ("kind", "name", "topics", "batch_size", "seed", "threads")
"""The settings every model has; no kind's own option may have one of these names."""
LARGEST_PRIOR = 1e9
_NAME = re.compile("[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class ModelOption:
    """One number that can be chosen when a model is made.

    default: None if the model decides by itself, as `help` then says
    least, most: the range, ends included; `above` instead of `least` if that end is not included
    whole: whether only whole numbers will do
    words: words accepted instead of a number, such as "learn"
    shared: whether a value given for all models of a session reaches this one too
    """

    name: str
    help: str
    default: Value | None = None
    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    whole: bool = False
    words: tuple[str, ...] = ()
    shared: bool = True

    def parse(self, value: object) -> Value | None:
        """A number, its text or one of the words, checked; None gives the default.

        Raises ValueError with one line that names the option and what it takes.
        """
        if value is None:
            return self.default
        if isinstance(value, str) and value in self.words:
            return value
        number = _number(value)
        fits = self.least <= number <= self.most and number > self.above and math.isfinite(number)
        if not fits or (self.whole and number != int(number)):
            said = "an empty one" if isinstance(value, str) and not value.strip() else value
            raise ValueError(f"{self.name} must be {self.takes()}, not {said}")
        return int(number) if self.whole else number

    def takes(self) -> str:
        """What the option accepts, in words: "a number over 0, or learn"."""
        what = "a whole number" if self.whole else "a number"
        bounds = []
        if self.above > -math.inf:
            bounds.append(f"over {self.above:g}")
        if self.least > -math.inf:
            bounds.append(f"from {self.least:g}")
        if self.most < math.inf:
            bounds.append(f"to {self.most:,.10g}")
        return ", or ".join([" ".join([what, *bounds]), *self.words])


def prior(
    name: str, help: str, default: Value | None = None, *, learn: bool = False, shared: bool = True
) -> ModelOption:
    """An option for a Dirichlet parameter or a concentration, or "learn" if it can be learnt.

    Outside the range, single precision overflows or a topic's share becomes 0 / 0.
    """
    words = ("learn",) if learn else ()
    return ModelOption(name, help, default, least=1e-9, most=LARGEST_PRIOR, words=words, shared=shared)


HALF_LIFE = ModelOption(
    "half_life",
    "articles after which what was learnt weighs half, for a stream whose subjects change; by default steps "
    "only become smaller",
    least=100,
    most=1e12,
    whole=True,
)
"""For kinds whose step sizes have the floor that `OnlineModel` computes from it."""


def fault_in(options: object) -> str:
    """Why these cannot be the options of a kind; "" if they can."""
    if not isinstance(options, tuple) or not all(isinstance(option, ModelOption) for option in options):
        return "has options that are not a tuple of ModelOptions"
    names = [option.name for option in options]
    for name in names:
        if name in TAKEN or names.count(name) > 1 or not _NAME.fullmatch(name) or iskeyword(name):
            return (
                f"has an option {name!r}: it needs a name of its own: a small letter, then small "
                "letters, digits or _, but not a Python keyword"
            )
    return ""


def _number(value: object) -> float:
    """The value as a number, NaN if it is not one."""
    if isinstance(value, bool) or not isinstance(value, SupportsFloat | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def at_least_one(**sizes: float) -> None:
    """Raise ValueError for the first argument that is not a number from 1."""
    for name, size in sizes.items():
        if not 1 <= size < math.inf:
            raise ValueError(f"{name} must be at least 1, not {size}")


def one_of(choices: tuple[str, ...], **values: str) -> None:
    """Raise ValueError for the first argument that is not one of the words."""
    for name, value in values.items():
        if value not in choices:
            said = " or ".join(f'"{choice}"' for choice in choices)
            raise ValueError(f"{name} must be {said}, not {value!r}")
