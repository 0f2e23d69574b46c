"""From a session to the drawing of its chart, with the chart's title and caption."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.metrics import SCORES, Metric
from wikitopics.session.records import Curve
from wikitopics.session.sources import singular
from wikitopics.tui.axes import duration
from wikitopics.tui.plot import Drawing, Pin, Series
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.text import age, bar, clock, count, measured, plural, short, visible

X_KINDS = ("articles", "words", "time")


def title(session: SessionView, choice: Choice, x_kind: str) -> str:
    """What the chart shows, and over which x, if not over articles."""
    held_out = f"held-out {session.noun}"
    if session.status.held_out and not session.others:  # each session has its own
        held_out = plural(session.status.held_out, f"held-out {singular(session.noun)}")
    metric = visible(session.metric(choice.metric).title).replace("{held_out}", held_out)
    return metric if x_kind == X_KINDS[0] else f"{metric} over {x_kind}"


def measurement_caption(session: SessionView, choice: Choice) -> str:
    """After how many articles the newest value was measured, and when the next one is due."""
    newest = None
    for model in choice.models_of(session):
        curve = session.curves.get((model, choice.metric))
        if curve is not None and curve.articles.size:
            newest = max(newest or 0, int(curve.articles[-1]))
    if newest is None:
        return ""
    caption = f"after {session.some(newest)}"
    status = session.status
    due = status.activity.next_measurement
    if due is None or due <= newest or session.as_of is not None or not status.lively:
        return caption
    caption += f", next at {count(due)}"
    missing = due - status.articles
    rate = status.activity.train_rate
    if rate and status.activity.bound_by != "training":
        # What is pending is trained on as soon as the rest has come.
        missing -= status.pending
        rate = status.activity.crawl_rate
    if rate and not status.hindered:  # after a fault, the rate is still the one from before it
        caption += f" (in {age(max(missing, 0) / rate)})"
    return caption


def drawing(
    session: SessionView,
    choice: Choice,
    x_kind: str,
    *,
    turns: bool = True,
    pins: Sequence[tuple[int, str, str]] = (),
) -> Drawing:
    """The curves of the selected metric and models over articles, words or running time. ``turns``:
    with marks where topics came and went. ``pins``: (articles, sign, words) of what is to be marked
    beside the curves, the newest first."""
    metric = session.metric(choice.metric)
    drawn: list[Series] = []
    reference: Curve | None = None
    """The first of this session's own curves, which tells where on the x axis articles are."""
    for number, (line_name, curve) in enumerate(_curves(session, choice)):
        if curve is not None and curve.values.size:
            drawn.append(Series(visible(line_name), _x(curve, x_kind), curve.values, number))
            if reference is None and number < len(session.models):
                reference = curve

    # Where training was restarted, except before the first article.
    restarts = sorted({run.first_article for run in session.runs[1:] if run.first_article > 0})
    values = np.concatenate([np.empty(0), *(line.y[np.isfinite(line.y)] for line in drawn)])
    best = math.nan
    if values.size and metric.better:
        find_best = np.min if metric.better == "lower" else np.max
        best = float(find_best(values))
    value: Callable[[float], str] = count if metric.whole else measured
    places = _placed([articles for articles, _, _ in pins], reference, x_kind)
    all_lines = Drawing(
        series=tuple(drawn),
        marks=_placed(restarts, reference, x_kind),
        turns=_turns(session, choice, reference, x_kind) if turns else (),
        pins=tuple(
            Pin(x, sign, visible(words)) for x, (_, sign, words) in zip(places, pins, strict=False)
        ),
        value=value,
        change=partial(difference, whole=metric.whole),
        best=best,
        better=metric.better,
        in_words=_in_words(metric, drawn, value),
        whole_y=metric.whole,
        empty=beginning(session, metric, ascii_only=choice.ascii_only),
    )
    if x_kind == "time":
        return replace(
            all_lines,
            x_name="running time",
            label_x=duration,
            tell_x=lambda seconds: f"after {clock(seconds)}",
            time_x=True,
        )
    if x_kind == "words":
        return replace(all_lines, x_name="words", tell_x=lambda words: f"at {short(words)} words")
    return replace(
        all_lines,
        x_name=session.counted,
        tell_x=lambda articles: f"at {count(articles)} {session.counted}",
    )


def _curves(session: SessionView, choice: Choice) -> list[tuple[str, Curve | None]]:
    """The name and the curve of each model of this session and of the marked ones; None for a model
    that is not shown or not measured."""
    curves: list[tuple[str, Curve | None]] = []
    shown = choice.models_of(session)
    for model in session.models:
        curve = session.curves.get((model, choice.metric)) if model in shown else None
        curves.append((model, curve))
    for other in session.others:
        shown = (choice.model,) if choice.model in other.models else other.models
        for model in other.models:
            curve = other.curves.get((model, choice.metric)) if model in shown else None
            curves.append((f"{other.name}/{model}", curve))
    return curves


def _turns(
    session: SessionView,
    choice: Choice,
    reference: Curve | None,
    x_kind: str,
) -> tuple[tuple[float, bool], ...]:
    """Where topics were born, splits included (true), and where they ended, mergers included."""
    begins = {"born": True, "split": True, "died": False, "merged": False}
    turns = {
        (change.articles, begins[change.event])
        for change in session.changes_of(choice.models_of(session))
        if change.event in begins
    }
    in_order = sorted(turns)
    places = _placed([articles for articles, _ in in_order], reference, x_kind)
    return tuple((x, begin) for x, (_, begin) in zip(places, in_order, strict=False))


def _in_words(metric: Metric, lines: Sequence[Series], value: Callable[[float], str]) -> str:
    """What the best of the newest values means, in words; "" without any."""
    newest = [line.y[np.isfinite(line.y)][-1] for line in lines if np.isfinite(line.y).any()]
    if not newest:
        return ""
    best = min(newest) if metric.better == "lower" else max(newest)
    return visible(metric.in_words(value(float(best))))


def difference(then: float, now: float, *, whole: bool) -> str:
    """How a value has changed: "-3.1%", or "-0.012" if it is small or negative; "" if that rounds
    to 0."""
    if whole:
        text = f"{now - then:+,.0f}"
    elif min(then, now) >= 10:
        text = f"{100 * (now / then - 1):+.1f}%"
    else:
        text = f"{now - then:+.3f}"
    is_zero = not re.search("[1-9]", text)
    return "" if is_zero else text


def warning(session: SessionView) -> str:
    """Which marked sessions no metric can compare with this one, and why; "" if there are none."""
    words = (session.settings.get("fingerprint"), session.settings.get("rule"))
    different = [other.name for other in session.others if other.words != words]
    if not different:
        return ""
    return f"different vocabularies, not comparable: {', '.join(different)}"


def _x(curve: Curve, x_kind: str) -> NDArray[np.float64]:
    """The curve's points on this x axis."""
    return {"articles": curve.articles, "words": curve.tokens, "time": curve.seconds}[x_kind]


def _placed(articles: Sequence[int], curve: Curve | None, x_kind: str) -> tuple[float, ...]:
    """Points of the stream on the x axis; empty without a curve."""
    if curve is None or not articles:
        return ()
    return tuple(np.interp(articles, curve.articles, _x(curve, x_kind)).tolist())


def beginning(session: SessionView, metric: Metric, *, ascii_only: bool) -> tuple[str, ...]:
    """Why there is no curve yet, with a counter that moves as articles come in."""
    status = session.status
    if metric not in SCORES and status.articles:
        return (f"this session has no measurement of {visible(metric.name.replace('_', ' '))}",)
    if not status.running and status.state != "starting":
        if status.crawled:
            return ("nothing was measured before training stopped",)
        return ("nothing read yet",)
    target = status.held_out_target
    if status.activity.compiling and not status.articles:  # the counts last saved are older
        lines = [
            "compiling the models: once for each kind of model and of texts",
            f"{session.some(status.activity.queue)} read meanwhile",
        ]
    elif status.state == "paused":
        lines = [f"paused before the first measurement; {session.some(status.crawled)} read"]
    elif status.crawled == 0 and not status.held_out:
        lines = [f"starting: compiling the models, asking for the first {session.noun}"]
    elif status.held_out < target:
        done = bar(status.held_out / target, 30, ascii_only=ascii_only).ljust(30, "░")
        lines = [
            f"first {session.noun} arriving, held out for evaluation",
            f"{done} {count(status.held_out)} of {count(target)}",
        ]
    else:
        lines = [f"learning from the first {session.noun}", f"{session.some(status.crawled)} read"]
    if status.waiting_for and not status.activity.compiling:
        lines += ["", visible(status.activity.wait(session.at))]
    return tuple(lines)
