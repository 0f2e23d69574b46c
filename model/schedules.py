"""What changes from step to step: the papers' step sizes, and the warm start.

**The warm start** is how a model departs from its paper while symmetry breaks, so that few topics
starve. Its numbers are the model's `recipe`, and `recipe_…` in its state. A step gets its `Stage`
from `WarmStart.stage`, and from that alpha, balance, passes and step size. With the numbers of
`LDA_PAPER` and `SCVB0_PAPER`, nothing changes. The HDP departs from its paper in other ways, those
of `HDPRecipe`. Measurements: decisions 0005, 0015, 0025, 0028, 0051 and 0052.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from wikitopics.model.minibatch import Indices, Minibatch, Vector
from wikitopics.model.options import LARGEST, LARGEST_PRIOR
from wikitopics.model.states import MOST_ITERATIONS, TINY, bounded

if TYPE_CHECKING:
    from wikitopics.model.lambda_ import Lambda


@dataclass(frozen=True)
class StepSizes:
    """rho = s (tau0 + t)^-kappa, at most 1."""

    tau0: float
    kappa: float
    s: float = 1.0

    def rho(self, t: float) -> float:
        """The step size of update t."""
        return float(min(1.0, self.s * max(self.tau0 + t, TINY) ** -self.kappa))

    def keep(self, steps: int) -> Vector:
        """(steps,) 1 - rho of t = 1 to steps."""
        t = np.arange(1, steps + 1, dtype=np.float64)
        keep: Vector = 1 - np.minimum(1.0, self.s * (self.tau0 + t) ** -self.kappa)
        return keep


THETA_STEPS = StepSizes(tau0=1.0, kappa=0.7)
"""Step sizes of a document's proportions in the collapsed E-step; the best of those measured."""


FEW_DOCUMENTS = 300
"""In a corpus of this many documents, eta is twice as large as in a large one, because most words
of a topic have never been seen."""
SMALL_CORPUS = 10_000
"""In a corpus of fewer documents, the HDP's local steps are more thorough: there is time for it."""
STARTS = 3.0
"""The most topics with which an HDP starts, as a multiple of the square root of the number of
documents in the corpus (decision 0043)."""
SUPPORT = 0.08
"""The number of documents whose words a topic needs in later passes, as a multiple of the same
square root (decision 0043)."""
REREAD_DOCUMENTS = 500
"""In a corpus of fewer documents, those that are read again are learnt as if they were new: a
minibatch is a large part of such a corpus."""
REREAD_WORDS = 150.0
"""The words of a mean document for each more pass of the E-step when documents are read again:
short ones would be overfitted."""
SEEDED_POWER = 0.75
"""The power of balance for seeded topics, in place of `Balance.balance_power`: otherwise their head
start would make them too broad."""


def raised(eta: float, n_documents: float, full_size: float) -> float:
    """eta for a corpus of `n_documents` that is learnt as if it had at least `full_size`; 0: as it
    is.

    In a corpus of fewer documents than `full_size`, eta grows in proportion, so that it weighs the
    same against the corpus's words however much these are magnified. It grows further where
    documents are few (`FEW_DOCUMENTS`), but not above what a state may hold.
    """
    if not full_size:
        return eta
    magnified = max(1.0, full_size / n_documents)
    return min(eta * magnified * (1 + FEW_DOCUMENTS / n_documents), LARGEST_PRIOR)


@dataclass(frozen=True, kw_only=True)
class Balance:
    """How topics are held in balance while symmetry breaks: small topics gain words, large topics
    lose them.

    Without balance, topics that are ahead by chance take the words of those behind. Topic k's
    probabilities are multiplied by (mass_k / mean mass)^-b, where mass_k are the words of topic k.
    The power b falls linearly from `balance_power` to 0 within `balance_documents` documents, or
    within the share `balance_share` of a smaller corpus. A `balance_power` of 0 means no balance.

    A collection of long documents that is read again predicts better than after one pass. Some of
    that is given for topics that share fewer words: in the second pass, decorrelation grows by the
    factor `reread_decorrelation` (decision 0051).

    Every schedule counts in documents of `document_words` words, since a long document says more
    about topics than a short one. With `document_words` 0, each document counts as one.
    """

    document_words: float = bounded(0, LARGEST, 100.0)
    balance_power: float = bounded(0, 1)
    balance_documents: float = 5_000.0
    balance_share: float = 2 / 3
    reread_decorrelation: float = bounded(0, LARGEST, 1.5, missing=1.0)

    def amount(self, batch: Minibatch) -> float:
        """The size of a minibatch in documents, as the schedules count them."""
        if not self.document_words:
            return float(batch.D)
        return batch.n_tokens / self.document_words

    def corpus(self, n_documents: float, documents: float, amount: float) -> float:
        """The size of a corpus of `n_documents` as the schedules count it, if so far `documents` of
        its documents counted as `amount`."""
        if not documents:
            return n_documents
        return n_documents * (amount / documents)

    def reread_factor(
        self, *, n_documents: float, documents: int, amount: float, reread: int
    ) -> float:
        """The factor on decorrelation after `documents` that count as `amount`, of which `reread`
        had been learnt before, out of a corpus of `n_documents`."""
        words = amount / documents * self.document_words
        if n_documents < REREAD_DOCUMENTS or words < REREAD_WORDS:
            return 1.0
        read_again = min(1.0, reread / n_documents)
        return 1 + (self.reread_decorrelation - 1) * read_again

    def balance(self, topics: Lambda, seen: float, n_documents: float) -> Vector:
        """(K,) factors on the topics' probabilities after `seen` documents of a corpus of
        `n_documents`, both as the schedules count them."""
        period = min(self.balance_documents, self.balance_share * n_documents)
        mass = topics.total_hat
        is_over = seen >= period
        if is_over or self.balance_power == 0 or not mass.any():
            return np.ones(topics.n_topics)
        power = np.full(topics.n_topics, self.balance_power)
        power[topics.seed_topics] = SEEDED_POWER
        power *= 1 - seen / period
        # Masses that float32 cannot tell from 0 get the same factor.
        relative = np.maximum(mass / mass.mean(), np.finfo(np.float32).eps)
        factors: Vector = relative**-power
        factors[mass == 0] = 1.0  # a topic that has not started is not behind
        return factors


@dataclass(frozen=True, kw_only=True)
class WarmStart(Balance):
    """What LDA and SCVB0 have in common: balance, the fall of alpha, and step sizes where none are
    given.

    The fall of alpha: alpha falls to its own value within `annealing_documents` documents, or
    within the share `annealing_share` of a smaller corpus; until then, documents get one more pass.
    It starts at `first_alpha` / sqrt(K) for each `document_words` words of a mean document, so that
    topics separate equally soon in short and in long documents, and with few topics and many. If
    alpha is to be learnt, `learning_from` is the value where learning it starts.

    Step sizes: a step is that of an average over a horizon of documents that grows by
    `horizon_slope` for each document seen, so steps always become smaller and no estimate of noise
    can make them grow again. The horizon starts with `first_horizon` documents, or with the share
    `horizon_share` of a smaller corpus, but at least with `shortest_horizon` (a smaller corpus
    would forget the random start, which stands for the words that it lacks).

    Documents read again: as long as topics contain a document's own words from its last reading,
    they confirm whatever topics these were taken for. So the horizon is at most the share
    `reread_horizon` of the corpus, after which little of them is left (0: no such limit). In the
    last pass it grows by what the pass has read, so that the topics become an average over all
    documents. Each document gets one more pass of the collapsed E-step for each `REREAD_WORDS`
    words of a mean document, but at most `reread_passes`.

    `random_share` of the corpus's words are random before the first document. After the first
    `rotated_documents`, or the share `rotated_share` of a smaller corpus, or all of one that is
    read again, but at least `rotated_of_topic` for each topic, topics start over from what these
    documents say (`rotation.py`); with `rotated_documents` 0 they do not. `infer` makes
    `inference_passes` of the collapsed update over a document's words; more passes would fit the
    words seen, but not the unseen ones. The numbers here are LDA's.
    """

    POSITION: ClassVar[float] = 0.0
    """How far into a minibatch its step reads the schedules, as a fraction of the minibatch."""

    balance_power: float = bounded(0, 1, 0.4)
    first_alpha: float = 1.3
    annealing_documents: float = bounded(0, LARGEST, 4_000.0)
    annealing_share: float = 0.3
    first_horizon: float = 3_000.0
    horizon_share: float = 0.3
    shortest_horizon: float = 450.0
    horizon_slope: float = 0.75
    random_share: float = bounded(0, LARGEST, 0.02)
    rotated_documents: float = bounded(0, LARGEST, 35_000.0, missing=0.0)
    rotated_share: float = bounded(0, 1, 0.5, missing=0.0)
    rotated_of_topic: float = bounded(0, LARGEST, 100.0, missing=0.0)
    learning_from: float = 0.02
    inference_passes: int = 2
    reread_horizon: float = bounded(0, LARGEST, 0.25, missing=0.0)
    reread_passes: int = bounded(0, MOST_ITERATIONS, 2, missing=0)

    def rotated_at(self, in_all: float, n_topics: int, rereads_later: bool) -> float:
        """The number of documents after which topics start over in a corpus of `in_all`, both as
        the schedules count them."""
        share = 1.0 if rereads_later else self.rotated_share
        of_corpus = min(self.rotated_documents, share * in_all)
        return max(of_corpus, self.rotated_of_topic * n_topics)

    def stage(
        self,
        n_documents: float,
        documents: float,
        before: float,
        amount: float,
        mixture_share: float = 0.0,
        passes_left: float | None = None,
    ) -> Stage:
        """The stage of a minibatch of this `amount` after `before`, both as schedules count
        documents.

        n_documents: the documents in the corpus
        documents: those seen so far, this minibatch included
        mixture_share, passes_left: as in `Stage`
        """
        in_all = self.corpus(n_documents, documents, before + amount)
        return Stage(self, before, amount, n_documents, in_all, mixture_share, passes_left)


@dataclass(frozen=True)
class Stage:
    """How far the warm start has come, for one step.

    before, amount, in_all: the documents before the minibatch, in the minibatch and in the corpus,
    as schedules count them
    n_documents: the documents in the corpus, each counted as one
    mixture_share: the mixture's share of the E-step, for short texts. The larger it is, the less
    topics are held in balance, since they do not start from noise, and the more quickly a step
    forgets, up to twice as quickly
    passes_left: how often documents that were learnt before are still read; None: they are new
    """

    start: WarmStart
    before: float
    amount: float
    n_documents: float
    in_all: float
    mixture_share: float
    passes_left: float | None = None

    @property
    def now(self) -> float:
        """The number of documents at which the schedules are read."""
        return self.before + self.start.POSITION * self.amount

    @property
    def rereads(self) -> bool:
        """Whether the step takes into account that its documents were learnt before. Short texts
        and those of a very small corpus are learnt as if they were new."""
        if self.passes_left is None or not self.start.reread_horizon:
            return False
        return self.n_documents >= REREAD_DOCUMENTS and not self.mixture_share

    @property
    def annealed_until(self) -> float:
        """The number of documents until alpha has its final value."""
        return min(self.start.annealing_documents, self.start.annealing_share * self.in_all)

    @property
    def more_passes(self) -> int:
        """The number of extra passes over a document's words while alpha falls, and when it is read
        again."""
        more = int(self.now < self.annealed_until)
        if self.rereads:
            words = self.in_all / self.n_documents * self.start.document_words
            more += min(self.start.reread_passes, int(words / REREAD_WORDS))
        return more

    def alpha(self, final: Vector) -> Vector:
        """(K,) alpha, on its way to `final`."""
        until = self.annealed_until
        if self.now >= until:
            return final.copy()
        K = len(final)
        from_start = self.start.first_alpha / math.sqrt(K) * self.in_all / self.n_documents
        first = np.maximum(from_start, final)
        annealed: Vector = first * (final / first) ** (self.now / until)
        return annealed

    def balance(self, topics: Lambda) -> Vector:
        """(K,) factors on the topics."""
        factors: Vector = self.start.balance(topics, self.now, self.in_all)
        return factors ** (1 - self.mixture_share)

    def step_size(self) -> float:
        """rho where no step sizes are given. Steps on the two halves of a minibatch forget nearly
        as much as one step on all of it."""
        start = self.start
        of_small_corpus = max(start.horizon_share * self.in_all, start.shortest_horizon)
        first = min(start.first_horizon, of_small_corpus)
        slope = start.horizon_slope * (1 - self.mixture_share / 2)
        horizon = first + slope * self.before
        if self.rereads:
            assert self.passes_left is not None
            read_in_last_pass = max(0.0, 1 - self.passes_left)
            corpora = start.reread_horizon + read_in_last_pass
            horizon = min(horizon, max(corpora * self.in_all, start.shortest_horizon))
        return -math.expm1(-self.amount / horizon)


@dataclass(frozen=True, kw_only=True)
class CollapsedStart(WarmStart):
    """LDA's warm start: the first documents get the collapsed E-step of [F13].

    Unlike [H10]'s, whose exp(psi(x)) is about x - 1/2, the collapsed E-step does not take half a
    word from each topic of a document. The first `collapsed_documents` documents get it, or the
    share `collapsed_share` of a smaller corpus, with `passes` over their words; so do all documents
    if the mean document has fewer than `fewest_words` words for each topic, and all documents that
    are read again. Meanwhile, an alpha that is to be learnt falls to `last_alpha`; afterwards it is
    learnt.

    The corpus is learnt as if it had at least `smallest_corpus` documents, and eta is `raised`
    where it has fewer than `eta_documents`. A `random_share` of 0 leaves lambda as it was drawn;
    with few documents, `random_share` is larger than the default (`sized`). With no
    `inference_passes`, `infer` is [H10]'s E-step. In float32 a topic with fewer than `drop`
    expected words leaves the document.
    """

    POSITION: ClassVar[float] = 0.5

    inference_passes: int = bounded(0, MOST_ITERATIONS, 2)
    last_alpha: float = 0.005
    collapsed_documents: float = bounded(0, LARGEST, 100_000.0)
    collapsed_share: float = 0.6
    fewest_words: float = bounded(0, LARGEST, 2.0)
    passes: int = 2
    smallest_corpus: float = bounded(0, LARGEST, 1e6)
    eta_documents: float = bounded(0, LARGEST, 1e5)
    drop: float = 0.01

    def sized(self, n_topics: int, n_words: int, n_documents: float) -> CollapsedStart:
        """The recipe for these sizes. With few documents for this many parameters, more of lambda
        is random: most topics then depend on that randomness to the end."""
        few = max(1.0, n_topics * n_words / n_documents)
        return replace(self, random_share=self.random_share * few**0.25)

    def collapsed(self, stage: Stage, n_topics: int) -> bool:
        """Whether a step's E-step is the collapsed one."""
        if stage.rereads:
            return True
        until = min(self.collapsed_documents, self.collapsed_share * stage.in_all)
        words_a_topic = stage.in_all / stage.n_documents * self.document_words / n_topics
        return stage.now < until or words_a_topic < self.fewest_words


@dataclass(frozen=True, kw_only=True)
class SCVB0Start(WarmStart):
    """SCVB0's warm start, with the numbers that [F13] leaves open.

    alpha is learnt from `learning_documents` of a minibatch, eta from `learning_topics` topics at a
    time.
    """

    balance_power: float = bounded(0, 1, 0.3)
    annealing_share: float = 0.2
    first_horizon: float = 2_500.0
    horizon_share: float = 0.1
    shortest_horizon: float = 20.0
    horizon_slope: float = 0.6
    random_share: float = bounded(0, LARGEST, 0.08)
    learning_from: float = 0.05
    learning_documents: int = 256
    learning_topics: int = 4


@dataclass(frozen=True, kw_only=True)
class HDPRecipe(Balance):
    """The numbers with which the default HDP departs from the papers.

    Start: topics start from the first `first_documents` documents. Each takes the share
    `seed_weight` of its words from one of these documents, and the rest from the mean of the
    corpus. No document is drawn twice before all have been drawn. While there are fewer documents
    than topics, each topic starts from `mixed` documents, since equal topics would stay equal.
    While there are fewer than `first_documents`, each start makes `first_passes` over them. At
    first the uniform sticks weigh as much as the share `heavy` of all tables of the corpus.

    Corpus and steps: lambda and sticks are those of a corpus of at least `smallest_corpus`
    documents, so that every word read counts fully in its topic; eta is `raised` where there are
    fewer than `eta_documents`. A whole step takes so many documents that the corpus makes about
    `steps` steps, but at least `smallest_step` and at most `largest_step` documents.

    Documents: a document's shortlist has the topics that `em_steps` of EM expect to have more than
    `fewest_words`, at most `candidates` topics. Each of `rounds` rounds makes at most `iterations`
    updates of phi and gamma. Then tables choose their topics: a table has only the likeliest topic
    if all others together have less than `one_topic` times its probability.

    Inference: `infer` makes `inference_passes` of SCVB0's update over a document's words; more
    passes would overfit the words seen.
    """

    balance_power: float = bounded(0, 1, 0.7)
    balance_documents: float = 20_000.0
    first_documents: int = 1000
    first_passes: int = 6
    mixed: int = 5
    seed_weight: float = bounded(TINY, 1, 0.1)
    heavy: float = 0.1
    smallest_corpus: float = bounded(0, LARGEST, 1e6)
    eta_documents: float = bounded(0, LARGEST, 1e5)
    steps: float = 40.0
    smallest_step: int = 64
    largest_step: int = 2048
    em_steps: int = 3
    candidates: int = 16
    fewest_words: float = 4.0
    iterations: int = 20
    rounds: int = bounded(2, MOST_ITERATIONS, 3)
    one_topic: float = 1e-3
    inference_passes: int = 2

    def sized(self, n_documents: float) -> HDPRecipe:
        """The recipe for a corpus of this size."""
        if n_documents >= SMALL_CORPUS:
            return self
        return replace(self, em_steps=10, candidates=32, fewest_words=1.0, rounds=4)

    @staticmethod
    def starts(n_topics: int, n_documents: float) -> int:
        """How many of `n_topics` topics start in a corpus of this size."""
        most = round(STARTS * math.sqrt(n_documents))
        return max(1, min(n_topics, most))

    def least_share(self, n_documents: float) -> float:
        """The share of the corpus's words that a topic needs after the first pass; 0 with the
        paper's numbers."""
        if not self.smallest_corpus:
            return 0.0
        return SUPPORT / math.sqrt(n_documents)

    def draw(self, documents: int, n_topics: int, random: np.random.Generator) -> Indices:
        """(K, n) the documents, out of this many, from which each topic starts."""
        n = 1 if documents >= n_topics else self.mixed
        drawn = n_topics * n
        rounds = math.ceil(drawn / documents)  # through all documents
        order = np.concatenate([random.permutation(documents) for _ in range(rounds)])
        return order[:drawn].reshape(n_topics, n)


LDA_WARM = CollapsedStart()
SCVB0_WARM = SCVB0Start()
HDP_WARM = HDPRecipe()
LDA_PAPER = CollapsedStart(
    document_words=0.0,
    balance_power=0.0,
    collapsed_documents=0.0,
    fewest_words=0.0,
    smallest_corpus=0.0,
    eta_documents=0.0,
    random_share=0.0,
    rotated_documents=0.0,
    inference_passes=0,
    reread_horizon=0.0,
    reread_passes=0,
    reread_decorrelation=1.0,
)
SCVB0_PAPER = SCVB0Start(
    document_words=0.0,
    balance_power=0.0,
    random_share=1.0,
    rotated_documents=0.0,
    annealing_documents=0.0,
    inference_passes=3,
    reread_horizon=0.0,
    reread_passes=0,
    reread_decorrelation=1.0,
)
HDP_PAPER = HDPRecipe(smallest_corpus=0.0, eta_documents=0.0, reread_decorrelation=1.0)
