"""What a trainer reports about itself, and what others ask of it: the rows of `heartbeat` and `control`."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import TypeVar, get_args

from wikitopics.session.errors import Damaged
from wikitopics.session.process import Process
from wikitopics.session.records import BoundBy, Event, State, TrainerActivity
from wikitopics.session.storage.decoding import (
    flag,
    json_object,
    listed,
    moment,
    number,
    one_of,
    optional,
    text,
    whole,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A trainer's last sign of life."""

    at: float
    process: Process
    state: State
    activity: TrainerActivity


@dataclass(frozen=True, slots=True)
class Wishes:
    """Requests from others to a running trainer."""

    paused: bool
    save: bool
    stop: bool


def encode_heartbeat(beat: Heartbeat) -> dict[str, object]:
    """The row of a heartbeat. Every field of the activity is a key of its JSON."""
    activity = beat.activity
    told = {field.name: getattr(activity, field.name) for field in fields(activity)}
    told["errors"] = [[error.at, error.message] for error in activity.errors]
    told["process"] = beat.process.as_text()
    return {
        "id": 1,
        "at": beat.at,
        "pid": beat.process.pid,
        "state": beat.state,
        "activity": json.dumps(told),
    }


def decode_heartbeat(row: Mapping[str, object]) -> Heartbeat:
    """The one row of `heartbeat`, if there is one; the inverse of `encode_heartbeat`."""
    place = "heartbeat.activity"
    told = json_object(row.get("activity"), place)
    return Heartbeat(
        at=moment(row.get("at"), "heartbeat.at"),
        process=Process.from_text(text(told.get("process"), f"{place}.process")),
        state=one_of(row.get("state"), "heartbeat.state", get_args(State)),
        activity=_activity(told, place),
    )


def _activity(told: Mapping[str, object], place: str) -> TrainerActivity:
    def get(name: str, decode: Callable[[object, str], T], default: T) -> T:
        found = optional(told.get(name), f"{place}.{name}", decode)
        return default if found is None else found

    return TrainerActivity(
        article_limit=get("article_limit", whole, None),
        waiting_for=get("waiting_for", text, None),
        waiting_until=get("waiting_until", moment, None),
        compiling=get("compiling", flag, False),
        bound_by=get("bound_by", _bound_by, None),
        crawl_rate=get("crawl_rate", number, 0.0),
        train_rate=get("train_rate", number, 0.0),
        queue=get("queue", whole, 0),
        requests=get("requests", whole, 0),
        requests_last_minute=get("requests_last_minute", whole, 0),
        allowed_per_minute=get("allowed_per_minute", whole, None),
        latency_seconds=get("latency_seconds", number, None),
        batch_pages=get("batch_pages", whole, None),
        retries=get("retries", whole, 0),
        throttled=get("throttled", whole, 0),
        errors=optional(told.get("errors"), f"{place}.errors", _errors) or (),
    )


def _errors(value: object, place: str) -> tuple[Event, ...]:
    return listed(value, place, _error)


def _error(value: object, place: str) -> Event:
    """[when, what]."""
    if not isinstance(value, list) or len(value) != 2:
        raise Damaged(f"{place} is not a time and a text")
    return Event(moment(value[0], place), "warning", text(value[1], place))


def _bound_by(value: object, place: str) -> BoundBy:
    choices: Collection[BoundBy] = get_args(BoundBy)
    return one_of(value, place, choices)


def decode_wishes(row: Mapping[str, object]) -> Wishes:
    """The one row of `control`."""
    paused, save, stop = (bool(whole(row.get(n), f"control.{n}", 0, 1)) for n in ("paused", "save", "stop"))
    return Wishes(paused, save, stop)
