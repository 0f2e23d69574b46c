"""From a session to the drawing of its chart, with the chart's title and caption."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.metrics import SCORES, Metric
from wikitopics.session.records import Curve
from wikitopics.tui.axes import duration, plain
from wikitopics.tui.plot import Drawing, Series
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.text import age, bar, clock, count, measured, plural, short, visible

X_KINDS = ("articles", "words", "time")


def title(session: SessionView, choice: Choice, x_kind: str) -> str:
    """What the chart shows, and over which x, if not over articles."""
    held = 0 if session.others else session.status.held_out  # each session has its own
    articles = plural(held, f"held-out {session.noun[:-1]}") if held else f"held-out {session.noun}"
    of = visible(session.metric(choice.metric).title).replace("{held_out}", articles)
    return of if x_kind == X_KINDS[0] else f"{of} over {x_kind}"


def measurement_caption(session: SessionView, choice: Choice) -> str:
    """After how many articles the newest value was measured, and when the next one is due."""
    curves = [session.curves.get((name, choice.metric)) for name in choice.models_of(session)]
    points = [
        int(curve.articles[-1]) for curve in curves if curve is not None and curve.articles.size
    ]
    if not points:
        return ""
    caption, s = f"after {session.some(max(points))}", session.status
    now = s.activity
    due = now.next_measurement
    if due is None or due <= max(points) or session.as_of is not None or not s.lively:
        return caption
    caption += f", next at {count(due)}"
    missing, rate = due - s.articles, now.train_rate
    if (
        rate and now.bound_by != "training"
    ):  # what is pending is trained on as soon as the rest has come
        missing, rate = missing - s.pending, now.crawl_rate
    # After a fault, the rate is still the one from before it.
    return f"{caption} (in {age(max(missing, 0) / rate)})" if rate and not s.hindered else caption


def drawing(session: SessionView, choice: Choice, x_kind: str, *, turns: bool = True) -> Drawing:
    """The curves of the selected metric and models over articles, words or running time. ``turns``:
    with marks where topics came and went."""
    metric = session.metric(choice.metric)
    curves = [
        (m, m in choice.models_of(session) and session.curves.get((m, choice.metric)))
        for m in session.models
    ]
    for other in session.others:  # those of the marked sessions
        only = choice.model if choice.model in other.models else None
        for model in other.models:
            curve = only in (None, model) and other.curves.get((model, choice.metric))
            curves.append((f"{other.name}/{model}", curve))
    drawn = [
        (Series(visible(name), _x(curve, x_kind), curve.values, number), curve)
        for number, (name, curve) in enumerate(curves)
        if curve and curve.values.size
    ]
    reference = next(
        (curve for series, curve in drawn if series.number < len(session.models)), None
    )
    # Where training was restarted, except before the first article; where topics were born, splits
    # included, and where they ended, mergers included.
    restarts = sorted({run.first_article for run in session.runs[1:] if run.first_article > 0})
    changes = session.changes_of(choice.models_of(session)) if turns else []
    begins = {"born": True, "split": True, "died": False, "merged": False}
    events = {(one.articles, begins[one.event]) for one in changes if one.event in begins}
    at_events = _placed([articles for articles, _ in sorted(events)], reference, x_kind)
    tell_x: Mapping[str, Callable[[float], str]] = {
        "words": lambda x: f"at {short(x)} words",
        "time": lambda x: f"after {clock(x)}",
    }
    shown = [series.y[np.isfinite(series.y)] for series, _ in drawn]
    known = [values for values in shown if values.size]
    best = {"lower": np.min, "higher": np.max}.get(metric.better)
    newest = [values[-1] for values in known]
    value: Callable[[float], str] = count if metric.whole else measured
    return Drawing(
        series=tuple(series for series, _ in drawn),
        marks=_placed(restarts, reference, x_kind),
        turns=tuple(zip(at_events, (begin for _, begin in sorted(events)), strict=False)),
        x_name={"time": "running time", "words": "words"}.get(x_kind, session.counted),
        label_x=duration if x_kind == "time" else plain,
        value=value,
        change=partial(difference, whole=metric.whole),
        best=float(best(np.concatenate(known))) if best and known else math.nan,
        better=metric.better,
        in_words=visible(metric.in_words(value(float((best or np.max)(newest))))) if newest else "",
        tell_x=tell_x.get(x_kind, lambda x: f"at {count(x)} {session.counted}"),
        time_x=x_kind == "time",
        whole_y=metric.whole,
        empty=beginning(session, metric, ascii_only=choice.ascii_only),
    )


def difference(then: float, now: float, *, whole: bool) -> str:
    """How a value has changed: "-3.1%", or "-0.012" if it is small or negative; "" if that rounds
    to 0."""
    if whole:
        text = f"{now - then:+,.0f}"
    else:
        text = f"{100 * (now / then - 1):+.1f}%" if min(then, now) >= 10 else f"{now - then:+.3f}"
    return text if re.search("[1-9]", text) else ""


def warning(session: SessionView) -> str:
    """Which marked sessions no metric can compare with this one, and why; "" if there are none."""
    words = session.settings.get("fingerprint"), session.settings.get("rule")
    strange = [other.name for other in session.others if other.words != words]
    return f"different vocabularies, not comparable: {', '.join(strange)}" if strange else ""


def _x(curve: Curve, x_kind: str) -> NDArray[np.float64]:
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
        return (
            ("nothing was measured before training stopped",)
            if status.crawled
            else ("nothing read yet",)
        )
    target = status.held_out_target
    if status.activity.compiling and not status.articles:  # the counts last saved are older
        lines = [
            "compiling the models: this takes a while, but only once after installation",
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
