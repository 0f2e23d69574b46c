"""What some choices of ours are worth: float32."""

from __future__ import annotations

from typing import Any

from benchmarks.frame import MODEL_ROOMS, Figures, Part
from benchmarks.measuring import learn_all, minibatches
from benchmarks.papers import held_out, train, words
from wikitopics.model import OnlineLDA

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
