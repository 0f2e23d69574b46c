"""The interface of every online model: it describes itself, learns, answers, and can be saved."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import options as check
from wikitopics.model.minibatch import Minibatch
from wikitopics.model.options import Metric
from wikitopics.model.states import (
    MOST,
    Entry,
    State,
    StateError,
    checked,
    plain,
    random_from,
    random_state,
)
from wikitopics.model.threads import Threads
from wikitopics.option import Option

IN_USE = 1e-3
"""A topic in use has more than this share of the corpus."""
WORDS_A_DOCUMENT = 100
"""Assumed if nothing is known, as in [SVI13] footnote 6."""

Leading = tuple[NDArray[np.int32], NDArray[np.float32]]
"""(K, n) word ids and probabilities of n words of each topic, its most probable ones unless another
order is named."""


class RelevantWords(NamedTuple):
    """The most relevant words of each topic, most relevant first."""

    ids: NDArray[np.int32]
    """(K, n)"""
    probabilities: NDArray[np.float32]
    """(K, n)"""
    relevances: NDArray[np.float64]
    """(K, n) each up to a constant of its topic; -inf for a word without probability."""


def top_words(topics: NDArray[Any], n: int = 10) -> NDArray[np.int64]:
    """(K, n) word ids of each topic's n most probable words, most probable first, ties by word id.

    topics: (K, W); n beyond W gives W.
    """
    n = min(n, topics.shape[1])
    leading = []
    for topic in topics:
        nth_largest = np.partition(topic, -n)[-n]
        candidates = np.flatnonzero(topic >= nth_largest)  # sorting all words would take longer
        order = np.argsort(-topic[candidates], kind="stable")
        leading.append(candidates[order[:n]])
    return np.stack(leading)


def lift_factors(of_corpus: NDArray[Any], weight: float) -> NDArray[np.float64]:
    """(W,) the factor p(w)^(weight - 1) by which the probability of each word is multiplied to
    order words by relevance; 0 for a word that does not occur.

    of_corpus: (W,) p(w), each word's share of the corpus, up to a factor
    """
    factors: NDArray[np.float64] = np.power(
        of_corpus,
        weight - 1,
        out=np.zeros(len(of_corpus)),
        where=of_corpus > 0,
    )
    return factors


def shares_of_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, K) the rows, each divided by its sum; equal shares for a row of zeros."""
    totals = rows.sum(axis=1, keepdims=True)
    equal = np.full_like(rows, 1 / rows.shape[1])
    shares: NDArray[np.float64] = np.divide(rows, totals, out=equal, where=totals > 0)
    return shares


class OnlineModel(ABC):
    """A topic model that learns from minibatches, and whose state can be saved between any two of
    them.

    A subclass is one kind of model. It describes itself by its class attributes, implements the
    abstract methods, and lists in `entries` what its state holds besides the entries here. It draws
    random numbers only from `_random`, whose state is saved, and counts each step of `learn` with
    `_note_step`. `model.check_model` checks all of this.

    In the shapes of arrays, K is the number of topics, W the number of words of the vocabulary, and
    D the number of documents.
    """

    kind: ClassVar[str]
    """Its name in `--model` and in files."""
    label: ClassVar[str]
    """Its name for people, such as "online LDA"."""
    summary: ClassVar[str] = ""
    """A few words that help to choose a kind."""
    default_topics: ClassVar[int] = 100
    most_topics: ClassVar[int] = 10_000
    default_batch_size: ClassVar[int] = 1024
    default_replicas: ClassVar[int] = 0
    """How many replicas learn beside it in a session that has some by default: as many as hardly
    delay it."""
    options: ClassVar[tuple[Option[float], ...]] = ()
    """The settings besides the sizes, as keyword arguments of these names."""
    metrics: ClassVar[tuple[Metric, ...]] = ()
    """The metrics that `own_metrics` measures."""

    version: ClassVar[int] = 1
    """The version of the states that `state` returns."""
    oldest_version: ClassVar[int] = 1
    """The oldest version that `upgraded` reads."""
    entries: ClassVar[tuple[Entry, ...]] = ()
    parts: ClassVar[Mapping[str, Callable[..., object]]] = {}
    """For each attribute that holds a part (see `Entry.attribute`): the function that makes the
    part. Its keyword arguments are the values of the part's entries."""

    warm_start: bool = False
    """Whether the model departs from its paper where that gives better results."""
    half_life: float | None = None
    """The number of documents after which earlier learning has at most half its weight; None: it
    forgets less and less."""

    n_topics: int
    """K."""
    n_words: int
    """W."""
    n_documents: float
    """The size of the corpus, an estimate.

    The stream of a model with a half-life has no end. Its topics describe a corpus of this many
    documents, all like those that still have weight.
    """
    updates: int
    """The number of minibatches learnt."""
    rho: float
    """Step size of the last update, 0 before the first."""
    started_over_from: int = 0
    """The number of documents from which the topics start over in this call of `learn`, or did in
    the last one; 0 if they did not."""
    passes_left: float | None = None
    """How often the documents that `learn` is given next are still read, if they were learnt
    before: 1 at the beginning of the last pass over them, 0 at its end. None: they are new. Whoever
    makes several passes sets it; it is no part of the state."""
    rereads_later: bool = False
    """Whether the documents that `learn` is given next are new and will be read again. It is set
    like `passes_left`."""

    def __init__(
        self,
        n_topics: int,
        n_words: int,
        n_documents: float,
        seed: int,
        threads: int,
        half_life: float | None = None,
    ) -> None:
        check.at_least_one(n_topics=n_topics, n_words=n_words, n_documents=n_documents)
        check.HALF_LIFE.convert(half_life)  # raises ValueError for one out of range
        self.half_life = None if half_life is None else float(half_life)
        self.n_topics = int(n_topics)
        self.n_words = int(n_words)
        self.n_documents = float(n_documents)
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._workers = Threads(threads)
        self.updates = 0
        self._seen = 0  # documents
        self._reread = 0  # those of them that had been learnt before
        self.rho = 0.0

    @classmethod
    def create(
        cls,
        topics: int,
        n_words: int,
        n_documents: float,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        threads: int = 1,
    ) -> Self:
        """A new model, made in the same way for every kind.

        options: keyword arguments of the kind, such as those that it lists as its `options`. Raises
        ValueError for values out of range.
        """
        return cls._of_sizes(
            topics,
            n_words,
            n_documents,
            seed=seed,
            threads=threads,
            **(options or {}),
        )

    @classmethod
    def _of_sizes(cls, topics: int, n_words: int, n_documents: float, **settings: Any) -> Self:
        """Call the constructor; overridden by kinds whose constructor takes the sizes otherwise."""
        # For mypy: the constructor of a kind takes keywords that `OnlineModel.__init__` lacks.
        constructor: Callable[..., Self] = cls
        return constructor(topics, n_words, n_documents, **settings)

    @classmethod
    def check_options(cls, **values: object) -> None:
        """Raise ValueError for the first value that the option of its name does not accept; None is
        accepted. Kinds written for 1.2 call it; `Option.value` also converts the value."""
        for option in cls.options:
            option.convert(values.get(option.name))

    # Properties

    @property
    def waits_to_start_over(self) -> bool:
        """Whether topics may start over from the documents so far, which the model keeps."""
        return False

    @property
    def threads(self) -> int:
        """The number of threads; it affects the speed, not the result."""
        return self._workers.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._workers.threads = threads

    def __repr__(self) -> str:
        sizes = f"{self.n_topics} topics, {self.n_words} words, {self.updates} updates"
        return f"<{type(self).__name__}: {sizes}>"

    @abstractmethod
    def topics(self) -> NDArray[Any]:
        """(K, W) expected topics: every value is above 0, rows sum to 1."""

    def topic_rows(self, word_ids: NDArray[np.integer[Any]]) -> NDArray[Any]:
        """(U, K) expected topics of some words, one row per word; override it if there is a quicker
        way."""
        return np.ascontiguousarray(self.topics()[:, word_ids].T)

    def top_words(self, n: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """(K, n) each topic's n most probable words, by id, and their probabilities; most probable
        first.

        Ties go by word id; n beyond W gives W. Override it if there is a quicker way than `topics`.
        Raises ValueError for n below 1.
        """
        check.at_least_one(n=n)
        topics = self.topics()
        ids = top_words(topics, n)
        probabilities = np.take_along_axis(topics, ids, axis=1)
        return ids.astype(np.int32), probabilities.astype(np.float32)

    def relevant_words(self, n: int, weight: float) -> RelevantWords:
        """(K, n) each topic's n most relevant words.

        The relevance of a word is weight log p(w|k) + (1 - weight) log (p(w|k) / p(w)) [Sievert and
        Shirley 2014], where p(w) is the word's share of the corpus. Ties go by word id; n beyond W
        gives W. Override it if there is a quicker way than `topics`. Raises ValueError for n below
        1.
        """
        check.at_least_one(n=n)
        topics = self.topics()
        of_corpus = self.topic_shares() @ topics
        factors = lift_factors(of_corpus, weight)
        scores = topics * factors
        ids = top_words(scores, n)
        probabilities = np.take_along_axis(topics, ids, axis=1)
        with np.errstate(divide="ignore"):
            relevances = np.log(np.take_along_axis(scores, ids, axis=1))
        return RelevantWords(
            ids.astype(np.int32),
            probabilities.astype(np.float32),
            relevances.astype(np.float64),
        )

    @abstractmethod
    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1."""

    def topics_in_use(self) -> int:
        """The number of topics with more than a thousandth of the corpus."""
        return int(np.count_nonzero(self.topic_shares() > IN_USE))

    def topic_weights(self) -> NDArray[np.float64]:
        """(K,) the sum of each topic's Dirichlet parameters: its words in the corpus that the model
        learns, which may be larger than the documents.

        A row of `topics` times this number is the topic's Dirichlet parameters as they are read.
        For a kind without them: the topic's share of the words of a corpus of 100 words per
        document.
        """
        return self.topic_shares() * WORDS_A_DOCUMENT * self.n_documents

    @abstractmethod
    def document_prior(self) -> NDArray[np.float64]:
        """(K,) a document's expected proportions before its words are seen, up to a factor;
        positive."""

    # Learning and inference

    @abstractmethod
    def learn(self, batch: Minibatch) -> NDArray[np.float32]:
        """One step on a minibatch; returns the proportions of its documents, (D, K), rows sum to 1.

        A minibatch without documents changes nothing. Raises ValueError for a word id out of range,
        before any change.
        """

    @abstractmethod
    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions of documents, rows sum to 1; changes nothing.

        A document without words gets `document_prior`, scaled. Raises ValueError for a word id out
        of range.
        """

    def word_topics(self, batch: Minibatch, theta: NDArray[Any]) -> NDArray[np.float64]:
        """(N, K) phi: how probable it is that an occurrence of a word comes from each topic, for
        each entry of documents with the proportions theta, (D, K); rows sum to 1.

        phi_dwk ~ theta_dk E[beta_kw]: [F13] eq. 5 with the topics held fixed. Override it if
        `infer` has another phi. Raises ValueError for a word id out of range.
        """
        ids, row_of_entry = np.unique(batch.word_ids, return_inverse=True)
        document_of_entry = batch.documents()
        phi = self.topic_rows(ids).astype(np.float64)[row_of_entry]
        phi *= np.asarray(theta, np.float64)[document_of_entry]
        return shares_of_rows(phi)

    def local_proportions(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) proportions of documents as `learn` would return them, which are not those of
        `infer` for every kind; changes nothing."""
        return self.infer(batch)

    def own_metrics(self, batch: Minibatch) -> Mapping[str, float]:
        """Metrics that only this kind can measure on held-out documents, named as in `metrics`;
        changes nothing."""
        return {}

    def _least_rho(self, documents: int) -> float:
        """The step size that the half-life requires for a minibatch of this many documents; 0
        without a half-life.

        (1 - rho)^(half-life / documents) = 1/2, so that minibatches of any size forget alike.
        """
        if self.half_life is None:
            return 0.0
        # In this order, so that rho has the same bits as in earlier versions.
        log_kept = -math.log(2) * documents / self.half_life
        return -math.expm1(log_kept)  # 1 - (1/2)^(documents / half-life), without rounding

    def _note_step(self, documents: int, rho: float) -> None:
        """Count a step of `learn` on a minibatch of this many documents, with step size rho."""
        self.updates += 1
        self._seen += documents
        if self.passes_left is not None:
            self._reread += documents
        self.rho = rho

    def seed(self, topics: Sequence[NDArray[np.int64]]) -> None:
        """Make topic k about the words `topics[k]`, given by id, before the model has learnt
        anything.

        Raises ValueError for more topics than it has, and for topics without words;
        NotImplementedError if the kind cannot do this.
        """
        raise NotImplementedError(f"{self.label} has no seeds")

    # States

    @classmethod
    def with_topics(
        cls,
        topics: NDArray[np.floating[Any]],
        weights: NDArray[np.float64],
        prior: NDArray[np.float64],
    ) -> Self:
        """A model that infers like the one that had these `topics`, `topic_weights` and
        `document_prior`.

        It lacks whatever only learning needs, and its other settings are the defaults of its kind.
        Raises StateError for numbers that no model can have, NotImplementedError if the kind cannot
        do this.
        """
        raise NotImplementedError(f"{cls.label} cannot be made from topics")

    def state(self) -> State:
        """The whole state, as numpy arrays, plain numbers, flags and strings, for `np.savez(path,
        **state)`.

        `from_state` continues exactly from here.
        """
        state: State = {"kind": self.kind, "version": self.version}
        for entry in self._all_entries():
            owner = getattr(self, entry.part) if entry.part else self
            if owner is None and entry.optional:
                continue
            value = getattr(owner, entry.name)
            if value is None:
                continue  # optional, too
            if isinstance(value, np.ndarray):
                value = value.copy()
            state[entry.key] = value
        state["random"] = random_state(self._random)
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """A model from what `state` returned, or from `np.load` of it; `upgraded` reads older ones.

        Raises StateError (a ValueError) for the state of another kind, for one that is too new or
        too old, and for a damaged one.
        """
        values: dict[str, object] = {key: plain(value) for key, value in state.items()}
        if "topic_word" in values:
            raise StateError(
                "topics that `wikitopics export model` wrote are not a state to continue from: "
                "use wikitopics.open(SESSION).model(), or wikitopics.sklearn.load(FILE) to infer "
                "with them"
            )
        kind = str(values.get("kind"))
        if kind != cls.kind:
            shown_kind = kind[:40]
            raise StateError(
                f"this is the state of a model of kind {shown_kind!r}, not {cls.kind!r}"
            )
        version = values.get("version")
        if not isinstance(version, int) or version > cls.version:
            shown_version = str(version)[:20]
            raise StateError(f"the state is of version {shown_version}, unknown to this program")
        if version < cls.oldest_version:
            raise StateError(
                "the state was made by a version before 1.0.0, which this program does not read"
            )
        if version != cls.version:
            values = cls.upgraded(values)
        model = cls.__new__(cls)
        model._restore(checked(values, cls._all_entries()))
        model._random = random_from(values.get("random"))
        model._workers = Threads(1)
        contradiction = model._contradiction()
        if contradiction:
            raise StateError(f"the state is damaged: {contradiction}")
        return model

    def _restore(self, values: State) -> None:
        """Set the attributes that a checked state tells, and make the parts. Raises `StateError` if
        the values do not make a valid part."""
        # The arguments that make each part, by the attribute that holds the part.
        values_of_parts: dict[str, State] = {part: {} for part in self.parts}
        for entry in self._all_entries():
            if not entry.part:
                setattr(self, entry.name, values.get(entry.key))  # None: optional
            elif entry.key in values:
                values_of_parts[entry.part][entry.name] = values[entry.key]
        for attribute, make_part in self.parts.items():
            arguments = values_of_parts[attribute]
            part = None
            if arguments:
                try:
                    part = make_part(**arguments)
                except ValueError as error:
                    raise StateError(f"the state is damaged: {error}") from None
            setattr(self, attribute, part)

    def _contradiction(self) -> str:
        """What contradicts itself in a model just made from a state whose entries are valid by
        themselves; "" if nothing does."""
        if self._reread > self._seen:
            return "more documents were read again than were read"
        return ""

    @classmethod
    def upgraded(cls, state: dict[str, object]) -> dict[str, object]:
        """A state of an older version as one of this version; anything it still lacks is refused
        later."""
        return state

    @classmethod
    def _all_entries(cls) -> tuple[Entry, ...]:
        """The entries that every model has, and those of the kind."""
        return (
            Entry("n_topics", type="int", size="K", least=1, most=MOST),
            Entry("n_words", type="int", size="W", least=1, most=MOST),
            Entry("n_documents", least=1),
            Entry("updates", type="int", least=0, most=MOST),
            Entry("documents_seen", "_seen", "int", least=0, most=MOST),
            Entry("documents_reread", "_reread", "int", least=0, most=MOST, missing=0),
            Entry("rho", least=0, most=1),
            Entry(
                "half_life",
                least=check.HALF_LIFE.least,
                most=check.HALF_LIFE.most,
                optional=True,
            ),
            *cls.entries,
        )
