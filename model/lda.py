"""Online variational Bayes for latent Dirichlet allocation: [H10] algorithm 2, [SVI13] figure 6.

| symbol | shape | meaning | paper |
|---|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics | [H10] eq. 2 |
| gamma | (D, K) | variational Dirichlet of a document's topic proportions | [H10] eq. 2 |
| phi | never stored | variational distribution of a word's topic | [H10] eq. 5 |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics | [H10] section 2 |
| rho | number | step size (tau0 + t)^-kappa | [H10] section 2.2 |

The E-step is `_lda_local.py` (its loops `_lda_kernels.py`), lambda is `_topics.py`, Newton's steps for alpha
and eta are `_newton.py`. Wherever the code asks for `_warm_start` it departs from the papers, for the reasons
that `_lda_warm_start.py` gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from model import _checks as check
from model import _lda_warm_start as warm
from model._lda_local import LocalStep
from model._newton import alpha_step, descend, eta_step
from model._online import OnlineModel
from model._state import MOST_ITERATIONS, Entry, State, array, flag, number, whole
from model._topics import Topics, random_topics
from model.minibatch import Minibatch

PAPER_TAU0, PAPER_KAPPA = 64.0, 0.5  # [H10] table 1, for minibatches of 4096
SMALLEST_ALPHA = 1e-4


class OnlineLDA(OnlineModel):
    """Latent Dirichlet allocation learnt from minibatches, in one pass.

    n_topics, n_words, n_documents: K, W, and D, the size of the corpus (an estimate will do)
    alpha: Dirichlet parameter of the topic proportions, one number for all topics, or "learn" for one each
    eta: Dirichlet parameter of the topics, or "learn"
    tau0, kappa: step size of update t, (tau0 + t)^-kappa with t from 0; kappa within [0.5, 1], tau0 >= 0
    warm_start: the departure from the papers that measures best (`_lda_warm_start.py`): alpha starts large,
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

    kind = "lda"
    default_batch_size = 1024
    _kept: ClassVar[Mapping[str, tuple[str, Entry[Any]]]] = {
        name: (name, entry)
        for name, entry in {
            "alpha": array("K", above=True),
            "eta": number(above=True),
            "_n_documents": number(1),
            "_warm_start": flag,
            "_own_steps": flag,
            "_learn_alpha": flag,
            "_learn_eta": flag,
            "tau0": number(),
            "kappa": number(0.5, 1),
            "tolerance": number(),
            "max_iterations": whole(0, MOST_ITERATIONS),
            "_updates": whole(),
            "_seen": whole(),
            "_rho": number(0, 1),
            "_words_since_eta": whole(),
        }.items()
    }

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
        check.at_least_one(n_topics=n_topics, n_words=n_words, n_documents=n_documents)
        check.positive_or_learn(alpha=alpha, eta=eta)
        check.one_of(("gamma", "exponential"), initialization=initialization)
        check.one_of(("float32", "float64"), dtype=dtype)
        super().__init__(n_documents, seed, threads)
        self._warm_start = (tau0 is None or kappa is None) if warm_start is None else bool(warm_start)
        self._learn_alpha, self._learn_eta = alpha == "learn", eta == "learn"
        self._own_steps = self._warm_start and tau0 is None and kappa is None
        self.tau0 = PAPER_TAU0 if tau0 is None else float(tau0)
        self.kappa = PAPER_KAPPA if kappa is None else float(kappa)
        check.step_size(self.tau0, self.kappa)
        self.tolerance, self.max_iterations = float(tolerance), int(max_iterations)
        first_alpha = warm.LAST_ALPHA if self._warm_start else 1 / n_topics
        self.alpha = np.full(n_topics, first_alpha if alpha == "learn" else float(alpha))
        self.eta = 0.1 if eta == "learn" else float(eta)
        self._topics = random_topics(
            self._random, initialization, n_topics, n_words, self._n_documents, self.eta, dtype
        )
        self._seen = 0  # documents
        self._words_since_eta = 0

    # What it is

    @property
    def n_topics(self) -> int:
        return self._topics.n_topics

    @property
    def n_words(self) -> int:
        return self._topics.n_words

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
                iterations = min(iterations, warm.ANNEALING_ITERATIONS)
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
            iterations = min(iterations, warm.INFERENCE_ITERATIONS)
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
        return max(self._n_documents, warm.SMALLEST_CORPUS) if self._warm_start else self._n_documents

    def _step_size(self, documents: int) -> float:
        if self._own_steps:
            return warm.step_size(self._seen, documents, self._n_documents)
        # rho_t = (tau0 + t)^-kappa, [H10] algorithm 2; with tau0 = 0 the first step is 1
        return float(max(self.tau0 + self._updates, 1.0) ** -self.kappa)

    def _warm(self, batch: Minibatch) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """What the warm start does to a step: alpha and balance of its E-step; at first, lambda's mass."""
        if self._seen == 0:
            # The random lambda of before the first document weighs a share of the corpus, whatever its size.
            mass = warm.RANDOM_SHARE * self._corpus() * max(batch.n_tokens / batch.D, 1.0)
            self._topics.rescale(mass)
        length = warm.annealing_length(self._n_documents)
        middle = self._seen + batch.D / 2
        least = warm.temperature(middle, length)
        alpha = self.alpha if least <= self.alpha.min() else np.maximum(self.alpha, least)
        return alpha, warm.balance(middle, length, self.topic_shares())

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
            self.eta = float(descend(self.eta, rho, step))

    # Where it is kept

    def _other_state(self) -> dict[str, Any]:
        return {**self._topics.state(), "eta_lambda": self._topics.eta}

    def _set_other_state(self, state: State) -> None:
        self._topics = Topics.from_state(state, state.take("eta_lambda", number()))
        if not self._topics.total_hat.any():
            raise ValueError("the state's 'total_hat' must not be all 0")
