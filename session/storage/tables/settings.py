"""The settings and the vocabulary with which a session was made.

Settings are checked only by their shapes, and nothing is loaded for that: a session can be read even if the
package of its model or source is no longer installed.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from wikitopics.model.options import Value
from wikitopics.option import Option
from wikitopics.session.errors import Damaged
from wikitopics.session.models import BATCH_SIZE, MOST_TOPICS, NAME, ModelSpec
from wikitopics.session.options import KEPT
from wikitopics.session.settings import Settings
from wikitopics.session.storage.database import connect, session_errors
from wikitopics.session.storage.decoding import (
    FINITE,
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
