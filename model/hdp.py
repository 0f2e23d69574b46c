"""The hierarchical Dirichlet process by stochastic variational inference: [SVI13] figure 9, [W11] figure 2.

| symbol | shape | meaning | paper |
|---|---|---|---|
| lambda_ | (K, W) | variational Dirichlet of the topics | [SVI13] fig. 8 |
| a, b | (K-1,) | variational Betas of the corpus sticks v | [SVI13] fig. 8 ([W11]: u, v) |
| sigma | (K,) | a topic's weight in the corpus, from v | [SVI13] section 3.3 |
| zeta | (T, K) | a table's topic, for each of a document's T tables | [SVI13] fig. 9 ([W11]: varphi) |
| phi | (n, T) | a word's table | [SVI13] fig. 9 ([W11]: zeta) |
| gamma | (T-1, 2) | variational Betas of a document's sticks | [SVI13] fig. 9 ([W11]: a, b) |
| omega, alpha | numbers | concentrations of corpus and document | [SVI13] section 3.3 |
| eta | number | Dirichlet parameter of the topics | [SVI13] section 3.3 |
| rho | number | step size | [SVI13] eq. 26 |

The local step is `_hdp_local.py` (its loops `_hdp_kernels.py`, figure 9 as printed `_hdp_figure9.py`), lambda
is `_topics.py`, the corpus sticks are `_hdp_sticks.py`, held-out proportions `_hdp_proportions.py`.

**Where the default leaves the papers** (`warm_start=True`; all of it measured, docs/derivations.md): one pass
of figure 9 as printed ends with a dozen broad topics. So (1) the topics start from documents, not at random;
(2) the sticks start uniform and heavy; (3) a document's tables start from its own topics (`_hdp_kernels`);
(4) topics that are ahead are held back during the first part of the stream; (5) a minibatch smaller than
`whole_step` makes a proportionally smaller step. With `warm_start=False` figure 9 is followed line by line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from model import _checks as check
from model import _hdp_local
from model._hdp_local import Corpus, Local
from model._hdp_proportions import proportions
from model._hdp_start import joined, nothing, topics_from
from model._hdp_sticks import Elog_sticks, expected_sticks, sticks_bound
from model._online import OnlineModel
from model._state import MOST_ITERATIONS, Entry, State, array, flag, number, row, whole
from model._topics import Topics, random_topics
from model._words import distinct
from model.minibatch import Minibatch

LARGEST_STEP = 2048  # documents of a whole step, fewer where the corpus is small: see `whole_step`
FIRST = 1000  # documents that the topics start from
HEAVY = 0.1  # the uniform sticks to start with weigh as much as this part of the corpus's tables
BALANCE = 0.7  # exponent by which topics ahead are held back at first, falling to 0 …
BALANCED = 100_000  # … within so many documents, or two thirds of a smaller corpus
SWEEPS = 5  # over a document's words for held-out proportions; more only predict worse
MOST_TABLES = 1000  # that a document may have in a state: each takes memory
LEAST_SHARE = 1e-3  # a topic with a smaller expected share of the words takes no part in these


class OnlineHDP(OnlineModel):
    """Hierarchical Dirichlet process topic model learnt from minibatches, in one pass.

    n_words, n_documents: W, and D, the size of the corpus (an estimate will do)
    max_topics, max_topics_per_document: the truncations K and T
    omega, alpha: concentration of the corpus and of a document; eta: Dirichlet parameter of the topics
    tau0, kappa: the step size of update t is (tau0 + t)^-kappa, t from 1; kappa within [0.5, 1], tau0 >= 0
    warm_start: the departures listed above; False follows [SVI13] figure 9 with footnote 6's random topics
    dtype: "float32", or "float64" for comparisons
    tolerance, max_iterations: a document's local step ends when its tables' words change by at most
    `tolerance` of the document, or after so many iterations (figure 9; the default has its own limits)
    threads: part of the speed, not of the result

    Raises ValueError for values out of range.
    """

    kind = "hdp"
    default_batch_size = 2048
    _kept: ClassVar[Mapping[str, tuple[str, Entry[Any]]]] = {
        attribute.lstrip("_"): (attribute, entry)
        for attribute, entry in {
            "a": array("K-1", above=True),
            "b": array("K-1", above=True),
            "_words": array("K"),
            "_started_from": whole(),
            "_time": number(),
            "_n_documents": number(1),
            "max_topics_per_document": whole(1, MOST_TABLES),
            "omega": number(above=True),
            "alpha": number(above=True),
            "eta": number(above=True),
            "tau0": number(),
            "kappa": number(0.5, 1),
            "warm_start": flag,
            "tolerance": number(above=True),
            "max_iterations": whole(1, MOST_ITERATIONS),
            "_updates": whole(),
            "_seen": whole(),
            "_rho": number(0, 1),
        }.items()
    }

    def __init__(
        self,
        n_words: int,
        n_documents: float,
        *,
        max_topics: int = 300,
        max_topics_per_document: int = 10,
        omega: float = 1.0,
        alpha: float = 1.0,
        eta: float = 0.2,
        tau0: float = 32.0,
        kappa: float = 0.6,
        warm_start: bool = True,
        tolerance: float = 1e-2,
        max_iterations: int = 100,
        dtype: Literal["float32", "float64"] = "float32",
        seed: int = 0,
        threads: int = 1,
    ) -> None:
        check.at_least_one(
            n_words=n_words,
            n_documents=n_documents,
            max_topics=max_topics,
            max_topics_per_document=max_topics_per_document,
            max_iterations=max_iterations,
        )
        check.positive(omega=omega, alpha=alpha, eta=eta, tolerance=tolerance)
        check.step_size(tau0, kappa)
        check.one_of(("float32", "float64"), dtype=dtype)
        super().__init__(n_documents, seed, threads)
        self.max_topics_per_document = int(max_topics_per_document)
        self.omega, self.alpha, self.eta = float(omega), float(alpha), float(eta)
        self.tau0, self.kappa = float(tau0), float(kappa)
        self.warm_start = bool(warm_start)
        self.tolerance, self.max_iterations = float(tolerance), int(max_iterations)
        self._seen = 0
        self._first: Minibatch | None = nothing() if warm_start else None
        self._started_from = 0
        if warm_start:
            topics = Topics.of(np.zeros((n_words, max_topics), dtype), self.eta)
        else:
            topics = random_topics(
                self._random, "exponential", max_topics, n_words, self._n_documents, self.eta, dtype
            )
        self._restart(topics, 0.0)

    def _restart(self, topics: Topics, heavy: float) -> None:
        """The corpus before any step. heavy: tables that each topic is to have already, as it were."""
        self._topics = topics
        K = topics.n_topics
        self._words = np.zeros(K)  # a running mean of the corpus's words of each topic
        self._time = 0.0  # t, in whole steps
        self.a = np.full(K - 1, 1.0 + heavy)  # [SVI13] fig. 9 line 1 for heavy = 0
        self.b = self.omega + heavy * np.arange(K - 1, 0, -1.0)

    # What it is

    @property
    def n_topics(self) -> int:
        return self._topics.n_topics

    @property
    def n_words(self) -> int:
        return self._topics.n_words

    @property
    def whole_step(self) -> int:
        """Documents of a step of full size: enough for a steady direction, few enough for some 40 steps."""
        return int(np.clip(self._n_documents / 40, 64, LARGEST_STEP))

    @property
    def lambda_(self) -> NDArray[Any]:
        """(K, W) variational Dirichlet of the topics, a copy."""
        return self._topics.lambda_()

    def topics(self) -> NDArray[Any]:
        """(K, W) expected topics E[beta], rows sum to 1."""
        lambda_ = self.lambda_
        totals = lambda_.sum(axis=1, dtype=np.float64, keepdims=True)
        topics: NDArray[Any] = lambda_ / totals.astype(lambda_.dtype)
        return topics

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) expected topics of some words only, E[beta_kw] with one row a word."""
        dtype = self._topics.dtype
        rows: NDArray[Any] = self._topics.rows(word_ids, dtype) / self._topics.totals()
        return rows.astype(dtype)

    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1; equal before the first update."""
        total = self._words.sum()
        if total == 0:
            return np.full(self.n_topics, 1 / self.n_topics)
        shares: NDArray[np.float64] = self._words / total
        return shares

    def document_prior(self) -> NDArray[np.float64]:
        """(K,) alpha E[sigma_k(v)]: a Dirichlet as prior of a document's proportions, [W11] section 4.1."""
        return self.alpha * expected_sticks(self.a, self.b)

    # What it does

    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        An empty minibatch changes nothing. Raises ValueError for a word id out of range, before any change.
        """
        batch.check_words(self.n_words)
        if batch.D == 0:
            return np.zeros((0, self.n_topics), dtype=np.float32)
        if self._first is not None:
            theta = self._learn_first(batch, self._first)
        else:
            theta = self._step(batch, self._seen)
        self._updates += 1
        self._seen += batch.D
        return theta

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions of documents, rows sum to 1; changes nothing.

        Under the prior Dirichlet(alpha E[sigma]) of [W11] section 4.1, the words' topics by the collapsed
        update, which predicts better than the variational one; with warm_start=False as [SVI13] section 4
        says, by the local step itself. A document without words gets the prior's.
        Raises ValueError for a word id out of range.
        """
        if not self.warm_start:
            return self.local_proportions(batch)
        batch.check_words(self.n_words)
        ids, local_ids = distinct(batch, self.n_words)
        theta = np.empty((batch.D, self.n_topics), self._topics.dtype)
        prior = self.document_prior().astype(theta.dtype)
        rows = self.topic_rows(ids)
        least = LEAST_SHARE if theta.dtype == np.float32 else 0.0

        def block(start: int, stop: int) -> None:
            proportions(start, stop, batch.indptr, local_ids, batch.counts, rows, prior, least, SWEEPS, theta)

        self._workers.map(block, batch.D, _hdp_local.BLOCK)
        return theta.astype(np.float32, copy=False)

    def local_proportions(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) as `learn` returns them, but nothing is learnt: those of the local step, quicker.

        Raises ValueError for a word id out of range.
        """
        batch.check_words(self.n_words)
        ids, local_ids = distinct(batch, self.n_words)
        theta = np.empty((batch.D, self.n_topics), self._topics.dtype)
        corpus = self._corpus(ids, self._seen)
        for documents, part, part_ids in _hdp_local.parts(batch, local_ids):
            theta[documents] = self._local(part, part_ids, corpus).theta
        return theta.astype(np.float32, copy=False)

    def document_bounds(self, batch: Minibatch) -> NDArray[np.float64]:
        """(D,) each document's terms of the ELBO after a local step, nats: docs/derivations.md.

        [W11] L_j without the share of the corpus's own terms. Raises ValueError for a word id out of range.
        """
        batch.check_words(self.n_words)
        ids, local_ids = distinct(batch, self.n_words)
        corpus = self._corpus(ids, self._seen)
        Elog_rows = self._topics.Elog_rows(ids)
        Elog_sigma = Elog_sticks(self.a, self.b)
        bounds = np.empty(batch.D)
        for documents, part, part_ids in _hdp_local.parts(batch, local_ids):
            local = self._local(part, part_ids, corpus)
            bounds[documents] = _hdp_local.bounds(
                self._workers, part, part_ids, Elog_rows, Elog_sigma, self.alpha, local
            )
        return bounds

    def corpus_bound(self) -> float:
        """The corpus's terms of the ELBO, those of topics and sticks, nats: docs/derivations.md."""
        return self._topics.elbo(self.eta) + sticks_bound(self.a, self.b, self.omega)

    def _corpus(self, ids: NDArray[np.int32], seen: int) -> Corpus:
        """What documents with these words see of the corpus; after few `seen`, topics ahead are held back."""
        dtype = self._topics.dtype
        sigma = expected_sticks(self.a, self.b).astype(dtype)
        Elog_sigma = Elog_sticks(self.a, self.b).astype(dtype)
        if not self.warm_start:
            return Corpus(self._topics.Elog_rows(ids).astype(dtype), sigma, Elog_sigma)
        rows = self._topics.exp_Elog_rows(ids, self._workers, self._balance(seen))
        padding = (0, rows.shape[1] - self.n_topics)
        return Corpus(rows, np.pad(sigma, padding), np.pad(Elog_sigma, padding))

    def _balance(self, seen: int) -> NDArray[np.float64]:
        """(K,) factors on the topics: (mass / mean mass)^-x, x falling from `BALANCE` to 0.

        Without it, topics that are ahead by chance while symmetry breaks take the words of those behind.
        """
        exponent = BALANCE * max(0.0, 1 - seen / min(BALANCED, self._n_documents * 2 / 3))
        total = self._topics.total_hat
        mass = total / total.mean() if total.any() else np.ones(self.n_topics)
        factors: NDArray[np.float64] = np.maximum(mass, 1e-3) ** -exponent
        return factors

    def _local(self, batch: Minibatch, local_ids: NDArray[np.int32], corpus: Corpus) -> Local:
        T = self.max_topics_per_document
        if self.warm_start:
            return _hdp_local.recipe(
                self._workers, batch, local_ids, corpus, self.n_topics, T, self.alpha, self.tolerance
            )
        return _hdp_local.figure_9(
            self._workers, batch, local_ids, corpus, T, self.alpha, self.tolerance, self.max_iterations
        )

    def _learn_first(self, batch: Minibatch, first: Minibatch) -> NDArray[np.float32]:
        """A minibatch of the first `FIRST` documents, from which the topics start.

        Until so many have come, everything starts over from all of them each time their number has doubled,
        so that the stream may begin with small minibatches; in between there are steps as usual.
        """
        first = joined(first, batch)
        wanted = min(FIRST, self._n_documents)
        if min(2 * self._started_from, wanted) <= first.D:
            self._start_from(first)
            theta = self._step(first, 0)[-batch.D :]
        else:
            theta = self._step(batch, self._seen)
        self._first = first if wanted > first.D else None
        return theta

    def _start_from(self, documents: Minibatch) -> None:
        """Topics from documents: some drawn at random on the corpus's mean; sticks uniform and heavy."""
        K = self.n_topics
        mass = self._n_documents * 100 / K  # as in [SVI13] footnote 6: 100 words a document
        lambda_hat = mass * topics_from(documents, self.n_words, K, self._random)
        self._restart(
            Topics.of(lambda_hat.astype(self._topics.dtype), self.eta),
            HEAVY * self._n_documents * self.max_topics_per_document / K,
        )
        self._started_from = documents.D

    def _step(self, batch: Minibatch, seen: int) -> NDArray[np.float32]:
        """[SVI13] fig. 9 lines 5 to 12."""
        ids, local_ids = distinct(batch, self.n_words)
        corpus = self._corpus(ids, seen)
        whole = min(1.0, batch.D / self.whole_step) if self.warm_start else 1.0
        self._time += whole
        # Steps of parts of a minibatch together forget as much as one of the whole.
        rho = 1 - (1 - min(1.0, (self.tau0 + self._time) ** -self.kappa)) ** whole
        self._topics.decay(rho, self.eta)
        factor = rho * self._n_documents / batch.D
        K = self.n_topics
        mass, chosen = np.zeros(K), np.zeros(K)
        theta = np.empty((batch.D, K), np.float32)
        for documents, part, part_ids in _hdp_local.parts(batch, local_ids):
            local = self._local(part, part_ids, corpus)
            theta[documents] = local.theta
            of_part = _hdp_local.add_statistics(
                self._workers, part, local, factor / self._topics.scale, self._topics.hat
            )
            mass += of_part[0]
            chosen += of_part[1]
        self._finish(rho, factor, mass, chosen)
        return theta

    def _finish(self, rho: float, factor: float, mass: NDArray[Any], chosen: NDArray[Any]) -> None:
        """Line 12 for the sticks, and the totals; `factor` is rho D/S."""
        self._topics.total_hat += factor / self._topics.scale * mass
        self._words = (1 - rho) * self._words + factor * mass
        after = chosen.sum() - np.cumsum(chosen)[:-1]
        self.a = (1 - rho) * self.a + rho + factor * chosen[:-1]
        self.b = (1 - rho) * self.b + rho * self.omega + factor * after
        self._rho = rho

    # Where it is kept

    def _other_state(self) -> dict[str, Any]:
        first = self._first or nothing()
        return {
            **self._topics.state(),
            "starting": self._first is not None,
            "first_indptr": first.indptr.copy(),
            "first_word_ids": first.word_ids.copy(),
            "first_counts": first.counts.copy(),
        }

    def _set_other_state(self, state: State) -> None:
        self._topics = Topics.from_state(state, self.eta)
        first = Minibatch(*(state.take(f"first_{name}", row) for name in ("indptr", "word_ids", "counts")))
        first.check_words(self.n_words)
        if first.D > FIRST:
            raise ValueError(f"the state keeps {first.D} documents to start from, over {FIRST}")
        self._first = first if state.take("starting", flag) else None
