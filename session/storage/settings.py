"""What a session is and how far it is: its settings, its vocabulary, and the progress of the stream.

Settings are checked only by their shapes, and nothing is loaded for that: a session can be read even if the
package of its model or source is no longer installed.
"""

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from msgspec import Meta

from wikitopics.option import Option
from wikitopics.session.errors import Damaged
from wikitopics.session.escapes import visible
from wikitopics.session.options import KEPT
from wikitopics.session.records import JSON, Count, Moment, PositiveCount, Rate, Text
from wikitopics.session.settings import BATCH_SIZE, MOST_TOPICS, NAME, ModelSpec, Settings
from wikitopics.session.storage.database import connect, session_errors
from wikitopics.session.storage.decoding import MOST_WORD_BYTES, convert, from_json, row_of
from wikitopics.vocab.rules import is_printable

# The settings and the vocabulary with which a session was made.
#
# Settings are checked only by their shapes, and nothing is loaded for that: a session can be read even if the
# package of its model or source is no longer installed.

_Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_Word = Annotated[str, Meta(max_length=64)]
"""Instead of a number, such as "learn"."""
_ModelName = Annotated[str, Meta(pattern=rf"^{NAME.pattern}\Z")]
_BatchSize = Annotated[int, Meta(ge=1, le=int(BATCH_SIZE.most))]


class _Stored(TypedDict):
    """The settings besides those of `KEPT`."""

    source: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}\Z")]
    source_name: Text
    source_options: dict[str, Any]
    """Only the kind of source knows which are valid."""
    vocabulary: Text
    fingerprint: Text
    rule: Annotated[str, Meta(pattern=r"^(1|2( [a-z]{2,8})?|links)\Z")]
    models: Annotated[tuple[dict[str, Any], ...], Meta(min_length=1)]
    batch_sizes: tuple[_BatchSize, ...]
    measured_every: NotRequired[PositiveCount | None]


class _StoredModel(TypedDict):
    """A model, besides its options."""

    kind: _ModelName
    name: _ModelName
    topics: Annotated[int, Meta(ge=1, le=MOST_TOPICS)]
    batch_size: NotRequired[_BatchSize | None]


def decode_settings(rows: Sequence[tuple[Any, ...]]) -> Settings:
    """`settings`: (key, value) rows."""
    values = {key: from_json(value, Any, f"settings.{visible(key):.64}") for key, value in rows}
    stored = convert(values, _Stored, "settings")
    models, sizes = tuple(map(_spec, stored["models"])), stored["batch_sizes"]
    if len({spec.name for spec in models}) < len(models) or len(sizes) != len(models):
        raise Damaged("settings.models and settings.batch_sizes do not match")
    if any(max(sizes) % size for size in sizes):
        raise Damaged("settings.batch_sizes do not divide the largest")
    kept = {option.name: _kept(option, values) for option in KEPT}
    kept = {name: value for name, value in kept.items() if value is not None}
    return Settings(kept, **{**stored, "models": models})


def _spec(value: Mapping[str, Any]) -> ModelSpec:
    """One of the models; only its kind knows the meaning of its options."""
    own = convert(value, _StoredModel, "settings.models")
    options = {key: option for key, option in value.items() if key not in _StoredModel.__annotations__}
    return ModelSpec(**own, options=convert(options, dict[Text, _Whole | float | _Word], "settings.models"))


def keep_index(path: Path, index: Mapping[str, object]) -> None:
    """Store the type of the ids that a program gave its texts: their `dtype`, and the `name` of them all.

    Raises `SessionError`.
    """
    with closing(connect(path)) as db, session_errors(path):
        db.execute("INSERT OR REPLACE INTO settings VALUES ('index', ?)", [json.dumps(dict(index))])


class StoredIndex(TypedDict):
    """What `keep_index` stores; a name that is neither text nor a number is none."""

    name: NotRequired[Any]
    dtype: Text


def _kept(option: Option[Any], values: Mapping[str, object]) -> object:
    """The value of a setting; a session older than the setting has none."""
    if option.name not in values and not option.derived:
        return option.default
    try:
        return option.check(values.get(option.name))
    except ValueError as error:
        raise Damaged(f"settings.{option.name} {error}") from None


def decode_words(fingerprint: object, words: object) -> tuple[str, ...]:
    """The one row of `vocabulary`: the words, by id."""
    joined = convert(words, Annotated[str, Meta(max_length=MOST_WORD_BYTES)], "vocabulary.words")
    if hashlib.sha256(joined.encode()).hexdigest() != fingerprint:
        raise Damaged("vocabulary.words differ from those the session was made with")
    found = tuple(joined.split("\n"))
    if len(found) < 2 or len(set(found)) < len(found) or not all(map(is_printable, found)):
        raise Damaged("vocabulary.words are not a vocabulary")
    return found


# The progress of the stream: the one row of `progress`.


class Scored(NamedTuple):
    """A minibatch as the models predicted it before it was trained."""

    articles: PositiveCount
    words: Count
    """The words that were hidden and predicted, in a sample of the articles."""
    nats: tuple[Annotated[float, Meta(ge=-1e15, le=1e15)], ...]
    """The log-likelihood of all of them, for each model."""


@dataclass(slots=True)
class Progress:
    """The progress of the stream. ``crawled = articles + held_out + pending + skipped``, always.

    A document that is read again counts again, in ``crawled``, ``articles`` and ``tokens``.
    """

    articles: Count = 0
    tokens: Count = 0
    held_out: Count = 0
    crawled: Count = 0
    pending: Count = 0
    skipped: Count = 0
    skips: Annotated[dict[Text, Count], JSON] = field(default_factory=dict)
    """``skipped`` by reason."""
    again: Count = 0
    """How many of the ``articles`` had been trained before, in an earlier pass."""
    minibatches: Count = 0
    pending_offset: Count = 0
    """Documents of the first pending row that are already trained."""
    position: Annotated[dict[str, Any] | None, JSON] = None
    lap: Rate | None = None
    """The share of the source that was read, of all passes together."""
    renew_from: Count | None = None
    """Number of the first of the newest articles that must still be inferred again; None if there is none."""
    prequential: Annotated[tuple[Scored, ...], JSON] = ()
    """The newest minibatches, as few as together have 1,000 articles; none if no model forgets."""
    finished: bool = False
    elapsed_seconds: Moment = 0.0
    bytes_read: Count = 0
    next_seq: PositiveCount = field(default=1, compare=False)
    """Number of the next article, by the last commit. No number is used twice, even if --keep-articles drops
    rows."""
    committed_at: Moment = field(default=0.0, compare=False)
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

    def row(self, next_seq: int) -> dict[str, object]:
        """The columns of its row, written now."""
        return {"id": 1, **row_of(replace(self, next_seq=next_seq, committed_at=time.time()))}

    def skip(self, reason: str, number: int) -> None:
        """Count ``number`` more skipped articles."""
        if number:
            self.skipped += number
            self.skips[reason] = self.skips.get(reason, 0) + number
