"""What each number of the models' recipes is worth: the log-likelihood lost without it.

Means of three seeds against the same seeds with all numbers, on the articles for tuning: 16,000
full and 16,000 short ones under live conditions (D = 7,000,000), and the long ones as a corpus of
their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.data import CORPORA, Corpus, split
from benchmarks.harness import Experiment, Figures, Points, table
from benchmarks.measuring import growing, train, words
from wikitopics.model import CompletionSet, kinds

EXPERIMENT = Experiment("numbers", "what each number of the models' recipes is worth")
LIVE = 7_000_000
"""D, as a live session has it."""
EARLY = 1_000
LATE = 16_000
"""Articles after which a model is scored first and last."""
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
"""By model and number: what to set so that the number has no effect, or the value that its absence
would mean."""


def scores(kind: str, corpus: Corpus, changed: Mapping[str, float], seed: int) -> list[float]:
    """The scores after `EARLY` articles and at the end, with these numbers of the recipe
    changed."""
    cls = kinds.load(kind)
    order = np.random.default_rng(seed).permutation(train(corpus).D)[:LATE]
    documents = train(corpus).take(order)
    scored = CompletionSet(split(corpus).tuning)
    size = documents.D if corpus == "long" else LIVE
    model: Any = cls.create(cls.default_topics, words(corpus), size, seed=seed)
    model.recipe = replace(model.recipe, **changed)
    found = []
    seen = 0
    for batch in growing(documents, model.default_batch_size):
        model.learn(batch)
        if seen < EARLY <= seen + batch.D:
            found.append(scored.score(model))
        seen += batch.D
    return [*found, scored.score(model)]


def measured(kind: str, corpus: Corpus) -> Figures:
    """By number: what is lost without it early and in the end, and the standard error of each."""
    with_all_numbers = np.array([scores(kind, corpus, {}, seed) for seed in SEEDS])
    found = {}
    for name, changed in WITHOUT[kind].items():
        without = np.array([scores(kind, corpus, changed, seed) for seed in SEEDS])
        lost = with_all_numbers - without
        means = lost.mean(axis=0)
        errors = lost.std(axis=0, ddof=1) / len(SEEDS) ** 0.5
        found[name] = [means.tolist(), errors.tolist()]
    return found


for _kind in WITHOUT:
    for _corpus in CORPORA:
        EXPERIMENT.add(f"{_kind}_{_corpus}", partial(measured, _kind, _corpus))


def worth(kind: str, points: Points) -> str:
    ends = {"short": "16,000", "full": "16,000", "long": "5,565, the corpus"}
    head = ["without"]
    for corpus in CORPORA:
        head += [f"{corpus} articles: 1,000", f"{corpus} articles: {ends[corpus]}"]
    rows = []
    for name in WITHOUT[kind]:
        cells = [name]
        for corpus in CORPORA:
            found = points.get(f"{kind}_{corpus}", {}).get(name)
            if found:
                means, errors = found
                for mean, error in zip(means, errors, strict=True):
                    cells.append(f"{mean:+.3f} ± {error:.3f}")
            else:
                cells += ["-", "-"]
        rows.append(cells)
    return table(head, rows)


EXPERIMENT.tables |= {kind: partial(worth, kind) for kind in WITHOUT}
