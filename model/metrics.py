"""Metrics of a model as data, for charts, exports and tables; loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number that is measured repeatedly for a model.

    name: in files and exports, such as "log_likelihood"
    title: the heading of its chart; "{held_out}" stands for the articles it is measured on, as in
    "1,000 held-out articles"
    help: its meaning, in a few words
    better: "higher" or "lower", "" if neither is
    whole: whether it counts something
    brief: the heading of its small chart, beside the large one; "" if it has none
    """

    name: str
    title: str
    help: str = ""
    better: str = ""
    whole: bool = False
    brief: str = ""

    @classmethod
    def undeclared(cls, name: str) -> Metric:
        """A metric of which only the name is known."""
        return cls(name, name.replace("_", " ").capitalize())
