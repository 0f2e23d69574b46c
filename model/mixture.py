"""Short texts as a mixture: a text of a few words is about one topic (docs/derivations.md, "Short
texts").

Six words do not show which topics a text mixes, and choosing a topic for each word leads to many
poor optima. So the topics of short texts start as a mixture of unigrams (Nigam and others 2000; Yin
and Wang 2014), found by annealed EM, and each text is about one topic with a probability that
follows from its words and from what the texts before it were like. The model's own E-step has the
rest of the text, and the more of it the longer the texts are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wikitopics.model.lambda_ import Lambda, Statistics
from wikitopics.model.minibatch import Entries, Floats, Indices, Minibatch, Vector, Words
from wikitopics.model.states import TINY

SHORT_TEXTS = 12.0
"""The mean number of words from which on texts are treated less and less as short."""
LONG_TEXTS = 18.0
"""The mean number of words from which on texts are long: nothing here concerns them."""
LARGEST_SHARE = 0.75
"""The largest part of a short text that is the mixture's. The model's own E-step, which has the
rest, keeps topics apart; and topics that were learnt from texts of one topic overrate that such a
text has only one."""
FIRST_PROBABILITY = 0.5
"""The probability that a text is about one topic, before it is learnt."""
STRAYS = 0.2
"""At the start of the topics: the share of a text's words that are the corpus's rather than those
of its topic. So no topic needs the words that all of them have."""
STEPS = 36
"""The steps of EM at the start of the topics, while texts choose theirs. A start from fewer texts
than there will be makes a third."""
LAST_STEPS = 6
"""The further steps, once they have chosen."""
ETA = 0.05
"""The mixture's Dirichlet parameter of the topics."""
LEADING = 20
"""The number of leading words by which topics are matched when they start over."""
MOST = 8_192
"""The most texts to start from."""
LEAST_PROBABILITY = 1e-3
"""The least probability that texts are about one topic, and that they are not: with 0, nothing that
is read could change it."""


def number_of_words(batch: Minibatch) -> float:
    """The number of words by which texts are judged short. Words with small weights count as one
    for each entry."""
    return float(max(batch.n_tokens, len(batch.word_ids)))


def largest_share(words: float, texts: int) -> float:
    """The largest part of a text that can be the mixture's, among this many texts with this many
    words in total; 0 for long texts."""
    if words >= LONG_TEXTS * texts:
        return 0.0
    shortness = (LONG_TEXTS - words / texts) / (LONG_TEXTS - SHORT_TEXTS)
    return LARGEST_SHARE * min(1.0, shortness)


def enough(n_documents: float) -> int:
    """The number of texts to start from in a corpus of this size."""
    return int(min(n_documents, MOST))


def is_due(before: int, now: int, n_documents: float) -> bool:
    """Whether the topics start over when the texts to start from have grown from `before` to `now`.

    They do when there are 4, 32, 256 … texts, eight times as many each time, and when there are
    enough. If these will soon have doubled to enough, they wait for that.
    """
    if now >= enough(n_documents):
        return True
    has_started = before.bit_length() >= 3
    if has_started and 2 * now > enough(n_documents):
        return False
    times_before = before.bit_length() // 3
    times_now = now.bit_length() // 3
    return times_before < times_now


def tempers(words_of_text: float, steps: int) -> list[float]:
    """The exponents of the likelihood, one for each step of EM at the start of the topics.

    They rise from 1 / sqrt(n) for texts of n words, where topics begin to form, to twice as much,
    where most texts have chosen (decision 44).
    """
    first = min(1.0, words_of_text**-0.5)
    last = min(1.0, 2 * first)
    rising = np.geomspace(first, last, steps).tolist()
    return [*rising, *[1.0] * LAST_STEPS]


def first_topics(
    texts: Minibatch,
    topics: Lambda,
    n_topics: int,
    random: np.random.Generator,
    *,
    thorough: bool,
) -> Floats:
    """(W, n_topics) expected words of each topic if each text is about a single topic, by annealed
    EM.

    topics: the model's, whose seeds have a larger prior here, too
    thorough: whether the topics will not start again from more texts
    """
    from scipy.sparse import csr_array

    from wikitopics.model.mixture_kernels import of_one_topic, return_strays, rows_with_strays

    W = topics.n_words
    prior = np.full((W, n_topics), ETA, np.float32)
    if len(topics.seed_words):
        np.add.at(prior, (topics.seed_words, topics.seed_topics), topics.seeds_of(texts.n_tokens))
    R = random.dirichlet(np.full(n_topics, 0.5), texts.D).astype(np.float32)
    entries = Entries(texts.indptr, texts.word_ids, texts.counts)  # every word has a row
    counts = csr_array(
        (texts.counts.astype(np.float32), texts.word_ids, texts.indptr), shape=(texts.D, W)
    )
    even = np.zeros(n_topics, np.float32)
    words_of_text = max(1.0, number_of_words(texts) / texts.D)
    steps = STEPS if thorough else STEPS // 3
    expected: Floats = np.ascontiguousarray(counts.T @ R)
    beta = np.empty_like(expected)
    own = np.empty_like(expected)
    log_rows = np.empty_like(expected)
    for temper in tempers(words_of_text, steps):
        rows_with_strays(expected, prior, STRAYS, beta, own, log_rows)
        chosen = np.zeros_like(expected)
        of_one_topic(entries, log_rows, even, temper, R, chosen)
        return_strays(chosen, beta, own, expected)
    return expected


def matched(fresh: Floats, topics: Lambda) -> NDArray[np.intp]:
    """(K,) for each of the topics, the number of the ``fresh`` topic, (W, K), that replaces it.

    A topic is replaced by the most similar fresh topic; a seeded one by that with the largest share
    of its seeds. That need not be the one that began with them: of few texts, the words of two
    subjects may change places.
    """
    from scipy.optimize import linear_sum_assignment

    leading = np.argsort(-fresh, axis=0)[:LEADING]  # by rank, a word of each fresh topic
    shares = topics.hat / topics.hat.sum(axis=0)
    # [k, l]: the share of topic k that is leading words of fresh topic l.
    alike = np.sum([shares[words].T for words in leading], axis=0)
    _, n_fresh = fresh.shape
    of_seeds = fresh[topics.seed_words]
    uses_of_seeds = of_seeds.sum(axis=1, keepdims=True)  # 0 for one that the first texts lack
    of_seeds = of_seeds / np.maximum(uses_of_seeds, np.finfo(np.float32).tiny)
    sums = np.zeros_like(alike)
    np.add.at(sums, topics.seed_topics, of_seeds)
    sizes = np.bincount(topics.seed_topics, minlength=len(alike))
    # This counts for more than likeness.
    alike += n_fresh * sums / np.maximum(sizes, 1)[:, None]
    replacements: NDArray[np.intp]
    _, replacements = linear_sum_assignment(alike, maximize=True)
    return replacements


def only_topics(words: Words, rows: Floats, prior: Vector) -> tuple[Floats, Floats]:
    """(D, K) the probability that each topic is a text's only topic, and the resulting (U, K)
    statistics.

    rows: (U, K') the words' probabilities, up to a factor for each word
    prior: (K,) the topics' probabilities, up to a factor
    """
    from wikitopics.model.mixture_kernels import of_one_topic

    K = len(prior)
    log_rows = np.log(np.maximum(rows[:, :K], np.finfo(np.float32).tiny))
    positive_prior = np.maximum(prior, TINY)  # the HDP's last topics may have 0
    log_prior = np.log(positive_prior).astype(rows.dtype)
    R = np.empty((words.batch.D, K), rows.dtype)
    sums = np.zeros_like(log_rows)
    of_one_topic(words.entries, log_rows, log_prior, 1.0, R, sums)
    return R, sums


class OfOneTopic(NamedTuple):
    """Texts, as far as each is about one topic.

    R: (D, K) the probability that each topic is a text's only one
    parts: (D,) the part of each text that this stands for
    sums: (U, K) sum_d parts_d n_dw R_dk
    """

    R: Floats
    parts: Floats
    sums: Floats

    @classmethod
    def find(
        cls,
        words: Words,
        rows: Floats,
        prior: Vector,
        probability: float,
        largest_share: float,
    ) -> Self:
        """Of the words of texts.

        rows: (U, K') the words' probabilities, up to a factor for each word
        prior: (K,) the Dirichlet prior of the proportions of a text that mixes topics
        probability: that a text is about one topic, before any word is read
        largest_share: the part of a text that certainly is
        """
        from wikitopics.model.kernels import log_first
        from wikitopics.model.mixture_kernels import of_one_or_many

        K = len(prior)
        D = words.batch.D
        dtype = rows.dtype
        positive_rows = np.maximum(rows[:, :K], np.finfo(np.float32).tiny)
        log_rows = np.empty_like(positive_rows)
        log_first(log_rows.size, positive_rows.ravel(), log_rows.ravel())
        likely = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        log_odds = float(np.log(likely / (1 - likely)))
        found = cls(np.empty((D, K), dtype), np.empty(D, dtype), np.zeros_like(positive_rows))
        of_one_or_many(
            words.entries,
            positive_rows,
            log_rows,
            prior.astype(dtype),
            log_odds,
            largest_share,
            *found,
        )
        return found

    def blend_theta(self, theta: Floats, prior: Vector, lengths: Indices | Vector) -> Floats:
        """(D, K) prior plus expected words of each topic: `theta` where texts mix topics."""
        of_one_topic = prior.astype(theta.dtype) + self.R * lengths.astype(theta.dtype)[:, None]
        blended: Floats = theta + self.parts[:, None] * (of_one_topic - theta)
        return blended

    def add_to(self, statistics: Statistics) -> Statistics:
        """The statistics of the texts, of which `statistics` holds those of the rest; its sums are
        changed in place."""
        K = self.sums.shape[1]
        statistics.sums[:, :K] += self.sums
        mass = statistics.mass + self.sums.sum(axis=0)
        return replace(statistics, mass=mass)
