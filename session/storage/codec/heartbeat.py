"""What a trainer says of itself, and what others ask of it: the one row of `heartbeat` and of `control`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from session.errors import Damaged
from session.process import Process
from session.records import Event, State
from session.storage.decoding import (
    LATEST,
    json_object,
    listed,
    moment,
    number,
    one_of,
    optional,
    text,
    whole,
)


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


def decode_heartbeat(row: Mapping[str, object]) -> Heartbeat:
    """The one row of `heartbeat`, where there is one."""
    place = "heartbeat.activity"
    activity = json_object(row.get("activity"), place)
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
        waiting_until=optional(found.get("waiting_until"), f"{place}.waiting_until", moment),
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
    return Event(moment(value[0], place), "warning", text(value[1], place))


def _bound_by(value: object, place: str) -> Literal["network", "parsing", "training"]:
    choices: Collection[Literal["network", "parsing", "training"]] = ("network", "parsing", "training")
    return one_of(value, place, choices)


def decode_wishes(row: Mapping[str, object]) -> Wishes:
    """The one row of `control`."""
    paused, save, stop = (bool(whole(row.get(n), f"control.{n}", 0, 1)) for n in ("paused", "save", "stop"))
    return Wishes(paused, save, stop)
