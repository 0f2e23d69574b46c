"""Online variational Bayes for latent Dirichlet allocation: [H10] algorithm 2, [SVI13] figure 6.

| symbol | shape | meaning | paper |
|---|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics | [H10] eq. 1 |
| gamma | (D, K) | variational Dirichlet of a document's topic proportions | [H10] eq. 1 |
| phi | never stored | variational distribution of a word's topic | [H10] eq. 5 |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics | [H10] section 2 |
| rho | number | step size (tau0 + t)^-kappa | [H10] section 2.2 |

The E-step is `_local_step.py` (its loops `_lda_kernels.py`), lambda is `_topics.py`, Newton's steps for alpha
and eta are `_newton.py`. What departs from the papers is in `_warm_start.py` and in the two methods that
name it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from model import _warm_start
from model._blocks import Workers
from model._local_step import LocalStep
from model._newton import alpha_step, descend, eta_step
from model._topics import Topics, random_topics
from model.minibatch import Minibatch

PAPER_TAU0, PAPER_KAPPA = 64.0, 0.5  # [H10] table 1, for minibatches of 4096
SMALLEST_ALPHA = 1e-4


class OnlineLDA:
    """Latent Dirichlet allocation learnt from minibatches, in one pass.

    n_topics, n_words, n_documents: K, W, and D, the size of the corpus (an estimate will do)
    alpha: Dirichlet parameter of the topic proportions, one number for all topics, or "learn" for one each
    eta: Dirichlet parameter of the topics, or "learn"
    tau0, kappa: step size of update t, (tau0 + t)^-kappa with t from 0; kappa within [0.5, 1], tau0 >= 0
    warm_start: the departure from the papers that measures best (`_warm_start.py`): alpha starts large,
    topics are kept in balance at first, and without tau0 and kappa the step size follows the documents
    seen. False is the papers' own algorithm, with tau0 = 64 and kappa = 0.5 unless given. By default it is
    on, unless both tau0 and kappa are given: who gives both asks for the papers' algorithm.
    initialization: lambda at random, "gamma" (Gamma(100, 0.01), mean 1) or "exponential" ([SVI13] footnote 6)
    dtype: "float32", or "float64" for comparisons (slow; no topic is dropped from a document)
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
        alpha: float | Literal["learn"] = "learn",
        eta: float | Literal["learn"] = 0.1,
        tau0: float | None = None,
        kappa: float | None = None,
        warm_start: bool | None = None,
        initialization: Literal["gamma", "exponential"] = "gamma",
        tolerance: float = 3e-3,
        max_iterations: int = 100,
        dtype: Literal["float32", "float64"] = "float32",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        if n_topics < 1 or n_words < 1 or not 1 <= n_documents < np.inf:
            raise ValueError("n_topics, n_words and n_documents must be at least 1")
        for name, value in (("alpha", alpha), ("eta", eta)):
            if value != "learn" and not (isinstance(value, (int, float)) and 0 < value < np.inf):
                raise ValueError(f'{name} must be a positive number or "learn", not {value!r}')
        if kappa is not None and not 0.5 <= kappa <= 1:
            raise ValueError(f"kappa must be within 0.5 and 1, not {kappa}")
        if tau0 is not None and not 0 <= tau0 < np.inf:
            raise ValueError(f"tau0 must be at least 0, not {tau0}")
        if initialization not in ("gamma", "exponential"):
            raise ValueError(f'initialization must be "gamma" or "exponential", not {initialization!r}')
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64", not {dtype!r}')
        self._n_documents = float(n_documents)
        self._warm_start = (tau0 is None or kappa is None) if warm_start is None else bool(warm_start)
        self._learn_alpha, self._learn_eta = alpha == "learn", eta == "learn"
        self._own_steps = self._warm_start and tau0 is None and kappa is None
        self.tau0 = PAPER_TAU0 if tau0 is None else float(tau0)
        self.kappa = PAPER_KAPPA if kappa is None else float(kappa)
        self.tolerance, self.max_iterations = float(tolerance), int(max_iterations)
        first_alpha = _warm_start.LAST_ALPHA if self._warm_start else 1 / n_topics
        self.alpha = np.full(n_topics, first_alpha if alpha == "learn" else float(alpha))
        self.eta = 0.1 if eta == "learn" else float(eta)
        self._workers = Workers(threads)
        self._random = np.random.default_rng(seed)
        self._topics = random_topics(
            self._random, initialization, n_topics, n_words, self._n_documents, self.eta, dtype
        )
        self._updates = 0
        self._seen = 0  # documents
        self._rho = 0.0
        self._words_since_eta = 0

    # What it is

    @property
    def n_topics(self) -> int:
        return self._topics.n_topics

    @property
    def n_words(self) -> int:
        return self._topics.n_words

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
        return self._topics.lambda_()

    def topics(self) -> NDArray[Any]:
        """(K, W) expected topics E[beta], rows sum to 1."""
        return self._topics.expected().T

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) expected topics of some words only, E[beta_kw] with one row a word."""
        dtype = self._topics.dtype
        rows: NDArray[Any] = self._topics.rows(word_ids, dtype) / self._topics.totals().astype(dtype)
        return rows

    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1."""
        return self._topics.shares()

    def topics_in_use(self) -> int:
        """Topics with more than a thousandth of the corpus."""
        return int(np.count_nonzero(self.topic_shares() > 1e-3))

    def document_prior(self) -> NDArray[np.float64]:
        """(K,) alpha."""
        return self.alpha.copy()

    # What it does

    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        A minibatch without documents changes nothing. Raises ValueError for a word id out of range, before
        any change.
        """
        if batch.D == 0:
            return np.zeros((0, self.n_topics), dtype=np.float32)
        batch.check_words(self.n_words)
        alpha, balance, iterations = self.alpha, None, self.max_iterations
        if self._warm_start:
            alpha, balance = self._warm(batch)
            if alpha is not self.alpha:
                iterations = min(iterations, _warm_start.ANNEALING_ITERATIONS)
        local = LocalStep(self._topics, batch, alpha, self._workers, self.tolerance, iterations, balance)
        rho = self._step_size(batch.D)
        local.m_step(rho, self.eta, self._corpus() / batch.D)
        if self._learn_alpha and alpha is self.alpha:
            self._update_alpha(local, batch, rho)
        if self._learn_eta:
            self._update_eta(len(local.words.ids), rho)
        self._updates += 1
        self._seen += batch.D
        self._rho = rho
        return local.proportions(self.alpha)

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions E[theta] of documents, rows sum to 1; changes nothing.

        A document without words gets the prior's. Raises ValueError for a word id out of range.
        """
        iterations = self.max_iterations
        if self._warm_start:
            iterations = min(iterations, _warm_start.INFERENCE_ITERATIONS)
        return self._infer(batch, iterations).proportions(self.alpha)

    def bound_perplexity(self, batch: Minibatch) -> float:
        """[H10]'s perplexity of documents: exp(-(their ELBO, topics held fixed) / their words).

        The ELBO's terms of the documents only (docs/derivations.md), as in [H10] section 3: no share of the
        topics' own term, and no factor for the size of the corpus. NaN where the documents have no word.
        """
        if batch.n_tokens == 0:
            return float("nan")
        local = self._infer(batch, self.max_iterations)
        return float(np.exp(-local.elbo().sum() / batch.n_tokens))

    def _infer(self, batch: Minibatch, iterations: int) -> LocalStep:
        return LocalStep(self._topics, batch, self.alpha, self._workers, self.tolerance, iterations)

    def _corpus(self) -> float:
        """D of the statistics' D/S."""
        return max(self._n_documents, _warm_start.SMALLEST_CORPUS) if self._warm_start else self._n_documents

    def _step_size(self, documents: int) -> float:
        if self._own_steps:
            return _warm_start.step_size(self._seen, documents, self._n_documents)
        # rho_t = (tau0 + t)^-kappa, [H10] algorithm 2; with tau0 = 0 the first step is 1
        return float(max(self.tau0 + self._updates, 1.0) ** -self.kappa)

    def _warm(self, batch: Minibatch) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """What the warm start does to a step: alpha and balance of its E-step; at first, lambda's mass."""
        if self._seen == 0:
            # The random lambda of before the first document weighs a share of the corpus, whatever its size.
            mass = _warm_start.RANDOM_SHARE * self._corpus() * max(batch.n_tokens / batch.D, 1.0)
            self._topics.rescale(mass)
        length = _warm_start.annealing_length(self._n_documents)
        middle = self._seen + batch.D / 2
        least = _warm_start.temperature(middle, length)
        alpha = self.alpha if least <= self.alpha.min() else np.maximum(self.alpha, least)
        return alpha, _warm_start.balance(middle, length, self.topic_shares())

    def _update_alpha(self, local: LocalStep, batch: Minibatch, rho: float) -> None:
        if not self._warm_start:
            # alpha <- alpha - rho H^-1 g, [H10] section 2.2
            step = alpha_step(self.alpha, batch.D, local.sum_Elog_theta())
            self.alpha = descend(self.alpha, rho, step)
            return
        # The same stationary point, approached in log alpha: the ratio is 1 where g is 0, and never negative.
        total = self.alpha.sum()
        fewer = np.sum(psi(total + batch.lengths()) - psi(total))
        if fewer > 0:
            ratio = np.clip(local.excess / fewer, 0.1, 10.0)
            self.alpha = np.maximum(self.alpha * ratio**rho, SMALLEST_ALPHA)

    def _update_eta(self, words: int, rho: float) -> None:
        """eta <- eta - rho H^-1 g, [H10] section 2.2.

        The gradient costs K W. Minibatches with few words wait until together they have met as many as there
        are, so that the cost stays in proportion; others update eta every time.
        """
        self._words_since_eta += words
        if self._words_since_eta >= self.n_words / 8:
            self._words_since_eta = 0
            step = eta_step(self.eta, self.n_topics, self.n_words, self._topics.sum_Elog_beta())
            self.eta = float(descend(np.array([self.eta]), rho, np.array([step]))[0])

    # Where it is kept

    def state(self) -> dict[str, Any]:
        """Everything, as numpy arrays and plain values: `from_state` goes on exactly from here."""
        return {
            "kind": self.kind,
            "lambda_hat": self._topics.hat.copy(),
            "total_hat": self._topics.total_hat.copy(),
            "scale": self._topics.scale,
            "eta_lambda": self._topics.eta,
            "alpha": self.alpha.copy(),
            "eta": self.eta,
            "random": self._random.bit_generator.state,
            **{name: getattr(self, name) for name in _NUMBERS},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """A model from what `state` returned. Raises ValueError for the state of another kind of model."""
        if state.get("kind") != cls.kind:
            raise ValueError(f"this is the state of a model of kind {state.get('kind')!r}, not {cls.kind!r}")
        model = cls.__new__(cls)
        model._topics = Topics(
            np.array(state["lambda_hat"]),
            np.array(state["total_hat"]),
            float(state["scale"]),
            float(state["eta_lambda"]),
        )
        model.alpha, model.eta = np.array(state["alpha"]), float(state["eta"])
        for name, kind in _NUMBERS.items():
            setattr(model, name, kind(state[name]))
        model._random = np.random.default_rng()
        model._random.bit_generator.state = state["random"]
        model._workers = Workers(1)
        return model


# The plain part of the state: attribute and type.
_NUMBERS: dict[str, type] = {
    "_n_documents": float,
    "_warm_start": bool,
    "_own_steps": bool,
    "_learn_alpha": bool,
    "_learn_eta": bool,
    "tau0": float,
    "kappa": float,
    "tolerance": float,
    "max_iterations": int,
    "_updates": int,
    "_seen": int,
    "_rho": float,
    "_words_since_eta": int,
}
