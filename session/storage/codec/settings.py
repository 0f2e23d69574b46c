"""What a session is made with: its settings and its vocabulary."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from session.errors import Damaged
from session.settings import KEEP_ARTICLES, Settings
from session.specs import KINDS, MOST_BATCH, MOST_TOPICS, NAME, ModelSpec
from session.storage.decoding import flag, from_json, listed, named, number, one_of, optional, text, whole

MOST_WORD_BYTES = 64 * 2**20
"""Bytes of a vocabulary."""
_SOURCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OPTIONS: Mapping[str, str] = {"api": "api_url", "html": "api_url", "recent": "api_url", "counts": "counts"}
"""The option, a text, that a session of this source always has."""


def decode_settings(rows: Sequence[tuple[Any, ...]]) -> Settings:
    """`settings`: (key, value) rows."""
    values = {text(key, "settings.key"): from_json(value, f"settings.{key}") for key, value in rows}

    def get(key: str) -> tuple[object, str]:
        return values.get(key), f"settings.{key}"

    models = listed(*get("models"), decode_spec)
    sizes = listed(*get("batch_sizes"), lambda value, place: whole(value, place, 1, MOST_BATCH))
    if not models or len({spec.name for spec in models}) < len(models) or len(sizes) != len(models):
        raise Damaged("settings.models and settings.batch_sizes do not go together")
    if any(max(sizes) % size for size in sizes):
        raise Damaged("settings.batch_sizes do not divide the largest")
    source = text(*get("source"))
    if not _SOURCE.fullmatch(source):
        raise Damaged("settings.source is no source's name")
    return Settings(
        source=source,
        source_name=text(*get("source_name")),
        source_options=_source_options(source, *get("source_options")),
        vocabulary=text(*get("vocabulary")),
        fingerprint=text(*get("fingerprint")),
        seed=whole(*get("seed"), 0, 2**128),
        held_out=whole(*get("held_out")),
        documents=whole(*get("documents"), 1),
        models=models,
        batch_sizes=sizes,
        keep_articles=one_of(*get("keep_articles"), KEEP_ARTICLES),
        keep_counts=flag(*get("keep_counts")) if "keep_counts" in values else False,
    )


def decode_spec(value: object, place: str) -> ModelSpec:
    """One of the models of the settings."""
    found = named(value, place)

    def prior(name: str, word: str) -> Any:
        return word if found.get(name) == word else optional(found.get(name), f"{place}.{name}", number)

    return ModelSpec(
        kind=one_of(found.get("kind"), f"{place}.kind", KINDS),
        name=model_name(found.get("name"), f"{place}.name"),
        topics=whole(found.get("topics"), f"{place}.topics", 1, MOST_TOPICS),
        alpha=prior("alpha", "learn"),
        eta=prior("eta", "learn"),
        omega=optional(found.get("omega"), f"{place}.omega", number),
        batch_size=optional(found.get("batch_size"), f"{place}.batch_size", whole),
        kappa=prior("kappa", "adaptive"),
        tau0=optional(found.get("tau0"), f"{place}.tau0", number),
    )


def _source_options(source: str, value: object, place: str) -> dict[str, Any]:
    """What names the source; of another program's source only that it is an object is known."""
    options = dict(named(value, place))
    if source in _OPTIONS:
        text(options.get(_OPTIONS[source]), f"{place}.{_OPTIONS[source]}")
    elif source == "dump":
        listed(options.get("dump"), f"{place}.dump", text)
    elif source == "demo":
        optional(options.get("wiki_size"), f"{place}.wiki_size", lambda v, p: whole(v, p, 1))
    return options


def model_name(value: object, place: str) -> str:
    name = text(value, place)
    if not NAME.fullmatch(name):
        raise Damaged(f"{place} is no model's name")
    return name


def decode_words(fingerprint: object, words: object) -> tuple[str, ...]:
    """The one row of `vocabulary`: the words, by id."""
    joined = text(words, "vocabulary.words", MOST_WORD_BYTES)
    if hashlib.sha256(joined.encode()).hexdigest() != fingerprint:
        raise Damaged("vocabulary.words are other words than the session was made with")
    found = tuple(joined.split("\n"))
    if len(found) < 2 or len(set(found)) < len(found) or not all(map(str.isprintable, found)):
        raise Damaged("vocabulary.words are no vocabulary")
    return found
