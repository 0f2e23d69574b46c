"""What a session is and how far it is: its settings, its vocabulary, and the progress of the stream.

Settings are checked only by their shapes, and nothing is loaded for that: a session can be read even if the
package of its model or source is no longer installed.
"""

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from wikitopics.model.options import Value
from wikitopics.option import Option
from wikitopics.session.errors import Damaged
from wikitopics.session.options import KEPT
from wikitopics.session.settings import BATCH_SIZE, MOST_TOPICS, NAME, ModelSpec, Settings
from wikitopics.session.storage.database import connect, session_errors
from wikitopics.session.storage.decoding import (
    FINITE,
    LARGEST,
    MOST_WORD_BYTES,
    from_json,
    listed,
    named,
    number,
    optional,
    text,
    whole,
)
from wikitopics.vocab.rules import is_printable

# The settings and the vocabulary with which a session was made.
#
# Settings are checked only by their shapes, and nothing is loaded for that: a session can be read even if the
# package of its model or source is no longer installed.

MOST_SOURCE_CHARACTERS = 2**20
_SOURCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_RULE = re.compile(r"1|2( [a-z]{2,8})?|links")
_LONGEST_WORD = 64
"""Instead of a number, such as "learn"."""


def decode_settings(rows: Sequence[tuple[Any, ...]]) -> Settings:
    """`settings`: (key, value) rows."""
    values = {text(key, "settings.key"): from_json(value, f"settings.{key}") for key, value in rows}

    def get(key: str) -> tuple[object, str]:
        return values.get(key), f"settings.{key}"

    models = listed(*get("models"), _spec)
    sizes = listed(*get("batch_sizes"), _batch_size)
    if not models or len({spec.name for spec in models}) < len(models) or len(sizes) != len(models):
        raise Damaged("settings.models and settings.batch_sizes do not match")
    if any(max(sizes) % size for size in sizes):
        raise Damaged("settings.batch_sizes do not divide the largest")
    kept = {option.name: _kept(option, values) for option in KEPT}
    return Settings(
        {name: value for name, value in kept.items() if value is not None},
        source=_matching(*get("source"), _SOURCE, "a source's name"),
        source_name=text(*get("source_name")),
        source_options=_source_options(*get("source_options")),
        vocabulary=text(*get("vocabulary")),
        fingerprint=text(*get("fingerprint")),
        rule=_matching(*get("rule"), _RULE, "a word rule"),
        models=models,
        batch_sizes=sizes,
        measured_every=optional(*get("measured_every"), partial(whole, low=1)),
    )


def keep_index(path: Path, index: Mapping[str, object]) -> None:
    """Store the type of the ids that a program gave its texts: their `dtype`, and the `name` of them all.

    Raises `SessionError`.
    """
    with closing(connect(path)) as db, session_errors(path):
        db.execute("INSERT OR REPLACE INTO settings VALUES ('index', ?)", [json.dumps(dict(index))])


def decode_index(value: object) -> tuple[str | int | None, str]:
    """(the name, the dtype) of `keep_index`."""
    place = "settings.index"
    found = named(from_json(value, place), place)
    name = found.get("name")
    return name if isinstance(name, str | int) else None, text(found.get("dtype"), f"{place}.dtype")


def _kept(option: Option[Any], values: Mapping[str, object]) -> object:
    """The value of a setting; a session older than the setting has none."""
    if option.name not in values and not option.derived:
        return option.default
    try:
        return option.check(values.get(option.name))
    except ValueError as error:
        raise Damaged(f"settings.{option.name} {error}") from None


def _matching(value: object, place: str, pattern: re.Pattern[str], what: str) -> str:
    """Text of this pattern; ``what``: its meaning."""
    found = text(value, place)
    if not pattern.fullmatch(found):
        raise Damaged(f"{place} is not {what}")
    return found


def decode_words(fingerprint: object, words: object) -> tuple[str, ...]:
    """The one row of `vocabulary`: the words, by id."""
    joined = text(words, "vocabulary.words", MOST_WORD_BYTES)
    if hashlib.sha256(joined.encode()).hexdigest() != fingerprint:
        raise Damaged("vocabulary.words differ from those the session was made with")
    found = tuple(joined.split("\n"))
    if len(found) < 2 or len(set(found)) < len(found) or not all(map(is_printable, found)):
        raise Damaged("vocabulary.words are not a vocabulary")
    return found


def _spec(value: object, place: str) -> ModelSpec:
    """One of the models; only its kind knows the meaning of its options."""
    found = dict(named(value, place))
    return ModelSpec(
        kind=_matching(found.pop("kind", None), f"{place}.kind", NAME, "a model's name"),
        name=_matching(found.pop("name", None), f"{place}.name", NAME, "a model's name"),
        topics=whole(found.pop("topics", None), f"{place}.topics", 1, MOST_TOPICS),
        batch_size=optional(found.pop("batch_size", None), f"{place}.batch_size", _batch_size),
        options={key: _option(value, f"{place}.{key}") for key, value in found.items()},
    )


def _batch_size(value: object, place: str) -> int:
    return whole(value, place, 1, int(BATCH_SIZE.most))


def _option(value: object, place: str) -> Value:
    if isinstance(value, str):
        return text(value, place, _LONGEST_WORD)
    found = number(value, place, -FINITE, FINITE)
    return value if isinstance(value, int) else found


def _source_options(value: object, place: str) -> Mapping[str, Any]:
    """The identity of the source, as JSON values; only the kind of source knows which are valid."""
    options = named(value, place)
    text(json.dumps(options, ensure_ascii=False), place, MOST_SOURCE_CHARACTERS)
    return options


# The progress of the stream: the one row of `progress`.


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
