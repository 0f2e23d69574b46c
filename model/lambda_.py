"""lambda, the variational Dirichlet of the topics, stored so that a step costs only the words it touches.

lambda_kw = eta + scale hat[w, k]: the factor (1 - rho) of a step multiplies `scale` and moves `eta`, both
numbers, and only the rows of the minibatch's words are written. It is word-major, so that a word's topics lie
side by side. SCVB0's N_phi + eta is stored as a lambda like the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.minibatch import Minibatch
from wikitopics.model.options import LARGEST_PRIOR
from wikitopics.model.states import FLOATS, LARGEST, TINY, Entry
from wikitopics.model.workers import Workers

Vector = NDArray[np.float64]

SMALLEST_SCALE = 1e-6
WORD_BLOCK = 512


@dataclass(frozen=True)
class Statistics:
    """What documents say about the topics: the output of an E-step, and all that an M-step needs.

    The statistics of the parts of a minibatch are added to lambda in the order of the parts, so the result is
    the same to the bit wherever each was computed.

    ids: (U,) int32, the words that the documents have, increasing
    sums: (U, K') sum_d n_dw phi_dwk; K' is K or K padded
    mass: (K,) float64, the sums of `sums` over the words
    """

    ids: NDArray[np.int32]
    sums: NDArray[Any]
    mass: Vector


@dataclass
class Topics:
    """hat: (W, K) float32 or float64; total_hat: (K,) float64, its sums over the words, carried along."""

    hat: NDArray[Any]
    total_hat: Vector
    scale: float
    eta: float

    ENTRIES: ClassVar[tuple[Entry, ...]] = (
        Entry("lambda_hat", "_topics.hat", FLOATS, "W K", least=0),
        Entry("total_hat", "_topics.total_hat", "float64", "K", least=0),
        Entry("scale", "_topics.scale", least=TINY),
        Entry("eta_lambda", "_topics.eta", least=0, most=LARGEST_PRIOR),
    )
    """Entries of a state for a model that has its topics as `_topics`."""

    @classmethod
    def kept(cls, hat: NDArray[Any], total_hat: Vector, scale: float, eta: float) -> Self:
        """From a state; raises ValueError for a lambda that is not positive, or not finite in float32."""
        if not (eta + scale * float(hat.min()) > 0 and eta + scale * float(hat.max()) <= LARGEST):
            raise ValueError("lambda must be positive, and finite in float32")
        return cls(hat, total_hat, scale, eta)

    @classmethod
    def of(cls, lambda_hat: NDArray[Any], eta: float) -> Self:
        """lambda = eta + lambda_hat, (W, K)."""
        return cls(lambda_hat, lambda_hat.sum(axis=0, dtype=np.float64), 1.0, eta)

    @property
    def n_words(self) -> int:
        return int(self.hat.shape[0])

    @property
    def n_topics(self) -> int:
        return int(self.hat.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.hat.dtype

    # What it says

    def rows(self, word_ids: NDArray[np.integer[Any]], dtype: Any) -> NDArray[Any]:
        """(U, K) lambda of some words, one row per word."""
        rows: NDArray[Any] = self.hat[word_ids].astype(dtype, copy=False)  # indexing by ids makes a copy
        rows *= self.scale
        rows += self.eta
        return rows

    def lambda_(self) -> NDArray[Any]:
        """(K, W) lambda, a copy."""
        lambda_: NDArray[Any] = (self.eta + self.scale * self.hat).T
        return lambda_

    def totals(self) -> Vector:
        """(K,) sum_w lambda_kw."""
        return self.n_words * self.eta + self.scale * self.total_hat

    def shares(self) -> Vector:
        """(K,) each topic's share of the words assigned, sums to 1."""
        shares: Vector = self.total_hat / self.total_hat.sum()
        return shares

    def expected(self) -> NDArray[Any]:
        """(K, W) E[beta_kw] = lambda_kw / sum_w lambda_kw, rows sum to 1."""
        lambda_ = self.lambda_()
        totals = lambda_.sum(axis=1, dtype=np.float64, keepdims=True)
        return np.ascontiguousarray(lambda_ / totals.astype(self.dtype))

    def expected_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) E[beta_kw] of some words only, one row per word."""
        rows = self.rows(word_ids, self.dtype)
        np.divide(rows, self.totals(), out=rows, casting="same_kind")
        return rows

    def top_words(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """As `OnlineModel.top_words`; reads lambda once."""
        from wikitopics.model.lambda_kernels import leading_words

        shape = (self.n_topics, min(n, self.n_words))
        leading, largest = np.zeros(shape, np.int32), np.full(shape, -1, self.dtype)
        leading_words(self.hat, leading, largest)
        lambda_ = self.eta + self.scale * largest.astype(np.float64)
        return leading, (lambda_ / self.totals()[:, None]).astype(np.float32)

    def Elog_rows(self, word_ids: NDArray[np.int32]) -> Vector:
        """(U, K) E[log beta_kw] of some words, one row per word."""
        from scipy.special import psi

        Elog_beta: Vector = psi(self.rows(word_ids, np.float64)) - psi(self.totals())
        return Elog_beta

    def exp_Elog_rows(self, word_ids: NDArray[np.int32], workers: Workers, balance: Vector) -> NDArray[Any]:
        """(U, K') exp(E[log beta_kw]) of some words, each row divided by its sum; K padded with zeros.

        balance: (K,) factors on the topics, from before the division
        """
        from scipy.special import psi

        from wikitopics.model import lambda_kernels as kernels
        from wikitopics.model.kernels import padded

        dtype = self.dtype
        psi_total = psi(self.totals())
        weight = (np.exp(psi_total.min() - psi_total) * balance).astype(dtype)
        scale, eta = dtype.type(self.scale), dtype.type(self.eta)
        rows = np.empty((len(word_ids), padded(self.n_topics)), dtype)

        def block(start: int, stop: int) -> None:
            kernels.exp_Elog_rows(start, stop, word_ids, self.hat, scale, eta, psi_total, weight, rows)

        workers.map(block, len(word_ids), WORD_BLOCK)
        return rows

    def sum_Elog_beta(self) -> float:
        """sum_kw E[log beta_kw]; costs K W."""
        from scipy.special import psi

        from wikitopics.model.lambda_kernels import sum_digamma

        total = sum_digamma(self.hat, self.scale, self.eta)
        return float(total - self.n_words * psi(self.totals()).sum())

    def elbo(self, eta: float) -> float:
        """E[log p(beta | eta)] - E[log q(beta | lambda)], nats: [H10] eq. 3's last term; costs K W."""
        from scipy.special import gammaln, psi

        K, W = self.n_topics, self.n_words
        lambda_ = self.rows(np.arange(W), np.float64).T
        totals = lambda_.sum(axis=1)
        Elog_beta = psi(lambda_) - psi(totals)[:, None]
        elbo = K * (gammaln(W * eta) - W * gammaln(eta))
        return float(elbo + np.sum((eta - lambda_) * Elog_beta + gammaln(lambda_)) - gammaln(totals).sum())

    # What changes it

    def step(self, rho: float, eta: float, repeats: float, statistics: Statistics, workers: Workers) -> None:
        """lambda <- (1 - rho) lambda + rho (eta + repeats sstats); repeats = D/S."""
        self.decay(rho, eta)
        self.add(rho * repeats, statistics, workers)

    def decay(self, rho: float, eta: float) -> None:
        """lambda <- (1 - rho) lambda + rho eta."""
        self.eta += rho * (eta - self.eta)
        if self.scale * (1 - rho) < SMALLEST_SCALE:
            self.hat *= self.dtype.type(self.scale * (1 - rho))
            self.total_hat = self.hat.sum(axis=0, dtype=np.float64)
            self.scale = 1.0
        else:
            self.scale *= 1 - rho

    def add(self, weight: float, statistics: Statistics, workers: Workers, precise: bool = False) -> None:
        """lambda <- lambda + weight sstats; precise: with the product in float64, whatever lambda's type."""
        from wikitopics.model.lambda_kernels import add_rows

        factor = weight / self.scale
        self.total_hat += factor * statistics.mass
        narrow: Callable[[float], Any] = float if precise else self.dtype.type

        def block(start: int, stop: int) -> None:
            add_rows(start, stop, statistics.ids, statistics.sums, narrow(factor), self.hat)

        workers.map(block, len(statistics.ids), WORD_BLOCK)

    def replace(self, numbers: NDArray[np.intp], hat: Vector) -> None:
        """Replace some topics; (W, n) hat, in the scale of `hat`."""
        self.hat[:, numbers] = hat.astype(self.dtype)
        self.total_hat[numbers] = hat.sum(axis=0)

    def rescale(self, mass: float) -> None:
        """Scale lambda so that it sums to `mass`, not counting eta."""
        self.scale = mass / float(self.total_hat.sum())


@dataclass(frozen=True)
class Balance:
    """How topics are held in balance while symmetry breaks: small ones gain words, large ones lose them.

    Without balance, topics that are ahead by chance take the words of those behind. Topic k's probabilities
    are multiplied by (mass_k / mean mass)^-b, where b falls linearly from `balance_power` to 0 within
    `balance_documents` documents, or the share `balance_share` of a smaller corpus; masses below the fraction
    `balance_least` of the mean count as that fraction. A power of 0 means no balance.

    Every schedule counts in documents of `document_words` words, since a long document says more about topics
    than a short one. With 0, each document counts as one. The recipes of the models begin with these numbers;
    all of a recipe's numbers are kept in the state.
    """

    BOUNDS: ClassVar[dict[str, tuple[float, float]]] = {
        "document_words": (0, LARGEST),
        "balance_power": (0, 1),
        "balance_least": (0, 1),
    }
    """The bounds in a state of numbers that may be 0 or have a largest value."""

    document_words: float
    balance_power: float
    balance_documents: float
    balance_share: float
    balance_least: float

    def amount(self, batch: Minibatch) -> float:
        """The size of a minibatch in documents, as the schedules count them."""
        return batch.n_tokens / self.document_words if self.document_words else float(batch.D)

    def corpus(self, n_documents: float, documents: float, amount: float) -> float:
        """The size of a corpus as the schedules count it, given that `documents` of its documents made
        `amount`."""
        return n_documents * (amount / documents) if documents else n_documents

    def balance(self, topics: Topics, seen: float, n_documents: float) -> Vector:
        """(K,) factors on the topics after `seen` documents of a corpus of `n_documents`."""
        period = min(self.balance_documents, self.balance_share * n_documents)
        power = self.balance_power * (1 - seen / period) if seen < period else 0.0
        mass = topics.total_hat
        if power <= 0 or not mass.any():
            return np.ones(topics.n_topics)
        factors: Vector = np.maximum(mass / mass.mean(), self.balance_least) ** -power
        return factors


@dataclass(frozen=True)
class Schedules(Balance):
    """The schedules of LDA and SCVB0: the fall of alpha, and the step sizes where none are given.

    alpha falls to its own value within `annealing_documents` documents, or the share `annealing_share` of a
    smaller corpus, and meanwhile documents get one more pass. It starts at `first_alpha` / sqrt(K) for each
    `document_words` words of a mean document, so that topics separate equally soon in short and in long
    documents, and few topics as soon as many.
    A step is that of an average over a horizon of documents that grows by `horizon_slope` for each document
    seen, so steps become smaller for ever and no estimate of noise can make them grow again. The horizon
    starts with `first_horizon` documents, or `horizon_share` of a smaller corpus but at least
    `shortest_horizon` (a smaller corpus would forget the random start, which is the mass of words that it
    lacks). `random_share` of the corpus's words are random before the first document.
    """

    BOUNDS: ClassVar = {
        **Balance.BOUNDS,
        "annealing_documents": (0, LARGEST),
        "random_share": (0, LARGEST),
    }

    first_alpha: float
    annealing_documents: float
    annealing_share: float
    first_horizon: float
    horizon_share: float
    shortest_horizon: float
    horizon_slope: float
    random_share: float

    def annealed_until(self, n_documents: float) -> float:
        """The number of documents until alpha has its own value."""
        return min(self.annealing_documents, self.annealing_share * n_documents)

    def alpha(self, final: Vector, seen: float, n_documents: float, in_all: float) -> Vector:
        """(K,) alpha after `seen` documents of a corpus of `n_documents`, or `in_all` as schedules count."""
        if seen >= (until := self.annealed_until(in_all)):
            return final.copy()
        start = np.maximum(self.first_alpha / math.sqrt(len(final)) * in_all / n_documents, final)
        annealed: Vector = start * (final / start) ** (seen / until)
        return annealed

    def step_size(self, seen: float, documents: float, n_documents: float) -> float:
        """rho of a minibatch of `documents` documents after `seen`; two halves of it forget nearly as much
        as the whole."""
        first = min(self.first_horizon, max(self.horizon_share * n_documents, self.shortest_horizon))
        return -math.expm1(-documents / (first + self.horizon_slope * seen))


def random_topics(
    random: np.random.Generator,
    initialization: Literal["gamma", "exponential"],
    K: int,
    W: int,
    D: float,
    eta: float,
    dtype: str,
) -> Topics:
    """A random lambda: "gamma" is Gamma(100, 0.01), mean 1; "exponential" is [SVI13] footnote 6."""
    if initialization == "gamma":
        return Topics.of(random.gamma(100.0, 0.01, (W, K)).astype(dtype), 0.0)
    # lambda - eta ~ Exponential(D 100 / (K W))
    return Topics.of(random.exponential(D * 100 / (K * W), (W, K)).astype(dtype), eta)


def topics_from(
    documents: Minibatch,
    n_words: int,
    seeds: NDArray[np.integer[Any]],
    weight: float,
) -> Vector:
    """(W, K) topics, columns sum to 1: each mixes the mean of some documents with the mean of all words.

    seeds: (K, n) the documents of each topic. A topic's documents all weigh the same, whatever their length,
    and together make up the share `weight` of its words.
    """
    n_topics = len(seeds)
    mean = np.bincount(documents.word_ids, documents.counts, n_words) / (documents.n_tokens or 1)
    topics = np.tile((1 - weight) * mean[:, None], (1, n_topics))
    lengths = documents.lengths()
    for k, of_topic in enumerate(seeds):
        for d in of_topic:
            entries = slice(documents.indptr[d], documents.indptr[d + 1])
            share = weight / len(of_topic) * documents.counts[entries] / (lengths[d] or 1)
            topics[documents.word_ids[entries], k] += share
    return topics
