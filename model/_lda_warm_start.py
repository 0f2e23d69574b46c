"""How OnlineLDA begins when `warm_start` is on: a departure from [H10], off with `warm_start=False`.

Plain online variational Bayes starves topics while symmetry breaks: the first few documents decide which
topics live. Four measures mend that; the schedules among them follow the documents seen, so that the sizes
of minibatches hardly matter (docs/decisions/0005-warm-start.md has the measurements):

- *temperature*: for a while the E-step uses a large symmetric alpha, which falls geometrically; topics
  separate slowly, along what many documents have in common;
- *balance*: for a while exp(E[log beta_k]) is multiplied by a power of topic k's share, so that small topics
  gain words and large ones lose them;
- *step size*: rho is that of an average over a horizon of documents that grows with those seen, where a
  minibatch counts by its size;
- *corpus*: a corpus of fewer than a million documents is learnt as if it had a million, which makes
  exp(E[log beta]) nearly E[beta]: rare words are not punished for the little that was read.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FIRST_ALPHA, LAST_ALPHA = 1.7, 0.02
LONGEST_ANNEALING = 16_000.0  # documents
ANNEALING_SHARE = 0.3  # of the corpus, if that is shorter
ANNEALING_ITERATIONS = 20  # of an E-step, at most: more only hasten the topics' separation
BALANCED = 4.0  # annealing lengths
BALANCE_POWER = 0.8
FIRST_HORIZON = 4_000.0  # documents
HORIZON_SHARE = 0.3  # of the corpus, if that is shorter
SHORTEST_HORIZON = 300.0  # documents: a smaller corpus would forget the random start, the unseen words' mass
HORIZON_SLOPE = 0.75  # documents of horizon for a document seen
SMALLEST_CORPUS = 1e6  # documents
INFERENCE_ITERATIONS = 8  # at most, where nothing is learnt: more fit the words seen, not the unseen
RANDOM_SHARE = 0.12  # of the mass of lambda, at random, before the first document


def annealing_length(n_documents: float) -> float:
    """Documents until alpha has fallen to its last value."""
    return min(LONGEST_ANNEALING, ANNEALING_SHARE * n_documents)


def temperature(seen: float, length: float) -> float:
    """The least alpha_k of the E-step after `seen` documents; 0 when annealing is over."""
    if seen >= length:
        return 0.0
    return float(FIRST_ALPHA * (LAST_ALPHA / FIRST_ALPHA) ** (seen / length))


def balance(seen: float, length: float, shares: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """(K,) factors on exp(E[log beta_k]) after `seen` documents, from the topics' shares; None at the end."""
    power = BALANCE_POWER * (1 - seen / (BALANCED * length))
    if power <= 0:
        return None
    factors: NDArray[np.float64] = np.maximum(shares * len(shares), 1e-3) ** -power
    return factors


def step_size(seen: float, documents: int, n_documents: float) -> float:
    """rho of a minibatch of `documents` after `seen`: cut in two, it would make nearly the same two steps."""
    first = min(FIRST_HORIZON, max(HORIZON_SHARE * n_documents, SHORTEST_HORIZON))
    return -math.expm1(-documents / (first + HORIZON_SLOPE * seen))
