"""What models whose topics are a `Lambda` have in common: states, inference, topics as read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikitopics.model import mixture
from wikitopics.model.first_documents import FirstDocuments
from wikitopics.model.lambda_ import Lambda
from wikitopics.model.minibatch import Floats, Ids, Indices, Minibatch, Vector, Words
from wikitopics.model.online import OnlineModel, RelevantWords
from wikitopics.model.schedules import THETA_STEPS, HDPRecipe, StepSizes, WarmStart
from wikitopics.model.states import Entry, State
from wikitopics.option import Option

DECORRELATED_AFTER = 1500
"""The number of documents after which topics are decorrelated half as far as in the end."""
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

    parts: ClassVar = {"_topics": Lambda.of_state, "_first": FirstDocuments}
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
        self._first: FirstDocuments | None = None

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
        return grown * (1 - self._mixture_share)

    @property
    def _largest_share(self) -> float:
        """The largest part of a text that can be the mixture's, for short texts; 0 for long ones.
        It follows from the texts seen so far."""
        if not self._words_read:
            return 0.0
        return mixture.largest_share(self._words_read, self._seen)

    @property
    def _mixture_share(self) -> float:
        """The mixture's share of all texts, from 0 to 1."""
        return self._mixture_share_with(self._largest_share)

    def _mixture_share_with(self, largest_share: float) -> float:
        """`_mixture_share`, if this is the largest part of a text that can be the mixture's."""
        return largest_share

    def _keep_first(self, batch: Minibatch) -> FirstDocuments:
        """Keep the documents of a minibatch as first ones; returns all that are kept."""
        if self._first is None:
            self._first = FirstDocuments()
        self._first.add(batch)
        return self._first

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

        passes = ThetaPasses(
            self.document_prior(),
            self.recipe.inference_passes,
            self._theta_steps,
            sums_last_pass=self.warm_start,
        )
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
