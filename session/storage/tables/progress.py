"""The progress of the stream: the one row of `progress`."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from wikitopics.session.errors import Damaged
from wikitopics.session.storage.decoding import LARGEST, listed, number, whole


@dataclass(frozen=True, slots=True)
class Scored:
    """A minibatch as the models predicted it before it was trained."""

    articles: int
    words: int
    """The words that were hidden and predicted, in a sample of the articles."""
    nats: tuple[float, ...]
    """The log-likelihood of all of them, for each model."""


@dataclass(slots=True)
class Progress:
    """The progress of the stream. ``crawled = articles + held_out + pending + skipped``, always.

    A document that is read again counts again, in ``crawled``, ``articles`` and ``tokens``.
    """

    articles: int = 0
    tokens: int = 0
    held_out: int = 0
    crawled: int = 0
    pending: int = 0
    skipped: int = 0
    skips: dict[str, int] = field(default_factory=dict)
    """``skipped`` by reason."""
    again: int = 0
    """How many of the ``articles`` had been trained before, in an earlier pass."""
    minibatches: int = 0
    pending_offset: int = 0
    """Documents of the first pending row that are already trained."""
    position: dict[str, Any] | None = None
    lap: float | None = None
    """The share of the source that was read, of all passes together."""
    renew_from: int | None = None
    """Number of the first of the newest articles that must still be inferred again; None if there is none."""
    prequential: tuple[Scored, ...] = ()
    """The newest minibatches, as few as together have 1,000 articles; none if no model forgets."""
    finished: bool = False
    elapsed_seconds: float = 0.0
    bytes_read: int = 0
    next_seq: int = field(default=1, compare=False)
    """Number of the next article, by the last commit. No number is used twice, even if --keep-articles drops
    rows."""
    committed_at: float = field(default=0.0, compare=False)
    """When that was, in seconds since the epoch."""

    @property
    def documents(self) -> int:
        """The articles trained, each counted once."""
        return self.articles - self.again

    @property
    def pass_(self) -> int:
        """The pass of the newest article, from 1."""
        return -(-self.articles // self.documents) if self.articles else 1

    def predicted(self, number: int) -> float | None:
        """A model's log-likelihood per word of the newest articles before they were trained."""
        if any(number >= len(one.nats) for one in self.prequential):
            raise Damaged("progress.prequential lacks a model")
        words = sum(one.words for one in self.prequential)
        return sum(one.nats[number] for one in self.prequential) / words if words else None

    def skip(self, reason: str, number: int) -> None:
        """Count ``number`` more skipped articles."""
        if number:
            self.skipped += number
            self.skips[reason] = self.skips.get(reason, 0) + number


def _scored(value: object) -> Scored:
    place = "progress.prequential"
    if not isinstance(value, list) or len(value) != 3:
        raise Damaged(f"{place} is not a list of articles, words and nats")
    articles, words, nats = value
    return Scored(
        whole(articles, place, 1), whole(words, place), listed(nats, place, partial(number, low=-LARGEST))
    )


def decode_progress(row: Mapping[str, Any]) -> Progress:
    """The one row of `progress`, each value already checked for itself."""
    scored = tuple(map(_scored, row["prequential"] or ()))
    progress = Progress(**{name: row[name] for name in row if name != "id"} | {"prequential": scored})
    if progress.again and not 0 < progress.again < progress.articles:
        raise Damaged("progress.again is out of range")
    if sum(progress.skips.values()) != progress.skipped:
        raise Damaged("progress.skips and progress.skipped do not match")
    return progress


def encode_progress(progress: Progress, next_seq: int) -> dict[str, object]:
    """The columns of its row, written now."""
    scored = [[one.articles, one.words, one.nats] for one in progress.prequential]
    return {
        **asdict(progress),
        "position": None if progress.position is None else json.dumps(progress.position),
        "skips": json.dumps(progress.skips),
        "prequential": json.dumps(scored) if scored else None,
        "finished": int(progress.finished),
        "next_seq": next_seq,
        "committed_at": time.time(),
    }
