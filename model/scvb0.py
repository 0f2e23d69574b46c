"""Stochastic collapsed variational Bayes for latent Dirichlet allocation (SCVB0): [F13] algorithm
2.

| symbol | shape | meaning | paper |
|---|---|---|---|
| N_phi | (W, K) | expected number of times a word has a topic, in the whole corpus | [F13] eq. 7 |
| N_Z | (K,) | expected number of words of a topic, the column sums of N_phi | [F13] eq. 8 |
| N_theta | (D, K) | expected number of words of a topic in a document; not kept | [F13] eq. 6 |
| gamma | never stored | variational distribution of a word's topic | [F13] eq. 5 |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics | [F13] section 2 |
| C, C_M | numbers | words in the corpus, in the minibatch | [F13] table 1, section 3 |
| rho_phi | number | step size s (tau0 + t)^-kappa of the minibatch t = 1, 2 … | [F13] section 3 |
| rho_theta | number | the same with theta_*, t = 1, 2 … within a document | [F13] section 3 |

A word that occurs m times in a document is updated once, by the closed form of m updates (clumping,
[F13] eq. 9), which also holds if m is not whole. N_phi + eta is kept as the lambda of the other
models (`lambda_.py`), the E-step is `scvb0_e_step.py`, with its loops in `scvb0_kernels.py`.
docs/derivations.md has the derivations, and says in which sense this is MAP estimation.

**The warm start is not in [F13].** Online topic models starve many topics while symmetry breaks.
With `warm_start`, alpha falls geometrically from a large value, and topics are held in balance, for
the first part of the corpus, as in `schedules.SCVB0Start`, and topics start over once, from rotated
components of the first documents (`rotation.py`). Settings that are not given then have the values
that measured best, with step sizes that follow the documents seen, as online LDA's do.
`warm_start=False` is the paper's algorithm, with its settings unless others are given; its
minibatches have 100 documents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikitopics.model.allocation import DirichletAllocation
from wikitopics.model.lambda_ import random_topics
from wikitopics.model.lambda_model import precision
from wikitopics.model.minibatch import Minibatch, Vector
from wikitopics.model.online import WORDS_A_DOCUMENT
from wikitopics.model.options import (
    HALF_LIFE,
    KAPPA,
    LARGEST,
    LARGEST_PRIOR,
    LEARN,
    TAU0,
    Prior,
    decorrelation,
    prior,
)
from wikitopics.model.rebirth import Rebirth
from wikitopics.model.schedules import (
    SCVB0_PAPER,
    SCVB0_WARM,
    THETA_STEPS,
    SCVB0Start,
    StepSizes,
    raised,
)
from wikitopics.model.states import MOST_ITERATIONS, TINY, Entry, State
from wikitopics.option import Option

N_TOKENS = Option(float, "n_tokens", "words in the corpus", least=1, most=LARGEST)
S = Option(float, "s", "factor of all step sizes", above=0, most=LARGEST)
THETA_S = replace(S, name="theta_s", help="s within a document")
THETA_TAU0 = replace(TAU0, name="theta_tau0", help="tau0 within a document")
THETA_KAPPA = replace(KAPPA, name="theta_kappa", help="kappa within a document")
BURN_IN = Option(int, "burn_in", "passes before the last", least=0, most=MOST_ITERATIONS)
FIRST_ETA = 0.01
"""Where eta starts if it is learnt."""


@dataclass(frozen=True)
class Usual:
    """The values of settings that the user does not give."""

    alpha: float
    eta: float
    decorrelation: float
    steps: StepSizes
    theta_steps: StepSizes


BEST = Usual(
    alpha=0.005,
    eta=0.02,
    decorrelation=0.15,
    steps=StepSizes(tau0=1.0, kappa=0.7),
    theta_steps=THETA_STEPS,
)
"""The values that measured best with the warm start."""
PAPER = Usual(
    alpha=0.1,
    eta=0.01,
    decorrelation=0.0,
    steps=StepSizes(s=10.0, tau0=1000.0, kappa=0.9),
    theta_steps=StepSizes(s=1.0, tau0=10.0, kappa=0.9),
)
"""The values of [F13] section 4."""
ALPHA = prior(
    "alpha",
    f"Dirichlet parameter of the topic proportions; by default {BEST.alpha}",
    learn=True,
)
ETA = prior(
    "eta",
    f"Dirichlet parameter of the topics; by default {BEST.eta}, and more in a small corpus",
    learn=True,
)
DECORRELATION = decorrelation(BEST.decorrelation)


class SCVB0(DirichletAllocation):
    """Latent Dirichlet allocation learnt from minibatches by stochastic collapsed variational
    Bayes.

    n_topics, n_words, n_documents: K, W, and the size of the corpus in documents (an estimate will
    do)
    n_tokens: C, its size in words; None: n_documents times the mean length of the documents seen so
    far
    alpha: Dirichlet parameter of the topic proportions; eta: of the topics; "learn": by [H10]'s
    Newton steps, alpha as a vector
    s, tau0, kappa: the step size of minibatch t = 1, 2 … is s (tau0 + t)^-kappa, at most 1; with
    the warm start, if none of them is given, it follows the documents seen
    theta_s, theta_tau0, theta_kappa: the same for update t of a document's proportions.
    kappa and theta_kappa are within [0.5, 1]
    half_life: documents after which earlier learning has half its weight: the smallest step size
    follows from it
    decorrelation: how far a topic's words lose weight, where topics are read, because other topics
    use them too (`Lambda`); by default 0.15, or 0 without the warm start
    burn_in: passes over a document before the one that updates the topics; one more while alpha
    falls
    warm_start: False leaves out the departures from [F13] described at the top of this file
    dtype: "float32", or "float64" for comparisons
    threads: affect the speed, not the result

    Raises ValueError for values out of range.
    """

    kind = "scvb0"
    label = "SCVB0"
    summary = "collapsed LDA, the quickest"
    WARM_RECIPE = SCVB0_WARM
    PAPER_RECIPE = SCVB0_PAPER
    options = (ALPHA, ETA, KAPPA, TAU0, HALF_LIFE, DECORRELATION)

    version = 5
    oldest_version = 3
    entries = (
        *DirichletAllocation.entries,
        Entry("final_alpha", "_final_alpha", "float64", "K", least=TINY, most=LARGEST_PRIOR),
        Entry("tokens_seen", "_tokens_seen", least=0),
        Entry.of_option(N_TOKENS, optional=True),
        Entry.of_option(S),
        Entry.of_option(KAPPA),
        Entry.of_option(TAU0),
        Entry.of_option(DECORRELATION),
        Entry.of_option(THETA_S),
        Entry.of_option(THETA_TAU0),
        Entry.of_option(THETA_KAPPA),
        Entry.of_option(BURN_IN),
        *Entry.of_part(SCVB0Start, "recipe"),
    )
    parts: ClassVar = {**DirichletAllocation.parts, "recipe": SCVB0Start}

    recipe: SCVB0Start
    s: float
    theta_s: float
    theta_tau0: float
    theta_kappa: float
    burn_in: int
    n_tokens: float | None

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: float,
        *,
        alpha: Prior | None = None,
        eta: Prior | None = None,
        kappa: float | None = None,
        tau0: float | None = None,
        half_life: float | None = None,
        decorrelation: float | None = None,
        n_tokens: float | None = None,
        s: float | None = None,
        theta_s: float | None = None,
        theta_tau0: float | None = None,
        theta_kappa: float | None = None,
        burn_in: int = 1,
        dtype: DTypeLike = "float32",
        warm_start: bool = True,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        super().__init__(
            n_topics,
            n_words,
            n_documents,
            warm_start=warm_start,
            half_life=half_life,
            seed=seed,
            threads=threads,
        )
        usual = BEST if self.warm_start else PAPER
        self._own_steps = self.warm_start and s is None and tau0 is None and kappa is None
        self.s = S.value(s, usual.steps.s)
        self.tau0 = TAU0.value(tau0, usual.steps.tau0)
        self.kappa = KAPPA.value(kappa, usual.steps.kappa)
        self.theta_s = THETA_S.value(theta_s, usual.theta_steps.s)
        self.theta_tau0 = THETA_TAU0.value(theta_tau0, usual.theta_steps.tau0)
        self.theta_kappa = THETA_KAPPA.value(theta_kappa, usual.theta_steps.kappa)
        self.decorrelation = DECORRELATION.value(decorrelation, usual.decorrelation)
        self.burn_in = BURN_IN.value(burn_in)
        self.n_tokens = None if n_tokens is None else N_TOKENS.value(n_tokens)
        self._tokens_seen = 0.0
        self._rebirth = Rebirth.of(self.n_topics, self.half_life)

        self._learn_alpha = ALPHA.convert(alpha) == LEARN
        if self._learn_alpha:
            each_alpha = self.recipe.learning_from
        else:
            each_alpha = ALPHA.value(alpha, usual.alpha)
        self._final_alpha = np.full(self.n_topics, each_alpha)
        self._learn_eta = ETA.convert(eta) == LEARN
        first_eta = FIRST_ETA if self._learn_eta else ETA.value(eta, usual.eta)
        if self.warm_start and eta is None:
            first_eta = raised(first_eta, self.n_documents, 1.0)
        self._topics = random_topics(
            self._random,
            "gamma",
            self.n_topics,
            self.n_words,
            self.n_documents,
            0.0,
            precision(dtype),
        )
        self._topics.eta = first_eta
        self._topics.rescale(self._corpus_tokens())

    @property
    def _theta_steps(self) -> StepSizes:
        return StepSizes(self.theta_tau0, self.theta_kappa, self.theta_s)

    @property
    def alpha(self) -> Vector:
        """(K,) Dirichlet parameter of the proportions, at the current point of the warm start."""
        stage = self.recipe.stage(self.n_documents, self._seen, self._amount, 0.0)
        return stage.alpha(self._final_alpha)

    @property
    def eta(self) -> float:
        """Dirichlet parameter of the topics."""
        return self._topics.eta

    def document_prior(self) -> Vector:
        """(K,) alpha."""
        return self.alpha

    @classmethod
    def _prior_entries(cls, prior: Vector) -> State:
        # One document, seen, is the whole corpus: then alpha has its final value.
        return {"final_alpha": prior, "documents_seen": 1, "amount_seen": 1.0}

    def _step(self, batch: Minibatch) -> NDArray[np.float32]:
        """See `DirichletAllocation.learn`."""
        from wikitopics.model.scvb0_e_step import (
            ThetaPasses,
            proportions,
            sum_Elog_theta,
            word_rows,
        )

        words = batch.words(self.n_words)
        tokens = batch.n_tokens
        before = self._seen
        stage, largest_share = self._begin_step(batch)
        if tokens == 0:
            self._seen += batch.D
            return self.infer(batch)
        self._tokens_seen += tokens
        paper_steps = StepSizes(self.tau0, self.kappa, self.s)
        rho = stage.step_size() if self._own_steps else paper_steps.rho(self.updates + 1)
        self._note_step(batch.D, max(rho, self._least_rho(batch.D)))
        if self.updates == 1:
            # The random topics at the start weigh a fixed share of the corpus, whatever its size.
            self._topics.rescale(self.recipe.random_share * self._corpus_tokens())
            self._topics.sow(self._corpus_tokens())
        self._start_from_mixture(batch, before, largest_share, self._corpus_tokens())
        balance = stage.balance(self._topics)
        alpha = stage.alpha(self._final_alpha)
        rows = word_rows(self._topics, words, balance, self._workers)
        passes = ThetaPasses(
            alpha,
            self.burn_in + 1 + stage.more_passes,
            self._theta_steps,
            sums_last_pass=self.warm_start,
        )
        theta, statistics = self._collapsed_e_step(words, rows, passes, largest_share, self.rho)
        # N_phi <- (1 - rho) N_phi + rho C/C_M sum m gamma, and N_Z likewise, [F13] eq. 7 and 8
        self._topics.step(
            self.rho,
            self.eta,
            self._corpus_tokens() / tokens,
            statistics,
            self._workers,
        )
        if self._learn_alpha and self._amount >= stage.annealed_until:
            first = slice(self.recipe.learning_documents)
            lengths = batch[first].lengths()
            sums, documents = sum_Elog_theta(theta[first], lengths, self._final_alpha)
            self._alpha_step(sums, documents)
        if self._learn_eta:
            self._eta_step()
        self._renew_topics(self._final_alpha, statistics.mass, batch)
        return proportions(theta, self._workers)

    def _count_anew(self) -> None:
        super()._count_anew()
        self._tokens_seen = 0.0

    def _can_rotate(self) -> bool:
        # From topics that start apart, a learnt alpha can grow without end.
        return not self._learn_alpha and super()._can_rotate()

    def _corpus_tokens(self) -> float:
        """C, or its expected value; before the first document, a guess of 100 words per
        document."""
        if self.n_tokens is not None:
            return self.n_tokens
        if self._tokens_seen == 0:
            return WORDS_A_DOCUMENT * self.n_documents
        return self.n_documents * self._tokens_seen / self._seen

    def _alpha_step(self, sum_Elog_theta: Vector, documents: int) -> None:
        """[H10]'s Newton step from E[log theta] of some documents, once alpha is no longer
        annealed.

        The step has size sqrt(rho): alpha has few numbers and so less noise than the topics.
        """
        from wikitopics.model.lda_e_step import alpha_step, descend

        if documents:
            step = alpha_step(self._final_alpha, documents, sum_Elog_theta)
            self._final_alpha = descend(self._final_alpha, math.sqrt(self.rho), step)

    def _eta_step(self) -> None:
        """[H10]'s Newton step for eta, with q(beta_k) = Dirichlet(N_phi + eta), from a few topics
        at a time in turn."""
        from scipy.special import psi

        from wikitopics.model.lda_e_step import descend, eta_step

        topics = self._topics
        n = self.recipe.learning_topics
        in_turn = (self.updates * n + np.arange(n)) % self.n_topics
        lambda_ = topics.hat[:, in_turn].astype(np.float64) * topics.scale + self.eta
        Elog_beta = psi(lambda_) - psi(lambda_.sum(axis=0))
        step = eta_step(self.eta, n, self.n_words, float(Elog_beta.sum()))
        topics.eta = float(descend(self.eta, math.sqrt(self.rho), step))

    def _contradiction(self) -> str:
        contradiction = super()._contradiction()
        if contradiction:
            return contradiction
        if self._tokens_seen and not self._seen:
            return "it counts words, but no documents"
        return ""

    @classmethod
    def upgraded(cls, state: dict[str, object]) -> dict[str, object]:
        """A state of 1.0.0, version 3, keeps its topics and takes the current step sizes and
        recipe."""
        return {**super().upgraded(state), "own_steps": state.get("adaptive")}
