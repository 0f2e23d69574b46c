"""What a session file holds, one record a table, and how its rows become records: pure functions.

Each raises :class:`session.errors.Damaged` for a row that no session of ours has.
"""

import hashlib
import math
import re
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from session.errors import Damaged
from session.process import Process
from session.records import ArticleRow, Event, Flow, ModelStatus, PastRun, State
from session.settings import KEEP_ARTICLES, Settings
from session.specs import KINDS, MOST_BATCH, MOST_TOPICS, NAME, ModelSpec
from session.storage.decoding import (
    FINITE,
    LATEST,
    flag,
    from_json,
    listed,
    named,
    number,
    numbers,
    one_of,
    optional,
    text,
    whole,
)
from session.storage.schema import ROLES

Row = Mapping[str, object]
"""A row by column."""

MOST_WORD_BYTES = 64 * 2**20
"""Bytes of a vocabulary."""
MOST_SNAPSHOT_WORDS = 100
LARGEST_SNAPSHOT = 2**24
"""Bytes that a snapshot's row may take."""
MOST_SCORE = 700.0
"""No log-likelihood is further from 0: its exponential is a number."""
_LARGEST = struct.Struct("<HH")
"""A topic and ten-thousandths."""
_SOURCE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OPTIONS: Mapping[str, str] = {"api": "api_url", "html": "api_url", "recent": "api_url", "counts": "counts"}
"""The option, a text, that a session of this source always has."""


@dataclass(slots=True)
class Progress:
    """How far the stream has come. ``crawled = articles + held_out + pending + skipped``, always."""

    articles: int = 0
    tokens: int = 0
    held_out: int = 0
    crawled: int = 0
    pending: int = 0
    skipped: int = 0
    skips: dict[str, int] = field(default_factory=dict)
    """``skipped`` by reason, since reasons are kept."""
    minibatches: int = 0
    pending_offset: int = 0
    """Documents of the first pending row that are trained already."""
    position: dict[str, Any] | None = None
    lap: float | None = None
    renew_from: int | None = None
    """Number of the first of the newest articles that are still to be inferred anew; None: none is."""
    finished: bool = False
    elapsed_seconds: float = 0.0
    bytes_read: int = 0

    def skip(self, reason: str, number: int) -> None:
        """``number`` more articles are skipped."""
        if number:
            self.skipped += number
            self.skips[reason] = self.skips.get(reason, 0) + number


@dataclass(frozen=True, slots=True)
class Committed:
    """The one row of `progress`."""

    progress: Progress
    next_seq: int
    """Number of the next article. None is used twice, also where --keep-articles drops rows."""
    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Doing:
    """What a trainer says with each heartbeat about what it is doing."""

    article_limit: int | None
    waiting_for: str | None
    waiting_until: float | None
    bound_by: Literal["network", "parsing", "training"] | None
    crawl_rate: float
    train_rate: float
    requests: int
    requests_last_minute: int
    allowed_per_minute: int | None
    latency_seconds: float | None
    batch_pages: int | None
    retries: int
    throttled: int
    errors: tuple[Event, ...]
    """The source's last ones."""


NOTHING = Doing(None, None, None, None, 0.0, 0.0, 0, 0, None, None, None, 0, 0, ())


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A trainer's last sign of life."""

    at: float
    process: Process
    state: State
    doing: Doing


@dataclass(frozen=True, slots=True)
class Wishes:
    """What others ask of a running trainer."""

    paused: bool
    save: bool
    stop: bool


@dataclass(slots=True)
class TopWords:
    """The top words of every topic of one model at one point of the stream."""

    model: int
    articles: int
    word_ids: NDArray[np.int32]
    """(K, n)"""
    probabilities: NDArray[np.float32]
    """(K, n)"""
    shares: NDArray[np.float32]
    """(K,)"""


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
        name=_model_name(found.get("name"), f"{place}.name"),
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


def _model_name(value: object, place: str) -> str:
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


def decode_committed(row: Row) -> Committed:
    """The one row of `progress`; columns that an older session lacks are as if they were null."""

    def get(name: str) -> tuple[object, str]:
        return row.get(name), f"progress.{name}"

    position = optional(*get("position"), _json_object)
    skips = optional(*get("skips"), _json_object) or {}
    return Committed(
        Progress(
            articles=whole(*get("articles")),
            tokens=whole(*get("tokens")),
            held_out=whole(*get("held_out")),
            crawled=whole(*get("crawled")),
            pending=whole(*get("pending")),
            skipped=whole(*get("skipped")),
            skips={text(reason, "progress.skips"): whole(n, "progress.skips") for reason, n in skips.items()},
            minibatches=whole(*get("minibatches")),
            pending_offset=whole(*get("pending_offset")),
            position=None if position is None else dict(position),
            lap=optional(*get("lap"), number),
            renew_from=optional(*get("renew_from"), whole),
            finished=bool(whole(*get("finished"), 0, 1)),
            elapsed_seconds=number(*get("elapsed_seconds"), 0, LATEST),
            bytes_read=whole(*get("bytes_read")),
        ),
        next_seq=whole(*get("next_seq"), 1),
        at=number(*get("committed_at"), 0, LATEST),
    )


def _json_object(value: object, place: str) -> Mapping[str, object]:
    return named(from_json(value, place), place)


def decode_models(rows: Sequence[tuple[Any, ...]], specs: Sequence[ModelSpec]) -> tuple[ModelStatus, ...]:
    """`models`: (id, name, kind, topics, topics_in_use, updates, rho, log_likelihood) rows, by id.

    ``specs``: the models of the settings, in the same order.
    """
    found = tuple(_model(*row[1:]) for row in rows)
    if [row[0] for row in rows] != list(range(len(rows))):
        raise Damaged("models are not numbered from 0 on")
    if [(m.name, m.kind, m.topics) for m in found] != [(s.name, s.kind, s.topics) for s in specs]:
        raise Damaged("models and settings.models do not go together")
    return found


def _model(
    name: object, kind: object, topics: object, in_use: object, updates: object, rho: object, score: object
) -> ModelStatus:
    K = whole(topics, "models.topics", 1, MOST_TOPICS)
    log_likelihood = optional(
        score, "models.log_likelihood", lambda value, place: number(value, place, -MOST_SCORE, MOST_SCORE)
    )
    return ModelStatus(
        name=_model_name(name, "models.name"),
        kind=one_of(kind, "models.kind", KINDS),
        topics=K,
        topics_in_use=whole(in_use, "models.topics_in_use", 0, K),
        updates=whole(updates, "models.updates"),
        rho=number(rho, "models.rho", 0, 1),
        perplexity=None if log_likelihood is None else math.exp(-log_likelihood),
        log_likelihood=log_likelihood,
    )


def decode_heartbeat(row: Row) -> Heartbeat:
    """The one row of `heartbeat`, where there is one."""
    place = "heartbeat.activity"
    activity = _json_object(row.get("activity"), place)
    pid = whole(row.get("pid"), "heartbeat.pid", 1, 2**31 - 1)  # all that older trainers say of themselves
    return Heartbeat(
        at=number(row.get("at"), "heartbeat.at", 0, LATEST),
        process=Process.from_text(text(activity.get("process", str(pid)), f"{place}.process")),
        state=one_of(row.get("state"), "heartbeat.state", get_args(State)),
        doing=decode_doing(activity, place),
    )


def decode_doing(found: Mapping[str, object], place: str) -> Doing:
    """What a heartbeat tells; what it does not tell is nothing."""

    def count(name: str) -> int | None:
        return optional(found.get(name), f"{place}.{name}", whole)

    def rate(name: str) -> float | None:
        return optional(found.get(name), f"{place}.{name}", number)

    return Doing(
        article_limit=count("article_limit"),
        waiting_for=optional(found.get("waiting_for"), f"{place}.waiting_for", text),
        waiting_until=optional(found.get("waiting_until"), f"{place}.waiting_until", _moment),
        bound_by=optional(found.get("bound_by"), f"{place}.bound_by", _bound_by),
        crawl_rate=rate("crawl_rate") or 0.0,
        train_rate=rate("train_rate") or 0.0,
        requests=count("requests") or 0,
        requests_last_minute=count("requests_last_minute") or 0,
        allowed_per_minute=count("allowed_per_minute"),
        latency_seconds=rate("latency_seconds"),
        batch_pages=count("batch_pages"),
        retries=count("retries") or 0,
        throttled=count("throttled") or 0,
        errors=tuple(filter(None, listed(found.get("errors", []), f"{place}.errors", _error))),
    )


def _error(value: object, place: str) -> Event | None:
    """[when, what]; heartbeats of older trainers have them without their times."""
    if isinstance(value, str):
        return None
    if not isinstance(value, list) or len(value) != 2:
        raise Damaged(f"{place} is no time and text")
    return Event(_moment(value[0], place), "warning", text(value[1], place))


def _moment(value: object, place: str) -> float:
    return number(value, place, 0, LATEST)


def _bound_by(value: object, place: str) -> Literal["network", "parsing", "training"]:
    choices: Collection[Literal["network", "parsing", "training"]] = ("network", "parsing", "training")
    return one_of(value, place, choices)


def decode_wishes(row: Row) -> Wishes:
    """The one row of `control`."""
    paused, save, stop = (bool(whole(row.get(n), f"control.{n}", 0, 1)) for n in ("paused", "save", "stop"))
    return Wishes(paused, save, stop)


def decode_measurement(row: tuple[Any, ...]) -> tuple[int, int, float, float]:
    """`metrics`: (articles, tokens, seconds, value)."""
    articles, tokens, seconds, value = row
    return (
        whole(articles, "metrics.articles"),
        whole(tokens, "metrics.tokens"),
        number(seconds, "metrics.seconds", 0, LATEST),
        number(value, "metrics.value", -FINITE, FINITE),
    )


def decode_snapshot(row: tuple[Any, ...], models: Sequence[ModelStatus], n_words: int) -> TopWords:
    """`snapshots`: (model, articles, word_ids, probabilities, shares)."""
    model, articles, word_ids, probabilities, shares = row
    K = models[whole(model, "snapshots.model", 0, len(models) - 1)].topics
    ids = numbers(word_ids, "snapshots.word_ids", np.int32, (K, -1), 0, n_words - 1)
    if not 1 <= ids.shape[1] <= MOST_SNAPSHOT_WORDS:
        raise Damaged("snapshots.word_ids is not as long as it has to be")
    return TopWords(
        model=model,
        articles=whole(articles, "snapshots.articles"),
        word_ids=ids,
        probabilities=numbers(probabilities, "snapshots.probabilities", np.float32, ids.shape, 0, 1.001),
        shares=numbers(shares, "snapshots.shares", np.float32, (K,), 0, 1.001),
    )


def decode_article(row: tuple[Any, ...], models: Sequence[ModelStatus]) -> ArticleRow:
    """`articles`: (seq, page_id, title, revision_id, words, role, topics)."""
    seq, page_id, title, revision_id, words, role, topics = row
    return ArticleRow(
        whole(seq, "articles.seq", 1),
        whole(page_id, "articles.page_id", -(2**63), 2**63 - 1),
        text(title, "articles.title"),
        whole(revision_id, "articles.revision_id", -(2**63), 2**63 - 1),
        whole(words, "articles.words"),
        ROLES[whole(role, "articles.role", 0, len(ROLES) - 1)],
        () if topics is None else decode_largest(topics, models),
    )


def decode_largest(packed: object, models: Sequence[ModelStatus]) -> tuple[tuple[str, int, float], ...]:
    """`articles.topics`: (model, topic, proportion) with each model's largest topic."""
    if not isinstance(packed, bytes) or len(packed) != 4 * len(models):
        raise Damaged("articles.topics is not as long as it has to be")
    found = []
    for model, (topic, share) in zip(models, _LARGEST.iter_unpack(packed), strict=True):
        if topic >= model.topics or share > 10_000:
            raise Damaged("articles.topics is out of range")
        found.append((model.name, topic, share / 10_000))
    return tuple(found)


def decode_flow(row: tuple[Any, ...]) -> Flow:
    """`flow`: (at, crawl_rate, train_rate, queue)."""
    at, crawl_rate, train_rate, queue = row
    return Flow(
        number(at, "flow.at", 0, LATEST),
        number(crawl_rate, "flow.crawl_rate"),
        number(train_rate, "flow.train_rate"),
        whole(queue, "flow.queue"),
    )


def decode_event(row: tuple[Any, ...]) -> Event:
    """`events`: (at, level, message)."""
    at, level, message = row
    levels: Collection[Literal["info", "warning", "error"]] = ("info", "warning", "error")
    return Event(
        number(at, "events.at", 0, LATEST),
        one_of(level, "events.level", levels),
        text(message, "events.message"),
    )


def decode_run(row: tuple[Any, ...]) -> PastRun:
    """`runs`: (started_at, ended_at, first_article, reason)."""
    started_at, ended_at, first_article, reason = row
    return PastRun(
        number(started_at, "runs.started_at", 0, LATEST),
        optional(ended_at, "runs.ended_at", _moment),
        whole(first_article, "runs.first_article"),
        optional(reason, "runs.reason", text),
    )


def documents_room(settings: Settings) -> int:
    """Bytes that one value of word counts, or all of a table that is read at once, may take.

    Far more than any: 64 kB an article of a minibatch and of those held out.
    """
    return 2**26 + 2**16 * (settings.batch_size + settings.held_out)


def state_room(topics: int, n_words: int) -> int:
    """Bytes that the arrays of a model may take: the topics in float64, and 128 MB for all else."""
    return 8 * topics * n_words + 2**27
