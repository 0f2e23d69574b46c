"""lambda, the variational Dirichlet of the topics, kept so that a step costs only the words it touches.

lambda_kw = eta + scale hat[w, k]: the (1 - rho) of a step multiplies `scale` and moves `eta`, both numbers,
and only the rows of the minibatch's words are written. Word-major, so that a word's topics lie side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from model._blocks import Workers
from model._loops import padded
from model._state import LARGEST, State, array, number
from model._topics_kernels import exp_Elog_rows, sum_digamma

SMALLEST_SCALE = 1e-6
WORD_BLOCK = 512


@dataclass
class Topics:
    """hat: (W, K) float32 or float64; total_hat: (K,) float64, its sums over the words, carried along."""

    hat: NDArray[Any]
    total_hat: NDArray[np.float64]
    scale: float
    eta: float

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

    def rows(self, word_ids: NDArray[np.integer[Any]], dtype: Any) -> NDArray[Any]:
        """(U, K) lambda of some words, one row a word."""
        rows: NDArray[Any] = self.eta + self.scale * self.hat[word_ids].astype(dtype)
        return rows

    def lambda_(self) -> NDArray[Any]:
        """(K, W) lambda, a copy."""
        lambda_: NDArray[Any] = (self.eta + self.scale * self.hat).T
        return lambda_

    def expected(self) -> NDArray[Any]:
        """(W, K) E[beta_kw] = lambda_kw / sum_w lambda_kw."""
        totals = self.totals()
        expected: NDArray[Any] = self.hat * (self.scale / totals).astype(self.dtype)
        expected += (self.eta / totals).astype(self.dtype)
        return expected

    def totals(self) -> NDArray[np.float64]:
        """(K,) sum_w lambda_kw."""
        return self.n_words * self.eta + self.scale * self.total_hat

    def shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words assigned, sums to 1."""
        shares: NDArray[np.float64] = self.total_hat / self.total_hat.sum()
        return shares

    def decay(self, rho: float, eta: float) -> None:
        """lambda <- (1 - rho) lambda + rho eta."""
        self.eta += rho * (eta - self.eta)
        if self.scale * (1 - rho) < SMALLEST_SCALE:
            self.hat *= self.dtype.type(self.scale * (1 - rho))
            self.total_hat = self.hat.sum(axis=0, dtype=np.float64)
            self.scale = 1.0
        else:
            self.scale *= 1 - rho

    def rescale(self, mass: float) -> None:
        """Multiply lambda so that it sums to `mass` besides eta."""
        self.scale = mass / float(self.total_hat.sum())

    def Elog_rows(self, word_ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """(U, K) E[log beta_kw] of some words, one row a word."""
        Elog_beta: NDArray[np.float64] = psi(self.rows(word_ids, np.float64)) - psi(self.totals())
        return Elog_beta

    def exp_Elog_rows(
        self, word_ids: NDArray[np.int32], workers: Workers, balance: NDArray[np.float64] | None = None
    ) -> NDArray[Any]:
        """(U, K') exp(E[log beta_kw]) of some words, each row divided by its sum; K padded with zeros.

        balance: (K,) factors on the topics, from before the division
        """
        dtype = self.dtype
        psi_total = psi(self.totals())
        weight = np.exp(psi_total.min() - psi_total)
        if balance is not None:
            weight *= balance
        weight = weight.astype(dtype)
        scale, eta = dtype.type(self.scale), dtype.type(self.eta)
        rows = np.empty((len(word_ids), padded(self.n_topics)), dtype)

        def block(start: int, stop: int) -> None:
            exp_Elog_rows(start, stop, word_ids, self.hat, scale, eta, psi_total, weight, rows)

        workers.map(block, len(word_ids), WORD_BLOCK)
        return rows

    def sum_Elog_beta(self) -> float:
        """sum_kw E[log beta_kw]; costs K W."""
        total = sum_digamma(self.hat, self.scale, self.eta)
        return float(total - self.n_words * psi(self.totals()).sum())

    def elbo(self, eta: float) -> float:
        """E[log p(beta | eta)] - E[log q(beta | lambda)], nats: [H10] eq. 3's last term; costs K W."""
        K, W = self.n_topics, self.n_words
        lambda_ = self.rows(np.arange(W), np.float64).T
        totals = lambda_.sum(axis=1)
        Elog_beta = psi(lambda_) - psi(totals)[:, None]
        elbo = K * (gammaln(W * eta) - W * gammaln(eta))
        return float(elbo + np.sum((eta - lambda_) * Elog_beta + gammaln(lambda_)) - gammaln(totals).sum())

    def state(self) -> dict[str, Any]:
        """Everything but eta, for a model's state."""
        return {"lambda_hat": self.hat.copy(), "total_hat": self.total_hat.copy(), "scale": self.scale}

    @classmethod
    def from_state(cls, state: State, eta: float) -> Self:
        """From a model's state. Raises ValueError."""
        hat = state.take("lambda_hat", array("W", "K", dtypes=("float32", "float64")))
        scale = state.take("scale", number(above=True))
        if not (eta + scale * float(hat.min()) > 0 and eta + scale * float(hat.max()) <= LARGEST):
            raise ValueError("the state's lambda must be positive, and finite in float32")
        return cls(hat, state.take("total_hat", array("K")), scale, eta)


def random_topics(
    random: np.random.Generator,
    initialization: Literal["gamma", "exponential"],
    K: int,
    W: int,
    D: float,
    eta: float,
    dtype: str,
) -> Topics:
    """lambda at random: "gamma" is Gamma(100, 0.01), mean 1; "exponential" [SVI13] footnote 6."""
    if initialization == "gamma":
        return Topics.of(random.gamma(100.0, 0.01, (W, K)).astype(dtype), 0.0)
    # lambda - eta ~ Exponential(D 100 / (K W))
    return Topics.of(random.exponential(D * 100 / (K * W), (W, K)).astype(dtype), eta)
