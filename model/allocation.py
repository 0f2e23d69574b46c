"""What the two ways to learn latent Dirichlet allocation have in common: the warm start, the topics
that start over from the first documents, short texts, and rebirth (`rebirth.py`)."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import mixture
from wikitopics.model.first_documents import FirstDocuments
from wikitopics.model.lambda_ import Statistics
from wikitopics.model.lambda_model import LambdaModel
from wikitopics.model.minibatch import Floats, Minibatch, Vector, Words, sound
from wikitopics.model.rebirth import Rebirth
from wikitopics.model.schedules import Stage, WarmStart
from wikitopics.model.states import Entry

if TYPE_CHECKING:
    from wikitopics.model.scvb0_e_step import ThetaPasses

LATEST_START = 0.6
"""The share of a corpus that is read once after which its topics no longer start over."""
MOST_FIRST_WORDS = 8_000_000
"""The most distinct words of all first documents together, which every state holds: with more,
topics do not start over."""
LEARNT_AGAIN_OF_WORD = 8.0
"""The documents of a minibatch, for each word of a mean document, when the first documents are
learnt again. In larger minibatches their order matters less, but short documents are learnt worse:
they say less about their topics, which have to be corrected more often."""
LEARNT_AGAIN_OF_TOPIC = 32
"""The most documents of such a minibatch for each topic: a few topics have few documents to part
them in any order, and in few steps they do not part."""
LEARNT_AGAIN_STEPS = 3
"""The fewest such minibatches: with one, likelihood is lost."""
ROTATED_TEXTS = 1_000
"""The fewest texts that topics start over from; fewer do not show which words vary together."""
ROTATED_TOPICS = 120
"""The most topics that start over. LAPACK works on such small matrices with one thread, and so
gives the same bits on any number of processors."""


class DirichletAllocation(LambdaModel):
    """Latent Dirichlet allocation, however it is learnt."""

    default_replicas = 3
    parts: ClassVar = {**LambdaModel.parts, "_rebirth": Rebirth}
    entries = (
        *LambdaModel.entries,
        *Entry.of_part(Rebirth, "_rebirth", optional=True),
        Entry("learn_alpha", "_learn_alpha", "bool"),
        Entry("learn_eta", "_learn_eta", "bool"),
        Entry("own_steps", "_own_steps", "bool"),
        Entry("about_one_topic", "_about_one_topic", least=0, most=1, optional=True),
    )

    recipe: WarmStart
    _learn_alpha: bool
    _learn_eta: bool
    _own_steps: bool
    """Whether the warm start chooses the step sizes."""
    _rebirth: Rebirth | None
    _about_one_topic: float | None = None
    """The probability that a text is about one topic, as learnt from the texts; None before there
    are short ones."""

    def _mixture_share_with(self, largest_share: float) -> float:
        return largest_share * self._probability_of_one_topic

    @property
    def _probability_of_one_topic(self) -> float:
        if self._about_one_topic is None:
            return mixture.FIRST_PROBABILITY
        return self._about_one_topic

    def _of_one_topic(
        self, words: Words, rows: Floats, prior: Vector, largest_share: float
    ) -> tuple[Floats, Floats]:
        probability = self._probability_of_one_topic
        short = mixture.OfOneTopic.find(words, rows, prior, probability, largest_share)
        return short.R, short.parts

    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        A minibatch without words leaves the topics alone. The minibatch that completes the first
        documents makes the topics start over, and these documents are learnt again; so does the
        first minibatch of documents that are read again, before its own step. Raises ValueError for
        a word id out of range, before any change.
        """
        self.started_over_from = 0
        sound(batch).check_words(self.n_words)
        if batch.D == 0:
            return self.infer(batch)
        before = self._seen
        rereads = self.passes_left is not None
        if rereads and self._first is not None and self._may_start_over(before):
            self._start_over(self._first.joined())
            return self._step(batch)
        theta = self._step(batch)
        if not self._may_start_over(before):
            # Until then, topics may start from a mixture of them, once texts are short again.
            if self._seen >= mixture.enough(self.n_documents):
                self._first = None
            return theta
        first = self._keep_first(batch)
        if self._never_starts_over(first, before):
            self._first = None
            return theta
        if first.D < ROTATED_TEXTS or self._amount < self._amount_to_start_over():
            return theta
        self._start_over(first.joined())
        return self.infer(batch) if self.started_over_from else theta

    @property
    def waits_to_start_over(self) -> bool:
        return self._first is not None

    @abstractmethod
    def _step(self, batch: Minibatch) -> NDArray[np.float32]:
        """`learn`, as long as topics do not start over: (D, K) proportions."""

    def _may_start_over(self, before: int) -> bool:
        """Whether topics start over from the first documents, and the documents before this
        minibatch are those kept for it: no longer once topics have started over, or once a mixture
        has taken the first texts.

        before: the number of documents seen before the minibatch
        """
        n_kept = self._first.D if self._first else 0
        starts_over = self.recipe.rotated_documents > 0 and self._can_rotate()
        return starts_over and before == n_kept

    def _never_starts_over(self, first: FirstDocuments, before: int) -> bool:
        """Whether these first documents take too much memory, or there will not be enough of them
        in time.

        before: as in `_may_start_over`
        """
        latest = 1.0 if self.rereads_later else LATEST_START  # as a share of the corpus
        if before > latest * self.n_documents or first.N > MOST_FIRST_WORDS:
            return True
        in_all = self.recipe.corpus(self.n_documents, self._seen, self._amount)
        return first.D >= ROTATED_TEXTS and self._amount_to_start_over() > latest * in_all

    def _amount_to_start_over(self) -> float:
        """The number of documents after which topics start over, as the schedules count them."""
        in_all = self.recipe.corpus(self.n_documents, self._seen, self._amount)
        return self.recipe.rotated_at(in_all, self.n_topics, self.rereads_later)

    def _can_rotate(self) -> bool:
        """Whether there can be topics from rotated components: not with a half-life, when topics
        are born again all the time, nor where a user has seeded them, nor for short texts."""
        if not 1 < self.n_topics <= ROTATED_TOPICS or self.n_topics >= self.n_words:
            return False
        if self._rebirth is not None or len(self._topics.seed_words):
            return False
        return self._words_read is not None and not self._largest_share

    def _start_over(self, first: Minibatch) -> None:
        """Start over from rotated components of the first documents, and learn these again as if
        they were new, unless they are too few or have too few components; `started_over_from` says
        whether they had enough.

        They are all documents so far, so whatever counts documents or words ends where it was.
        """
        from wikitopics.model import rotation

        self._first = None
        if first.D < ROTATED_TEXTS:
            return
        topics = self._topics
        self.started_over_from = first.D
        fresh = rotation.first_topics(
            first, self.n_words, self.n_topics, self._random, self._workers
        )
        if fresh is None:
            self.started_over_from = 0
            return
        fresh = fresh[:, mixture.matched(fresh, topics)]  # in the order of the topics
        fresh *= topics.total_hat.sum() / self.n_topics
        topics.replace(np.arange(self.n_topics), fresh)
        self._count_anew()
        passes_left = self.passes_left
        self.passes_left = None
        of_length = LEARNT_AGAIN_OF_WORD * first.n_tokens / first.D
        of_topics = LEARNT_AGAIN_OF_TOPIC * self.n_topics
        size = math.ceil(min(of_length, of_topics, first.D / LEARNT_AGAIN_STEPS))
        for start in range(0, first.D, size):
            self._step(first[start : start + size])
        self.passes_left = passes_left

    def _count_anew(self) -> None:
        """Set what counts the documents seen to 0."""
        self._seen = 0
        self._amount = 0.0
        self._words_read = 0.0

    def _begin_step(self, batch: Minibatch) -> tuple[Stage, float]:
        """The warm start's stage at a minibatch, which then counts as seen by its schedules, and
        the largest part of its texts that can be the mixture's."""
        before = self._amount
        amount = self.recipe.amount(batch)
        largest_share = self._read_words(batch)
        self._amount += amount
        documents = self._seen + batch.D  # `_seen` counts the minibatch only after its step
        stage = self.recipe.stage(
            self.n_documents,
            documents,
            before,
            amount,
            self._mixture_share_with(largest_share),
            self.passes_left,
        )
        return stage, largest_share

    def _collapsed_e_step(
        self, words: Words, rows: Floats, passes: ThetaPasses, largest_share: float, rho: float
    ) -> tuple[Floats, Statistics]:
        """(D, K) alpha plus the words expected of each topic, and the statistics, of the collapsed
        E-step, of which a part of each short text is the mixture's, at most `largest_share`.

        A step of size rho follows for the probability that a text is about one topic.
        """
        from wikitopics.model.scvb0_e_step import e_step

        if not largest_share:
            return e_step(words, rows, passes, self._workers)
        before = self._probability_of_one_topic
        short = mixture.OfOneTopic.find(words, rows, passes.alpha, before, largest_share)
        theta, statistics = e_step(words, rows, passes, self._workers, 1 - short.parts)
        probability = float(short.parts.mean()) / largest_share
        self._about_one_topic = before + rho * (probability - before)
        theta = short.blend_theta(theta, passes.alpha, words.batch.lengths())
        return theta, short.add_to(statistics)

    def _start_from_mixture(
        self, batch: Minibatch, before: int, largest_share: float, words: float
    ) -> None:
        """If texts are short, start the topics from a mixture learnt from the first texts.

        The first texts are those kept so far and those of this minibatch, which is kept, too. The
        topics start over whenever there are many more texts.

        before: the number of texts seen before this minibatch
        largest_share: the weight of the mixture's topics; the rest is that of the topics so far
        words: the number of words of the corpus, as lambda counts them
        """
        enough = mixture.enough(self.n_documents)
        if not largest_share or before >= enough:
            return
        first = self._keep_first(batch)
        if not mixture.is_due(before, before + batch.D, self.n_documents):
            return
        topics = self._topics
        fresh = mixture.first_topics(
            first.joined(),
            topics,
            self.n_topics,
            self._random,
            thorough=enough <= first.D,
        )
        fresh = fresh[:, mixture.matched(fresh, topics)]  # in the order of the topics
        # Together the fresh topics get this share of the corpus's words. `hat` is lambda divided by
        # the scale.
        words_of_fresh = largest_share * words / topics.scale
        fresh *= words_of_fresh / fresh.sum()
        of_topics_so_far = (1 - largest_share) * topics.hat
        topics.replace(np.arange(self.n_topics), fresh + of_topics_so_far)

    def _renew_topics(self, alpha: Vector, words: Vector, batch: Minibatch) -> None:
        """Let topics whose subjects have left the stream be born again, with a mean alpha if alpha
        is learnt.

        words: (K,) the words of the minibatch that each topic has
        """
        if self._rebirth is None:
            return
        born = self._rebirth.step(self._topics, words, batch, self._random)
        if self._learn_alpha:
            alpha[born] = alpha.mean()

    def _contradiction(self) -> str:
        if not self._topics.total_hat.any():
            return "total_hat must not be all 0"
        return super()._contradiction()
