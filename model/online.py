"""The interface of every online model: it describes itself, learns, answers, and can be saved."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from wikitopics.model import options as check
from wikitopics.model.minibatch import Minibatch, Threads
from wikitopics.model.options import LARGEST, Metric
from wikitopics.option import Option

# The states of models as data: their keys, the attributes that hold them, and their valid values.
#
# A model lists its `Entry`s once; saving, reading and checking follow from the list. A state is
# flat and made of numpy arrays, plain numbers and flags, so that `np.savez(path, **state)` can keep
# it. It may come from a
# damaged or hostile file, and kernels check no bounds: anything invalid is refused before a kernel
# sees it.

Plain = NDArray[Any] | bool | int | float | str
State = dict[str, Plain]

FLOATS = "float32 float64"  # an array of either
MOST = 2**53  # the largest counter
MOST_ITERATIONS = 10_000  # the most iterations of a loop over a document
TINY = 1e-300  # the smallest positive number used
_TYPES: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "bool": (bool,)}


class StateError(ValueError):
    """A state from which no model can continue; one line."""


@dataclass(frozen=True)
class Entry:
    """One key of a state.

    key: its name in the state; public and permanent, since files contain it
    attribute: the model's attribute, by default of the same name; "part.name" is in a part of the
    model
    type: "float", "int" or "bool", or the dtypes that an array may have, such as "float32 float64"
    shape: the sizes of an array as letters, such as "W K" or "K-1"; a letter not known yet takes
    the size found
    size: the letter whose size this number is
    least, most: bounds on every number; below: the letter whose size bounds all ids
    optional: whether the key may be missing; its attribute, or the part that it belongs to, is then
    None
    missing: the value for states from before the entry existed; None: such states are refused
    """

    key: str
    attribute: str = ""
    type: str = "float"
    shape: str = ""
    size: str = ""
    least: float = -LARGEST
    most: float = LARGEST
    below: str = ""
    optional: bool = False
    missing: Plain | None = None

    @property
    def part(self) -> str:
        """The model's attribute that is the part with this value; "" if the model itself has it."""
        part, _, _ = self._path
        return part

    @property
    def name(self) -> str:
        """The attribute with this value, of the model or the part."""
        _, _, name = self._path
        return name

    @property
    def _path(self) -> tuple[str, str, str]:
        return (self.attribute or self.key).rpartition(".")

    @classmethod
    def of_option(cls, option: Option[float], *, optional: bool = False) -> Entry:
        """The entry for an option whose value is an attribute of its name; older states get its
        default."""
        # What is learnt may become smaller than any number that may be given.
        learnt = bool(option.choices)
        least = TINY if learnt or option.above == 0 else option.least
        default = None if isinstance(option.default, str) else option.default
        return cls(
            option.name,
            type=option.of.__name__,
            least=least,
            most=option.most,
            optional=optional,
            missing=default,
        )

    @classmethod
    def of_part(cls, part: Any, attribute: str, optional: bool = False) -> tuple[Entry, ...]:
        """Entries for a dataclass that a model has as `attribute`.

        Its fields are numbers of iterations, and positive numbers, unless they are `bounded`; a
        `Vector` has a number of at least 0 for each topic.
        """
        prefix = attribute.removeprefix("_")
        of_types = {
            "int": cls("", type="int", least=1, most=MOST_ITERATIONS),
            "float": cls("", least=TINY),
            "Vector": cls("", type="float64", shape="K", least=0),
        }
        entries = []
        for number in fields(part):
            entry = replace(
                of_types[str(number.type)],
                key=f"{prefix}_{number.name}",
                attribute=f"{attribute}.{number.name}",
                optional=optional,
                **number.metadata,
            )
            entries.append(entry)
        return tuple(entries)


def bounded(least: float, most: float, default: Any = MISSING) -> Any:
    """A field of a part of a model, for `Entry.of_part`."""
    return field(default=default, metadata={"least": least, "most": most})


def checked(
    state: Mapping[str, object], entries: Sequence[Entry], whose: str = "the state's "
) -> State:
    """The entries' values out of a state, arrays as contiguous copies; keys that no entry names are
    ignored.

    Raises `StateError` for a value that is missing or contradicts its entry.
    """
    sizes: dict[str, int] = {}
    values: State = {}
    given = [entry for entry in entries if state.get(entry.key) is not None]
    # An optional part is there completely or not at all.
    given_parts = {entry.part for entry in given if entry.optional and entry.part}
    for entry in entries:
        value = plain(state.get(entry.key))
        if value is None:
            value = entry.missing
        if value is None:
            if entry.optional and entry.part not in given_parts:
                continue
            raise StateError(f"{whose}{entry.key} is missing")
        fault = _fault(entry, value, sizes)
        if fault:
            raise StateError(f"{whose}{entry.key} {fault}")
        if entry.shape:
            values[entry.key] = np.array(value, order="C")
        else:
            of_type, *_ = _TYPES[entry.type]
            values[entry.key] = of_type(value)
    return values


def plain(value: object) -> object:
    """Turn the zero-dimensional arrays of an .npz back into numbers, flags and strings."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def _fault(entry: Entry, value: object, sizes: dict[str, int]) -> str:
    """What is wrong with a value, or ""; records in `sizes` those that the value determines."""
    if entry.shape:
        fault = _fault_of_array(entry, value, sizes)
        if fault:
            return fault
    elif type(value) not in _TYPES[entry.type]:
        return f"must be of type {entry.type}, not {type(value).__name__}"
    elif entry.size:
        sizes[entry.size] = int(value)  # type: ignore[call-overload]
    numbers = np.asarray(value)
    most = sizes[entry.below] - 1 if entry.below else entry.most
    # Written so that NaN fails too: all its comparisons are false.
    fits = not numbers.size or (entry.least <= numbers.min() and numbers.max() <= most)
    return "" if fits else f"must be from {entry.least:g} to {most:g}"


def _fault_of_array(entry: Entry, value: object, sizes: dict[str, int]) -> str:
    """What is wrong with the dtype or the shape of a value that must be an array, or ""."""
    dtypes = entry.type.split()
    wanted = f"must be an array of {' or '.join(dtypes)}"
    if not isinstance(value, np.ndarray):
        return f"{wanted}, not {type(value).__name__}"
    if str(value.dtype) not in dtypes:
        return f"{wanted}, not {value.dtype}"
    letters = entry.shape.split()
    if len(letters) != value.ndim:
        return f"must have {len(letters)} dimensions, not the shape {value.shape}"
    lengths = []
    for letter, length in zip(letters, value.shape, strict=True):
        name, _, difference = letter.partition("-")  # "K-1" is one less than K
        less = int(difference or 0)
        sizes.setdefault(name, length + less)
        lengths.append(sizes[name] - less)
    shape = tuple(lengths)
    if value.shape != shape:
        return f"must have the shape {shape}, not {value.shape}"
    return ""


IN_USE = 1e-3  # a topic in use has more than this share of the corpus
WORDS_A_DOCUMENT = 100  # assumed if nothing is known, as in [SVI13] footnote 6


def top_words(topics: NDArray[Any], n: int = 10) -> NDArray[np.int64]:
    """(K, n) word ids of each topic's n most probable words, most probable first, ties by word id.

    topics: (K, W); n beyond W gives W.
    """
    n = min(n, topics.shape[1])

    def leading(topic: NDArray[Any]) -> NDArray[np.int64]:
        least = np.partition(topic, -n)[-n]
        candidates = np.flatnonzero(topic >= least)  # sorting all words would take longer
        order = np.argsort(-topic[candidates], kind="stable")
        return candidates[order[:n]]

    return np.stack([leading(topic) for topic in topics])


class OnlineModel(ABC):
    """A topic model that learns from minibatches, and whose state can be saved between any two of
    them.

    A subclass is one kind of model. It describes itself by its class attributes, implements the
    abstract methods, and lists in `entries` what its state holds besides the entries here. It draws
    random numbers only from `_random`, whose state is saved, and counts each step of `learn` with
    `_note_step`. `model.check_model` checks all of this. K topics, W words of the vocabulary.
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
    """For each attribute that is a part: what makes it from its entries, those of "attribute.…"."""

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

    For a model with a half-life, this is not the length of the stream, which continues, but the
    size of the
    corpus that the topics describe: this many documents like those that still have weight.
    """
    updates: int
    """The number of minibatches learnt."""
    rho: float
    """Step size of the last update, 0 before the first."""

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
        check.HALF_LIFE.convert(half_life)
        self.half_life = None if half_life is None else float(half_life)
        self.n_topics = int(n_topics)
        self.n_words = int(n_words)
        self.n_documents = float(n_documents)
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._workers = Threads(threads)
        self.updates = 0
        self._seen = 0  # documents
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
        """A new model, made in the same way for every kind; options: keyword arguments, such as
        those in `options`.

        Raises ValueError for values out of range.
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
        make: Callable[..., Self] = cls
        return make(topics, n_words, n_documents, **settings)

    @classmethod
    def check_options(cls, **values: object) -> None:
        """Raise ValueError for the first value that the option of that name does not accept; None
        is accepted."""
        for option in cls.options:
            option.convert(values.get(option.name))

    # Properties

    @property
    def threads(self) -> int:
        """The number of threads; it affects the speed, not the result."""
        return self._workers.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._workers = Threads(threads)

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

    @abstractmethod
    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1."""

    def topics_in_use(self) -> int:
        """The number of topics with more than a thousandth of the corpus."""
        return int(np.count_nonzero(self.topic_shares() > IN_USE))

    def topic_weights(self) -> NDArray[np.float64]:
        """(K,) the words that each topic is based on: `topics` times these are the topics'
        Dirichlet parameters.

        For a kind without Dirichlet parameters: the share of a corpus of 100 words per document.
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

    def local_proportions(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) proportions as `learn` returns them, if those of `infer` differ; changes
        nothing."""
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
        return -math.expm1(-math.log(2) * documents / self.half_life)

    def _note_step(self, documents: int, rho: float) -> None:
        """Count a step of `learn` on a minibatch of this many documents, with step size rho."""
        self.updates += 1
        self._seen += documents
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
                continue  # optional
            state[entry.key] = value.copy() if isinstance(value, np.ndarray) else value
        state["random"] = _random_state(self._random)
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
        kind = str(values.get("kind"))[:40]
        version = values.get("version")
        if kind != cls.kind:
            raise StateError(f"this is the state of a model of kind {kind!r}, not {cls.kind!r}")
        if not isinstance(version, int) or version > cls.version:
            raise StateError(
                f"the state is of version {str(version)[:20]}, unknown to this program"
            )
        if version < cls.oldest_version:
            raise StateError(
                "the state was made by a version before 1.0.0, which this program does not read"
            )
        if version != cls.version:
            values = cls.upgraded(values)
        model = cls.__new__(cls)
        model._restore(checked(values, cls._all_entries()))
        model._random = _random_from(values.get("random"))
        model._workers = Threads(1)
        contradiction = model._contradiction()
        if contradiction:
            raise StateError(f"the state is damaged: {contradiction}")
        return model

    def _restore(self, values: State) -> None:
        """Set the values of a checked state. Raises `StateError` if they do not make a valid
        part."""
        arguments: dict[str, State] = {part: {} for part in self.parts}
        for entry in self._all_entries():
            if not entry.part:
                setattr(self, entry.name, values.get(entry.key))
            elif entry.key in values:
                arguments[entry.part][entry.name] = values[entry.key]
        for part, make in self.parts.items():
            of_part = arguments[part]
            try:
                made = make(**of_part) if of_part else None
            except ValueError as error:
                raise StateError(f"the state is damaged: {error}") from None
            setattr(self, part, made)

    def _contradiction(self) -> str:
        """A contradiction in a state just read whose entries are valid by themselves; "" if
        none."""
        return ""

    @classmethod
    def upgraded(cls, state: dict[str, object]) -> dict[str, object]:
        """A state of an older version as one of this version; anything it still lacks is refused
        later."""
        return state

    @classmethod
    def _all_entries(cls) -> tuple[Entry, ...]:
        return (
            Entry("n_topics", type="int", size="K", least=1, most=MOST),
            Entry("n_words", type="int", size="W", least=1, most=MOST),
            Entry("n_documents", least=1),
            Entry("updates", type="int", least=0, most=MOST),
            Entry("documents_seen", "_seen", "int", least=0, most=MOST),
            Entry("rho", least=0, most=1),
            Entry(
                "half_life",
                least=check.HALF_LIFE.least,
                most=check.HALF_LIFE.most,
                optional=True,
            ),
            *cls.entries,
        )


def _random_state(random: np.random.Generator) -> NDArray[np.uint64]:
    """(6,) PCG64's state and increment, each as its upper and lower 64 bits, then has_uint32 and
    uinteger."""
    generator: Any = random.bit_generator.state
    upper_state, lower_state = divmod(generator["state"]["state"], 2**64)
    upper_increment, lower_increment = divmod(generator["state"]["inc"], 2**64)
    numbers = [
        upper_state,
        lower_state,
        upper_increment,
        lower_increment,
        generator["has_uint32"],
        generator["uinteger"],
    ]
    return np.array(numbers, np.uint64)


def _random_from(state: object) -> np.random.Generator:
    """The inverse of `_random_state`."""
    refusal = "the state's random must be a PCG64 generator's, with an odd increment"
    if not isinstance(state, np.ndarray) or state.dtype != np.uint64 or state.shape != (6,):
        raise StateError(refusal)
    numbers = [int(number) for number in state]
    upper_state, lower_state, upper_increment, lower_increment, has_uint32, uinteger = numbers
    # With an even increment, a generator may repeat the same number for ever.
    odd = lower_increment & 1
    if not odd or has_uint32 >= 2 or uinteger >= 2**32:
        raise StateError(refusal)
    random = np.random.Generator(np.random.PCG64())
    random.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {
            "state": upper_state << 64 | lower_state,
            "inc": upper_increment << 64 | lower_increment,
        },
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return random


# Document completion, [SVI13] section 4: how well a model predicts words it has not seen.


class Model(Protocol):
    """What a model must have to be measured."""

    @property
    def n_words(self) -> int: ...
    def infer(self, batch: Minibatch) -> NDArray[np.float32]: ...
    def topics(self) -> NDArray[Any]: ...


class CompletionSet:
    """Documents split once into words seen and words to predict, on which models are measured
    repeatedly.

    Each document's distinct words are split at random, by `seed`, into two halves that share no
    word; if their number is odd, the seen half has one more. Documents with fewer than two distinct
    words are left out.
    """

    def __init__(self, batch: Minibatch, seed: int = 0) -> None:
        sizes = np.diff(batch.indptr)
        documents = batch.documents()
        key = np.random.default_rng(seed).random(len(documents))
        order = np.lexsort((key, documents))
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order)) - np.repeat(batch.indptr[:-1], sizes)
        hide = rank >= (sizes[documents] + 1) // 2
        used = sizes >= 2

        def half(entries: NDArray[np.bool_]) -> Minibatch:
            """The documents used, with these entries."""
            words = np.bincount(documents[entries], minlength=batch.D)
            indptr = np.append(0, np.cumsum(words[used]))
            return Minibatch(indptr, batch.word_ids[entries], batch.counts[entries])

        self.seen = half(used[documents] & ~hide)
        self.hidden = half(used[documents] & hide)

    def score(self, model: Model) -> float:
        """Nats per hidden word: the mean of log sum_k E[theta_k] E[beta_kw]; NaN if there are none.

        Raises ValueError for a word id outside the model's range.
        """
        from wikitopics.model.kernels import mixtures

        hidden = self.hidden
        if hidden.n_tokens == 0:
            return float("nan")
        _, ids, entries = hidden.words(model.n_words)
        theta = model.infer(self.seen)
        rows = model.topic_rows(ids) if isinstance(model, OnlineModel) else model.topics()[:, ids].T
        probability = np.empty(len(hidden.word_ids), dtype=np.float32)
        mixtures(
            entries.indptr,
            entries.local,
            np.ascontiguousarray(rows, np.float32),
            theta,
            probability,
        )
        # Not with @: the threads that a BLAS starts take longer than everything else here.
        nats = np.sum(hidden.counts * np.log(probability, dtype=np.float64))
        return float(nats / hidden.n_tokens)


def document_completion(model: Model, batch: Minibatch, seed: int = 0) -> float:
    """Score of a model in nats per held-out word, higher is better; exp(-score) is the perplexity.
    See `CompletionSet`.

    Raises ValueError for a word id outside the model's range.
    """
    return CompletionSet(batch, seed).score(model)
