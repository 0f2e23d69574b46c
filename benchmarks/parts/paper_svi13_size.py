"""[SVI13]: S of LDA and of the HDP (figures 13 and 15): the settings of figure 11 over fewer articles."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from benchmarks.frame import MODEL_ROOMS, Figures, Part, table
from benchmarks.papers import score
from benchmarks.parts.paper_svi13 import FEWER, papers_hdp, papers_lda

PART = Part("paper_svi13_size", "[SVI13]: S of LDA and of the HDP", MODEL_ROOMS)
SIZES = (10, 50, 100, 500, 1000)

for _size in SIZES:
    PART.add(f"hdp_{_size}", functools.partial(papers_hdp, _size, documents=FEWER), minutes=6)
    PART.add(f"lda_{_size}", functools.partial(papers_lda, size=_size, documents=FEWER), minutes=0.1)


def sizes(points: Mapping[str, Figures]) -> str:
    rows = ((f"{n:,}", score(points, f"hdp_{n}"), score(points, f"lda_{n}")) for n in SIZES)
    return table(("S (kappa = 0.9)", "HDP", "LDA 100"), rows)


PART.pages["table"] = sizes
