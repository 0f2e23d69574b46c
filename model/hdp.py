"""The hierarchical Dirichlet process by stochastic variational inference: [SVI13] figure 9, [W11]
figure 2.

| symbol | shape | meaning | paper |
|---|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics | [SVI13] fig. 8 |
| a, b | (K-1,) | variational Betas of the corpus sticks v | [SVI13] fig. 8 ([W11]: u, v) |
| sigma | (K,) | a topic's weight in the corpus, from v | [SVI13] section 3.3 |
| zeta | (T, K) | the topic of each of a document's T tables | [SVI13] fig. 9 ([W11]: varphi) |
| phi | (n, T) | a word's table | [SVI13] fig. 9 ([W11]: zeta) |
| gamma | (T-1, 2) | variational Betas of a document's sticks | [SVI13] fig. 9 ([W11]: a, b) |
| omega, alpha | numbers | concentrations of corpus and document | [SVI13] section 3.3 |
| eta | number | Dirichlet parameter of the topics | [SVI13] section 3.3 |
| rho | number | step size | [SVI13] eq. 26 |

The E-step is in `hdp_e_step.py`, its loops in `hdp_kernels.py`. `infer` uses `scvb0_e_step.py`;
lambda is in `lambda_.py`.

**Where the default departs from the papers** (`warm_start=True`; formulas and measurements:
decision 0026): one pass of figure 9 as printed ends with some six broad topics. So (1) the topics
start from documents, not at random; (2) the sticks start uniform and heavy; (3) a document's tables
start from its own topics (`hdp_kernels`); (4) topics that are ahead are held back during the first
part of the stream (`schedules.Balance`); (5) a minibatch smaller than `whole_step` makes a smaller
step; (6) D is large compared with the priors. All these numbers are a `schedules.HDPRecipe`.
`warm_start=False` is figure 9 line by line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikitopics.model import mixture
from wikitopics.model import options as check
from wikitopics.model.first_documents import FirstDocuments
from wikitopics.model.lambda_ import Lambda, Statistics, random_topics, topics_from
from wikitopics.model.lambda_model import LambdaModel, precision
from wikitopics.model.minibatch import Floats, Ids, Matrix, Minibatch, Vector, Words, sound
from wikitopics.model.online import WORDS_A_DOCUMENT, shares_of_rows
from wikitopics.model.options import HALF_LIFE, KAPPA, LARGEST, TAU0, decorrelation, prior
from wikitopics.model.schedules import HDP_PAPER, HDP_WARM, HDPRecipe, StepSizes, raised
from wikitopics.model.states import MOST, MOST_ITERATIONS, TINY, Entry, State
from wikitopics.option import Option

if TYPE_CHECKING:
    from wikitopics.model.hdp_kernels import HDPCorpus, HDPLimits, Tables

PART = 2048
"""The number of documents whose tables are in memory at a time."""
MOST_TABLES = 1000
"""The most tables of a document that a state may ask for: each takes memory."""

ALPHA = prior("alpha", "concentration of a document's tables", 1.0, shared=False)
OMEGA = prior("omega", "concentration of the corpus's topics", 1.0, shared=False)
ETA = prior("eta", "Dirichlet parameter of the topics", 0.2, shared=False)
HDP_KAPPA = replace(KAPPA, help="how fast step sizes (tau0 + t)^-kappa fall", default=0.6)
HDP_TAU0 = replace(TAU0, help="damps the first step sizes", default=12.0)
WARM_DECORRELATION = 0.17
DECORRELATION = decorrelation(WARM_DECORRELATION)
MAX_TOPICS_PER_DOCUMENT = Option(
    int,
    "max_topics_per_document",
    "the truncation T",
    least=1,
    most=MOST_TABLES,
)
TOLERANCE = Option(
    float,
    "tolerance",
    "change that ends a local step",
    above=0,
    most=LARGEST,
)
MAX_ITERATIONS = Option(
    int,
    "max_iterations",
    "of figure 9's local step",
    least=1,
    most=MOST_ITERATIONS,
)


class OnlineHDP(LambdaModel):
    """Hierarchical Dirichlet process topic model learnt from minibatches, in one pass.

    n_words, n_documents: W, and D, the size of the corpus (an estimate will do)
    max_topics, max_topics_per_document: the truncations K and T
    omega, alpha: concentration of the corpus and of a document; eta: Dirichlet parameter of the
    topics
    tau0, kappa: the step size of update t is (tau0 + t)^-kappa, t from 1; kappa within [0.5, 1],
    tau0 >= 0
    half_life: documents after which earlier learning has half its weight: the least step size
    follows from it
    decorrelation: how far a topic's words lose weight, where topics are read, because other topics
    use them too (`Lambda`); by default 0.17, or 0 without the warm start
    warm_start: the departures listed above; False follows [SVI13] figure 9 with footnote 6's random
    topics
    dtype: "float32", or "float64" for comparisons
    tolerance, max_iterations: a document's local step ends when its tables' words change by at most
    `tolerance` of the document, or after this many iterations (figure 9; the default has its own
    limits)
    threads: affect the speed, not the result

    Raises ValueError for values out of range.
    """

    kind = "hdp"
    label = "online HDP"
    summary = "finds how many topics it needs"
    default_topics = 300
    default_batch_size = 2048
    WARM_RECIPE = HDP_WARM
    PAPER_RECIPE = HDP_PAPER
    options = (ALPHA, OMEGA, ETA, HDP_KAPPA, HDP_TAU0, HALF_LIFE, DECORRELATION)

    version = 8
    oldest_version = 6
    entries = (
        *LambdaModel.entries,
        Entry("a", type="float64", shape="K-1", least=TINY),
        Entry("b", type="float64", shape="K-1", least=TINY),
        Entry("words_of_topics", "_words", "float64", "K", least=0),
        Entry("started_from", "_started_from", "int", least=0, most=MOST),
        Entry("time", "_time", least=0),
        Entry.of_option(ALPHA),
        Entry.of_option(OMEGA),
        Entry.of_option(ETA),
        Entry.of_option(HDP_KAPPA),
        Entry.of_option(HDP_TAU0),
        Entry.of_option(DECORRELATION),
        Entry.of_option(MAX_TOPICS_PER_DOCUMENT),
        Entry.of_option(TOLERANCE),
        Entry.of_option(MAX_ITERATIONS),
        *Entry.of_part(HDPRecipe, "recipe"),
    )
    parts: ClassVar = {**LambdaModel.parts, "recipe": HDPRecipe}

    recipe: HDPRecipe
    a: Vector
    b: Vector
    omega: float
    alpha: float
    eta: float
    max_topics_per_document: int
    tolerance: float
    max_iterations: int

    def __init__(
        self,
        n_words: int,
        n_documents: float,
        *,
        max_topics: int = 300,
        alpha: float = 1.0,
        omega: float = 1.0,
        eta: float = 0.2,
        kappa: float = 0.6,
        tau0: float = 12.0,
        half_life: float | None = None,
        decorrelation: float | None = None,
        max_topics_per_document: int = 10,
        tolerance: float = 1e-2,
        max_iterations: int = 100,
        dtype: DTypeLike = "float32",
        warm_start: bool = True,
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        check.at_least_one(max_topics=max_topics)
        super().__init__(
            max_topics,
            n_words,
            n_documents,
            warm_start=warm_start,
            half_life=half_life,
            seed=seed,
            threads=threads,
        )
        self.alpha = ALPHA.value(alpha)
        self.omega = OMEGA.value(omega)
        self.eta = ETA.value(eta)
        self.kappa = HDP_KAPPA.value(kappa)
        self.tau0 = HDP_TAU0.value(tau0)
        usual_decorrelation = WARM_DECORRELATION if self.warm_start else 0.0
        self.decorrelation = DECORRELATION.value(decorrelation, usual_decorrelation)
        self.max_topics_per_document = MAX_TOPICS_PER_DOCUMENT.value(max_topics_per_document)
        self.tolerance = TOLERANCE.value(tolerance)
        self.max_iterations = MAX_ITERATIONS.value(max_iterations)
        # What the topics start from, until there are enough documents.
        self._first = FirstDocuments()
        self._started_from = 0  # documents
        K = self.n_topics
        W = self.n_words
        dtype = precision(dtype)
        if self.warm_start:
            self.recipe = self.recipe.sized(self.n_documents)
            topics = Lambda.of(np.zeros((W, K), dtype), self._eta)
        else:
            topics = random_topics(
                self._random,
                "exponential",
                K,
                W,
                self.n_documents,
                self._eta,
                dtype,
            )
        self._restart(topics, 0.0, K)

    @classmethod
    def _of_sizes(cls, topics: int, n_words: int, n_documents: float, **settings: Any) -> Self:
        return cls(n_words, n_documents, max_topics=topics, **settings)

    def _restart(self, topics: Lambda, heavy: float, starts: int) -> None:
        """Set everything that steps change to what it is before the first step.

        starts: the number of topics that start; they are the first ones
        heavy: the number of tables that each topic that starts is assumed to have already; with 0,
        the sticks are those of [SVI13] fig. 9 line 1
        """
        self._topics = topics
        K = topics.n_topics
        self._words = np.zeros(K)  # of each topic in the corpus: a running mean
        self._time = 0.0  # t, in whole steps
        # For each of the first K-1 topics, 1 if it starts, and how many topics start after it.
        numbers = np.arange(1.0, K)
        started: Vector = (numbers <= starts).astype(np.float64)
        starting_later: Vector = np.maximum(starts - numbers, 0)
        self.a = 1.0 + heavy * started
        self.b = self.omega + heavy * starting_later

    # What it is

    @property
    def whole_step(self) -> int:
        """Documents of a step of full size, as the recipe counts them."""
        recipe = self.recipe
        documents = self._in_all() / recipe.steps
        return int(np.clip(documents, recipe.smallest_step, recipe.largest_step))

    @property
    def _eta(self) -> float:
        """eta as the topics use it."""
        return raised(self.eta, self.n_documents, self.recipe.eta_documents)

    def topic_shares(self) -> Vector:
        """(K,) each topic's share of the words of the corpus, sums to 1; equal before the first
        update."""
        total = self._words.sum()
        if total == 0:
            return np.full(self.n_topics, 1 / self.n_topics)
        shares: Vector = self._words / total
        return shares

    def document_prior(self) -> Vector:
        """(K,) alpha E[sigma_k(v)], the Dirichlet prior of a document's proportions, [W11] section
        4.1."""
        from wikitopics.model.hdp_e_step import expected_sticks

        return self.alpha * expected_sticks(self.a, self.b)

    @classmethod
    def _prior_entries(cls, prior: Vector) -> State:
        # Sticks with E[sigma_k(v)] in proportion to the prior, and alpha the prior's sum.
        sums = _sums_from(prior)
        alpha = max(float(sums[0]), ALPHA.least)
        return {"alpha": alpha, "a": prior[:-1], "b": sums[1:]}

    # What it does

    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        An empty minibatch changes nothing. Raises ValueError for a word id out of range, before any
        change.
        """
        sound(batch).check_words(self.n_words)
        if batch.D == 0:
            return np.zeros((0, self.n_topics), dtype=np.float32)
        if self.updates == 0 and not self.warm_start:
            self._topics.sow(self.n_documents * batch.n_tokens / batch.D)
        # After the first pass over the corpus: docs/decisions/0043-topics-of-a-small-collection.md.
        if not self.half_life and self._seen >= self.n_documents:
            self._drop_topics()
        mixture_share = self._read_words(batch)
        # The topics start from this many documents: more if texts are short, up to as many as the
        # mixture takes.
        fewest = min(self.recipe.first_documents, self.n_documents)
        most = max(fewest, mixture.enough(self.n_documents))
        enough = fewest + mixture_share * (most - fewest)
        if self.warm_start and self._seen < enough:
            theta = self._learn_first(batch, enough, mixture_share)
        else:
            theta = self._step(batch, self._amount, mixture_share)
        self._amount += self.recipe.amount(batch)
        self._note_step(batch.D, self.rho)
        if self._seen >= most:
            self._first = FirstDocuments()  # however short the texts to come, they need no others
        return theta

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """See `LambdaModel.infer`; with warm_start=False, [SVI13] section 4's local step itself."""
        return super().infer(batch) if self.warm_start else self.local_proportions(batch)

    def local_proportions(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) proportions of the local step, as `learn` returns them, but without learning.

        Raises ValueError for a word id out of range.
        """
        theta = np.empty((batch.D, self.n_topics), np.float32)
        words = batch.words(self.n_words)
        mixture_share = self._mixture_share
        corpus = self._corpus(words.ids, self._amount, mixture_share)
        for documents, _, posterior in self._local_steps(words, corpus):
            theta[documents] = posterior.theta
        if mixture_share:
            of_one_topic, _ = self._of_single_tables(words, corpus)
            theta += mixture_share * (of_one_topic.astype(np.float32) - theta)
        return theta

    def word_topics(self, batch: Minibatch, theta: NDArray[Any]) -> NDArray[np.float64]:
        """See `LambdaModel.word_topics`; with warm_start=False, phi_dni zeta_dik summed over the
        tables i of [SVI13] figure 9, which finds them anew."""
        if self.warm_start:
            return super().word_topics(batch, theta)
        phi = np.zeros((len(batch.word_ids), self.n_topics))
        words = batch.words(self.n_words)
        corpus = self._corpus(words.ids, self._amount)
        for documents, _, posterior in self._local_steps(words, corpus):
            start = batch.indptr[documents.start]
            for place, d in enumerate(range(documents.start, documents.stop)):
                entries = slice(batch.indptr[d], batch.indptr[d + 1])
                of_part = slice(entries.start - start, entries.stop - start)
                phi[entries] = posterior.tables[of_part] @ posterior.zeta[place]
        return shares_of_rows(phi)

    def corpus_bound(self) -> float:
        """The corpus's terms of the ELBO, those of topics and sticks, nats: docs/derivations.md."""
        from wikitopics.model.hdp_e_step import sticks_bound

        return self._topics.elbo(self._eta) + sticks_bound(self.a, self.b, self.omega)

    def _of_single_tables(self, words: Words, corpus: HDPCorpus) -> tuple[Floats, Floats]:
        """(D, K), (U, K) `mixture.only_topics` of documents with a single table each."""
        sigma = np.exp(corpus.Elog_sigma[: self.n_topics].astype(np.float64))
        return mixture.only_topics(words, corpus.rows, sigma)

    def _corpus(self, ids: Ids, seen: float, mixture_share: float = 0.0) -> HDPCorpus:
        """The corpus as documents with these words see it.

        With the warm start, its rows are exp(E[log beta]), and topics that are ahead are held back
        while few documents have been `seen`. Otherwise its rows are E[log beta], as `figure_9`
        takes them.
        """
        from wikitopics.model.hdp_e_step import corpus_of

        if self.warm_start:
            full_balance = self.recipe.balance(self._topics, seen, self._in_all())
            balance = full_balance ** (1 - mixture_share)
            rows = self._topics.exp_Elog_rows(ids, self._workers, balance)
        else:
            rows = self._topics.Elog_rows(ids)
        return corpus_of(rows, self.a, self.b, self._topics.dtype)

    def _local_steps(
        self, words: Words, corpus: HDPCorpus
    ) -> Iterator[tuple[slice, Words, Tables]]:
        """The local step on `PART` documents at a time: their range, their words, and the
        result."""
        for start in range(0, words.batch.D, PART):
            documents = slice(start, min(start + PART, words.batch.D))
            part = words.part(documents)
            yield documents, part, self._e_step(part, corpus)

    def _e_step(self, words: Words, corpus: HDPCorpus) -> Tables:
        """[SVI13] fig. 9 lines 5 to 10, as printed or started from each document's own topics."""
        from wikitopics.model.hdp_e_step import figure_9, shortlists

        if self.warm_start:
            return shortlists(words, corpus, self.n_topics, self._limits(), self._workers)
        return figure_9(words, corpus, self._limits(), self._workers)

    def _limits(self) -> HDPLimits:
        """What bounds a document's local step: the settings, and the numbers of the recipe."""
        from wikitopics.model.hdp_kernels import HDPLimits

        recipe = self.recipe
        return HDPLimits(
            T=self.max_topics_per_document,
            alpha=self.alpha,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            em_steps=recipe.em_steps,
            fewest_words=recipe.fewest_words,
            candidates=recipe.candidates,
            iterations=recipe.iterations,
            rounds=recipe.rounds,
            one_topic=recipe.one_topic,
        )

    def _learn_first(
        self, batch: Minibatch, enough: float, mixture_share: float
    ) -> NDArray[np.float32]:
        """(D, K) proportions after learning a minibatch of the first documents, from which the
        topics start.

        Until there are enough documents, the model starts over from all of them whenever their
        number has doubled, so that the stream may begin with small minibatches. In between, the
        steps are ordinary ones.
        """
        first = self._keep_first(batch)
        too_few = enough > first.D
        has_doubled = 2 * self._started_from <= first.D
        if has_doubled or not too_few:
            documents = first.joined()
            self._start_from(documents, mixture_share)
            passes = self.recipe.first_passes if too_few else 1
            for _ in range(passes):
                theta_of_first = self._step(documents, 0, mixture_share)
            theta = theta_of_first[-batch.D :]  # this minibatch comes last
        else:
            theta = self._step(batch, self._amount, mixture_share)
        if not too_few:
            self._first = FirstDocuments()
        return theta

    def _start_from(self, documents: Minibatch, mixture_share: float = 0.0) -> None:
        """Start the topics from documents added to the corpus's mean, with the share
        `mixture_share` from a mixture; the sticks are uniform and heavy."""
        recipe = self.recipe
        K = self.n_topics
        corpus = max(self.n_documents, recipe.smallest_corpus)  # documents
        seeds_of_topics = np.bincount(self._topics.seed_topics)  # how many each seeded topic has
        # How many topics start, and with how many words each.
        starts = max(recipe.starts(K, self.n_documents), len(seeds_of_topics))
        mass = corpus * WORDS_A_DOCUMENT / starts
        lambda_hat = np.zeros((self.n_words, K), self._topics.dtype)
        lambda_hat[:, :starts] = mass * self._drawn_topics(documents, starts, seeds_of_topics)
        if mixture_share and documents.n_tokens:
            enough = mixture.enough(self.n_documents)
            fresh = mixture.first_topics(
                documents,
                self._topics,
                starts,
                self._random,
                thorough=enough <= documents.D,
            )
            # Together, the topics of the mixture get the share `mixture_share` of all words.
            words_of_fresh = mixture_share * mass * starts
            fresh *= words_of_fresh / fresh.sum()
            lambda_hat[:, :starts] = (1 - mixture_share) * lambda_hat[:, :starts] + fresh
        tables_of_corpus = recipe.heavy * corpus * self.max_topics_per_document
        heavy = tables_of_corpus / starts
        topics = self._topics.seeding(Lambda.of(lambda_hat, self._eta))
        self._restart(topics, heavy, starts)
        self._topics.sow(corpus * documents.n_tokens / documents.D)
        self._started_from = documents.D

    def _drawn_topics(
        self, documents: Minibatch, starts: int, seeds_of_topics: NDArray[np.intp]
    ) -> Matrix:
        """(W, starts) topics, columns sum to 1: each from documents drawn at random, but a seeded
        one from its seeds.

        seeds_of_topics: how many seeds each topic up to the last seeded one has
        """
        # For each topic that starts, the numbers of the documents that it starts from.
        drawn = self.recipe.draw(documents.D, starts, self._random)
        sources = documents
        n_seeded = len(seeds_of_topics)
        if n_seeded:
            # The seeds of a topic are made a document, and these documents get the numbers after
            # those of all others.
            drawn[:n_seeded] = documents.D + np.arange(n_seeded)[:, None]
            indptr = np.append(0, np.cumsum(seeds_of_topics))
            seed_words = self._topics.seed_words.astype(np.int32)
            ones = np.ones(len(seed_words), np.int32)
            of_seeds = Minibatch(indptr, seed_words, ones)
            sources = Minibatch.concatenate([documents, of_seeds])
        return topics_from(sources, self.n_words, drawn, self.recipe.seed_weight)

    def _drop_topics(self) -> None:
        """Empty the topics that have too few words, the smallest first, but at most a third of all;
        documents use other topics in later steps.

        Nothing else removes such topics: a topic that started from a document keeps the document,
        and by the counts of lambda and of the sticks no topic is small.
        """
        has_words = self._topics.total_hat > 0
        too_small = self.topic_shares() < self.recipe.least_share(self.n_documents)
        too_small[self._topics.seed_topics] = False
        droppable = too_small & has_words
        by_size = np.argsort(self._words, kind="stable")
        smallest_first = by_size[droppable[by_size]]
        most_dropped = math.ceil(np.count_nonzero(has_words) / 3)
        dropped = smallest_first[:most_dropped]
        if len(dropped):
            self._topics.replace(dropped, np.zeros((self.n_words, len(dropped))))
            self._words[dropped] = 0
            # The sticks count tables: a - 1 is each topic's own, b - omega those of all later
            # topics. Only the first K-1 topics have sticks. The tables of the last topic are those
            # later than topic K-1, which the last b counts.
            of_last_topic = self.b[-1:] - self.omega
            tables = np.append(self.a - 1, of_last_topic)
            tables[dropped] = 0
            self.a = 1 + tables[:-1]
            self.b = self.omega + _sums_from(tables)[1:]

    def _step(self, batch: Minibatch, seen: float, mixture_share: float) -> NDArray[np.float32]:
        """[SVI13] fig. 9 lines 5 to 12, whose results are blended with those of documents that have
        a single table each; (D, K) proportions.

        seen: the documents seen, on which balance depends, as the recipe counts them
        mixture_share: the weight of documents with a single table; the rest is that of the local
        step
        """
        from wikitopics.model.hdp_e_step import sum_statistics

        words = batch.words(self.n_words)
        corpus = self._corpus(words.ids, seen, mixture_share)
        local_steps = self._local_steps(words, corpus)
        part_of_step = 1.0
        if self.warm_start:
            part_of_step = min(1.0, self.recipe.amount(batch) / self.whole_step)
        self._time += part_of_step
        # Several small steps together forget as much as one whole step.
        whole_rho = StepSizes(self.tau0, self.kappa).rho(self._time)
        rho = 1 - (1 - whole_rho) ** part_of_step
        rho = max(rho, self._least_rho(batch.D))
        D = max(self.n_documents, self.recipe.smallest_corpus)
        weight = rho * D / batch.D  # rho D/S
        mass = np.zeros(self.n_topics)
        tables = np.zeros(self.n_topics)
        theta = np.empty((batch.D, self.n_topics), np.float32)
        # lambda <- (1 - rho) lambda + rho (eta + D/S sum_d sum_i zeta_di n_d phi_di), a part at a
        # time
        self._topics.decay(rho, self._eta)
        for documents, part, posterior in local_steps:
            statistics = sum_statistics(part.batch, posterior, self.n_words, self._workers)
            self._topics.add(weight * (1 - mixture_share), statistics, self._workers, precise=True)
            theta[documents] = posterior.theta
            mass += statistics.mass
            tables += statistics.tables
        if mixture_share:
            # The parts above have added lambda's share of 1 - mixture_share. theta, mass and tables
            # are moved from the local step's values towards these: x + mixture_share (y - x).
            R, sums = self._of_single_tables(words, corpus)
            tables_of_mixture = R.sum(axis=0)
            of_mixture = Statistics(words.ids, sums.astype(self._topics.dtype), sums.sum(axis=0))
            self._topics.add(weight * mixture_share, of_mixture, self._workers, precise=True)
            theta += mixture_share * (R.astype(np.float32) - theta)
            mass += mixture_share * (of_mixture.mass - mass)
            tables += mixture_share * (tables_of_mixture - tables)
        self._step_sticks(rho, weight, mass, tables)
        return theta

    def _step_sticks(self, rho: float, weight: float, mass: Vector, tables: Vector) -> None:
        """Line 12 for the sticks, and the running mean of the topics' words; `weight` is rho
        D/S."""
        self._words = (1 - rho) * self._words + weight * mass
        tables_after = tables.sum() - np.cumsum(tables)[:-1]  # of all later topics
        self.a = (1 - rho) * self.a + rho + weight * tables[:-1]
        self.b = (1 - rho) * self.b + rho * self.omega + weight * tables_after
        self.rho = rho

    def _in_all(self) -> float:
        """The number of documents in the whole corpus, as the recipe counts them."""
        return self.recipe.corpus(self.n_documents, self._seen, self._amount)

    def _contradiction(self) -> str:
        if self._first is None:
            return "it lacks the documents to start from"
        most = max(self.recipe.first_documents, mixture.MOST)
        n_first = self._first.D
        if n_first > most:
            return "there are more documents to start from than it takes"
        return super()._contradiction()


def _sums_from(numbers: Vector) -> Vector:
    """(n,) for each number, its sum with all later ones."""
    sums: Vector = numbers[::-1].cumsum()[::-1]
    return sums
