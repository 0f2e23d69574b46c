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

lambda is kept as `eta + scale * lambda_hat`, lambda_hat with one row a word: a step multiplies `scale` by
1 - rho and touches only the rows of the minibatch's words.

**Where the default leaves the papers** (`warm_start=True`; all of it measured, docs/derivations.md): one pass
of figure 9 as printed ends with a dozen broad topics. So (1) the topics start from documents, not at random;
(2) the sticks start uniform and heavy; (3) a document's tables start from its own topics (`_hdp_kernels`);
(4) topics that are ahead are held back during the first part of the stream; (5) a minibatch smaller than
`whole_step` makes a proportionally smaller step. With `warm_start=False` figure 9 is followed line by line.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from model import _hdp_local
from model._blocks import Workers
from model._hdp_local import Corpus, Local
from model._hdp_proportions import proportions
from model._hdp_start import joined, nothing, topics_from
from model._hdp_sticks import Elog_sticks, expected_sticks, sticks_bound
from model._lda_kernels import LANES, topic_rows
from model._words import Words, by_word
from model.minibatch import Minibatch

SMALLEST_SCALE = 1e-6

LARGEST_STEP = 2048  # documents of a whole step, fewer where the corpus is small: see `whole_step`
FIRST = 1000  # documents that the topics start from
HEAVY = 0.1  # the uniform sticks to start with weigh as much as this part of the corpus's tables
BALANCE = 0.7  # exponent by which topics ahead are held back at first, falling to 0 …
BALANCED = 100_000  # … within so many documents, or two thirds of a smaller corpus
SWEEPS = 20  # over a document's words for held-out proportions
LEAST_WORDS = 0.01  # a topic with fewer expected words takes no part in these


class OnlineHDP:
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

    kind: ClassVar[str] = "hdp"
    default_batch_size: ClassVar[int] = 2048

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
        for name, size in (
            ("n_words", n_words),
            ("max_topics", max_topics),
            ("max_topics_per_document", max_topics_per_document),
            ("max_iterations", max_iterations),
        ):
            if size < 1:
                raise ValueError(f"{name} must be at least 1, not {size}")
        if not 1 <= n_documents < np.inf:
            raise ValueError(f"n_documents must be at least 1, not {n_documents}")
        for name, value in (("omega", omega), ("alpha", alpha), ("eta", eta), ("tolerance", tolerance)):
            if not (isinstance(value, int | float | np.number) and 0 < value < np.inf):
                raise ValueError(f"{name} must be a positive number, not {value!r}")
        if not 0.5 <= kappa <= 1:
            raise ValueError(f"kappa must be within 0.5 and 1, not {kappa}")
        if not 0 <= tau0 < np.inf:
            raise ValueError(f"tau0 must be at least 0, not {tau0}")
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64", not {dtype!r}')
        self._n_documents = float(n_documents)
        self.max_topics_per_document = int(max_topics_per_document)
        self.omega, self.alpha, self.eta = float(omega), float(alpha), float(eta)
        self.tau0, self.kappa = float(tau0), float(kappa)
        self.warm_start = bool(warm_start)
        self.tolerance, self.max_iterations = float(tolerance), int(max_iterations)
        self._workers = Workers(threads)
        self._random = np.random.default_rng(seed)
        self._lambda_hat: NDArray[Any] = np.zeros((n_words, max_topics), dtype)
        self._updates = 0
        self._seen = 0
        self._rho = 0.0
        self._first: Minibatch | None = nothing() if warm_start else None
        self._started_from = 0
        if not warm_start:
            # [SVI13] footnote 6: lambda - eta ~ Exponential(D 100 / (K W))
            mean = self._n_documents * 100 / (max_topics * n_words)
            self._lambda_hat[:] = self._random.exponential(mean, (n_words, max_topics))
        self._restart(0.0)

    def _restart(self, heavy: float) -> None:
        """The corpus as before any step; lambda_hat is set already. heavy: u of the uniform sticks."""
        K = self.n_topics
        self._scale = 1.0
        self._total_hat: NDArray[np.float64] = self._lambda_hat.sum(axis=0, dtype=np.float64)
        self._words = np.zeros(K)  # a running mean of the corpus's words of each topic
        self._time = 0.0  # t, in whole steps
        self.a = np.full(K - 1, 1.0 + heavy)  # [SVI13] fig. 9 line 1 for heavy = 0
        self.b = self.omega + heavy * np.arange(K - 1, 0, -1.0)

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
    def whole_step(self) -> int:
        """Documents of a step of full size: enough for a steady direction, few enough for some 40 steps."""
        return int(np.clip(self._n_documents / 40, 64, LARGEST_STEP))

    @property
    def threads(self) -> int:
        return self._workers.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._workers = Workers(threads)

    @property
    def lambda_(self) -> NDArray[Any]:
        """(K, W) variational Dirichlet of the topics, a copy."""
        return (self.eta + self._scale * self._lambda_hat).T

    def topics(self) -> NDArray[Any]:
        """(K, W) expected topics E[beta], rows sum to 1."""
        lambda_ = self.lambda_
        totals = lambda_.sum(axis=1, dtype=np.float64, keepdims=True)
        topics: NDArray[Any] = lambda_ / totals.astype(lambda_.dtype)
        return topics

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) expected topics of some words only, E[beta_kw] with one row a word."""
        lambda_ = self.eta + self._scale * self._lambda_hat[word_ids]
        rows: NDArray[Any] = (lambda_ / self._lambda_total()).astype(self._lambda_hat.dtype)
        return rows

    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1; equal before the first update."""
        total = self._words.sum()
        if total == 0:
            return np.full(self.n_topics, 1 / self.n_topics)
        shares: NDArray[np.float64] = self._words / total
        return shares

    def topics_in_use(self) -> int:
        """Topics with more than a thousandth of the corpus."""
        return int(np.count_nonzero(self.topic_shares() > 1e-3))

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
        batch.check_words(self.n_words)
        words = by_word(batch, self.n_words)
        theta = np.empty((batch.D, self.n_topics), self._lambda_hat.dtype)
        if not self.warm_start:
            corpus = self._corpus(words, 0)
            for documents, part, ids in _hdp_local.parts(batch, words):
                theta[documents] = self._local(part, ids, corpus).theta
        else:
            prior = self.document_prior().astype(theta.dtype)
            rows = self.topic_rows(words.ids)
            least = LEAST_WORDS if theta.dtype == np.float32 else 0.0
            self._workers.map(
                lambda start, stop: proportions(
                    start, stop, batch.indptr, words.local, batch.counts, rows, prior, least, SWEEPS, theta
                ),
                batch.D,
                _hdp_local.BLOCK,
            )
        return theta.astype(np.float32, copy=False)

    def document_bounds(self, batch: Minibatch) -> NDArray[np.float64]:
        """(D,) each document's terms of the ELBO after a local step, nats: docs/derivations.md.

        [W11] L_j without the share of the corpus's own terms. Raises ValueError for a word id out of range.
        """
        batch.check_words(self.n_words)
        words = by_word(batch, self.n_words)
        corpus = self._corpus(words, self._seen)
        Elog_rows = self._Elog_rows(words.ids)
        Elog_sigma = Elog_sticks(self.a, self.b)
        bounds = np.empty(batch.D)
        for documents, part, ids in _hdp_local.parts(batch, words):
            local = self._local(part, ids, corpus)
            bounds[documents] = _hdp_local.bounds(
                self._workers, part, ids, Elog_rows, Elog_sigma, self.alpha, local
            )
        return bounds

    def corpus_bound(self) -> float:
        """The corpus's terms of the ELBO, those of topics and sticks, nats: docs/derivations.md."""
        K, W, eta = self.n_topics, self.n_words, self.eta
        lambda_ = eta + self._scale * self._lambda_hat.astype(np.float64)
        total = lambda_.sum(axis=0)
        bound = K * (gammaln(W * eta) - W * gammaln(eta)) - np.sum(gammaln(total)) + np.sum(gammaln(lambda_))
        bound += np.sum((eta - lambda_) * (psi(lambda_) - psi(total)))
        return float(bound) + sticks_bound(self.a, self.b, self.omega)

    def _lambda_total(self) -> NDArray[np.float64]:
        """(K,) sum_w lambda_kw."""
        return self.n_words * self.eta + self._scale * self._total_hat

    def _Elog_rows(self, word_ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """(U, K) E[log beta_kw], one row a word."""
        lambda_ = self.eta + self._scale * self._lambda_hat[word_ids].astype(np.float64)
        rows: NDArray[np.float64] = psi(lambda_) - psi(self._lambda_total())
        return rows

    def _corpus(self, words: Words, seen: int) -> Corpus:
        """What documents see of the corpus; `seen` documents ago it held topics back to let others grow."""
        dtype = self._lambda_hat.dtype
        sigma = expected_sticks(self.a, self.b).astype(dtype)
        Elog_sigma = Elog_sticks(self.a, self.b).astype(dtype)
        if not self.warm_start:
            return Corpus(self._Elog_rows(words.ids).astype(dtype), sigma, Elog_sigma)
        psi_total = psi(self._lambda_total())
        weight = (np.exp(psi_total.min() - psi_total) * self._balance(seen)).astype(dtype)
        rows = np.empty((len(words.ids), -(-self.n_topics // LANES) * LANES), dtype)
        self._workers.map(
            lambda start, stop: topic_rows(
                start,
                stop,
                words.ids,
                self._lambda_hat,
                dtype.type(self._scale),
                dtype.type(self.eta),
                psi_total,
                weight,
                rows,
            ),
            len(words.ids),
            _hdp_local.WORD_BLOCK,
        )
        padding = (0, rows.shape[1] - self.n_topics)
        return Corpus(rows, np.pad(sigma, padding), np.pad(Elog_sigma, padding))

    def _balance(self, seen: int) -> NDArray[np.float64]:
        """(K,) factors on the topics: (mass / mean mass)^-x, x falling from `BALANCE` to 0.

        Without it, topics that are ahead by chance while symmetry breaks take the words of those behind.
        """
        exponent = BALANCE * max(0.0, 1 - seen / min(BALANCED, self._n_documents * 2 / 3))
        mass = self._total_hat / self._total_hat.mean() if self._total_hat.any() else np.ones(self.n_topics)
        factors: NDArray[np.float64] = np.maximum(mass, 1e-3) ** -exponent
        return factors

    def _local(self, part: Minibatch, ids: NDArray[np.int32], corpus: Corpus) -> Local:
        T = self.max_topics_per_document
        if self.warm_start:
            return _hdp_local.recipe(
                self._workers, part, ids, corpus, self.n_topics, T, self.alpha, self.tolerance
            )
        return _hdp_local.figure_9(
            self._workers, part, ids, corpus, T, self.alpha, self.tolerance, self.max_iterations
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
        self._lambda_hat = lambda_hat.astype(self._lambda_hat.dtype)
        self._restart(HEAVY * self._n_documents * self.max_topics_per_document / K)
        self._started_from = documents.D

    def _step(self, batch: Minibatch, seen: int) -> NDArray[np.float32]:
        """[SVI13] fig. 9 lines 5 to 12."""
        words = by_word(batch, self.n_words)
        corpus = self._corpus(words, seen)
        whole = min(1.0, batch.D / self.whole_step) if self.warm_start else 1.0
        self._time += whole
        # Steps of parts of a minibatch together forget as much as one of the whole.
        rho = 1 - (1 - min(1.0, (self.tau0 + self._time) ** -self.kappa)) ** whole
        self._decay(rho)
        factor = rho * self._n_documents / batch.D
        K = self.n_topics
        mass, chosen = np.zeros(K), np.zeros(K)
        theta = np.empty((batch.D, K), np.float32)
        for documents, part, ids in _hdp_local.parts(batch, words):
            local = self._local(part, ids, corpus)
            theta[documents] = local.theta
            of_part = _hdp_local.add_statistics(
                self._workers, part, local, factor / self._scale, self._lambda_hat
            )
            mass += of_part[0]
            chosen += of_part[1]
        self._finish(rho, factor, mass, chosen)
        return theta

    def _decay(self, rho: float) -> None:
        """lambda_hat <- (1 - rho) lambda_hat."""
        if rho == 1.0 or self._scale * (1 - rho) < SMALLEST_SCALE:
            self._lambda_hat *= self._lambda_hat.dtype.type(self._scale * (1 - rho))
            self._total_hat = self._lambda_hat.sum(axis=0, dtype=np.float64)
            self._scale = 1.0
        else:
            self._scale *= 1 - rho

    def _finish(self, rho: float, factor: float, mass: NDArray[Any], chosen: NDArray[Any]) -> None:
        """Line 12 for the sticks, and the totals; `factor` is rho D/S."""
        self._total_hat += factor / self._scale * mass
        self._words = (1 - rho) * self._words + factor * mass
        after = chosen.sum() - np.cumsum(chosen)[:-1]
        self.a = (1 - rho) * self.a + rho + factor * chosen[:-1]
        self.b = (1 - rho) * self.b + rho * self.omega + factor * after
        self._rho = rho

    # Where it is kept

    def state(self) -> dict[str, Any]:
        """Everything, as numpy arrays and plain values: `from_state` goes on exactly from here."""
        first = self._first or nothing()
        return {
            "kind": self.kind,
            "lambda_hat": self._lambda_hat.copy(),
            "total_hat": self._total_hat.copy(),
            "a": self.a.copy(),
            "b": self.b.copy(),
            "words": self._words.copy(),
            "first_indptr": first.indptr.copy(),
            "first_word_ids": first.word_ids.copy(),
            "first_counts": first.counts.copy(),
            "starting": self._first is not None,
            "started_from": self._started_from,
            "scale": self._scale,
            "time": self._time,
            "n_documents": self._n_documents,
            "max_topics_per_document": self.max_topics_per_document,
            "omega": self.omega,
            "alpha": self.alpha,
            "eta": self.eta,
            "tau0": self.tau0,
            "kappa": self.kappa,
            "warm_start": self.warm_start,
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "updates": self._updates,
            "seen": self._seen,
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
        model.a, model.b = np.array(state["a"]), np.array(state["b"])
        model._words = np.array(state["words"])
        first = Minibatch(state["first_indptr"], state["first_word_ids"], state["first_counts"])
        model._first = first if state["starting"] else None
        model._started_from = int(state["started_from"])
        model._scale, model._time = float(state["scale"]), float(state["time"])
        model._n_documents = float(state["n_documents"])
        model.max_topics_per_document = int(state["max_topics_per_document"])
        model.omega, model.alpha, model.eta = (float(state[name]) for name in ("omega", "alpha", "eta"))
        model.tau0, model.kappa = float(state["tau0"]), float(state["kappa"])
        model.warm_start = bool(state["warm_start"])
        model.tolerance, model.max_iterations = float(state["tolerance"]), int(state["max_iterations"])
        model._updates, model._seen = int(state["updates"]), int(state["seen"])
        model._rho = float(state["rho"])
        model._random = np.random.default_rng()
        model._random.bit_generator.state = state["random"]
        model._workers = Workers(1)
        return model
