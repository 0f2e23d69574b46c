"""[SVI13]: LDA with 25 to 300 topics against the HDP (figure 11), kappa (12, 14), and S (13, 15).

Theirs: 3.8 million Wikipedia articles of 127 words, tau0 = 1, eta = 0.01, alpha = 1/K; HDP of K =
300 and T = 20. Here: the same settings over one pass of 145,549 such articles, and our defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
"""Articles for the figures after it, since the HDP as published takes some milliseconds an
article."""


def curve(
    label: str,
    make: Callable[..., Any],
    size: int,
    kappa: float,
    documents: int | None,
    **options: float,
) -> Figures:
    """The curve of a model with the paper's steps over the first of the articles, or all."""
    articles = train()[:documents]

    def made() -> Any:
        steps: dict[str, Any] = {"eta": 0.01, "tau0": 1.0, "kappa": kappa, "warm_start": False}
        return make(n_words=words(), n_documents=articles.D, **steps, **options)

    compile_kernels(made())
    label = f"{label}, S = {size}, kappa = {kappa}"
    return followed(label, made(), minibatches(articles, size), held_out())


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
    most = {"max_topics": 300, "max_topics_per_document": 20}
    return curve("HDP", OnlineHDP, size, kappa, documents, **most, omega=1.0, alpha=1.0)


for _K in TOPICS:
    EXPERIMENT.add(f"lda_{_K}", partial(papers_lda, _K))
    _ours = partial(by_default, f"LDA {_K}", partial(OnlineLDA, _K))
    EXPERIMENT.add(f"our_lda_{_K}", _ours)
EXPERIMENT.add("our_hdp", partial(by_default, "HDP", OnlineHDP))
EXPERIMENT.add("hdp", papers_hdp)


def figure_11(points: Points) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for K in TOPICS:
            yield (
                f"LDA {K}",
                f"{THEIRS[K]:.2f}",
                score(points, f"lda_{K}"),
                score(points, f"our_lda_{K}"),
            )
        yield "HDP", f"{THEIRS['HDP']:.2f}", score(points, "hdp"), score(points, "our_hdp")

    return table(
        ("model", "[SVI13], 3.8 million articles", "the same settings here", "our defaults"), rows()
    )


EXPERIMENT.tables["figure_11"] = figure_11


KAPPAS = {f"{10 * kappa:02.0f}": kappa for kappa in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)}
"""The values of kappa by their digits, as in the names of the points."""
SIZES = (10, 50, 100, 500, 1000)
for _kind, _make in (("hdp", papers_hdp), ("lda", papers_lda)):
    for _digits, _kappa in KAPPAS.items():
        _measure = partial(_make, kappa=_kappa, documents=FEWER)
        EXPERIMENT.add(f"kappa_{_kind}_{_digits}", _measure)
    for _size in SIZES:
        _measure = partial(_make, size=_size, documents=FEWER)
        EXPERIMENT.add(f"size_{_kind}_{_size}", _measure)


def varied(what: str, values: Mapping[str, str], head: str, points: Points) -> str:
    rows = (
        (value, score(points, f"{what}_hdp_{name}"), score(points, f"{what}_lda_{name}"))
        for name, value in values.items()
    )
    return table((head, "HDP", "LDA 100"), rows)


EXPERIMENT.tables |= {
    "kappa": partial(
        varied,
        "kappa",
        {name: str(kappa) for name, kappa in KAPPAS.items()},
        "kappa (S = 500)",
    ),
    "size": partial(varied, "size", {f"{n}": f"{n:,}" for n in SIZES}, "S (kappa = 0.9)"),
}
for _number, _kind, _title in ((12, "hdp", "kappa of the HDP"), (14, "lda", "kappa of LDA")):
    _curves = [f"kappa_{_kind}_{digits}" for digits in KAPPAS]
    _title = f"[SVI13] figure {_number}: {_title}"
    EXPERIMENT.pictures[f"figure_{_number}"] = partial(
        plot,
        _curves,
        over="documents",
        title=_title,
    )
