"""[SVI13]: kappa of LDA and of the HDP (figures 12 and 14): the settings of figure 11 over fewer articles."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from benchmarks.frame import MODEL_ROOMS, Figures, Part, table
from benchmarks.papers import plot, score
from benchmarks.parts.paper_svi13 import FEWER, papers_hdp, papers_lda

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PART = Part("paper_svi13_kappa", "[SVI13]: kappa of LDA and of the HDP", MODEL_ROOMS)
KAPPAS = {f"{10 * kappa:02.0f}": kappa for kappa in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)}
"""By their digits, as in the names of the points."""

for _digits, _kappa in KAPPAS.items():
    PART.add(f"hdp_{_digits}", functools.partial(papers_hdp, kappa=_kappa, documents=FEWER), minutes=6)
    PART.add(f"lda_{_digits}", functools.partial(papers_lda, kappa=_kappa, documents=FEWER), minutes=0.1)


def kappas(points: Mapping[str, Figures]) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for digits, kappa in KAPPAS.items():
            yield f"{kappa}", score(points, f"hdp_{digits}"), score(points, f"lda_{digits}")

    return table(("kappa (S = 500)", "HDP", "LDA 100"), rows())


def figure_12(points: Mapping[str, Figures]) -> Figure:
    names = [f"hdp_{digits}" for digits in KAPPAS]
    return plot(points, names, over="documents", title="[SVI13] figure 12: kappa of the HDP")


def figure_14(points: Mapping[str, Figures]) -> Figure:
    names = [f"lda_{digits}" for digits in KAPPAS]
    return plot(points, names, over="documents", title="[SVI13] figure 14: kappa of LDA")


PART.pages["table"] = kappas
PART.pictures |= {"figure_12": figure_12, "figure_14": figure_14}
