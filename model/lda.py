"""Online variational Bayes for latent Dirichlet allocation: [H10] algorithm 2, [SVI13] figure 6.

| symbol | shape | meaning | paper |
|---|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics | [H10] eq. 2 |
| gamma | (D, K) | variational Dirichlet of a document's topic proportions | [H10] eq. 2 |
| phi | never stored | variational distribution of a word's topic | [H10] eq. 5 |
| alpha, eta | (K,), number | Dirichlet parameters of proportions and topics | [H10] section 2 |
| rho | number | step size (tau0 + t)^-kappa | [H10] section 2.2 |

The E-step, with its loops and Newton's steps for alpha and eta, is `lda_e_step.py`; lambda is
`lambda_.py`.

**The warm start is not in the papers.** Plain online variational Bayes starves topics while
symmetry breaks: the first documents decide which topics live. Five measures prevent that. Their
schedules follow the number of words seen, so that minibatch sizes and document lengths hardly
matter (measurements: docs/decisions/0005-warm-start.md and 0015-first-minutes.md). A step asks the
`schedules.CollapsedStart`:

- *collapsed start*: at first the E-step is the collapsed one of [F13] (`scvb0_e_step.py`). Unlike
  [H10]'s, whose exp(psi(x)) is about x - 1/2, it does not take half a word from each topic of a
  document. Its symmetric alpha starts large and falls geometrically, so that topics separate along
  what many documents have in common. In three cases, the collapsed E-step is kept to the end, and
  alpha is not learnt: if documents have too few words for each topic to lose half a word, if texts
  are short (`mixture.py`), and with a half-life, since new topics never stop appearing. Documents
  that are read again get it, too, unless the corpus is very small;
- *balance*: for a while, small topics gain words and large ones lose them;
- *new topics*: topics start over once, from rotated components of the first documents
  (`rotation.py`);
- *step size*: rho is that of an average over a horizon that grows with the documents seen; a
  minibatch counts by its size;
- *corpus*: a corpus of fewer than a million documents is learnt as if it had a million, which makes
  exp(E[log beta]) nearly E[beta]: rare words are not penalised because little has been read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikitopics.model.allocation import DirichletAllocation
from wikitopics.model.lambda_ import Statistics, random_topics
from wikitopics.model.lambda_model import precision
from wikitopics.model.minibatch import Floats, Minibatch, Vector, Words
from wikitopics.model.online import shares_of_rows
from wikitopics.model.options import (
    HALF_LIFE,
    KAPPA,
    LARGEST,
    LARGEST_PRIOR,
    LEARN,
    TAU0,
    Metric,
    Prior,
    decorrelation,
    prior,
)
from wikitopics.model.rebirth import Rebirth
from wikitopics.model.schedules import (
    LDA_PAPER,
    LDA_WARM,
    CollapsedStart,
    Stage,
    StepSizes,
    raised,
)
from wikitopics.model.states import MOST, MOST_ITERATIONS, TINY, Entry, State
from wikitopics.option import Option

if TYPE_CHECKING:
    from wikitopics.model.lda_e_step import Documents, LDALimits, LDAStatistics

ALPHA = prior("alpha", "Dirichlet parameter of the topic proportions", LEARN, learn=True)
ETA = prior("eta", "Dirichlet parameter of the topics", 0.2, learn=True)
WARM_DECORRELATION = 0.14
DECORRELATION = decorrelation(WARM_DECORRELATION)
INITIALIZATION = Option(str, "initialization", "random lambda", choices=("gamma", "exponential"))
TOLERANCE = Option(float, "tolerance", "change that ends an E-step", least=0, most=LARGEST)
MAX_ITERATIONS = Option(
    int,
    "max_iterations",
    "of a document's E-step",
    least=0,
    most=MOST_ITERATIONS,
)
PAPER_TAU0 = 64.0
"""As in [H10] table 1, for minibatches of 4096."""
PAPER_KAPPA = 0.5
"""As in [H10] table 1, too."""
LDA_TAU0 = replace(
    TAU0,
    help="damps the first of these step sizes; with kappa, the model learns as Hoffman et al. "
    "2010 printed it, which predicts worse",
)
FIRST_ETA = 0.1
"""Where eta starts if it is learnt."""

BOUND = "exp(-the variational bound a word), as in Hoffman et al. 2010"


class OnlineLDA(DirichletAllocation):
    """Latent Dirichlet allocation learnt from minibatches, in one pass.

    n_topics, n_words, n_documents: K, W, and D, the size of the corpus (an estimate will do)
    alpha: Dirichlet parameter of the topic proportions, one number for all topics, or "learn" for
    one each
    eta: Dirichlet parameter of the topics, or "learn"
    tau0, kappa: step size of update t, (tau0 + t)^-kappa with t from 0; kappa within [0.5, 1], tau0
    >= 0
    half_life: documents after which earlier learning has half its weight: the smallest step size
    follows from it
    decorrelation: how far a topic's words lose weight, where topics are read, because other topics
    use them too (`Lambda`); by default 0.14, or 0 without the warm start
    warm_start: the departures from the papers described at the top of this file: alpha starts
    large, topics are kept in balance at first, and without tau0 and kappa the step size follows the
    documents seen. False is the papers' own algorithm, with tau0 = 64 and kappa = 0.5 unless given.
    By default it is on unless both tau0 and kappa are given, which asks for the papers' algorithm.
    initialization: lambda at random, "gamma" (Gamma(100, 0.01), mean 1) or "exponential" ([SVI13]
    footnote 6)
    dtype: "float32", or "float64" for comparisons (slow; no topic is dropped from a document)
    tolerance, max_iterations: a document's E-step ends when sum_k |change of gamma_k| is at most
    `tolerance` times its words, or after this many iterations
    threads: affect the speed, not the result

    Raises ValueError for values out of range.
    """

    kind = "lda"
    label = "online LDA"
    summary = "the one to begin with"
    WARM_RECIPE = LDA_WARM
    PAPER_RECIPE = LDA_PAPER
    options: ClassVar[tuple[Option[float], ...]] = (
        ALPHA,
        ETA,
        KAPPA,
        LDA_TAU0,
        HALF_LIFE,
        DECORRELATION,
    )
    metrics = (Metric("bound_perplexity", "Bound perplexity of {held_out}", BOUND, better="lower"),)

    version = 6
    oldest_version = 4
    entries = (
        *DirichletAllocation.entries,
        Entry("alpha", type="float64", shape="K", least=TINY, most=LARGEST_PRIOR),
        Entry.of_option(ETA),
        Entry.of_option(KAPPA),
        Entry.of_option(LDA_TAU0),
        Entry.of_option(DECORRELATION),
        Entry.of_option(TOLERANCE),
        Entry.of_option(MAX_ITERATIONS),
        Entry("words_since_eta", "_words_since_eta", "int", least=0, most=MOST),
        *Entry.of_part(CollapsedStart, "recipe"),
    )
    parts: ClassVar = {**DirichletAllocation.parts, "recipe": CollapsedStart}

    recipe: CollapsedStart
    eta: float
    tolerance: float
    max_iterations: int

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: float,
        *,
        alpha: Prior | None = LEARN,
        eta: Prior | None = 0.2,
        kappa: float | None = None,
        tau0: float | None = None,
        half_life: float | None = None,
        decorrelation: float | None = None,
        initialization: str = "gamma",
        tolerance: float = 3e-3,
        max_iterations: int = 100,
        dtype: DTypeLike = "float32",
        warm_start: bool | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        if warm_start is None:
            warm_start = tau0 is None or kappa is None
        super().__init__(
            n_topics,
            n_words,
            n_documents,
            warm_start=warm_start,
            half_life=half_life,
            seed=seed,
            threads=threads,
        )
        self._own_steps = self.warm_start and tau0 is None and kappa is None
        self.tau0 = LDA_TAU0.value(tau0, PAPER_TAU0)
        self.kappa = KAPPA.value(kappa, PAPER_KAPPA)
        usual_decorrelation = WARM_DECORRELATION if warm_start else 0.0
        self.decorrelation = DECORRELATION.value(decorrelation, usual_decorrelation)
        self.tolerance = TOLERANCE.value(tolerance)
        self.max_iterations = MAX_ITERATIONS.value(max_iterations)
        self._rebirth = Rebirth.of(self.n_topics, self.half_life)

        self.recipe = self.recipe.sized(self.n_topics, self.n_words, self.n_documents)
        # `convert` gives the default for None, which is to learn alpha.
        self._learn_alpha = ALPHA.convert(alpha) == LEARN
        if not self._learn_alpha:
            first_alpha = ALPHA.value(alpha)
        elif self.warm_start:
            first_alpha = self.recipe.learning_from
        else:
            first_alpha = 1 / self.n_topics
        self.alpha = np.full(self.n_topics, first_alpha)
        self._learn_eta = ETA.convert(eta) == LEARN
        self.eta = FIRST_ETA if self._learn_eta else ETA.value(eta)
        self._topics = random_topics(
            self._random,
            INITIALIZATION.value(initialization),
            self.n_topics,
            self.n_words,
            self.n_documents,
            self._eta,
            precision(dtype),
        )
        self._words_since_eta = 0

    @property
    def _eta(self) -> float:
        """eta as the topics use it: as it is if it is learnt, otherwise `raised` in a small
        corpus."""
        if self._learn_eta:
            return self.eta
        return raised(self.eta, self.n_documents, self.recipe.eta_documents)

    def document_prior(self) -> Vector:
        """(K,) alpha."""
        return self.alpha.copy()

    @classmethod
    def _prior_entries(cls, prior: Vector) -> State:
        return {"alpha": prior}

    def _step(self, batch: Minibatch) -> NDArray[np.float32]:
        """See `DirichletAllocation.learn`."""
        from wikitopics.model.scvb0_e_step import ThetaPasses, proportions, word_rows

        words = batch.words(self.n_words)
        if batch.n_tokens == 0:
            self._seen += batch.D
            return self.infer(batch)
        # The size of the corpus, in documents and in words.
        documents = max(self.n_documents, self.recipe.smallest_corpus)
        tokens = documents * max(batch.n_tokens / batch.D, 1.0)
        if self.updates == 0:
            if self.recipe.random_share:
                # The random lambda at the start weighs a fixed share of the corpus, whatever its
                # size.
                self._topics.rescale(self.recipe.random_share * tokens)
            self._topics.sow(tokens)
        stage, largest_share = self._begin_step(batch)
        self._start_from_mixture(batch, self._seen, largest_share, tokens)
        paper_steps = StepSizes(self.tau0, self.kappa)  # (tau0 + t)^-kappa, [H10] algorithm 2
        rho = stage.step_size() if self._own_steps else paper_steps.rho(self.updates)
        rho = max(rho, self._least_rho(batch.D))
        balance = stage.balance(self._topics)
        never_stops_learning = self.warm_start and self.half_life is not None
        if never_stops_learning or largest_share or self.recipe.collapsed(stage, self.n_topics):
            alpha = self._collapsed_alpha(stage)
            passes = ThetaPasses(alpha, self.recipe.passes + stage.more_passes)
            rows = word_rows(self._topics, words, balance, self._workers)
            gamma, statistics = self._collapsed_e_step(words, rows, passes, largest_share, rho)
        else:
            alpha = self.alpha
            gamma, statistics = self._variational_e_step(words, balance, rho)
        # lambda <- (1 - rho) lambda + rho (eta + D/S sum_d n_d phi_d), [H10] algorithm 2
        self._topics.step(rho, self._eta, documents / batch.D, statistics, self._workers)
        if self._learn_eta:
            self._update_eta(len(statistics.ids), rho)
        self._renew_topics(self.alpha, statistics.mass, batch)
        self._note_step(batch.D, rho)
        # The proportions have the model's alpha instead of the E-step's. The latter is subtracted
        # first: otherwise a small alpha would be lost in rounding beside a large one.
        expected_words = gamma - alpha.astype(gamma.dtype)
        theta = expected_words + self.alpha.astype(gamma.dtype)
        return proportions(theta, self._workers)

    def _collapsed_alpha(self, stage: Stage) -> Vector:
        """(K,) the alpha of the collapsed E-step: it starts large and falls to the model's, or, if
        that is still to be learnt, to the recipe's last one."""
        final_alpha = self.alpha
        if self._learn_alpha:
            final_alpha = np.full(self.n_topics, self.recipe.last_alpha)
        return stage.alpha(final_alpha)

    def _variational_e_step(
        self, words: Words, balance: Vector, rho: float
    ) -> tuple[Floats, Statistics]:
        """(D, K) gamma and the statistics of [H10]'s E-step; then a step of alpha, if it is
        learnt."""
        from wikitopics.model.lda_e_step import e_step

        rows = self._topics.exp_Elog_rows(words.ids, self._workers, balance)
        gamma, statistics = e_step(words, rows, self.alpha, self._limits(), self._workers)
        if self._learn_alpha:
            self._update_alpha(statistics, rho)
        return gamma, statistics

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions E[theta] of documents, rows sum to 1; changes nothing.

        By default this uses the collapsed update, which predicts better than [H10]'s E-step. A
        document without words gets the proportions of the prior. Raises ValueError for a word id
        out of range.
        """
        from wikitopics.model.scvb0_e_step import proportions

        if self.recipe.inference_passes:
            return super().infer(batch)
        _, _, posterior = self._ascent(batch)
        return proportions(posterior.gamma, self._workers)

    def word_topics(self, batch: Minibatch, theta: NDArray[Any]) -> NDArray[np.float64]:
        """See `LambdaModel.word_topics`; with [H10]'s E-step, phi_dwk ~ exp(E[log theta_dk] +
        E[log beta_kw]), [H10] eq. 5, where gamma_d is theta_d times its sum, that of alpha and of
        the document's words."""
        if self.recipe.inference_passes:
            return super().word_topics(batch, theta)
        from scipy.special import psi

        words = batch.words(self.n_words)
        rows = self._topics.exp_Elog_rows(words.ids, self._workers, np.ones(self.n_topics))
        sums_of_gamma = self.alpha.sum() + batch.lengths()
        gamma = np.maximum(theta * sums_of_gamma[:, None], TINY)
        exp_Elog_theta = np.exp(psi(gamma) - psi(sums_of_gamma)[:, None])
        document_of_entry = batch.documents()
        phi = rows[words.entries.local, : self.n_topics].astype(np.float64)
        phi *= exp_Elog_theta[document_of_entry]
        return shares_of_rows(phi)

    def bound_perplexity(self, batch: Minibatch) -> float:
        """[H10]'s perplexity of documents: exp(-(their ELBO, topics held fixed) / their words).

        Only the documents' terms of the ELBO (docs/derivations.md), as in [H10] section 4: without
        the topics' own term and without a factor for the size of the corpus. NaN if the documents
        have no words.
        """
        from wikitopics.model.lda_e_step import document_bounds

        if batch.n_tokens == 0:
            return float("nan")
        words, rows, posterior = self._ascent(batch)
        bounds = document_bounds(self._topics, words, rows, self.alpha, posterior)
        return float(np.exp(-bounds.sum() / batch.n_tokens))

    def own_metrics(self, batch: Minibatch) -> Mapping[str, float]:
        """`bound_perplexity`, if the documents have words."""
        return {"bound_perplexity": self.bound_perplexity(batch)}

    def _ascent(self, batch: Minibatch) -> tuple[Words, Floats, Documents]:
        """[H10]'s E-step without a step: the words of the documents, (U, K') the topics' rows for
        these words, and the documents' variational distribution."""
        from wikitopics.model.lda_e_step import ascend

        words = batch.words(self.n_words)
        rows = self._topics.exp_Elog_rows(words.ids, self._workers, np.ones(self.n_topics))
        return words, rows, ascend(words, rows, self.alpha, self._limits(), self._workers)

    def _limits(self) -> LDALimits:
        from wikitopics.model.lda_e_step import LDALimits

        return LDALimits(self.tolerance, self.max_iterations, self.recipe.drop)

    def _update_alpha(self, statistics: LDAStatistics, rho: float) -> None:
        """A step of size rho for alpha, from the statistics of [H10]'s E-step."""
        from wikitopics.model.lda_e_step import alpha_step, descend

        if not self.warm_start:
            # alpha <- alpha - rho H^-1 g, [H10] section 2.2
            sum_Elog_theta = statistics.sum_Elog_theta(self.alpha)
            step = alpha_step(self.alpha, statistics.documents, sum_Elog_theta)
            self.alpha = descend(self.alpha, rho, step)
        elif statistics.growth > 0:
            # A fixed-point iteration with [H10]'s stationary point, approached in log alpha: the
            # gradient g_k is excess_k - growth (see `LDAStatistics`), so their ratio is 1 where g_k
            # is 0. The ratio is never negative, so alpha stays positive.
            ratio = np.clip(statistics.excess / statistics.growth, 0.1, 10.0)
            self.alpha = np.clip(self.alpha * ratio**rho, TINY, LARGEST_PRIOR)

    def _update_eta(self, words: int, rho: float) -> None:
        """eta <- eta - rho H^-1 g, [H10] section 2.2; but not at every step.

        The gradient takes time K W. To keep the cost in proportion, steps with few distinct words
        leave eta alone until together they have an eighth as many words as the vocabulary; a step
        with that many updates eta every time.

        words: the number of distinct words of this step
        """
        from wikitopics.model.lda_e_step import descend, eta_step

        self._words_since_eta += words
        if self._words_since_eta >= self.n_words / 8:
            self._words_since_eta = 0
            sum_Elog_beta = self._topics.sum_Elog_beta()
            step = eta_step(self.eta, self.n_topics, self.n_words, sum_Elog_beta)
            self.eta = float(descend(self.eta, rho, step))

    @classmethod
    def upgraded(cls, state: dict[str, object]) -> dict[str, object]:
        """A state of 1.0.0, version 4, keeps its topics; the current defaults apply from then
        on."""
        with_current_recipe = super().upgraded(state)
        # Only the state's own `random_share` stays.
        return {**with_current_recipe, "recipe_random_share": state.get("recipe_random_share")}
