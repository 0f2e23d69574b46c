"""A row of the table: a figure, the bar it must clear, and how to find all rows."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

_ALL: dict[str, tuple[Callable[[], Row | list[Row]], tuple[str, ...]]] = {}


@dataclass
class Row:
    """What was measured, against a bar and a goal; `note` holds the figures behind it."""

    what: str
    figure: float
    bar: float
    goal: float
    note: str = ""
    more_is_better: bool = True

    def verdict(self) -> str:
        def clears(line: float) -> bool:
            return self.figure >= line if self.more_is_better else self.figure <= line

        return "goal" if clears(self.goal) else "bar" if clears(self.bar) else "BELOW"

    def line(self) -> str:
        """As a line of a Markdown table."""
        cells = self.what, f"{self.figure:.3g}", f"{self.bar:g}", f"{self.goal:g}", self.verdict(), self.note
        return f"| {' | '.join(cells)} |"


def row(*needs: str) -> Callable[[Callable[[], Row | list[Row]]], Callable[[], Row | list[Row]]]:
    """Register a function as a row (or rows) of the table; it is skipped where a package it needs is
    missing."""

    def register(measure: Callable[[], Row | list[Row]]) -> Callable[[], Row | list[Row]]:
        _ALL[f"{measure.__module__.rpartition('_')[2]}.{measure.__name__}"] = (measure, needs)
        return measure

    return register


def rows(only: list[str]) -> dict[str, Callable[[], Row | list[Row]]]:
    """Rows whose name contains one of `only` (or all), where what they need is installed."""
    return {
        name: measure
        for name, (measure, needs) in _ALL.items()
        if all(importlib.util.find_spec(package) for package in needs)
        and (not only or any(part in name for part in only))
    }
