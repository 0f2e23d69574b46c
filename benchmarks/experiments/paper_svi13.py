"""[SVI13]: LDA with 25 to 300 topics against the HDP (figure 11), kappa (12, 14), and S (13, 15).

Theirs: 3.8 million Wikipedia articles of 127 words, tau0 = 1, eta = 0.01, alpha = 1/K; HDP of K =
300 and T = 20. Here: the same settings over one pass of 145,549 such articles, and our defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import (
    by_default,
    compile_kernels,
    followed,
    held_out,
    minibatches,
    plot,
    score,
    train,
    words,
)
from wikitopics.model import OnlineHDP, OnlineLDA

EXPERIMENT = Experiment("paper_svi13", "[SVI13]: LDA with 25 to 300 topics against the HDP")
TOPICS = (25, 50, 100, 200, 300)
THEIRS = {25: -7.44, 50: -7.43, 100: -7.41, 200: -7.64, 300: -7.74, "HDP": -7.07}
"""[SVI13] figure 11, Wikipedia."""
FEWER = 20_000
"""Articles for figures 12 to 15, since the HDP as published takes some milliseconds an article."""


def curve(
    label: str,
    make: Callable[..., Any],
    size: int,
    kappa: float,
    documents: int | None,
    **options: float,
) -> Figures:
    """The curve of a model with the paper's steps.

    documents: it learns so many of the articles; None: all
    """
    articles = train()[:documents]

    def model() -> Any:
        return make(
            n_words=words(),
            n_documents=articles.D,
            eta=0.01,
            tau0=1.0,
            kappa=kappa,
            warm_start=False,
            **options,
        )

    compile_kernels(model())
    label = f"{label}, S = {size}, kappa = {kappa}"
    return followed(label, model(), minibatches(articles, size), held_out())


def papers_lda(
    topics: int = 100,
    size: int = 500,
    kappa: float = 0.9,
    documents: int | None = None,
) -> Figures:
    return curve(
        f"LDA {topics}",
        OnlineLDA,
        size,
        kappa,
        documents,
        n_topics=topics,
        alpha=1 / topics,
    )


def papers_hdp(size: int = 500, kappa: float = 0.9, documents: int | None = None) -> Figures:
    return curve(
        "HDP",
        OnlineHDP,
        size,
        kappa,
        documents,
        max_topics=300,
        max_topics_per_document=20,
        omega=1.0,
        alpha=1.0,
    )


for _K in TOPICS:
    EXPERIMENT.add(f"lda_{_K}", partial(papers_lda, _K))
    _by_default = partial(by_default, f"LDA {_K}", partial(OnlineLDA, _K))
    EXPERIMENT.add(f"our_lda_{_K}", _by_default)
EXPERIMENT.add("our_hdp", partial(by_default, "HDP", OnlineHDP))
EXPERIMENT.add("hdp", papers_hdp)


def figure_11(points: Points) -> str:
    rows = []
    for K in TOPICS:
        here = score(points, f"lda_{K}")
        by_our_defaults = score(points, f"our_lda_{K}")
        rows.append((f"LDA {K}", f"{THEIRS[K]:.2f}", here, by_our_defaults))
    here = score(points, "hdp")
    by_our_defaults = score(points, "our_hdp")
    rows.append(("HDP", f"{THEIRS['HDP']:.2f}", here, by_our_defaults))
    head = ("model", "[SVI13], 3.8 million articles", "the same settings here", "our defaults")
    return table(head, rows)


EXPERIMENT.tables["figure_11"] = figure_11


KAPPAS = {"05": 0.5, "06": 0.6, "07": 0.7, "08": 0.8, "09": 0.9, "10": 1.0}
"""By their digits, as in the names of the points."""
SIZES = (10, 50, 100, 500, 1000)
for _kind, _make in (("hdp", papers_hdp), ("lda", papers_lda)):
    for _digits, _kappa in KAPPAS.items():
        _measure = partial(_make, kappa=_kappa, documents=FEWER)
        EXPERIMENT.add(f"kappa_{_kind}_{_digits}", _measure)
    for _size in SIZES:
        _measure = partial(_make, size=_size, documents=FEWER)
        EXPERIMENT.add(f"size_{_kind}_{_size}", _measure)


def varied(setting: str, values: Mapping[str, str], head: str, points: Points) -> str:
    """values: those of the setting, as in the table, by what they are called in the names of
    points"""
    rows = []
    for name, value in values.items():
        of_hdp = score(points, f"{setting}_hdp_{name}")
        of_lda = score(points, f"{setting}_lda_{name}")
        rows.append((value, of_hdp, of_lda))
    return table((head, "HDP", "LDA 100"), rows)


_kappas = {digits: f"{kappa}" for digits, kappa in KAPPAS.items()}
_sizes = {f"{size}": f"{size:,}" for size in SIZES}
EXPERIMENT.tables |= {
    "kappa": partial(varied, "kappa", _kappas, "kappa (S = 500)"),
    "size": partial(varied, "size", _sizes, "S (kappa = 0.9)"),
}
EXPERIMENT.pictures |= {
    "figure_12": partial(
        plot,
        [f"kappa_hdp_{digits}" for digits in KAPPAS],
        over="documents",
        title="[SVI13] figure 12: kappa of the HDP",
    ),
    "figure_14": partial(
        plot,
        [f"kappa_lda_{digits}" for digits in KAPPAS],
        over="documents",
        title="[SVI13] figure 14: kappa of LDA",
    ),
}
