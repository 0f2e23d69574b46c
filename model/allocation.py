"""What models whose topics are a `Lambda` have in common: states, inference, topics as read.

Also what the two ways to learn latent Dirichlet allocation have in common: the warm start, the
topics that start over from the first documents, short texts, and rebirth (`rebirth.py`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikitopics.model import mixture
from wikitopics.model.lambda_ import Lambda, Statistics
from wikitopics.model.minibatch import Floats, Ids, Indices, Minibatch, Vector, Words, sound
from wikitopics.model.online import OnlineModel, RelevantWords
from wikitopics.model.rebirth import Rebirth
from wikitopics.model.schedules import THETA_STEPS, HDPRecipe, Stage, StepSizes, WarmStart
from wikitopics.model.states import Entry, State
from wikitopics.option import Option

if TYPE_CHECKING:
    from wikitopics.model.scvb0_e_step import ThetaPasses

DECORRELATED_AFTER = 1500
"""The number of documents after which topics are decorrelated half as far as in the end."""
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
LEAST_WORDS = 1e-3
"""The least count of a word in `with_topics`: 0 has no logarithm."""
DTYPE = Option(str, "dtype", "of the topics", choices=("float32", "float64"))


def precision(dtype: DTypeLike) -> str:
    """The name of the dtype of a model's topics. Raises ValueError for one that they cannot
    have."""
    return DTYPE.value(np.dtype(dtype).name)


class LambdaModel(OnlineModel):
    """A model that learns from minibatches and keeps its topics as a `Lambda`.

    The numbers by which it departs from its paper are its `recipe`.
    """

    WARM_RECIPE: ClassVar[WarmStart | HDPRecipe]
    """The recipe with `warm_start`."""
    PAPER_RECIPE: ClassVar[WarmStart | HDPRecipe]
    """The paper's own numbers."""

    parts: ClassVar = {"_topics": Lambda.of_state, "_first": Minibatch}
    entries = (
        *Lambda.ENTRIES,
        Entry("warm_start", type="bool"),
        Entry("amount_seen", "_amount", least=0),
        Entry("words_read", "_words_read", least=0, optional=True),
        Entry("first_indptr", "_first.indptr", "int64", "F", least=0, optional=True),
        Entry(
            "first_word_ids",
            "_first.word_ids",
            "int32 int64",
            "N",
            least=0,
            below="W",
            optional=True,
        ),
        Entry("first_counts", "_first.counts", "int32 int64 float32", "N", least=0, optional=True),
    )

    _topics: Lambda
    recipe: WarmStart | HDPRecipe
    decorrelation: float
    tau0: float
    kappa: float

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: float,
        *,
        warm_start: bool,
        half_life: float | None,
        seed: int,
        threads: int,
    ) -> None:
        super().__init__(n_topics, n_words, n_documents, seed, threads, half_life)
        self.warm_start = bool(warm_start)
        self.recipe = self.WARM_RECIPE if warm_start else self.PAPER_RECIPE
        # The documents seen, as the recipe counts them.
        self._amount = 0.0
        # The words of the documents seen, which tell whether texts are short; None: texts are never
        # treated as short.
        self._words_read: float | None = 0.0 if warm_start else None
        # The documents that the topics start from, until there are enough of them.
        self._first: Minibatch | None = None

    @property
    def _apart(self) -> float:
        """How far topics are decorrelated where they are read: little at first, since it only harms
        topics that have not separated yet, further once long documents are read again, and less if
        texts are short."""
        grown = self.decorrelation * self._seen / (self._seen + DECORRELATED_AFTER)
        if self._reread:
            grown *= self.recipe.reread_factor(
                n_documents=self.n_documents,
                documents=self._seen,
                amount=self._amount,
                reread=self._reread,
            )
        return grown * (1 - self._mixed)

    @property
    def _largest_share(self) -> float:
        """The largest part of a text that can be the mixture's, for short texts; 0 for long ones.
        It follows from the texts seen so far."""
        if not self._words_read:
            return 0.0
        return mixture.largest_share(self._words_read, self._seen)

    @property
    def _mixed(self) -> float:
        """The mixture's part of all texts, from 0 to 1."""
        return self._part_of_mixture(self._largest_share)

    def _part_of_mixture(self, largest_share: float) -> float:
        """`_mixed`, if this is the largest part of a text that can be the mixture's."""
        return largest_share

    def _read_words(self, batch: Minibatch) -> float:
        """Count the words of this minibatch as read; returns what `_largest_share` is once the
        documents of the minibatch are counted too."""
        if self._words_read is None:
            return 0.0
        self._words_read += mixture.number_of_words(batch)
        return mixture.largest_share(self._words_read, self._seen + batch.D)

    def _of_one_topic(
        self, words: Words, rows: Floats, prior: Vector, largest_share: float
    ) -> tuple[Floats, Floats]:
        """(D, K) proportions of texts that are about one topic each, and the part of each text that
        these are, (D,)."""
        R, _ = mixture.only_topics(words, rows, prior)
        return R, np.full(words.batch.D, largest_share)

    @property
    def _theta_steps(self) -> StepSizes:
        """The step sizes of a document's proportions in `infer`."""
        return THETA_STEPS

    @property
    def lambda_(self) -> Floats:
        """(K, W) variational Dirichlet of the topics as learnt, a copy."""
        return self._topics.lambda_()

    def topics(self) -> Floats:
        """(K, W) expected topics E[beta], decorrelated; rows sum to 1."""
        rows = self.topic_rows(np.arange(self._topics.n_words))
        return np.ascontiguousarray(rows.T)

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> Floats:
        """(U, K) expected topics of some words only, one row per word; raises ValueError for an id
        out of range."""
        out_of_range = (word_ids < 0) | (word_ids >= self._topics.n_words)
        if out_of_range.any():
            raise ValueError(f"word ids must be from 0 to {self._topics.n_words - 1}")
        padded_rows = self._topics.read_rows(word_ids, self._apart)
        return padded_rows[:, : self._topics.n_topics]

    def top_words(self, n: int) -> tuple[Ids, NDArray[np.float32]]:
        """See `OnlineModel.top_words`."""
        return self._topics.top_words(n, self._apart)

    def relevant_words(self, n: int, weight: float) -> RelevantWords:
        """See `OnlineModel.relevant_words`."""
        return self._topics.relevant_words(n, weight, self.topic_shares(), self._apart)

    def topic_shares(self) -> Vector:
        """(K,) each topic's share of the words of the corpus, sums to 1."""
        return self._topics.shares()

    def topic_weights(self) -> Vector:
        """(K,) sum_w lambda_kw."""
        return self._topics.totals()

    def seed(self, topics: Sequence[Indices]) -> None:
        """See `OnlineModel.seed`: a larger prior for these words, docs/derivations.md."""
        if self.updates:
            raise ValueError("only a model that has learnt nothing yet can be seeded")
        if len(topics) > self.n_topics:
            raise ValueError(f"{len(topics)} topics are seeded, but there are only {self.n_topics}")
        for words in topics:
            if len(words) == 0 or min(words) < 0 or max(words) >= self.n_words:
                raise ValueError(f"each seeded topic needs words, from 0 to {self.n_words - 1}")
        self._topics.seed([np.unique(words) for words in topics])

    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions E[theta] of documents, rows sum to 1; changes nothing.

        Uses the passes of SCVB0 with `document_prior`, which predict better than a variational
        update. From 256 topics on, they treat the topics that are not active in a document as one
        (decision 0045). A document without words gets the prior's proportions. Raises ValueError
        for a word id out of range.
        """
        from wikitopics.model.scvb0_e_step import ThetaPasses, inferred

        passes = ThetaPasses(self.document_prior(), self.recipe.inference_passes, self._theta_steps)
        theta = inferred(batch, self._topics, self._apart, passes, self._workers)
        largest_share = self._largest_share
        if largest_share:
            words = batch.words(self.n_words)
            rows = self._topics.read_rows(words.ids, self._apart, self._workers)
            R, parts = self._of_one_topic(words, rows, passes.alpha, largest_share)
            theta += parts[:, None].astype(np.float32) * (R.astype(np.float32) - theta)
        return theta

    def word_topics(self, batch: Minibatch, theta: NDArray[Any]) -> NDArray[np.float64]:
        """See `OnlineModel.word_topics`; as far as a short text is about one topic, all its words
        come from that."""
        phi = super().word_topics(batch, theta)
        largest_share = self._largest_share
        if largest_share and self.recipe.inference_passes:
            words = batch.words(self.n_words)
            rows = self._topics.read_rows(words.ids, self._apart, self._workers)
            R, parts = self._of_one_topic(words, rows, self.document_prior(), largest_share)
            document_of_entry = batch.documents()
            part_of_entry = parts[document_of_entry, None]
            phi += part_of_entry * (R[document_of_entry] - phi)
        return phi

    @classmethod
    def with_topics(cls, topics: NDArray[np.floating[Any]], weights: Vector, prior: Vector) -> Self:
        """See `OnlineModel.with_topics`."""
        K, W = topics.shape
        counts = np.maximum(topics * weights[:, None], LEAST_WORDS)  # (K, W), of words in topics
        lambda_ = Lambda.of(np.ascontiguousarray(counts.T, np.float32), eta=0.0)
        state = cls.create(K, W, 1).state()
        for entry in Lambda.ENTRIES:
            state[entry.key] = getattr(lambda_, entry.name)
        state.update(cls._prior_entries(prior))
        state["decorrelation"] = 0.0
        return cls.from_state(state)

    @classmethod
    @abstractmethod
    def _prior_entries(cls, prior: Vector) -> State:
        """The entries of a state from which `document_prior` follows, for `with_topics`."""

    @classmethod
    def upgraded(cls, state: dict[str, object]) -> dict[str, object]:
        """A state of 1.0.0 keeps its topics, which are not decorrelated, and takes the current
        recipe."""
        recipe = cls.WARM_RECIPE if state.get("warm_start") else cls.PAPER_RECIPE
        numbers = {f"recipe_{name}": value for name, value in vars(recipe).items()}
        return {**state, **numbers, "decorrelation": 0.0}


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

    def _part_of_mixture(self, largest_share: float) -> float:
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
        before = self._seen
        self.started_over_from = 0
        rereads = self.passes_left is not None
        if rereads and self._first is not None and self._may_start_over(batch, before):
            sound(batch).check_words(self.n_words)
            self._start_over(self._first)
            return self._step(batch)
        theta = self._step(batch)
        if not self._may_start_over(batch, before):
            return theta
        first = Minibatch.concatenate([self._first or batch[:0], batch])
        if self._never_starts_over(first, before):
            self._first = None
            return theta
        if first.D < ROTATED_TEXTS or self._amount < self._amount_to_start_over():
            self._first = first
            return theta
        self._start_over(first)
        return self.infer(batch) if self.started_over_from else theta

    @property
    def waits_to_start_over(self) -> bool:
        return self._first is not None

    @abstractmethod
    def _step(self, batch: Minibatch) -> NDArray[np.float32]:
        """`learn`, as long as topics do not start over."""

    def _may_start_over(self, batch: Minibatch, before: int) -> bool:
        """Whether topics start over from the first documents, and the documents before this
        minibatch are those kept for it: no longer once topics have started over, or once a mixture
        has taken the first texts.

        before: the number of documents seen before the minibatch
        """
        n_kept = self._first.D if self._first else 0
        starts_over = batch.D > 0 and self.recipe.rotated_documents > 0 and self._can_rotate()
        return starts_over and before == n_kept

    def _never_starts_over(self, first: Minibatch, before: int) -> bool:
        """Whether these first documents take too much memory, or there will not be enough of them
        in time.

        before: as in `_may_start_over`
        """
        latest = 1.0 if self.rereads_later else LATEST_START  # as a share of the corpus
        if before > latest * self.n_documents or len(first.word_ids) > MOST_FIRST_WORDS:
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
            self._part_of_mixture(largest_share),
            self.passes_left,
        )
        return stage, largest_share

    def _collapsed_e_step(
        self, words: Words, rows: Floats, passes: ThetaPasses, largest_share: float, rho: float
    ) -> tuple[Floats, Statistics]:
        """The collapsed E-step, of which a part of each short text is the mixture's, at most
        `largest_share`; from that, a step of size rho for the probability that a text is about one
        topic."""
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

        The first texts are those kept so far and those of this minibatch. The topics start over
        whenever there are many more texts.

        before: the number of texts seen before this minibatch
        largest_share: the weight of the mixture's topics; the rest is that of the topics so far
        words: the number of words of the corpus, as lambda counts them
        """
        enough = mixture.enough(self.n_documents)
        if not largest_share or before >= enough:
            return
        topics = self._topics
        earlier = self._first or batch[:0]
        texts = Minibatch.concatenate([earlier, batch])
        n_texts = texts.D
        if mixture.is_due(before, before + batch.D, self.n_documents):
            fresh = mixture.first_topics(
                texts,
                topics,
                self.n_topics,
                self._random,
                thorough=n_texts >= enough,
            )
            fresh = fresh[:, mixture.matched(fresh, topics)]  # in the order of the topics
            # Together the fresh topics get this share of the corpus's words. `hat` is lambda
            # divided by the scale.
            words_of_fresh = largest_share * words / topics.scale
            fresh *= words_of_fresh / fresh.sum()
            of_topics_so_far = (1 - largest_share) * topics.hat
            topics.replace(np.arange(self.n_topics), fresh + of_topics_so_far)
        self._first = texts if n_texts < enough else None

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
        return ""
