"""lambda, the variational Dirichlet of the topics, stored so that a step costs only the words it
touches.

lambda_kw = eta + scale hat[w, k]: the factor (1 - rho) of a step multiplies `scale` and moves
`eta`, both numbers, and only the rows of the minibatch's words are written. It is word-major, so
that a word's topics lie side by side. SCVB0's N_phi + eta is stored as a lambda like the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import options as check
from wikitopics.model.minibatch import Floats, Ids, Indices, Matrix, Minibatch, Vector
from wikitopics.model.online import WORDS_A_DOCUMENT, RelevantWords, lift_factors
from wikitopics.model.options import LARGEST
from wikitopics.model.states import FLOATS, TINY, Entry
from wikitopics.model.threads import ALONE, Threads

SMALLEST_SCALE = 1e-6
"""`Lambda.scale` below this is multiplied into `hat`."""
WORD_BLOCK = 512
"""The number of words of a block of work."""
SEED_WEIGHT = 0.03
"""What a topic's seeds add to its prior, as a share of a mean topic's words
(docs/derivations.md)."""
SEED_START = 0.03
"""The share of that which a new lambda gets: more would make the topic too broad."""


@dataclass(frozen=True)
class Statistics:
    """What documents say about the topics: the output of an E-step, and all that an M-step needs.

    The statistics of the parts of a minibatch are added to lambda in the order of the parts, so the
    result is the same to the bit wherever each was computed.

    ids: (U,) int32, the words that the documents have, increasing
    sums: (U, K') sum_d n_dw phi_dwk; K' is K or K padded
    mass: (K,) float64, the sums of `sums` over the words
    """

    ids: Ids
    sums: Floats
    mass: Vector


class AsRead(NamedTuple):
    """What is found by reading all topics once, decorrelated as far as `apart`.

    pressure: the factor on the uses of a word by other topics
    totals: (K,) the sum of each topic's words, reduced by that pressure
    """

    apart: float
    pressure: float
    totals: Vector


@dataclass
class Lambda:
    """lambda = eta + scale hat, with hat (W, K) float32 or float64, and its sums over the words,
    total_hat (K,) float64, which are carried along.

    Topics are decorrelated where they are read, but not where they are learnt
    (docs/derivations.md): a word that other topics use weighs less in a topic, by the factor
    1 / (1 + apart p / c). With n_wk the counts `hat`, n_w their sum over topics, and N their sum
    over topics and words, p = (n_w - n_wk) / N is how often the other topics use the word, and
    c = sum_w (n_w / N)^2 is how often a word drawn at random from all uses is used.

    A seeded word has a larger prior in its topic: eta + seed_counts[i] for word seed_words[i] in
    topic seed_topics[i], all (P,). The counts are 0 until the seeds are sown. They are part of
    `hat`, like words that were read, so only methods that change lambda deal with seeds.
    """

    hat: Floats
    total_hat: Vector
    scale: float
    eta: float
    seed_words: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    seed_topics: Indices = field(default_factory=lambda: np.zeros(0, np.int64))
    seed_counts: Vector = field(default_factory=lambda: np.zeros(0))
    _read: AsRead | None = field(default=None, init=False, repr=False)
    """What the last reading of all topics found; None if lambda has changed since."""

    ENTRIES: ClassVar[tuple[Entry, ...]] = (
        Entry("lambda_hat", "_topics.hat", FLOATS, "W K", least=0),
        Entry("total_hat", "_topics.total_hat", "float64", "K", least=0),
        Entry("scale", "_topics.scale", least=TINY),
        Entry("eta_lambda", "_topics.eta", least=0, most=check.LARGEST_PRIOR),
        Entry("seed_words", "_topics.seed_words", "int64", "P", least=0, below="W", optional=True),
        Entry(
            "seed_topics",
            "_topics.seed_topics",
            "int64",
            "P",
            least=0,
            below="K",
            optional=True,
        ),
        Entry("seed_counts", "_topics.seed_counts", "float64", "P", least=0, optional=True),
    )
    """The entries of a state for a model whose topics are `_topics`."""

    @classmethod
    def of_state(
        cls,
        hat: Floats,
        total_hat: Vector,
        scale: float,
        eta: float,
        **seeds: Any,
    ) -> Self:
        """From a state; raises ValueError for a lambda that is not positive, or not finite in
        float32."""
        least = eta + scale * float(hat.min())
        most = eta + scale * float(hat.max())
        if not (least > 0 and most <= LARGEST):
            raise ValueError("lambda must be positive, and finite in float32")
        return cls(hat, total_hat, scale, eta, **seeds)

    @classmethod
    def of(cls, lambda_hat: Floats, eta: float) -> Self:
        """lambda = eta + lambda_hat, (W, K)."""
        return cls(lambda_hat, lambda_hat.sum(axis=0, dtype=np.float64), 1.0, eta)

    @property
    def n_words(self) -> int:
        return int(self.hat.shape[0])

    @property
    def n_topics(self) -> int:
        return int(self.hat.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.hat.dtype

    # Reading

    def rows(self, word_ids: NDArray[np.integer[Any]]) -> Matrix:
        """(U, K) lambda of some words, one row per word."""
        # Indexing by ids makes a copy, which may be changed.
        rows: Matrix = self.hat[word_ids].astype(np.float64, copy=False)
        rows *= self.scale
        rows += self.eta
        return rows

    def lambda_(self) -> Floats:
        """(K, W) lambda, a copy."""
        lambda_: Floats = (self.eta + self.scale * self.hat).T
        return lambda_

    def totals(self) -> Vector:
        """(K,) sum_w lambda_kw."""
        return self.n_words * self.eta + self.scale * self.total_hat

    def shares(self) -> Vector:
        """(K,) each topic's share of the words assigned, sums to 1."""
        shares: Vector = self.total_hat / self.total_hat.sum()
        return shares

    def weighted_rows(
        self,
        word_ids: Ids,
        weight: Vector,
        workers: Threads,
        pressure: float = 0.0,
    ) -> Floats:
        """(U, K') lambda_kw weight_k / (1 + pressure (n_w - n_wk)) of some words, one row per word;
        K padded with zeros."""
        from wikitopics.model import kernels

        factors = (self.dtype.type(pressure), weight.astype(self.dtype))
        return self._rows(kernels.weighted_rows, word_ids, workers, *factors)

    def _rows(
        self,
        kernel: Callable[..., None],
        word_ids: Ids,
        workers: Threads,
        *factors: Any,
    ) -> Floats:
        """(U, K') what a kernel makes of some words, one row per word; K padded with zeros."""
        from wikitopics.model.kernels import Stored, padded

        to_dtype = self.dtype.type
        U = len(word_ids)
        rows = np.empty((U, padded(self.n_topics)), self.dtype)
        stored = Stored(self.hat, to_dtype(self.scale), to_dtype(self.eta))
        workers.run(kernel, U, WORD_BLOCK, word_ids, stored, *factors, rows)
        return rows

    def _unscaled(self, apart: float) -> Iterator[tuple[int, Floats]]:
        """The topics as they are read, up to a factor for each topic, some words at a time: the
        first word's id, and rows as in `weighted_rows`.

        The topics' factors, 1 / totals, are known only at the end, and then kept in `_read`.
        """
        K = self.n_topics
        even = np.ones(K)
        totals = np.zeros(K)
        pressure = 0.0
        if apart:
            n_w = self.hat.sum(axis=1, dtype=np.float64)
            pressure = apart * float(n_w.sum() / max(n_w @ n_w, TINY))  # apart / c / N
        for start in range(0, self.n_words, WORD_BLOCK):
            stop = min(start + WORD_BLOCK, self.n_words)
            ids = np.arange(start, stop, dtype=np.int32)
            rows = self.weighted_rows(ids, even, ALONE, pressure)
            sums = rows.sum(axis=0, dtype=np.float64)
            totals += sums[:K]
            yield start, rows
        self._read = AsRead(apart, pressure, totals)

    def _as_read(self, apart: float) -> AsRead:
        """What reading all topics finds; takes time K W if the topics have changed."""
        if not apart:
            return AsRead(apart, 0.0, self.totals())
        if self._read is None or self._read.apart != apart:
            for _ in self._unscaled(apart):
                pass  # only for what it keeps in `_read` at its end
        assert self._read is not None
        return self._read

    def read_rows(
        self,
        word_ids: NDArray[np.integer[Any]],
        apart: float,
        workers: Threads = ALONE,
    ) -> Floats:
        """(U, K') E[beta_kw] of some words, decorrelated, one row per word; K padded with zeros."""
        _, pressure, totals = self._as_read(apart)
        ids = np.ascontiguousarray(word_ids, np.int32)
        return self.weighted_rows(ids, 1 / totals, workers, pressure)

    def top_words(self, n: int, apart: float) -> tuple[Ids, NDArray[np.float32]]:
        """See `OnlineModel.top_words`; reads all topics once."""
        from wikitopics.model.kernels import leading_words

        check.at_least_one(n=n)
        shape = (self.n_topics, min(n, self.n_words))
        leading = np.zeros(shape, np.int32)
        largest = np.full(shape, -1, self.dtype)
        for start, rows in self._unscaled(apart):
            leading_words(start, rows, leading, largest)
        totals = self._as_read(apart).totals
        probabilities = largest / totals[:, None]
        return leading, probabilities.astype(np.float32)

    def relevant_words(self, n: int, weight: float, shares: Vector, apart: float) -> RelevantWords:
        """See `OnlineModel.relevant_words`; reads all topics once, or twice if they are
        decorrelated.

        shares: (K,) of the corpus
        """
        from wikitopics.model.kernels import leading_words

        check.at_least_one(n=n)
        totals = self._as_read(apart).totals
        of_topics = shares / totals
        shape = (self.n_topics, min(n, self.n_words))
        ids = np.zeros(shape, np.int32)
        largest = np.full(shape, -1, self.dtype)
        factors = np.empty(self.n_words)
        for start, rows in self._unscaled(apart):
            stop = start + len(rows)
            # Not by BLAS, whose threads would wait busily for the next block.
            of_corpus = np.einsum("uk,k->u", rows[:, : self.n_topics], of_topics)
            factors[start:stop] = lift_factors(of_corpus, weight)
            scores = rows * factors[start:stop, None]
            leading_words(start, scores.astype(self.dtype, copy=False), ids, largest)
        weighted = largest / totals[:, None]  # probabilities times factors
        with np.errstate(divide="ignore"):
            relevances = np.log(weighted)
        factors_of_words = factors[ids]
        probabilities = np.divide(
            weighted,
            factors_of_words,
            out=np.zeros(shape),
            where=factors_of_words > 0,
        )
        return RelevantWords(ids, probabilities.astype(np.float32), relevances)

    def Elog_rows(self, word_ids: Ids) -> Matrix:
        """(U, K) E[log beta_kw] of some words, one row per word."""
        from scipy.special import psi

        Elog_beta: Matrix = psi(self.rows(word_ids)) - psi(self.totals())
        return Elog_beta

    def exp_Elog_rows(self, word_ids: Ids, workers: Threads, balance: Vector) -> Floats:
        """(U, K') exp(E[log beta_kw]) of some words, each row divided by its sum; K padded with
        zeros.

        balance: (K,) factors on the topics, from before the division
        """
        from scipy.special import psi

        from wikitopics.model import kernels

        psi_total = psi(self.totals())
        weight = (np.exp(psi_total.min() - psi_total) * balance).astype(self.dtype)
        return self._rows(kernels.exp_Elog_rows, word_ids, workers, psi_total, weight)

    def sum_Elog_beta(self) -> float:
        """sum_kw E[log beta_kw]; costs K W."""
        from scipy.special import psi

        from wikitopics.model.kernels import sum_digamma

        total = sum_digamma(self.hat, self.scale, self.eta)
        return float(total - self.n_words * psi(self.totals()).sum())

    def elbo(self, eta: float) -> float:
        """E[log p(beta | eta)] - E[log q(beta | lambda)], nats: [H10] eq. 3's last term; costs K
        W."""
        from scipy.special import gammaln, psi

        K = self.n_topics
        W = self.n_words
        lambda_ = self.rows(np.arange(W)).T
        totals = lambda_.sum(axis=1)
        Elog_beta = psi(lambda_) - psi(totals)[:, None]
        prior = np.full((K, W), eta)
        np.add.at(prior, (self.seed_topics, self.seed_words), self.seed_counts)
        elbo = gammaln(prior.sum(axis=1)).sum() - gammaln(prior).sum()
        elbo += np.sum((prior - lambda_) * Elog_beta + gammaln(lambda_))
        elbo -= gammaln(totals).sum()
        return float(elbo)

    # Changing

    def seed(self, topics: Sequence[NDArray[np.integer[Any]]]) -> None:
        """Make the words `topics[k]`, given by id, seeds of topic k."""
        self.seed_words = np.concatenate(topics).astype(np.int64)
        sizes = [len(words) for words in topics]
        self.seed_topics = np.repeat(np.arange(len(topics)), sizes)
        self.seed_counts = np.zeros(len(self.seed_words))

    def seeding(self, other: Lambda) -> Lambda:
        """Another lambda with the seeds of this one, still to be sown."""
        return replace(
            other,
            seed_words=self.seed_words,
            seed_topics=self.seed_topics,
            seed_counts=self.seed_counts,
        )

    def seeds_of(self, words: float) -> Vector:
        """(P,) what the seeds add to the prior in a corpus of this many words."""
        sizes = np.bincount(self.seed_topics, minlength=1)  # how many seeds each topic has
        counts: Vector = SEED_WEIGHT * words / self.n_topics / sizes[self.seed_topics]
        return counts

    def sow(self, words: float) -> None:
        """Give the seeds their counts in the prior, for a corpus of this many words, and add the
        first part of them to a new lambda."""
        self._read = None
        self.seed_counts = self.seeds_of(words)
        self._add_seeds(np.arange(self.n_topics), SEED_START)

    def _add_seeds(self, topics: NDArray[np.intp], rho: float) -> None:
        """lambda <- lambda + rho seeds, in some topics."""
        chosen = np.isin(self.seed_topics, topics)
        seed_words = self.seed_words[chosen]
        seed_topics = self.seed_topics[chosen]
        counts = rho / self.scale * self.seed_counts[chosen]
        np.add.at(self.hat, (seed_words, seed_topics), counts.astype(self.dtype))
        np.add.at(self.total_hat, seed_topics, counts)

    def step(
        self,
        rho: float,
        eta: float,
        repeats: float,
        statistics: Statistics,
        workers: Threads,
    ) -> None:
        """lambda <- (1 - rho) lambda + rho (eta + repeats sstats), where repeats is D/S."""
        self.decay(rho, eta)
        self.add(rho * repeats, statistics, workers)

    def decay(self, rho: float, eta: float) -> None:
        """lambda <- (1 - rho) lambda + rho (eta + seeds)."""
        self._read = None
        self.eta += rho * (eta - self.eta)
        scale = self.scale * (1 - rho)
        if scale < SMALLEST_SCALE:
            self.hat *= self.dtype.type(scale)
            self.total_hat = self.hat.sum(axis=0, dtype=np.float64)
            scale = 1.0
        self.scale = scale
        self._add_seeds(np.arange(self.n_topics), rho)

    def add(
        self,
        weight: float,
        statistics: Statistics,
        workers: Threads,
        precise: bool = False,
    ) -> None:
        """lambda <- lambda + weight sstats.

        precise: whether the product is in float64 even if lambda is in float32
        """
        from wikitopics.model.kernels import add_rows

        self._read = None
        factor = weight / self.scale
        self.total_hat += factor * statistics.mass
        if not precise:
            factor = self.dtype.type(factor)
        ids = statistics.ids
        workers.run(add_rows, len(ids), WORD_BLOCK, ids, statistics.sums, factor, self.hat)

    def replace(self, topics: NDArray[np.intp], hat: Matrix) -> None:
        """Replace some topics, given by number, but keep their seeds; `hat`: (W, n) the new ones,
        in the scale of `Lambda.hat`."""
        self._read = None
        self.hat[:, topics] = hat.astype(self.dtype)
        self.total_hat[topics] = hat.sum(axis=0)
        self._add_seeds(topics, 1.0)

    def rescale(self, mass: float) -> None:
        """Scale lambda so that it sums to `mass`, not counting eta."""
        self._read = None
        self.scale = mass / float(self.total_hat.sum())


def random_topics(
    random: np.random.Generator,
    initialization: str,
    K: int,
    W: int,
    D: float,
    eta: float,
    dtype: str,
) -> Lambda:
    """A random lambda: "gamma" is Gamma(100, 0.01), mean 1; "exponential" is [SVI13] footnote 6."""
    if initialization == "gamma":
        lambda_ = random.gamma(100.0, 0.01, (W, K))
        return Lambda.of(lambda_.astype(dtype), 0.0)
    # lambda - eta ~ Exponential(D 100 / (K W))
    lambda_hat = random.exponential(D * WORDS_A_DOCUMENT / (K * W), (W, K))
    return Lambda.of(lambda_hat.astype(dtype), eta)


def topics_from(
    documents: Minibatch,
    n_words: int,
    drawn: NDArray[np.integer[Any]],
    weight: float,
) -> Matrix:
    """(W, K) topics, columns sum to 1: each mixes the mean of some documents with the mean of all
    words.

    drawn: (K, n) the documents of each topic. A topic's documents all weigh the same, whatever
    their length, and together make up the share `weight` of its words.
    """
    n_topics = len(drawn)
    counts = np.bincount(documents.word_ids, documents.counts, n_words)
    mean = counts / (documents.n_tokens or 1)
    topics = np.tile((1 - weight) * mean[:, None], (1, n_topics))
    lengths = documents.lengths()
    for k, documents_of_topic in enumerate(drawn):
        weight_of_each = weight / len(documents_of_topic)
        for d in documents_of_topic:
            entries = slice(documents.indptr[d], documents.indptr[d + 1])
            shares = weight_of_each * documents.counts[entries] / (lengths[d] or 1)
            topics[documents.word_ids[entries], k] += shares
    return topics
