"""The numbers in which the HDP departs from its papers; a model's state keeps them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.schedules import Balance
from wikitopics.model.states import LARGEST, MOST_ITERATIONS, TINY


@dataclass(frozen=True)
class Recipe(Balance):
    """The numbers by which the default departs from the papers.

    Start. Topics start from the first `first_documents` documents. Each takes the share `seed_weight` of its
    words from one of them, and the rest from the mean of the corpus. No document is drawn twice before all
    have been drawn. While there are fewer documents than topics, each topic starts from `mixed` of them,
    since equal topics would stay equal. While there are fewer than `first_documents`, each start makes
    `first_passes` over them. At first the uniform sticks weigh as much as the share `heavy` of all tables of
    the corpus.
    Corpus and steps. Lambda and sticks are those of a corpus of at least `smallest_corpus` documents, so that
    every word read makes a topic sure of it; eta is `raised` where there are fewer than `eta_documents`. A
    whole step takes as many documents as make about `steps` steps of the corpus, within `smallest_step` and
    `largest_step`.
    Documents. A document's shortlist has the topics that `em_steps` of EM expect to have more than
    `fewest_words`, at most `candidates`. Each of `rounds` rounds makes at most `iterations` updates of phi
    and gamma. Then tables choose their topics: only the likeliest if all others together have less than
    `one_topic` times its probability.
    Inference. `infer` makes `inference_passes` of SCVB0's update over a document's words. More would overfit
    the words seen.
    """

    BOUNDS: ClassVar = {
        **Balance.BOUNDS,
        "smallest_corpus": (0, LARGEST),
        "eta_documents": (0, LARGEST),
        "rounds": (2, MOST_ITERATIONS),
        "seed_weight": (TINY, 1),
    }

    first_documents: int
    first_passes: int
    mixed: int
    seed_weight: float
    heavy: float
    smallest_corpus: float
    eta_documents: float
    steps: float
    smallest_step: int
    largest_step: int
    em_steps: int
    candidates: int
    fewest_words: float
    iterations: int
    rounds: int
    one_topic: float
    inference_passes: int

    def weighed(self, n_documents: float) -> float:
        """The corpus size D that is weighed against the priors."""
        return max(n_documents, self.smallest_corpus)

    def draw(self, documents: int, n_topics: int, random: np.random.Generator) -> NDArray[np.int64]:
        """(K, n) the documents, out of this many, from which each topic starts."""
        n = 1 if documents >= n_topics else self.mixed
        laps = -(-n_topics * n // documents)
        order = np.concatenate([random.permutation(documents) for _ in range(laps)])
        return order[: n_topics * n].reshape(n_topics, n)


WARM = Recipe(
    document_words=100.0,
    balance_power=0.7,
    balance_documents=20_000.0,
    balance_share=2 / 3,
    first_documents=1000,
    first_passes=6,
    mixed=5,
    seed_weight=0.1,
    heavy=0.1,
    smallest_corpus=1e6,
    eta_documents=1e5,
    steps=40.0,
    smallest_step=64,
    largest_step=2048,
    em_steps=3,
    candidates=32,
    fewest_words=4.0,
    iterations=20,
    rounds=4,
    one_topic=1e-3,
    inference_passes=2,
)
PAPER = replace(WARM, smallest_corpus=0.0, eta_documents=0.0)
