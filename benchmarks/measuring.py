"""Measuring: CPU seconds of this process and its children, and curves over them."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

from wikitopics.model import CompletionSet, Minibatch

T = TypeVar("T")


def cpu_seconds() -> float:
    """User and system time so far, including children that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in used)


def timed(work: Callable[[], T], clock: Callable[[], float] = cpu_seconds) -> tuple[float, T]:
    start = clock()
    result = work()
    return clock() - start, result


def wall(work: Callable[[], T]) -> tuple[float, T]:
    return timed(work, time.perf_counter)


def in_turn(repeats: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each measure. They take turns, so that a slow minute of the machine affects all."""
    taken = [[measure() for measure in measures] for _ in range(repeats)]
    return [median(list(column)) for column in zip(*taken, strict=True)]


def minibatches(documents: Minibatch, size: int) -> Iterator[Minibatch]:
    for start in range(0, documents.D, size):
        yield documents[start : start + size]


def growing(documents: Minibatch, largest: int) -> Iterator[Minibatch]:
    """Minibatches as a session makes them: 64 documents, then a quarter of those seen, up to the largest."""
    start = 0
    while start < documents.D:
        stop = start + min(largest, max(64, start // 4))
        yield documents[start:stop]
        start = stop


def learn_all(model: Any, batches: Iterator[Minibatch]) -> Any:
    for batch in batches:
        model.learn(batch)
    return model


@dataclass
class Curve:
    """Log-likelihood against documents learnt and CPU seconds of learning (without measuring)."""

    name: str
    documents: list[int]
    seconds: list[float]
    log_likelihood: list[float]


def curve(
    name: str, model: Any, batches: Iterator[Minibatch], held_out: CompletionSet, points: int = 24
) -> Curve:
    """Learn, and measure about `points` times, at document counts that grow geometrically."""
    drawn = Curve(name, [], [], [])
    seen, seconds, due = 0, 0.0, 500.0
    last = None
    for batch in batches:
        taken, _ = timed(lambda batch=batch: model.learn(batch))  # type: ignore[misc]
        seen, seconds, last = seen + batch.D, seconds + taken, seen + batch.D
        if seen >= due:
            due = seen * 300 ** (1 / points)
            _add(drawn, seen, seconds, held_out.score(model))
    if drawn.documents[-1] != last:
        _add(drawn, seen, seconds, held_out.score(model))
    return drawn


def _add(drawn: Curve, documents: int, seconds: float, log_likelihood: float) -> None:
    drawn.documents.append(documents)
    drawn.seconds.append(seconds)
    drawn.log_likelihood.append(log_likelihood)
