"""The story of a session: its noteworthy moments, derived from what it stores. All functions are
pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, pairwise
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
SURE = 3.0
"""A change of a share is told from this many of its standard errors on."""
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
    brief: str = ""
    """The same in few words, for the chart; "" for a moment that is not marked there."""


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
    moments = happenings(changes)[:MOST]
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


def happenings(changes: Iterable[TopicEvent]) -> list[Moment]:
    """What became of topics and areas, in the order given; all births of one snapshot are one
    moment, and so are all deaths."""
    moments = []
    for (model, articles, event), alike in groupby(changes, _of_one_look):
        together = list(alike)
        if event in ("born", "died") and len(together) > 1:
            verb = "are born" if event == "born" else "died"
            topics = ", ".join(f"#{change.topic} {parts(change.name)[0]}" for change in together)
            words = f"{len(together)} topics {verb}: {topics}"
            moments.append(Moment(event, articles, words, model, together[0].topic))
            continue
        for change in together:
            topic: int | None = change.topic if change.other is None else change.other
            if event == "started_over":
                topic = None  # it is about all of them
            brief = f"area {change.name}" if event == "area_born" else ""
            moments.append(Moment(event, articles, change.told(), model, topic, brief=brief))
    return moments


def _of_one_look(change: TopicEvent) -> tuple[str, int, TopicChange]:
    return change.model, change.articles, change.event


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
                brief = f"{first} overtakes {second}"
            else:
                words = f"{second} overtook {first} {when}: {other_value} against {value}"
                brief = f"{second} overtakes {first}"
            moments.append(Moment("ahead", articles, words, brief=brief))
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
    """The topic and the area whose share rose most and fell most, between each two of ``shares``,
    if that is no accident of which articles came (`standard_errors`).

    Areas move little, so theirs are told only when the articles have passed a power of two.
    """
    named = [area for area in areas if not area.is_other]
    moments = []
    for (since, before), (articles, now) in pairwise(shares):
        for kind, topic, movement in _largest_movements(since, before, articles, now):
            words = f"#{topic} {parts(names[topic])[0]} {movement} since {since:,}"
            moments.append(Moment(kind, articles, words, model, topic))
        if named and articles.bit_length() > since.bit_length():
            areas_before = np.array([before[list(area.topics)].sum() for area in named])
            areas_now = np.array([now[list(area.topics)].sum() for area in named])
            for kind, number, movement in _largest_movements(
                since, areas_before, articles, areas_now
            ):
                words = f"area {named[number].name} {movement} since {since:,}"
                moments.append(Moment(kind, articles, words, model, named[number].topics[0]))
    return moments


def standard_errors(
    since: int, before: NDArray[Any], articles: int, now: NDArray[Any]
) -> NDArray[np.float64]:
    """The standard errors of changes of shares: how much shares differ after two numbers of
    articles if nothing has changed but the articles.

    ``before``, ``now``: the shares after ``since`` and after ``articles``, which is larger. They
    are sqrt(s (1 - s) (1 / since + 1 / (articles - since))), with s the mean of both shares. For
    topics are weighted averages over the articles read ([SVI13] Figure 4), and both shares are
    taken as plain means, one over the earlier articles and one over the later ones. The words of an
    article go together, so an article counts as one draw: the mean of n draws has the variance
    s (1 - s) / n, and variances of independent means add up.
    """
    shares = np.clip((before.astype(np.float64) + now) / 2, 0, 1)
    draws = 1 / max(since, 1) + 1 / (articles - since)
    errors: NDArray[np.float64] = np.sqrt(shares * (1 - shares) * draws)
    return errors


def _largest_movements(
    since: int, before: NDArray[Any], articles: int, now: NDArray[Any]
) -> Iterator[tuple[Kind, int, str]]:
    """(direction, place, words) of the share that rose most and of the one that fell most, among
    those that moved by at least `SURE` standard errors."""
    if articles <= since:
        return
    change = now - before
    is_sure = np.abs(change) >= SURE * standard_errors(since, before, articles, now)
    change = np.where(is_sure, change, 0)
    rise = int(np.argmax(change))
    fall = int(np.argmin(change))
    if change[rise] > 0:
        yield "up", rise, f"{100 * before[rise]:.2f} to {now[rise]:.2%}, biggest rise"
    if change[fall] < 0:
        yield "down", fall, f"{100 * before[fall]:.2f} to {now[fall]:.2%}, biggest fall"
