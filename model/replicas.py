"""Whether a topic comes back: how many replicas, models of the same kind with other seeds that have
learnt the same minibatches, have it too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.online import Leading

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MATCHED_WORDS = 20
"""The number of most probable words by which topics are matched."""
WORDS = 10
"""The number of most probable words that are compared."""
SHARED = 8
"""A replica has a topic if the matched topic has at least so many of the same `WORDS`: one more
than another run needs to be told to have it, since replicas also share the order of documents."""


def found_in_replicas(leading: Leading, of_replicas: Sequence[Leading]) -> NDArray[np.float32]:
    """(K,) the part of the replicas that have each topic, from 0 to 1.

    The topics of each replica are matched with the model's one to one. leading, of_replicas: the
    `MATCHED_WORDS` most probable words of the model's topics, and those of at least one replica.
    """
    has = [has_topics(leading, of_replica) for of_replica in of_replicas]
    part: NDArray[np.float32] = np.mean(has, axis=0, dtype=np.float32)
    return part


def has_topics(leading: Leading, of_replica: Leading) -> NDArray[np.bool_]:
    """(K,) whether a replica has each topic."""
    ids, _ = leading
    ids_of_replica, _ = of_replica
    partners = partners_in_replica(leading, of_replica)
    words = ids[:, :WORDS]
    words_of_partners = ids_of_replica[partners, :WORDS]
    is_shared = words[:, :, None] == words_of_partners[:, None, :]
    _, n_words = words.shape
    enough = min(SHARED, n_words)
    has: NDArray[np.bool_] = np.count_nonzero(is_shared, axis=(1, 2)) >= enough
    return has


def partners_in_replica(leading: Leading, of_replica: Leading) -> NDArray[np.intp]:
    """(K,) for each topic, the replica's topic that is matched with it: so that the sum of all
    affinities is as large as it can be.

    The affinity of two topics is sum_w sqrt(p(w) q(w)) over the words that lead both.
    """
    from scipy.optimize import linear_sum_assignment

    ids, _ = leading
    ids_of_replica, _ = of_replica
    n_words = 1 + max(ids.max(), ids_of_replica.max())
    roots = _roots(leading, n_words)
    roots_of_replica = _roots(of_replica, n_words)
    affinities = (roots @ roots_of_replica.T).toarray()
    partners: NDArray[np.intp]
    _, partners = linear_sum_assignment(affinities, maximize=True)
    return partners


def _roots(leading: Leading, n_words: int) -> csr_array:
    """(K, n_words) the square roots of the leading words' probabilities, 0 for all others."""
    from scipy.sparse import csr_array

    ids, probabilities = leading
    K, n = ids.shape
    indptr = np.arange(0, K * n + 1, n)
    return csr_array((np.sqrt(probabilities).ravel(), ids.ravel(), indptr), shape=(K, n_words))
