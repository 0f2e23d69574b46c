"""What the online models share beside their mathematics: how far they are, and how they are kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from model._blocks import Workers
from model._state import Entry, State, random, random_state
from model.minibatch import Minibatch


class OnlineModel(ABC):
    """A topic model that learns from minibatches, whose state can be kept at any time between two of them."""

    kind: ClassVar[str]
    default_batch_size: ClassVar[int]
    _kept: ClassVar[Mapping[str, tuple[str, Entry[Any]]]]
    """Key in a state -> attribute and what it has to be, of what a state holds as it is.

    The keys stand in session files: they stay, whatever the attributes are called."""
    _matrix: ClassVar[str] = "lambda_hat"
    """Key in a state of the topics, (W, K)."""

    def __init__(self, n_documents: float, seed: int, threads: int) -> None:
        self._n_documents = float(n_documents)
        self._random = np.random.Generator(np.random.PCG64(seed))
        self._workers = Workers(threads)
        self._updates = 0
        self._rho = 0.0

    @property
    @abstractmethod
    def n_topics(self) -> int: ...

    @property
    @abstractmethod
    def n_words(self) -> int: ...

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
    def threads(self) -> int:
        return self._workers.threads

    @threads.setter
    def threads(self, threads: int) -> None:
        self._workers = Workers(threads)

    @abstractmethod
    def topic_shares(self) -> NDArray[np.float64]:
        """(K,) each topic's share of the words of the corpus, sums to 1."""

    @abstractmethod
    def infer(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) topic proportions of documents, rows sum to 1; changes nothing."""

    def local_proportions(self, batch: Minibatch) -> NDArray[np.float32]:
        """(D, K) proportions as `learn` returns them, where that is quicker than `infer`; changes nothing."""
        return self.infer(batch)

    def topics_in_use(self) -> int:
        """Topics with more than a thousandth of the corpus."""
        return int(np.count_nonzero(self.topic_shares() > 1e-3))

    def state(self) -> dict[str, Any]:
        """Everything, as numpy arrays and plain numbers, flags and strings: for `np.savez(path, **state)`.

        `from_state` goes on exactly from here.
        """
        kept = {key: getattr(self, attribute) for key, (attribute, _) in self._kept.items()}
        return {
            "kind": self.kind,
            **{key: value.copy() if isinstance(value, np.ndarray) else value for key, value in kept.items()},
            **self._other_state(),
            "random": random_state(self._random),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """A model from what `state` returned, or from the `np.load` of it.

        Raises ValueError for the state of another kind of model, and for one with an entry that is missing
        or not as a model of this kind would have it: nothing is computed from that.
        """
        kind = str(state.get("kind"))
        if kind != cls.kind:
            raise ValueError(f"this is the state of a model of kind {kind[:40]!r}, not {cls.kind!r}")
        kept = State(state, cls._matrix)
        model = cls.__new__(cls)
        for key, (attribute, entry) in cls._kept.items():
            setattr(model, attribute, kept.take(key, entry))
        model._random = kept.take("random", random)
        model._workers = Workers(1)
        model._set_other_state(kept)
        return model

    @abstractmethod
    def _other_state(self) -> dict[str, Any]:
        """What of the state is not in `_kept`."""

    @abstractmethod
    def _set_other_state(self, state: State) -> None:
        """Back to what `_other_state` returned, as part of `state`; the rest is set already."""
