"""Online variational Bayes for latent Dirichlet allocation: [H10] algorithm 2, [SVI13] figure 6.

| symbol | shape | meaning | paper |
|---|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics | [H10] eq. 1 |
| gamma | (D, K) | variational Dirichlet of a document's topic proportions | [H10] eq. 1 |
| phi | never stored | variational distribution of a word's topic | [H10] eq. 5 |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics | [H10] section 2 |
| rho | number | step size (tau0 + t)^-kappa | [H10] section 2.2 |

lambda is kept as `eta_lambda + scale * lambda_hat`, lambda_hat with one row a word: a step multiplies `scale`
by 1 - rho and touches only the rows of the minibatch's words, however large the vocabulary.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from model._blocks import Workers
from model._lda_kernels import LANES, add_statistics, e_step, mixtures, topic_rows
from model._words import Words, by_word
from model.minibatch import Minibatch

DOCUMENT_BLOCK = 64
WORD_BLOCK = 512
SMALLEST_SCALE = 1e-6


class OnlineLDA:
    """Latent Dirichlet allocation learnt from minibatches, in one pass.

    n_topics, n_words, n_documents: K, W, and D, the size of the corpus (an estimate will do)
    alpha: Dirichlet parameter of the topic proportions; eta: of the topics
    tau0, kappa: the step size of update t is (tau0 + t)^-kappa, t from 0; kappa within [0.5, 1], tau0 >= 0
    initialization: lambda at random, "gamma" (Gamma(100, 0.01), mean 1) or "exponential" ([SVI13] footnote 6)
    dtype: "float32", or "float64" for comparisons (slow, no topic is dropped from a document)
    tolerance, max_iterations: a document's E-step ends when sum_k |change of gamma_k| is at most `tolerance`
    times its words, or after so many iterations
    threads: part of the speed, not of the result

    Raises ValueError for values out of range.
    """

    kind: ClassVar[str] = "lda"
    default_batch_size: ClassVar[int] = 1024

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: float,
        *,
        alpha: float | Literal["learn"] = 0.01,
        eta: float | Literal["learn"] = 0.1,
        tau0: float = 16.0,
        kappa: float = 0.5,
        initialization: Literal["gamma", "exponential"] = "gamma",
        tolerance: float = 3e-3,
        max_iterations: int = 100,
        dtype: Literal["float32", "float64"] = "float32",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        if n_topics < 1 or n_words < 1 or not n_documents >= 1:
            raise ValueError("n_topics, n_words and n_documents must be at least 1")
        for name, value in (("alpha", alpha), ("eta", eta)):
            if value != "learn" and not (isinstance(value, (int, float)) and 0 < value < np.inf):
                raise ValueError(f'{name} must be a positive number or "learn", not {value!r}')
        if not 0.5 <= kappa <= 1:
            raise ValueError(f"kappa must be within 0.5 and 1, not {kappa}")
        if not 0 <= tau0 < np.inf:
            raise ValueError(f"tau0 must be at least 0, not {tau0}")
        if initialization not in ("gamma", "exponential"):
            raise ValueError(f'initialization must be "gamma" or "exponential", not {initialization!r}')
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64", not {dtype!r}')
        self._n_documents = float(n_documents)
        self._learn_alpha, self._learn_eta = alpha == "learn", eta == "learn"
        self.tau0, self.kappa = float(tau0), float(kappa)
        self.tolerance, self.max_iterations = float(tolerance), int(max_iterations)
        self.alpha = np.full(n_topics, 0.01 if alpha == "learn" else float(alpha))
        self.eta = 0.1 if eta == "learn" else float(eta)
        self._workers = Workers(threads)
        self._random = np.random.default_rng(seed)
        self._updates = 0
        self._rho = 0.0
        self._scale = 1.0
        self._lambda_hat: NDArray[Any]
        if initialization == "gamma":
            # The 2010 authors' choice; the whole of lambda is in lambda_hat then.
            self._eta_lambda = 0.0
            self._lambda_hat = self._random.gamma(100.0, 0.01, (n_words, n_topics)).astype(dtype)
        else:
            # [SVI13] footnote 6: lambda - eta ~ Exponential(D 100 / (K W))
            mean = self._n_documents * 100 / (n_topics * n_words)
            self._eta_lambda = self.eta
            self._lambda_hat = self._random.exponential(mean, (n_words, n_topics)).astype(dtype)
        self._total_hat: NDArray[np.float64] = self._lambda_hat.sum(axis=0, dtype=np.float64)

    # What it is

    @property
    def n_topics(self) -> int:
        return int(self._lambda_hat.shape[1])

    @property
    def n_words(self) -> int:
        return int(self._lambda_hat.shape[0])

    @property
    def n_documents(self) -> float:
        return self._n_documents

    @property
    def updates(self) -> int:
        """Minibatches learnt."""
        return self._updates

    @property
    def rho(self) -> float:
        """Step size of the last update, 0 before the first."""
        return self._rho

    @property
    def threads(self) -> int:
        return self._workers.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._workers = Workers(threads)

    @property
    def lambda_(self) -> NDArray[Any]:
        """(K, W) variational Dirichlet of the topics, a copy."""
        return (self._eta_lambda + self._scale * self._lambda_hat).T

    def topics(self) -> NDArray[Any]:
        """(K, W) expected topics E[beta], rows sum to 1."""
        lambda_ = self.lambda_
        topics: NDArray[Any] = lambda_ / lambda_.sum(axis=1, dtype=np.float64, keepdims=True).astype(
            lambda_.dtype
        )
        return topics

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) expected topics of some words only, E[beta_kw] with one row a word."""
        lambda_ = self._eta_lambda + self._scale * self._lambda_hat[word_ids]
        rows: NDArray[Any] = (lambda_ / self._lambda_total()).astype(self._lambda_hat.dtype)
        return rows

    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1."""
        shares: NDArray[np.float64] = self._total_hat / self._total_hat.sum()
        return shares

    def topics_in_use(self) -> int:
        """Topics with more than a thousandth of the corpus."""
        return int(np.count_nonzero(self.topic_shares() > 1e-3))

    def document_prior(self) -> NDArray[np.float64]:
        """(K,) alpha."""
        return self.alpha.copy()

    # What it does

    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        An empty minibatch changes nothing. Raises ValueError for a word id out of range, before any change.
        """
        if batch.D == 0:
            return np.zeros((0, self.n_topics), dtype=np.float32)
        local = _EStep(self, batch)
        rho = (self.tau0 + self._updates) ** -self.kappa if self.tau0 + self._updates > 0 else 1.0
        self._m_step(local, rho, batch.D)
        self._updates += 1
        self._rho = rho
        return local.proportions()

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions E[theta] of documents, rows sum to 1; changes nothing.

        A document without words gets the prior's. Raises ValueError for a word id out of range.
        """
        return _EStep(self, batch).proportions()

    def bound_perplexity(self, batch: Minibatch) -> float:
        """[H10]'s perplexity of documents: exp(-(their ELBO, topics held fixed) / their words).

        The ELBO's terms of the documents only (docs/derivations.md), as in [H10] section 3: no share of the
        topics' own term, and no factor for the size of the corpus. NaN where the documents have no word.
        """
        if batch.n_tokens == 0:
            return float("nan")
        local = _EStep(self, batch)
        gamma = local.gamma.astype(np.float64)
        Elog_theta = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
        weights = np.exp(Elog_theta)
        lambda_ = self._eta_lambda + self._scale * self._lambda_hat[local.words.ids].astype(np.float64)
        Elog_beta = psi(lambda_) - psi(self._lambda_total())
        largest = Elog_beta.max(axis=1)
        phi_norm = np.empty(len(batch.word_ids))
        mixtures(batch.indptr, local.words.local, np.exp(Elog_beta - largest[:, None]), weights, phi_norm)
        # sum_w n_w log sum_k exp(E[log theta_k] + E[log beta_kw]): phi at its optimum
        bound = batch.counts @ (np.log(phi_norm) + largest[local.words.local])
        # E[log p(theta | alpha)] - E[log q(theta)]
        bound += np.sum((self.alpha - gamma) * Elog_theta) + np.sum(gammaln(gamma) - gammaln(self.alpha))
        bound += np.sum(gammaln(self.alpha.sum()) - gammaln(gamma.sum(axis=1)))
        return float(np.exp(-bound / batch.n_tokens))

    def _lambda_total(self) -> NDArray[np.float64]:
        """(K,) sum_w lambda_kw."""
        return self.n_words * self._eta_lambda + self._scale * self._total_hat

    def _m_step(self, local: _EStep, rho: float, S: int) -> None:
        """lambda <- (1 - rho) lambda + rho (eta + D/S sum_d n_d phi_d), [H10] algorithm 2."""
        self._eta_lambda += rho * (self.eta - self._eta_lambda)
        if rho == 1.0 or self._scale * (1 - rho) < SMALLEST_SCALE:
            self._lambda_hat *= self._lambda_hat.dtype.type(self._scale * (1 - rho))
            self._total_hat = self._lambda_hat.sum(axis=0, dtype=np.float64)
            self._scale = 1.0
        else:
            self._scale *= 1 - rho
        factor = rho * self._n_documents / (S * self._scale)
        self._total_hat += factor * local.add_statistics(factor)

    # Where it is kept

    def state(self) -> dict[str, Any]:
        """Everything, as numpy arrays and plain values: `from_state` goes on exactly from here."""
        return {
            "kind": self.kind,
            "lambda_hat": self._lambda_hat.copy(),
            "total_hat": self._total_hat.copy(),
            "alpha": self.alpha.copy(),
            "eta": self.eta,
            "eta_lambda": self._eta_lambda,
            "scale": self._scale,
            "n_documents": self._n_documents,
            "learn_alpha": self._learn_alpha,
            "learn_eta": self._learn_eta,
            "tau0": self.tau0,
            "kappa": self.kappa,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "updates": self._updates,
            "rho": self._rho,
            "random": self._random.bit_generator.state,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """A model from what `state` returned. Raises ValueError for the state of another kind of model."""
        if state.get("kind") != cls.kind:
            raise ValueError(f"this is the state of a model of kind {state.get('kind')!r}, not {cls.kind!r}")
        model = cls.__new__(cls)
        model._lambda_hat = np.array(state["lambda_hat"])
        model._total_hat = np.array(state["total_hat"])
        model.alpha = np.array(state["alpha"])
        model.eta, model._eta_lambda = float(state["eta"]), float(state["eta_lambda"])
        model._scale = float(state["scale"])
        model._n_documents = float(state["n_documents"])
        model._learn_alpha, model._learn_eta = bool(state["learn_alpha"]), bool(state["learn_eta"])
        model.tau0, model.kappa = float(state["tau0"]), float(state["kappa"])
        model.tolerance, model.max_iterations = float(state["tolerance"]), int(state["max_iterations"])
        model._updates, model._rho = int(state["updates"]), float(state["rho"])
        model._random = np.random.default_rng()
        model._random.bit_generator.state = state["random"]
        model._workers = Workers(1)
        return model


class _EStep:
    """The local step on a minibatch: gamma of its documents and what the statistics need."""

    words: Words
    gamma: NDArray[Any]  # (D, K)
    excess: NDArray[np.float64]  # (K,) sum_d psi(gamma_dk) - psi(alpha_k)

    def __init__(self, model: OnlineLDA, batch: Minibatch) -> None:
        batch.check_words(model.n_words)
        self._model, self._batch = model, batch
        dtype = model._lambda_hat.dtype
        K = model.n_topics
        padded = -(-K // LANES) * LANES
        self.words = words = by_word(batch, model.n_words)
        psi_total = psi(model._lambda_total())
        weight = np.exp(psi_total.min() - psi_total).astype(dtype)
        self._rows = np.empty((len(words.ids), padded), dtype)
        model._workers.map(
            lambda start, stop: topic_rows(
                start,
                stop,
                words.ids,
                model._lambda_hat,
                dtype.type(model._scale),
                dtype.type(model._eta_lambda),
                psi_total,
                weight,
                self._rows,
            ),
            len(words.ids),
            WORD_BLOCK,
        )
        self.gamma = np.empty((batch.D, K), dtype)
        self._x = np.empty((batch.D, padded), dtype)
        self._ratio = np.empty(len(batch.word_ids), dtype)
        alpha, psi_alpha = model.alpha.astype(dtype), psi(model.alpha)
        drop = 0.01 if dtype == np.float32 else 0.0

        def block(start: int, stop: int) -> NDArray[np.float64]:
            excess = np.zeros(K)
            e_step(
                start,
                stop,
                batch.indptr,
                words.local,
                batch.counts,
                self._rows,
                alpha,
                psi_alpha,
                drop,
                model.tolerance,
                model.max_iterations,
                self.gamma,
                self._x,
                self._ratio,
                excess,
            )
            return excess

        self.excess = sum(model._workers.map(block, batch.D, DOCUMENT_BLOCK), np.zeros(K))

    def proportions(self) -> NDArray[np.float32]:
        """(D, K) E[theta] = gamma / sum gamma."""
        theta: NDArray[np.float32] = (self.gamma / self.gamma.sum(axis=1, keepdims=True)).astype(np.float32)
        return theta

    def add_statistics(self, factor: float) -> NDArray[np.float64]:
        """Add factor sum_d n_dw phi_dwk to lambda_hat; returns sum_dw n_dw phi_dwk, (K,)."""
        model, words = self._model, self.words
        documents = self._batch.documents()

        def block(start: int, stop: int) -> NDArray[np.float64]:
            mass = np.zeros(model.n_topics)
            add_statistics(
                start,
                stop,
                words.indptr,
                words.entries,
                documents,
                self._ratio,
                self._x,
                self._rows,
                words.ids,
                model._lambda_hat.dtype.type(factor),
                model._lambda_hat,
                mass,
            )
            return mass

        return sum(model._workers.map(block, len(words.ids), WORD_BLOCK), np.zeros(model.n_topics))
