"""Records of a trainer's runs: rates, messages, and when each run began and ended."""

from collections.abc import Collection
from typing import Any, Literal

from wikitopics.session.records import Event, Flow, PastRun
from wikitopics.session.storage.decoding import LATEST, moment, number, one_of, optional, text, whole


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
        optional(ended_at, "runs.ended_at", moment),
        whole(first_article, "runs.first_article"),
        optional(reason, "runs.reason", text),
    )
