"""What some choices of ours are worth: float32, and SCVB0's adaptive step."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.frame import MODEL_ROOMS, Figures, Part
from benchmarks.measuring import learn_all, minibatches
from benchmarks.papers import held_out, train, words
from model import SCVB0, OnlineLDA

PART = Part("choices", "what some choices of ours are worth", MODEL_ROOMS)
K = 100
PAPER: dict[str, Any] = {"warm_start": False, "alpha": 0.01, "eta": 0.01, "tau0": 64.0, "kappa": 0.5}


@PART.point(minutes=0.5)
def float32() -> Figures:
    """[H10]'s settings over 20,000 short articles, in both precisions."""
    first, scores = train()[:20_000], {}
    for dtype in ("float32", "float64"):
        model = OnlineLDA(K, words(), first.D, dtype=dtype, **PAPER)
        scores[dtype] = held_out().score(learn_all(model, minibatches(first, 1024)))
    return {**scores, "lost": scores["float64"] - scores["float32"]}


@PART.point(minutes=3)
def adaptive_step() -> Figures:
    """Streams and minibatches of several sizes: the adaptive step beside the best single schedule."""
    schedules: list[dict[str, Any]] = [{}]
    schedules += [{"tau0": tau0, "kappa": kappa} for tau0 in (1.0, 16.0) for kappa in (0.5, 0.7, 0.9)]
    streams = ((12_000, 256), (12_000, 1024), (50_000, 256), (50_000, 1024), (50_000, 4096))
    scores = np.zeros((len(schedules), len(streams)))
    for i, options in enumerate(schedules):
        for j, (n, size) in enumerate(streams):
            for seed in (0, 1):
                model = SCVB0(K, words(), n, seed=seed, **options)
                learn_all(model, minibatches(train()[:n], size))
                scores[i, j] += held_out().score(model) / 2
    best = int(scores[1:].mean(axis=1).argmax()) + 1
    return {
        "adaptive": float(scores[0].mean()),
        "best_schedule": float(scores[best].mean()),
        "schedule": schedules[best],
        "behind_the_best_of_a_stream": float((scores[1:].max(axis=0) - scores[0]).max()),
    }
