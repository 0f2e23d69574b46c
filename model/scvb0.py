"""Stochastic collapsed variational Bayes for latent Dirichlet allocation (SCVB0): [F13] algorithm 2.

| symbol | shape | meaning | paper |
|---|---|---|---|
| N_phi | (W, K) | expected number of times a word has a topic, in the whole corpus | [F13] eq. 7 |
| N_Z | (K,) | expected number of words of a topic, the column sums of N_phi | [F13] eq. 8 |
| N_theta | (D, K) | expected number of words of a topic in a document; not kept | [F13] eq. 6 |
| gamma | never stored | variational distribution of a word's topic | [F13] eq. 5 |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics | [F13] section 2 |
| C, C_M | numbers | words in the corpus, in the minibatch | [F13] table 1, section 3 |
| rho_phi | number | step size s (tau0 + t)^-kappa of the minibatch t = 1, 2 … | [F13] section 3 |
| rho_theta | number | the same with the theta_* settings, t = 1, 2 … within a document | [F13] section 3 |

A word that occurs m times in a document is updated once, by the closed form of m updates (clumping, [F13] eq.
9), which also holds if m is not whole. N_phi + eta is kept as the lambda of the other models (`_topics.py`),
the E-step is `_scvb0_e_step.py` (its loops `_scvb0_kernels.py`). docs/derivations.md has derivations, and
says in which sense this is MAP estimation.

**The warm start is not in [F13].** Online topic models starve many topics while symmetry breaks. With
`warm_start` alpha falls geometrically from a large one, and topics are held in balance, for the first part of
the corpus: the numbers are a `Recipe`. Settings that are not given then have the values that measure best,
with a step size that adapts itself (`_adaptive_step.py`). `warm_start=False` is the paper's algorithm, with
its settings unless others are given, and minibatches of 100 documents.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from model import options as check
from model._adaptive_step import AdaptiveStep, Sketch
from model._rebirth import Rebirth
from model._scvb0_recipe import (
    BEST_SETTINGS,
    PAPER,
    PAPER_SETTINGS,
    VERSION_1,
    WARM,
    Recipe,
    StepSizes,
)
from model._topics import Topics, Vector, random_topics
from model._words import distinct
from model.minibatch import Minibatch
from model.online import OnlineModel
from model.options import HALF_LIFE, ModelOption, prior
from model.states import MOST_ITERATIONS, TINY, Entry, State, counted, entries_of, upgraded


class SCVB0(OnlineModel):
    """Latent Dirichlet allocation learnt from minibatches by stochastic collapsed variational Bayes.

    n_topics, n_words, n_documents: K, W, and the size of the corpus in documents (an estimate will do)
    n_tokens: C, its size in words; None: n_documents times the mean length of the documents seen so far
    alpha: Dirichlet parameter of the topic proportions; eta: of the topics; "learn": by [H10]'s Newton steps,
    alpha as a vector
    s, tau0, kappa: the step size of minibatch t = 1, 2 … is s (tau0 + t)^-kappa, at most 1; or
    kappa="adaptive": the first two steps have that size, later ones follow the steps' signal and noise
    theta_s, theta_tau0, theta_kappa: the same for update t of a document's proportions.
    kappa and theta_kappa are within [0.5, 1]
    half_life: documents after which earlier learning has half its weight: no step size falls below what that
    requires
    burn_in: passes over a document before the one that updates the topics
    warm_start: False leaves out the departures from [F13] that the top of this file describes
    dtype: "float32", or "float64" for comparisons
    threads: affect the speed, not the result

    Raises ValueError for values out of range.
    """

    kind = "scvb0"
    label = "SCVB0"
    summary = "collapsed LDA: the quickest"
    options = (
        prior("alpha", "Dirichlet parameter of the topic proportions", learn=True),
        prior("eta", "Dirichlet parameter of the topics", 0.01, learn=True),
        ModelOption(
            "kappa",
            "how fast step sizes (tau0 + t)^-kappa fall; by default they adapt themselves",
            least=0.5,
            most=1,
            words=("adaptive",),
        ),
        ModelOption("tau0", "damps the first of these step sizes", least=0),
        HALF_LIFE,
    )

    version = 3
    parts: ClassVar = {
        "_topics": Topics.kept,
        "_steps": StepSizes,
        "_theta_steps": StepSizes,
        "_adaptive_step": AdaptiveStep,
        "_rebirth": Rebirth,
        "recipe": Recipe,
    }
    entries = (
        *Topics.ENTRIES,
        Entry("final_alpha", "_final_alpha", "float64", "K", least=TINY),
        *StepSizes.entries("_steps"),
        *StepSizes.entries("_theta_steps", "theta_"),
        Entry("burn_in", type="int", least=0, most=MOST_ITERATIONS),
        Entry("warm_start", type="bool"),
        Entry("learn_alpha", "_learn_alpha", "bool"),
        Entry("learn_eta", "_learn_eta", "bool"),
        Entry("adaptive", "_adaptive", "bool"),
        Entry("n_tokens", "_n_tokens", least=1, optional=True),
        Entry("tokens_seen", "_tokens_seen", least=0),
        Entry("amount_seen", "_amount", least=0),
        *AdaptiveStep.ENTRIES,
        *Rebirth.ENTRIES,
        *entries_of(Recipe, "recipe", "recipe_", Recipe.BOUNDS),
    )

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
        half_life: float | None = None,
        burn_in: int = 1,
        warm_start: bool = True,
        dtype: Literal["float32", "float64"] = "float32",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        super().__init__(n_topics, n_words, n_documents, seed, threads, half_life)
        if n_tokens is not None:
            check.at_least_one(n_tokens=n_tokens)
        self.check_options(alpha=alpha, eta=eta, kappa=kappa, tau0=tau0)
        if burn_in < 0:
            raise ValueError(f"burn_in must be at least 0, not {burn_in}")
        check.one_of(("float32", "float64"), dtype=dtype)
        self.warm_start, self.burn_in = bool(warm_start), int(burn_in)
        self.recipe = WARM if warm_start else PAPER
        default_alpha, default_steps, default_theta_steps = BEST_SETTINGS if warm_start else PAPER_SETTINGS
        alpha = default_alpha if alpha is None else alpha
        self._adaptive = kappa == "adaptive" or (warm_start and kappa is None and s is None and tau0 is None)
        self._steps = _step_sizes("", default_steps, s, tau0, None if kappa == "adaptive" else kappa)
        self._theta_steps = _step_sizes("theta_", default_theta_steps, theta_s, theta_tau0, theta_kappa)
        self._adaptive_step: AdaptiveStep | None = None
        self._rebirth = Rebirth.of(n_topics, self.half_life)
        self._n_tokens = None if n_tokens is None else float(n_tokens)
        self._learn_alpha, self._learn_eta = alpha == "learn", eta == "learn"
        first_alpha = self.recipe.learning_from if alpha == "learn" else float(alpha)
        self._final_alpha = np.full(n_topics, first_alpha)
        self._tokens_seen = 0.0
        self._amount = 0.0  # documents seen, as the recipe counts them
        self._topics = random_topics(self._random, "gamma", n_topics, n_words, self._n_documents, 0.0, dtype)
        self._topics.eta = 0.01 if eta == "learn" else float(eta)
        self._topics.rescale(self._corpus_tokens())

    # What it is

    @property
    def alpha(self) -> Vector:
        """(K,) Dirichlet parameter of the proportions, at the current point of the warm start."""
        if not self._annealing():
            return self._final_alpha.copy()
        start = np.maximum(self.recipe.first_alpha, self._final_alpha)
        elapsed = self._amount / self.recipe.annealed_until(self._in_all())
        annealed: Vector = start * (self._final_alpha / start) ** elapsed
        return annealed

    @property
    def eta(self) -> float:
        """Dirichlet parameter of the topics."""
        return self._topics.eta

    @property
    def N_phi(self) -> NDArray[Any]:
        """(W, K) expected number of times a word has a topic in the corpus, a copy."""
        N_phi: NDArray[Any] = self._topics.hat * self._topics.dtype.type(self._topics.scale)
        return N_phi

    @property
    def N_Z(self) -> Vector:
        """(K,) expected number of words of each topic in the corpus, a copy."""
        return self._topics.scale * self._topics.total_hat

    def topics(self) -> NDArray[Any]:
        """(K, W) expected topics, rows sum to 1: N_phi + eta, normalised, [F13] section 2.2."""
        return self._topics.expected()

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) expected topics of some words only, one row a word."""
        return self._topics.expected_rows(word_ids)

    def top_words(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """(K, n) each topic's n most probable words, by id, and their probabilities; most probable first."""
        return self._topics.top_words(n)

    def topic_shares(self) -> Vector:
        """(K,) each topic's share of the words of the corpus, sums to 1."""
        return self._topics.shares()

    def topic_weights(self) -> Vector:
        """(K,) N_Z + W eta."""
        return self._topics.totals()

    def document_prior(self) -> Vector:
        """(K,) alpha."""
        return self.alpha

    @classmethod
    def _prior_entries(cls, prior: Vector) -> State:
        return {"final_alpha": prior, "documents_seen": 1, "amount_seen": 1.0}  # all: annealing is over

    # What it does

    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        A minibatch without words leaves the topics alone. Raises ValueError for a word id out of range,
        before any change.
        """
        from model._scvb0_e_step import e_step, proportions, sum_Elog_theta, word_rows

        batch.check_words(self.n_words)
        tokens = batch.n_tokens
        if tokens == 0:
            self._seen += batch.D
            self._amount += self.recipe.amount(batch)
            return self.infer(batch)
        alpha = self.alpha
        balance = self.recipe.balance(self._topics, self._amount, self._in_all())
        first = self._tokens_seen == 0
        self._seen += batch.D
        self._amount += self.recipe.amount(batch)
        self._tokens_seen += tokens
        if first:
            self._topics.rescale(self._corpus_tokens())
            if self._adaptive:
                self._adaptive_step = AdaptiveStep.of(self._sketch.of(self.N_phi))
        words = distinct(batch, self.n_words)
        rows = word_rows(self._topics, words, balance, self._workers)
        sketch = self._sketch if self._adaptive_step else None
        theta, statistics = e_step(
            batch, words, rows, alpha, self._theta_steps, self.burn_in + 1, sketch, self._workers
        )
        self._updates += 1
        C_over_C_M = self._corpus_tokens() / tokens
        least = self._least_rho(batch.D)
        self._rho = max(self._steps.rho(self._updates), least)
        if self._adaptive_step:
            self._rho = self._adaptive_step.step(C_over_C_M * statistics.sketch, self._rho, least)
        # N_phi <- (1 - rho) N_phi + rho C/C_M sum m gamma, and N_Z likewise, [F13] eq. 7 and 8
        self._topics.step(self._rho, self.eta, C_over_C_M, statistics, self._workers)
        some = slice(self.recipe.learning_documents)
        if self._learn_alpha and not self._annealing():
            self._alpha_step(*sum_Elog_theta(theta[some], batch[some].lengths(), self._final_alpha))
        if self._learn_eta:
            self._eta_step()
        if self._rebirth:
            born = self._rebirth.step(self._topics, statistics.mass, batch, self._random)
            if self._learn_alpha:
                self._final_alpha[born] = self._final_alpha.mean()
            if self._adaptive_step and len(born):
                self._adaptive_step.N = self._sketch.of(self.N_phi)
        return proportions(theta)

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions, rows sum to 1, proportional to N_theta + alpha; changes nothing.

        A document without words gets the proportions of the prior. Raises ValueError for a word id out of
        range.
        """
        from model._scvb0_e_step import inferred

        passes = self.recipe.inference_passes
        return inferred(batch, self._topics, self.alpha, self._theta_steps, passes, self._workers)

    @cached_property
    def _sketch(self) -> Sketch:
        return Sketch(self.n_words)

    def _corpus_tokens(self) -> float:
        """C, or its expected value; before the first document, a guess of 100 words per document."""
        if self._n_tokens is not None:
            return self._n_tokens
        if self._tokens_seen == 0:
            return 100 * self._n_documents
        return self._n_documents * self._tokens_seen / self._seen

    def _annealing(self) -> bool:
        return self._amount < self.recipe.annealed_until(self._in_all())

    def _in_all(self) -> float:
        """The number of documents in the corpus, as the recipe counts them."""
        return self.recipe.corpus(self._n_documents, self._seen, self._amount)

    def _alpha_step(self, sum_Elog_theta: Vector, documents: int) -> None:
        """[H10]'s Newton step from E[log theta] of some documents, once alpha is no longer annealed."""
        from model._newton import alpha_step, descend

        if documents:
            step = alpha_step(self._final_alpha, documents, sum_Elog_theta)
            self._final_alpha = descend(self._final_alpha, self._rho, step)

    def _eta_step(self) -> None:
        """The same for eta with q(beta_k) = Dirichlet(N_phi + eta), a few topics at a time in turn."""
        from scipy.special import psi

        from model._newton import descend, eta_step

        n, topics = self.recipe.learning_topics, self._topics
        some = (self._updates * n + np.arange(n)) % self.n_topics
        lambda_ = topics.hat[:, some].astype(np.float64) * topics.scale + self.eta
        Elog_beta = psi(lambda_) - psi(lambda_.sum(axis=0))
        step = eta_step(self.eta, n, self.n_words, float(Elog_beta.sum()))
        topics.eta = float(descend(self.eta, self._rho, step))

    def _contradiction(self) -> str:
        if not self._topics.total_hat.any():
            return "total_hat must not be all 0"
        if self._tokens_seen and not self._seen:
            return "there are words of no document"
        missing = self._adaptive and self._tokens_seen and self._adaptive_step is None
        return "adaptive_N is missing" if missing else ""

    @classmethod
    def upgraded(cls, state: dict[str, object]) -> dict[str, object]:
        """Read older states: version 1 named some keys after private attributes, N_phi's by its letter,
        and knew one recipe."""
        if state.get("version") == 2:
            return counted(state, VERSION_1)
        names = ["n_documents", "n_tokens", "learn_alpha", "learn_eta", "adaptive", "updates", "rho", "scale"]
        renamed = {f"_{name}": name for name in (*names, "documents_seen", "tokens_seen")} | {
            "N_phi_hat": "lambda_hat",
            "eta": "eta_lambda",
        }
        new = upgraded(state, renamed, VERSION_1 if state.get("warm_start") else PAPER)
        for prefix, key in (("", "steps"), ("theta_", "theta_steps")):
            numbers = np.asarray(state.get(key))
            if numbers.shape == (3,):
                new |= zip((f"{prefix}s", f"{prefix}tau0", f"{prefix}kappa"), numbers.tolist(), strict=True)
        N_Z, scale = state.get("N_Z"), state.get("_scale")
        if isinstance(N_Z, np.ndarray) and isinstance(scale, float) and scale:
            new["total_hat"] = N_Z / scale
        return counted(new, VERSION_1)


def _step_sizes(
    prefix: str, default: StepSizes, s: float | None, tau0: float | None, kappa: float | None
) -> StepSizes:
    """The given step sizes, with `default` for those not given. Raises ValueError for those out of range."""
    given = {"s": s, "tau0": tau0, "kappa": kappa}
    for option in (
        ModelOption("s", "", above=0),
        ModelOption("tau0", "", least=0),
        ModelOption("kappa", "", least=0.5, most=1),
    ):
        replace(option, name=prefix + option.name).parse(given[option.name])
    return replace(default, **{name: float(value) for name, value in given.items() if value is not None})
