"""Stochastic collapsed variational Bayes for latent Dirichlet allocation (SCVB0): [F13] algorithm 2.

| symbol | shape | meaning | paper |
|---|---|---|---|
| N_phi | (W, K) | expected number of times a word has a topic, in the whole corpus | [F13] eq. 7 |
| N_Z | (K,) | expected number of words of a topic, the column sums of N_phi | [F13] eq. 8 |
| N_theta | (D, K) | expected number of words of a topic in a document; not kept | [F13] eq. 6 |
| gamma | never stored | variational distribution of a word's topic | [F13] eq. 5 |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics | [F13] section 2 |
| C, C_M | numbers | words in the corpus, in the minibatch | [F13] table 1 |
| rho_phi | number | step size s (tau0 + t)^-kappa of the minibatch t = 1, 2 … | [F13] section 3 |
| rho_theta | number | the same with the theta_* settings, t = 1, 2 … within a document | [F13] section 3 |

A word that a document has m times is updated once, by the closed form of m updates (clumping, [F13] eq. 9).
N_phi is kept as `scale * N_phi_hat`: a step multiplies `scale` by 1 - rho_phi and touches only the rows of
the minibatch's words, however large the vocabulary. Derivations, and in which sense this is MAP estimation:
docs/derivations.md.

**The warm start is not in [F13].** Online topic models starve many topics while symmetry breaks. With
`warm_start` alpha falls geometrically from 0.5 to its value over the first fifth of the corpus (at most
4,000 documents), and over its first two thirds (at most 50,000) topics are balanced: topic k's word
probabilities are multiplied by (N_Z[k] / mean)^-b in eq. 5, b falling linearly from 0.5 to 0. Settings that
are not given are then those that measure best, with a step size that adapts itself (`_adaptive_step.py`).
`warm_start=False` is the paper, with its settings where none are given and minibatches of 100 documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

from model import _checks as check
from model._adaptive_step import BUCKETS, AdaptiveStep, Sketch
from model._newton import alpha_step, descend, eta_step
from model._online import OnlineModel
from model._scvb0_kernels import add_statistics
from model._scvb0_local import WORD_BLOCK, LocalStep, StepSizes
from model._state import LARGEST, MOST_ITERATIONS, Entry, State, array, flag, number, whole
from model.minibatch import Minibatch

SMALLEST_SCALE = 1e-6
INFERENCE_PASSES = 3  # over a document's words; more of them fit the words seen, not the unseen

# alpha and step sizes where none are given: [F13] section 4, and what measures best with the warm start
PAPER = 0.1, StepSizes(10.0, 1000.0, 0.9), StepSizes(1.0, 10.0, 0.9)
BEST = 0.005, StepSizes(1.0, 1.0, 0.7), StepSizes(1.0, 1.0, 0.7)

LEARNING_DOCUMENTS = 256  # of a minibatch, from which alpha is learnt
LEARNING_TOPICS = 4  # from which eta is learnt
LEARNING_FROM = 0.05  # the first alpha that is learnt

ANNEAL_FROM = 0.5
ANNEAL_DOCUMENTS = 4_000  # or a fifth of the corpus
BALANCE_POWER = 0.5
BALANCE_DOCUMENTS = 50_000  # or two thirds of the corpus

ADAPTIVE = "adaptive_"  # begins the keys of a state that are those of the adaptive step's


class SCVB0(OnlineModel):
    """Latent Dirichlet allocation learnt from minibatches by stochastic collapsed variational Bayes.

    n_topics, n_words, n_documents: K, W, and the size of the corpus in documents (an estimate will do)
    n_tokens: C, its size in words; None: n_documents times the mean length of the documents seen so far
    alpha: Dirichlet parameter of the topic proportions; eta: of the topics; "learn": by [H10]'s Newton steps,
    alpha as a vector
    s, tau0, kappa: the step size of minibatch t = 1, 2 … is s (tau0 + t)^-kappa, 1 at most; or
    kappa="adaptive", where the sizes of two steps are so and then follow the steps' signal and noise
    theta_s, theta_tau0, theta_kappa: the same for update t of a document's proportions.
    kappa and theta_kappa are within [0.5, 1]
    burn_in: passes over a document before the one that updates the topics
    warm_start: False leaves out the departures from [F13] that the top of this file describes
    dtype: "float32", or "float64" for comparisons
    threads: part of the speed, not of the result

    Raises ValueError for values out of range.
    """

    kind = "scvb0"
    default_batch_size = 1024
    _matrix = "N_phi_hat"
    _kept: ClassVar[Mapping[str, tuple[str, Entry[Any]]]] = {
        "N_phi_hat": ("_N_phi_hat", array("W", "K", dtypes=("float32", "float64"))),
        "N_Z": ("_N_Z", array("K")),
        "final_alpha": ("_final_alpha", array("K", above=True)),
        **{
            name: (name, entry)
            for name, entry in {
                "eta": number(above=True),
                "burn_in": whole(0, MOST_ITERATIONS),
                "warm_start": flag,
                "_n_documents": number(1),
                "_learn_alpha": flag,
                "_learn_eta": flag,
                "_adaptive": flag,
                "_updates": whole(),
                "_rho": number(0, 1),
                "_documents_seen": whole(),
                "_tokens_seen": whole(),
                "_scale": number(above=True),
            }.items()
        },
    }

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: float,
        *,
        n_tokens: float | None = None,
        alpha: float | Literal["learn"] | None = None,
        eta: float | Literal["learn"] = 0.01,
        s: float | None = None,
        tau0: float | None = None,
        kappa: float | Literal["adaptive"] | None = None,
        theta_s: float | None = None,
        theta_tau0: float | None = None,
        theta_kappa: float | None = None,
        burn_in: int = 1,
        warm_start: bool = True,
        dtype: Literal["float32", "float64"] = "float32",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        check.at_least_one(n_topics=n_topics, n_words=n_words, n_documents=n_documents)
        if n_tokens is not None:
            check.at_least_one(n_tokens=n_tokens)
        default_alpha, default_steps, default_theta_steps = BEST if warm_start else PAPER
        alpha = default_alpha if alpha is None else alpha
        check.positive_or_learn(alpha=alpha, eta=eta)
        if burn_in < 0:
            raise ValueError(f"burn_in must be at least 0, not {burn_in}")
        check.one_of(("float32", "float64"), dtype=dtype)
        super().__init__(n_documents, seed, threads)
        self._adaptive = kappa == "adaptive" or (warm_start and kappa is None and s is None and tau0 is None)
        self._steps = _step_sizes("", default_steps, s, tau0, None if kappa == "adaptive" else kappa)
        self._theta_steps = _step_sizes("theta_", default_theta_steps, theta_s, theta_tau0, theta_kappa)
        self._step: AdaptiveStep | None = None
        self._n_tokens = None if n_tokens is None else float(n_tokens)
        self._learn_alpha, self._learn_eta = alpha == "learn", eta == "learn"
        self._final_alpha = np.full(n_topics, LEARNING_FROM if alpha == "learn" else float(alpha))
        self.eta = 0.01 if eta == "learn" else float(eta)
        self.burn_in, self.warm_start = int(burn_in), bool(warm_start)
        self._sketch = Sketch(n_words)
        self._documents_seen = 0
        self._tokens_seen = 0
        self._N_Z: NDArray[np.float64]
        self._N_phi_hat: NDArray[Any] = self._random.gamma(100.0, 0.01, (n_words, n_topics)).astype(dtype)
        self._set_mass(self._corpus_tokens())

    # What it is

    @property
    def n_topics(self) -> int:
        return int(self._N_phi_hat.shape[1])

    @property
    def n_words(self) -> int:
        return int(self._N_phi_hat.shape[0])

    @property
    def alpha(self) -> NDArray[np.float64]:
        """(K,) Dirichlet parameter of the proportions, as the warm start has it by now."""
        if not self._annealing():
            return self._final_alpha.copy()
        start = np.maximum(ANNEAL_FROM, self._final_alpha)
        elapsed = self._documents_seen / self._annealed_until()
        annealed: NDArray[np.float64] = start * (self._final_alpha / start) ** elapsed
        return annealed

    @property
    def N_phi(self) -> NDArray[Any]:
        """(W, K) expected number of times a word has a topic in the corpus, a copy."""
        N_phi: NDArray[Any] = self._N_phi_hat * self._N_phi_hat.dtype.type(self._scale)
        return N_phi

    @property
    def N_Z(self) -> NDArray[np.float64]:
        """(K,) expected number of words of each topic in the corpus, a copy."""
        return self._N_Z.copy()

    def topics(self) -> NDArray[Any]:
        """(K, W) expected topics, rows sum to 1: N_phi + eta, normalised, [F13] section 2.2."""
        topics = (self.N_phi + self._N_phi_hat.dtype.type(self.eta)).T
        topics /= topics.sum(axis=1, dtype=np.float64, keepdims=True).astype(topics.dtype)
        return np.ascontiguousarray(topics)

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) expected topics of some words only, one row a word."""
        rows: NDArray[np.float64] = self._scale * self._N_phi_hat[word_ids].astype(np.float64) + self.eta
        rows /= self._N_Z + self.n_words * self.eta
        return rows.astype(self._dtype)

    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1."""
        shares: NDArray[np.float64] = self._N_Z / self._N_Z.sum()
        return shares

    def document_prior(self) -> NDArray[np.float64]:
        """(K,) alpha."""
        return self.alpha

    # What it does

    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        A minibatch without a word leaves the topics alone. Raises ValueError for a word id out of range,
        before any change.
        """
        batch.check_words(self.n_words)
        tokens = batch.n_tokens
        if tokens == 0:
            self._documents_seen += batch.D
            return self.infer(batch)
        first, alpha, factors = self._tokens_seen == 0, self.alpha, self._balance()
        self._documents_seen += batch.D
        self._tokens_seen += tokens
        if first:
            self._set_mass(self._corpus_tokens())
            if self._adaptive:
                self._step = AdaptiveStep(self._sketch.of(self.N_phi))
        local = self._local_step(batch, factors)
        theta = local.passes(self.burn_in + 1, self._theta_steps, alpha, collect=True)
        self._updates += 1
        self._add(local, self._corpus_tokens() / tokens)
        if self._learn_alpha:
            self._alpha_step(theta[:LEARNING_DOCUMENTS], batch[:LEARNING_DOCUMENTS])
        if self._learn_eta:
            self._eta_step()
        return _proportions(theta)

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions, rows sum to 1, proportional to N_theta + alpha; changes nothing.

        A document without words gets the prior's. Raises ValueError for a word id out of range.
        """
        batch.check_words(self.n_words)
        local = self._local_step(batch, np.ones(self.n_topics))
        return _proportions(local.passes(INFERENCE_PASSES, self._theta_steps, self.alpha, collect=False))

    def _local_step(self, batch: Minibatch, factors: NDArray[np.float64]) -> LocalStep:
        weight = factors / (self._N_Z + self.n_words * self.eta)
        return LocalStep(batch, self._N_phi_hat, self._scale, self.eta, weight, self._workers)

    @property
    def _dtype(self) -> np.dtype[Any]:
        return self._N_phi_hat.dtype

    def _corpus_tokens(self) -> float:
        """C, or what it is expected to be; a guess of 100 words a document before the first one."""
        if self._n_tokens is not None:
            return self._n_tokens
        if self._tokens_seen == 0:
            return 100 * self._n_documents
        return self._n_documents * self._tokens_seen / self._documents_seen

    def _set_mass(self, C: float) -> None:
        """Scale N_phi so that its sum is C."""
        total: NDArray[np.float64] = self._N_phi_hat.sum(axis=0, dtype=np.float64)
        self._scale = float(C / total.sum())
        self._N_Z = self._scale * total

    def _annealing(self) -> bool:
        return self.warm_start and self._documents_seen < self._annealed_until()

    def _annealed_until(self) -> float:
        return min(ANNEAL_DOCUMENTS, self._n_documents / 5)

    def _balance(self) -> NDArray[np.float64]:
        """(K,) the factor of each topic that keeps the small ones alive while symmetry breaks."""
        period = min(BALANCE_DOCUMENTS, self._n_documents * 2 / 3)
        if not self.warm_start or self._documents_seen >= period:
            return np.ones(self.n_topics)
        power = BALANCE_POWER * (1 - self._documents_seen / period)
        factors: NDArray[np.float64] = (self._N_Z / self._N_Z.mean()) ** -power
        return factors

    def _add(self, local: LocalStep, C_over_C_M: float) -> None:
        """[F13] eq. 7 and 8: N_phi <- (1 - rho) N_phi + rho C/C_M sum m gamma, and N_Z likewise."""
        statistics, mass, sketch = local.summed(
            self._sketch.bucket, self._sketch.sign, BUCKETS if self._step else 0
        )
        rho = self._steps.rho(self._updates)
        if self._step:
            rho = self._step.step(C_over_C_M * sketch, first=rho)
        if rho == 1.0 or self._scale * (1 - rho) < SMALLEST_SCALE:
            self._N_phi_hat *= self._dtype.type(self._scale * (1 - rho))
            self._scale = 1.0
            self._N_Z = self._N_phi_hat.sum(axis=0, dtype=np.float64)
        else:
            self._scale *= 1 - rho
            self._N_Z *= 1 - rho
        self._N_Z += rho * C_over_C_M * mass
        factor = self._dtype.type(rho * C_over_C_M / self._scale)

        def block(start: int, stop: int) -> None:
            add_statistics(start, stop, local.ids, statistics, factor, self._N_phi_hat)

        self._workers.map(block, len(local.ids), WORD_BLOCK)
        self._rho = rho

    def _alpha_step(self, theta: NDArray[Any], batch: Minibatch) -> None:
        """[H10]'s Newton step from E[log theta] of some documents, once alpha is no longer annealed.

        Given the topics of its words, N_k of them k, a document has E[log theta_k] = psi(alpha_k + N_k) -
        psi(sum alpha + C_j). N_theta is N's mean n, but psi bends too much near 0 to be taken there: N = 0,
        with probability exp(-n), and N > 0, at its mean, are taken apart (docs/derivations.md).
        """
        lengths = batch.lengths()
        if self._annealing() or not lengths.any():
            return
        alpha, C_j = self._final_alpha, lengths[lengths > 0]
        n = np.maximum(theta[lengths > 0] - alpha, 1e-12)
        some = -np.expm1(-n)
        Elog_theta = psi(alpha) + some * (psi(alpha + n / some) - psi(alpha))
        Elog_theta -= psi(alpha.sum() + C_j)[:, None]
        step = alpha_step(alpha, len(C_j), Elog_theta.sum(axis=0))
        self._final_alpha = descend(alpha, self._rho, step)

    def _eta_step(self) -> None:
        """The same for eta with q(beta_k) = Dirichlet(N_phi + eta), of a few topics at a time in turn."""
        if self.n_words == 1:
            return  # the one word has probability 1 whatever eta is
        topics = (self._updates * LEARNING_TOPICS + np.arange(LEARNING_TOPICS)) % self.n_topics
        lambda_ = self._N_phi_hat[:, topics].astype(np.float64) * self._scale + self.eta
        Elog_beta = psi(lambda_) - psi(lambda_.sum(axis=0))
        step = eta_step(self.eta, LEARNING_TOPICS, self.n_words, float(Elog_beta.sum()))
        self.eta = float(descend(self.eta, self._rho, step))

    # Where it is kept

    def _other_state(self) -> dict[str, Any]:
        adaptive = self._step.state() if self._step else {}
        return {
            "steps": np.array(self._steps),
            "theta_steps": np.array(self._theta_steps),
            **({} if self._n_tokens is None else {"_n_tokens": self._n_tokens}),
            **{ADAPTIVE + name: value for name, value in adaptive.items()},
        }

    def _set_other_state(self, state: State) -> None:
        self._steps = StepSizes(*state.take("steps", array(3)).tolist())
        self._theta_steps = StepSizes(*state.take("theta_steps", array(3)).tolist())
        for steps in (self._steps, self._theta_steps):
            check.positive(s=steps.s)
            check.step_size(steps.tau0, steps.kappa)
        self._n_tokens = state.take("_n_tokens", number(1)) if "_n_tokens" in state else None
        self._step = (
            AdaptiveStep.from_state(_adaptive(state)) if self._adaptive and self._tokens_seen else None
        )
        self._sketch = Sketch(self.n_words)
        if not (self._N_Z.any() and self._N_phi_hat.any()):
            raise ValueError("the state's 'N_Z' and 'N_phi_hat' must not be all 0")
        if self._scale * float(self._N_phi_hat.max()) > LARGEST:
            raise ValueError("the state's N_phi must be finite in float32")
        if self._tokens_seen and not self._documents_seen:
            raise ValueError("the state has seen words of no document")


def _adaptive(state: State) -> dict[str, Any]:
    """The adaptive step's part of a state."""
    entries = {
        "N": array(BUCKETS, "K", low=-LARGEST),
        "mean_g": array(BUCKETS, "K", low=-LARGEST),
        "mean_gg": number(high=LARGEST**2),
        "window": number(),
        "steps": whole(),
    }
    return {name: state.take(ADAPTIVE + name, entry) for name, entry in entries.items()}


def _step_sizes(
    prefix: str, default: StepSizes, s: float | None, tau0: float | None, kappa: float | None
) -> StepSizes:
    """The step sizes given, `default` for those that are not. Raises ValueError for those out of range."""
    given = zip((s, tau0, kappa), default, strict=True)
    s, tau0, kappa = (other if value is None else float(value) for value, other in given)
    check.positive(**{f"{prefix}s": s})
    check.step_size(tau0, kappa, prefix)
    return StepSizes(s, tau0, kappa)


def _proportions(theta: NDArray[Any]) -> NDArray[np.float32]:
    """Rows scaled to sum to 1."""
    proportions: NDArray[np.float32] = (theta / theta.sum(axis=1, keepdims=True)).astype(np.float32)
    return proportions
