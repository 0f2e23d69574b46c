"""The story of a session: its noteworthy moments, derived from what it stores. All functions are
pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.areas import Area
from wikitopics.session.metrics import SCORES
from wikitopics.session.records import (
    Curve,
    Event,
    Flow,
    PastRun,
    TopicChange,
    TopicEvent,
    age,
    measured,
)
from wikitopics.session.storage.topics import parts

SCORE = SCORES[0]
"""The metric whose course is told: the perplexity, which is positive; lower is better."""
MOST = 60
"""The most moments of a story: the newest ones."""
ROUND = 3
"""The most round numbers of articles that are told: the newest ones."""
SPANS = 3
"""The most doublings of articles for which the movements of shares are told, including the current
one."""
CLEAR = 0.005
"""A model is ahead of another one if it is better by at least this part of the worse value."""
BETTER = 0.001
"""A new best value is told if it has improved by at least this part within a doubling of
articles."""
MOVED = 0.0005
"""The least change of a share that is told: 0.05 points."""
_RESUMED = re.compile(r"resumed after (\d+(?:\.\d+)?) (s|min|h|d)(: .*)?", re.DOTALL)

Kind = TopicChange | Literal["ahead", "best", "count", "wait", "restart", "up", "down"]
_Group = tuple[Sequence[str], Sequence[int], NDArray[Any], NDArray[Any]]
"""(the names of topics or areas, the topic of each, their shares before, their shares after)"""
DIRECTIONS: tuple[tuple[Kind, int], ...] = ("up", 1), ("down", -1)
Shares = Sequence[tuple[int, NDArray[Any]]]
"""(articles, the share of every topic at that point), oldest first."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened to a session."""

    kind: Kind
    articles: int
    words: str
    model: str | None = None
    """The model that it is about; None: several, or the session."""
    topic: int | None = None
    """The topic that it is about; of an area, its largest one."""
    at: float | None = None
    """Its approximate time, in seconds since the epoch; None: not known."""


def times(
    articles: Sequence[float], course: Curve | None, runs: Sequence[PastRun]
) -> NDArray[np.float64]:
    """About when a session had trained on this many articles, in seconds since the epoch; NaN: not
    known.

    ``course``: one of its curves; None before the first measurement.
    """
    wanted = np.array(articles, np.float64)
    if course is None or not course.articles.size or not runs:
        return np.full(len(wanted), np.nan)
    first = np.array([run.first_article for run in runs], np.float64)
    place = np.searchsorted(first, wanted) - 1
    measured, seconds = np.append(0, course.articles), np.append(0.0, course.seconds)
    passed = np.interp(wanted, measured, seconds) - np.interp(first, measured, seconds)[place]
    began = np.array([run.started_at for run in runs])[place]
    return np.where(place >= 0, began + passed, np.nan)


def doublings(points: Sequence[int]) -> list[int]:
    """Of these ascending numbers of articles, the first one after each power of two, and the last
    one."""
    first = {point.bit_length(): point for point in reversed(points)}
    return sorted({*first.values(), *points[-1:]})


def story(
    curves: Mapping[str, Curve],
    changes: Sequence[TopicEvent],
    runs: Sequence[PastRun],
    log: Sequence[Event],
    flow: Sequence[Flow],
    moved: Sequence[Moment],
    counted: str = "articles",
) -> tuple[Moment, ...]:
    """What happened to a session, newest first.

    ``curves``: its models' curves of `SCORE`. ``changes``: newest first. ``moved``: the `movements`
    of
    shares. ``counted``: what a number of articles counts, such as "articles".
    """
    curves = {model: curve for model, curve in curves.items() if curve.values.size}
    course = max(curves.values(), key=lambda curve: curve.values.size, default=None)
    moments = [
        Moment(
            one.event,
            one.articles,
            one.told(),
            one.model,
            one.topic if one.other is None else one.other,
        )
        for one in changes[:MOST]
    ]
    moments += [*overtakings(curves, counted), *restarts(runs, flow, counted), *moved]
    for model, curve in curves.items():
        moments += records(model, curve)
    newest = max((int(curve.articles[-1]) for curve in curves.values()), default=0)
    moments += round_numbers(max([newest, *(one.articles for one in moments)]), counted)
    moments = sorted(moments, key=lambda one: -one.articles)[:MOST]
    at = times([one.articles for one in moments], course, runs).tolist()
    for i, when in enumerate(at):
        if moments[i].at is None and isfinite(when):
            moments[i] = replace(moments[i], at=when)
    moments += waits(log, course, runs)
    return tuple(
        sorted(moments, key=lambda one: (one.articles, one.at or 0.0), reverse=True)[:MOST]
    )


def overtakings(curves: Mapping[str, Curve], counted: str) -> list[Moment]:
    """The points at which one model overtook another.

    A model takes the lead when it is better by `CLEAR`, and keeps it until the other one is. So two
    curves that are nearly equal do not take turns.
    """
    moments = []
    for (one, ours), (other, theirs) in combinations(curves.items(), 2):
        a, b = ours.values, np.interp(ours.articles, theirs.articles, theirs.values)
        lead = (b - a) / np.maximum(a, b)
        clear = np.flatnonzero(np.abs(lead) >= CLEAR)
        for i in clear[1:][np.diff(lead[clear] > 0)].tolist():
            (winner, best), (loser, value) = ((one, a[i]), (other, b[i]))[
                :: 1 if lead[i] > 0 else -1
            ]
            words = f"{winner} overtook {loser} after {ours.articles[i]:,.0f} {counted}"
            words += f": {measured(best)} against {measured(value)}"
            moments.append(Moment("ahead", int(ours.articles[i]), words))
    return moments


def records(model: str, curve: Curve) -> list[Moment]:
    """The best value so far at each doubling of articles, if it is better than at the one
    before."""
    best = np.minimum.accumulate(curve.values)
    first = np.unique(np.frexp(curve.articles)[1], return_index=True)[1].tolist()
    moments = []
    for before, now in pairwise(first):
        then, at = (int(curve.articles[i]) for i in (before, now))
        by = 1 - best[now] / best[before]
        if by >= BETTER:
            words = f"best {SCORE.name} so far: {measured(best[now])}"
            words += f", {by:.1%} {SCORE.better} than at {then:,}"
            moments.append(Moment("best", at, words, model))
    return moments


def round_numbers(articles: int, counted: str) -> list[Moment]:
    """The newest of 1,000, 2,000, 5,000, 10,000 … articles."""
    reached = [m * 10**n for n in range(3, 16) for m in (1, 2, 5) if m * 10**n <= articles]
    return [Moment("count", number, f"{number:,} {counted}") for number in reached[-ROUND:]]


def waits(log: Sequence[Event], course: Curve | None, runs: Sequence[PastRun]) -> list[Moment]:
    """The waits of a minute or more for something that went wrong, from the log."""
    moments = []
    for event in log:
        line = _RESUMED.fullmatch(event.message)
        if line is not None and (line[2] != "s" or float(line[1]) >= 60):
            words = f"waited {line[1]} {line[2]}{line[3] or ''}"
            moments.append(Moment("wait", 0, words, at=event.at))
    if course is None:
        return moments
    reached = times(course.articles.tolist(), course, runs)
    at = np.interp([one.at or 0.0 for one in moments], reached, course.articles)
    return [
        replace(one, articles=int(n)) for one, n in zip(moments, np.nan_to_num(at), strict=True)
    ]


def restarts(runs: Sequence[PastRun], flow: Sequence[Flow], counted: str) -> list[Moment]:
    """The points at which another trainer continued the training."""
    moments = []
    for before, run in pairwise(runs):
        if run.first_article == 0:
            continue
        died = before.ended_at in (
            None,
            before.started_at,
        )  # a killed run is stored as ended at its start
        signs = [one.at for one in flow if before.started_at <= one.at < run.started_at]  # of life
        ended = max(signs, default=None) if died else before.ended_at
        after = "" if ended is None else f" after {age(run.started_at - ended)}"
        words = "the trainer died; " if died else "the trainer "
        words += f"restarted{after} from {run.first_article:,} {counted}"
        moments.append(Moment("restart", run.first_article, words, at=run.started_at))
    return moments


def movements(
    model: str,
    shares: Shares,
    names: Sequence[str],
    areas: Sequence[Area],
) -> list[Moment]:
    """The topic and the area whose share rose most and fell most, between each two of ``shares``.

    Areas move little, so theirs are told only when the articles have passed a power of two.
    """
    moments = []
    for (since, before), (articles, now) in pairwise(shares):
        groups: list[_Group] = [(names, range(len(names)), before, now)]
        if areas and articles.bit_length() > since.bit_length():
            then, after = (
                np.array([part[list(area.topics)].sum() for area in areas])
                for part in (before, now)
            )
            groups.append(
                ([area.name for area in areas], [area.topics[0] for area in areas], then, after)
            )
        for (called, topics, then, after), (kind, sign) in product(groups, DIRECTIONS):
            most = int(np.argmax(sign * (after - then)))
            if sign * (after[most] - then[most]) >= MOVED:
                what = (
                    f"#{most} {parts(called[most])[0]}"
                    if called is names
                    else f"area {called[most]}"
                )
                moved = f"{what} {100 * then[most]:.2f} to {after[most]:.2%}"
                words = f"{moved}, biggest {'rise' if sign > 0 else 'fall'} since {since:,}"
                moments.append(Moment(kind, articles, words, model, topics[most]))
    return moments
