"""[SVI13]: LDA with 25 to 300 topics against the HDP (figure 11).

Theirs: 3.8 million Wikipedia articles of 127 words, tau0 = 1, eta = 0.01, alpha = 1/K; HDP of K = 300 and
T = 20. Here: the same settings over one pass of 145,549 such articles, and our defaults.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.frame import MODEL_ROOMS, Figures, Part, table
from benchmarks.measuring import growing, minibatches
from benchmarks.papers import compile_kernels, drawn, held_out, score, train, words
from wikitopics.model import OnlineHDP, OnlineLDA

PART = Part("paper_svi13", "[SVI13]: LDA with 25 to 300 topics against the HDP", MODEL_ROOMS)
TOPICS = (25, 50, 100, 200, 300)
THEIRS = {25: -7.44, 50: -7.43, 100: -7.41, 200: -7.64, 300: -7.74, "HDP": -7.07}
"""[SVI13] figure 11, Wikipedia."""
FEWER = 20_000
"""Articles for the figures after it, since the HDP as published takes some milliseconds an article."""


def papers_lda(
    topics: int = 100, size: int = 500, kappa: float = 0.9, documents: int | None = None
) -> Figures:
    articles = train()[:documents]

    def made() -> OnlineLDA:
        options: dict[str, Any] = {
            "alpha": 1 / topics,
            "eta": 0.01,
            "tau0": 1.0,
            "kappa": kappa,
            "warm_start": False,
        }
        return OnlineLDA(topics, words(), articles.D, **options)

    compile_kernels(made())
    return drawn(
        f"LDA {topics}, S = {size}, kappa = {kappa}", made(), minibatches(articles, size), held_out()
    )


def papers_hdp(size: int = 500, kappa: float = 0.9, documents: int | None = None) -> Figures:
    articles = train()[:documents]

    def made() -> OnlineHDP:
        options: dict[str, Any] = {
            "max_topics": 300,
            "max_topics_per_document": 20,
            "omega": 1.0,
            "alpha": 1.0,
            "eta": 0.01,
            "tau0": 1.0,
            "kappa": kappa,
            "warm_start": False,
        }
        return OnlineHDP(words(), articles.D, **options)

    compile_kernels(made())
    return drawn(f"HDP, S = {size}, kappa = {kappa}", made(), minibatches(articles, size), held_out())


def our_lda(topics: int) -> Figures:
    compile_kernels(OnlineLDA(topics, words(), 1))
    model = OnlineLDA(topics, words(), train().D)
    return drawn(f"LDA {topics}", model, growing(train(), model.default_batch_size), held_out())


@PART.point(minutes=0.2)
def our_hdp() -> Figures:
    compile_kernels(OnlineHDP(words(), 1))
    model = OnlineHDP(words(), train().D)
    return drawn("HDP", model, growing(train(), model.default_batch_size), held_out())


for _K in TOPICS:
    PART.add(f"lda_{_K}", functools.partial(papers_lda, _K), minutes=0.1)
    PART.add(f"our_lda_{_K}", functools.partial(our_lda, _K), minutes=0.1)
PART.add("hdp", papers_hdp, minutes=20)


def figure_11(points: Mapping[str, Figures]) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for K in TOPICS:
            yield f"LDA {K}", f"{THEIRS[K]:.2f}", score(points, f"lda_{K}"), score(points, f"our_lda_{K}")
        yield "HDP", f"{THEIRS['HDP']:.2f}", score(points, "hdp"), score(points, "our_hdp")

    return table(("model", "[SVI13], 3.8 million articles", "the same settings here", "our defaults"), rows())


PART.pages["figure_11"] = figure_11
