"""Options and metrics, which kinds of models declare, and checks of arguments; does not load
numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from wikitopics.option import Option

Value = float | int | str
LEARN: Final = "learn"
Prior = float | Literal["learn"]
"""A Dirichlet parameter, or "learn"."""
TAKEN = ("kind", "name", "topics", "batch_size", "seed", "threads")
"""Every model's settings; no option of a kind may have one of these names."""
LARGEST = 1e30
"""The largest number in a state: everything computed from such numbers fits float32."""
LARGEST_PRIOR = 1e9


def prior(
    name: str,
    help: str,
    default: float | str | None = None,
    *,
    learn: bool = False,
    shared: bool = True,
) -> Option[float]:
    """An option for a Dirichlet parameter or a concentration, or "learn" if it can be learnt.

    Outside the range, single precision overflows or a topic's share becomes 0 / 0.
    """
    choices = (LEARN,) if learn else ()
    return Option(
        float,
        name,
        help,
        default=default,
        least=1e-9,
        most=LARGEST_PRIOR,
        choices=choices,
        shared=shared,
    )


def decorrelation(default: float) -> Option[float]:
    """For kinds that keep their topics as `Lambda`; the papers' settings have none."""
    help = (
        "how strongly words that other topics use too lose weight; 0: not at all; by default "
        f"{default}"
    )
    return Option(float, "decorrelation", help, least=0, most=LARGEST_PRIOR)


KAPPA = Option(
    float,
    "kappa",
    "how fast step sizes (tau0 + t)^-kappa fall; by default they follow the articles seen",
    least=0.5,
    most=1,
)
"""Convergence is guaranteed only above 0.5, but 0.5 itself did best ([H10] sections 2.2 and 4)."""
TAU0 = Option(float, "tau0", "damps the first of these step sizes", least=0, most=LARGEST)

HALF_LIFE = Option(
    int,
    "half_life",
    "articles after which what was learnt has half its weight, for a stream whose subjects change; "
    "by default steps only become smaller",
    least=100,
    most=1e12,
)
"""For kinds whose step sizes do not fall below what `OnlineModel` computes from it."""


@dataclass(frozen=True)
class Metric:
    """A number that is measured repeatedly for a model.

    name: in files and exports, such as "log_likelihood"
    title: the heading of its chart; "{held_out}" stands for the articles it is measured on, as in
    "1,000 held-out articles"
    help: its meaning, in a few words
    better: "higher" or "lower", "" if neither is
    whole: whether it is a whole number
    brief: the heading of its small chart, beside the large one; "" if it has none
    words: what a value means, for readers of the screen; "{value}" stands for the newest one
    """

    name: str
    title: str
    help: str = ""
    better: str = ""
    whole: bool = False
    brief: str = ""
    words: str = ""

    def in_words(self, value: str) -> str:
        """What ``value``, as it is shown, means, and whether higher or lower is better."""
        meaning = self.words.replace("{value}", value)
        better = f"{self.better} is better" if self.better else ""
        return "; ".join(part for part in (meaning, better) if part)

    @classmethod
    def undeclared(cls, name: str) -> Metric:
        """A metric of which only the name is known."""
        return cls(name, name.replace("_", " ").capitalize())


def at_least_one(**sizes: float) -> None:
    """Raise ValueError for the first argument that is below 1, or not whole unless it is
    `n_documents`."""
    for name, size in sizes.items():
        of = float if name == "n_documents" else int
        Option(of, name, "", least=1).convert(str(size))
