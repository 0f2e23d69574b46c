"""The story of a session: its noteworthy moments, derived from what it stores. All functions are
pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.analysis.areas import Area
from wikitopics.session.metrics import SCORES
from wikitopics.session.naming import parts
from wikitopics.session.records import Curve, Event, Flow, PastRun, TopicChange, TopicEvent
from wikitopics.session.wording import age, measured

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
_RESUMED = re.compile(
    r"resumed after (?P<number>\d+(?:\.\d+)?) (?P<unit>s|min|h|d)(?P<cause>: .*)?",
    re.DOTALL,
)
"""A line of the log that ends a wait; `age` wrote the span of time."""

Kind = TopicChange | Literal["ahead", "best", "count", "wait", "restart", "up", "down"]
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
    first_articles = np.array([run.first_article for run in runs], np.float64)
    started_at = np.array([run.started_at for run in runs])
    # For each number of articles, the place of the run that trained on it: the last run that had
    # begun by then; -1 if none had. A place of -1 finds the last run, whose times are then replaced
    # by NaN.
    run = np.searchsorted(first_articles, wanted) - 1
    measured = np.append(0, course.articles)
    running_time = np.append(0.0, course.seconds)  # of all runs together
    at_start_of_run = np.interp(first_articles, measured, running_time)
    since_start = np.interp(wanted, measured, running_time) - at_start_of_run[run]
    return np.where(run >= 0, started_at[run] + since_start, np.nan)


def doublings(points: Sequence[int]) -> list[int]:
    """Of these ascending numbers of articles, the first one after each power of two, and the last
    one."""
    first: dict[int, int] = {}
    for point in points:
        first.setdefault(point.bit_length(), point)
    chosen = {*first.values(), *points[-1:]}
    return sorted(chosen)


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
    of shares. ``counted``: what a number of articles counts, such as "articles".
    """
    curves = {model: curve for model, curve in curves.items() if curve.values.size}
    course = max(curves.values(), key=lambda curve: curve.values.size, default=None)
    moments = []
    for change in changes[:MOST]:
        topic: int | None = change.topic if change.other is None else change.other
        if change.event == "started_over":
            topic = None  # it is about all of them
        moments.append(Moment(change.event, change.articles, change.told(), change.model, topic))
    moments += overtakings(curves, counted)
    moments += restarts(runs, flow, counted)
    moments += moved
    for model, curve in curves.items():
        moments += records(model, curve)
    measured_at = [int(curve.articles[-1]) for curve in curves.values()]
    moments_at = [moment.articles for moment in moments]
    moments += round_numbers(max([0, *measured_at, *moments_at]), counted)
    moments.sort(key=lambda moment: -moment.articles)
    del moments[MOST:]
    estimated = times([moment.articles for moment in moments], course, runs).tolist()
    for place, (moment, at) in enumerate(zip(moments, estimated, strict=True)):
        if moment.at is None and isfinite(at):
            moments[place] = replace(moment, at=at)
    moments += waits(log, course, runs)
    moments.sort(key=lambda moment: (moment.articles, moment.at or 0.0), reverse=True)
    return tuple(moments[:MOST])


def overtakings(curves: Mapping[str, Curve], counted: str) -> list[Moment]:
    """The points at which one model overtook another.

    A model takes the lead when it is better by `CLEAR`, and keeps it until the other one is better
    by as much. So two curves that are nearly equal do not take turns.
    """
    moments = []
    for (first, curve), (second, other) in combinations(curves.items(), 2):
        of_first = curve.values
        of_second = np.interp(curve.articles, other.articles, other.values)
        lead = (of_second - of_first) / np.maximum(of_first, of_second)  # of the first model
        # Of the places at which one of the models clearly leads, those at which it is not the model
        # that led at the clear place before.
        clear_places = np.flatnonzero(np.abs(lead) >= CLEAR)
        first_leads = lead[clear_places] > 0
        has_changed = first_leads[1:] != first_leads[:-1]
        later_places = clear_places[1:]
        for place in later_places[has_changed].tolist():
            articles = int(curve.articles[place])
            when = f"after {articles:,} {counted}"
            value = measured(of_first[place])
            other_value = measured(of_second[place])
            if lead[place] > 0:
                words = f"{first} overtook {second} {when}: {value} against {other_value}"
            else:
                words = f"{second} overtook {first} {when}: {other_value} against {value}"
            moments.append(Moment("ahead", articles, words))
    return moments


def records(model: str, curve: Curve) -> list[Moment]:
    """The best value so far at each doubling of articles, if it is better than at the one
    before."""
    best = np.minimum.accumulate(curve.values)
    # The first measurement of each doubling: `frexp` gives the power of two above each number.
    _, powers_of_two = np.frexp(curve.articles)
    _, first_of_power = np.unique(powers_of_two, return_index=True)
    moments = []
    for before, now in pairwise(first_of_power.tolist()):
        improvement = 1 - best[now] / best[before]
        if improvement >= BETTER:
            words = f"best {SCORE.name} so far: {measured(best[now])}"
            articles_before = int(curve.articles[before])
            words += f", {improvement:.1%} {SCORE.better} than at {articles_before:,}"
            moments.append(Moment("best", int(curve.articles[now]), words, model))
    return moments


def round_numbers(articles: int, counted: str) -> list[Moment]:
    """The newest of 1,000, 2,000, 5,000, 10,000 … articles."""
    round_ones = [digit * 10**zeros for zeros in range(3, 16) for digit in (1, 2, 5)]
    reached = [number for number in round_ones if number <= articles]
    return [Moment("count", number, f"{number:,} {counted}") for number in reached[-ROUND:]]


def waits(log: Sequence[Event], course: Curve | None, runs: Sequence[PastRun]) -> list[Moment]:
    """The waits of a minute or more for something that went wrong, from the log."""
    ends: list[float] = []
    told: list[str] = []
    for event in log:
        resumed = _RESUMED.fullmatch(event.message)
        if resumed is None:
            continue
        is_short = resumed["unit"] == "s" and float(resumed["number"]) < 60
        if not is_short:
            ends.append(event.at)
            told.append(f"waited {resumed['number']} {resumed['unit']}{resumed['cause'] or ''}")
    articles = np.zeros(len(ends))
    if course is not None:
        measured_at = times(course.articles.tolist(), course, runs)
        articles = np.nan_to_num(np.interp(ends, measured_at, course.articles))
    return [
        Moment("wait", int(number), words, at=at)
        for number, words, at in zip(articles, told, ends, strict=True)
    ]


def restarts(runs: Sequence[PastRun], flow: Sequence[Flow], counted: str) -> list[Moment]:
    """The points at which another trainer continued the training."""
    moments = []
    for before, run in pairwise(runs):
        if run.first_article == 0:
            continue
        # A killed run is stored as one that ended when it started.
        died = before.ended_at is None or before.ended_at == before.started_at
        ended = before.ended_at
        if died:
            signs_of_life = [
                rates.at for rates in flow if before.started_at <= rates.at < run.started_at
            ]
            ended = max(signs_of_life, default=None)
        words = "the trainer died; restarted" if died else "the trainer restarted"
        if ended is not None:
            words += f" after {age(run.started_at - ended)}"
        words += f" from {run.first_article:,} {counted}"
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
    named = [area for area in areas if not area.is_other]
    moments = []
    for (since, before), (articles, now) in pairwise(shares):
        for kind, topic, movement in _largest_movements(before, now):
            words = f"#{topic} {parts(names[topic])[0]} {movement} since {since:,}"
            moments.append(Moment(kind, articles, words, model, topic))
        if named and articles.bit_length() > since.bit_length():
            areas_before = np.array([before[list(area.topics)].sum() for area in named])
            areas_now = np.array([now[list(area.topics)].sum() for area in named])
            for kind, number, movement in _largest_movements(areas_before, areas_now):
                words = f"area {named[number].name} {movement} since {since:,}"
                moments.append(Moment(kind, articles, words, model, named[number].topics[0]))
    return moments


def _largest_movements(before: NDArray[Any], now: NDArray[Any]) -> Iterator[tuple[Kind, int, str]]:
    """(direction, place, words) of the share that rose most and of the one that fell most, without
    those that moved by less than `MOVED`."""
    change = now - before
    rise = int(np.argmax(change))
    fall = int(np.argmin(change))
    if change[rise] >= MOVED:
        yield "up", rise, f"{100 * before[rise]:.2f} to {now[rise]:.2%}, biggest rise"
    if change[fall] <= -MOVED:
        yield "down", fall, f"{100 * before[fall]:.2f} to {now[fall]:.2%}, biggest fall"
