"""The numbers in which OnlineLDA's default departs from the papers: decisions 0005, 0015, 0025, and
`lda.py`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from wikitopics.model.lambda_ import Schedules
from wikitopics.model.states import LARGEST, MOST_ITERATIONS


@dataclass(frozen=True)
class Recipe(Schedules):
    """The numbers of the warm start and of the E-step's shortcuts.

    The first `collapsed_documents` documents, or the share `collapsed_share` of a smaller corpus, get the
    collapsed E-step, with `passes` over their words; all documents, where a mean one has fewer than
    `fewest_words` words for each topic. There, an alpha to be learnt falls to `last_alpha`. Afterwards it is
    learnt from `learning_from` on, each alpha_k at least `smallest_alpha`. The corpus has at least
    `smallest_corpus` documents. A `random_share` of 0 leaves lambda as it was drawn; with few documents it is
    larger than below (`sized`).
    `infer` makes `inference_passes` of the collapsed update over a document's words; with 0 it is [H10]'s
    E-step, with at most `inference_iterations`. More passes or iterations fit the words seen, not the unseen
    ones. In float32 a topic with fewer than `drop` expected words leaves the document.
    """

    BOUNDS: ClassVar = {
        **Schedules.BOUNDS,
        "collapsed_documents": (0, LARGEST),
        "fewest_words": (0, LARGEST),
        "smallest_corpus": (0, LARGEST),
        "inference_passes": (0, MOST_ITERATIONS),
    }

    last_alpha: float
    collapsed_documents: float
    collapsed_share: float
    fewest_words: float
    passes: int
    learning_from: float
    smallest_corpus: float
    smallest_alpha: float
    inference_passes: int
    inference_iterations: int
    drop: float

    def sized(self, n_topics: int, n_words: int, n_documents: float) -> Recipe:
        """The recipe for these sizes. With few documents for so many parameters, more of lambda is random,
        and most topics then depend on that randomness to the end."""
        few = max(1.0, n_topics * n_words / n_documents)
        return replace(self, random_share=self.random_share * few**0.25)

    def collapsed(self, seen: float, n_documents: float, words: float) -> bool:
        """Whether the E-step is the collapsed one after `seen` documents with so many `words` for each
        topic."""
        first = min(self.collapsed_documents, self.collapsed_share * n_documents)
        return seen < first or words < self.fewest_words


WARM = Recipe(
    document_words=100.0,
    balance_power=0.4,
    balance_documents=5_000.0,
    balance_share=1.2,
    balance_least=1e-3,
    first_alpha=1.3,
    last_alpha=0.005,
    annealing_documents=4_000.0,
    annealing_share=0.3,
    collapsed_documents=100_000.0,
    collapsed_share=0.6,
    fewest_words=2.0,
    passes=2,
    learning_from=0.02,
    first_horizon=4_000.0,
    horizon_share=0.3,
    shortest_horizon=450.0,
    horizon_slope=0.75,
    smallest_corpus=1e6,
    random_share=0.02,
    smallest_alpha=1e-4,
    inference_passes=2,
    inference_iterations=8,
    drop=0.01,
)
PAPER = replace(
    WARM,
    document_words=0.0,
    balance_power=0.0,
    collapsed_documents=0.0,
    fewest_words=0.0,
    smallest_corpus=0.0,
    random_share=0.0,
    inference_passes=0,
    inference_iterations=MOST_ITERATIONS,
)
