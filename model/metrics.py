"""What is measured of a model as data, for charts, exports and tables; loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number that is measured of a model again and again.

    name: in files and exports, such as "log_likelihood"
    title: what a chart of it is headed; "{held_out}" stands for the articles that it is measured on, as in
    "1,000 held-out articles"
    help: what it says, in a few words
    better: "higher" or "lower", "" where neither is
    whole: whether it counts something
    brief: what a small chart of it is headed, beside the large one; "" for one that has none
    """

    name: str
    title: str
    help: str = ""
    better: str = ""
    whole: bool = False
    brief: str = ""

    @classmethod
    def undeclared(cls, name: str) -> Metric:
        """One of which no more is known than its name."""
        return cls(name, name.replace("_", " ").capitalize())
