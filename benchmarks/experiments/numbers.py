"""What each number of the models' recipes is worth: the log-likelihood lost without it.

Means of three seeds against the same seeds with all numbers, on the articles for tuning: 16,000
full and 16,000 short ones under live conditions (D = 7,000,000), and the long ones as a corpus of
their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import CORPORA, Corpus, in_order, split
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import growing, train, words
from wikitopics.model import CompletionSet, kinds

EXPERIMENT = Experiment("numbers", "what each number of the models' recipes is worth")
LIVE = 7_000_000
EARLY = 1_000
LATE = 16_000
SEEDS = range(3)
BALANCE: Mapping[str, Mapping[str, float]] = {
    "document_words": {"document_words": 0.0},
    "balance": {"balance_power": 0.0},
    "balance_share": {"balance_share": np.inf},
}
ANNEALING: Mapping[str, Mapping[str, float]] = {
    "annealing": {"annealing_documents": 0.0},
    "annealing_share": {"annealing_share": np.inf},
}
HORIZON: Mapping[str, Mapping[str, float]] = {
    "horizon without a start": {"first_horizon": 1.0, "shortest_horizon": 1.0},
    "horizon_share": {"horizon_share": np.inf},
    "horizon_slope 1": {"horizon_slope": 1.0},
}
WITHOUT: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "lda": {
        **BALANCE,
        **ANNEALING,
        "last_alpha 0.02": {"last_alpha": 0.02},
        "collapsed": {"collapsed_documents": 0.0},
        "collapsed_share": {"collapsed_share": np.inf},
        "fewest_words": {"fewest_words": 0.0},
        "one pass": {"passes": 1},
        **HORIZON,
        "random_share": {"random_share": 1e-6},
        "smallest_corpus": {"smallest_corpus": 0.0},
        "inference_passes": {"inference_passes": 0},
        "drop": {"drop": 0.0},
    },
    "scvb0": {
        **BALANCE,
        **ANNEALING,
        **HORIZON,
        "random_share 1": {"random_share": 1.0},
        "inference_passes 10": {"inference_passes": 10},
    },
    "hdp": {
        **BALANCE,
        "first_documents 64": {"first_documents": 64},
        "first_passes": {"first_passes": 1},
        "seed_weight 1": {"seed_weight": 1.0},
        "heavy": {"heavy": 1e-9},
        "smallest_corpus": {"smallest_corpus": 0.0},
        "steps": {"steps": 1e-9},
        "em_steps 1": {"em_steps": 1},
        "candidates 8": {"candidates": 8},
        "fewest_words": {"fewest_words": 0.0},
        "iterations 1": {"iterations": 1},
        "rounds 2": {"rounds": 2},
        "one_topic": {"one_topic": 0.0},
        "inference_passes 10": {"inference_passes": 10},
    },
}
"""For each number, what to set so that it has no effect, or the value that its absence would
mean."""


def scores(kind: str, corpus: Corpus, changed: Mapping[str, float], seed: int) -> list[float]:
    """After `EARLY` articles and at the end."""
    load = kinds.load(kind)
    order = np.random.default_rng(seed).permutation(train(corpus).D)[:LATE]
    documents = in_order(train(corpus), order)
    scored = CompletionSet(split(corpus).tuning)
    size = documents.D if corpus == "long" else LIVE
    model: Any = load.create(load.default_topics, words(corpus), size, seed=seed)
    model.recipe = replace(model.recipe, **changed)
    seen = 0
    found = []
    for batch in growing(documents, model.default_batch_size):
        model.learn(batch)
        if seen < EARLY <= seen + batch.D:
            found.append(scored.score(model))
        seen += batch.D
    return [*found, scored.score(model)]


def measured(kind: str, corpus: Corpus) -> Figures:
    """By number: what is lost without it early and in the end, and the standard error of each."""
    whole = np.array([scores(kind, corpus, {}, seed) for seed in SEEDS])
    found = {}
    for name, changed in WITHOUT[kind].items():
        lost = whole - [scores(kind, corpus, changed, seed) for seed in SEEDS]
        found[name] = [
            lost.mean(axis=0).tolist(),
            (lost.std(axis=0, ddof=1) / len(SEEDS) ** 0.5).tolist(),
        ]
    return found


for _kind in WITHOUT:
    for _corpus in CORPORA:
        EXPERIMENT.add(f"{_kind}_{_corpus}", partial(measured, _kind, _corpus))


def worth(kind: str, points: Points) -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for name in WITHOUT[kind]:
            cells = []
            for corpus in CORPORA:
                found: Any = points.get(f"{kind}_{corpus}", {}).get(name)
                if not found:
                    cells += ["-", "-"]
                    continue
                means, errors = found
                for mean, error in zip(means, errors, strict=True):
                    cells.append(f"{mean:+.3f} ± {error:.3f}")
            yield name, *cells

    ends = {"short": "16,000", "full": "16,000", "long": "5,565, the corpus"}
    heads = (
        f"{corpus} articles: {moment}" for corpus in CORPORA for moment in ("1,000", ends[corpus])
    )
    return table(("without", *heads), rows())


EXPERIMENT.tables |= {kind: partial(worth, kind) for kind in WITHOUT}
