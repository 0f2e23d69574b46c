"""From a look at the session to the drawing of the chart."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.metrics import METRICS, SCORES, Metric
from wikitopics.session.records import Curve
from wikitopics.tui.chart.axes import duration, plain
from wikitopics.tui.chart.plot import Drawing, Series
from wikitopics.tui.chart.spark import bar
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.words import age, clock, count, measured, plural, short, visible

X_KINDS = ("articles", "words", "time")


def wanted(look: Look | None, choice: Choice, *, small: bool) -> tuple[str, ...]:
    """The metrics whose curves are needed: the selected one, and those of the ``small`` charts."""
    metrics = METRICS if look is None else look.metrics
    beside = [metric.name for metric in metrics if metric.brief] if small else []
    return tuple(sorted({choice.metric, *beside}))


def title(look: Look, choice: Choice, x_kind: str) -> str:
    """What the chart shows, and over which x."""
    held = 0 if look.others else look.status.held_out  # each session has its own
    articles = plural(held, f"held-out {look.noun[:-1]}") if held else f"held-out {look.noun}"
    of = visible(look.metric(choice.metric).title).replace("{held_out}", articles)
    return f"{of} over {_x_name(look, x_kind)}"


def taken(look: Look, choice: Choice) -> str:
    """After how many articles the newest value was measured, and when the next one is due."""
    curves = [look.curves.get((name, choice.metric)) for name in choice.models_of(look)]
    points = [int(curve.articles[-1]) for curve in curves if curve is not None and curve.articles.size]
    if not points:
        return ""
    told, s = f"after {look.some(max(points))}", look.status
    now = s.activity
    due = now.next_measurement
    if due is None or due <= max(points) or look.as_of is not None or not s.lively:
        return told
    told += f", next at {count(due)}"
    missing, rate = due - s.articles, now.train_rate
    if rate and now.bound_by != "training":  # what is pending is trained on as soon as the rest has come
        missing, rate = missing - s.pending, now.crawl_rate
    # After a fault, a rate is still that of before.
    return f"{told} (in {age(max(missing, 0) / rate)})" if rate and not s.hindered else told


def drawing(look: Look, choice: Choice, x_kind: str, *, turns: bool = True) -> Drawing:
    """The curves of the selected metric and models over articles, words or running time. ``turns``: with
    marks where topics came and went."""
    metric = look.metric(choice.metric)
    series, inks = [], []
    reference: Curve | None = None
    for name in choice.models_of(look):
        curve = look.curves.get((name, choice.metric))
        if curve is None or not curve.values.size:
            continue
        reference = reference or curve
        series.append(Series(visible(name), _x(curve, x_kind), curve.values))
        inks.append(look.models.index(name))
    for number, (name, curve) in enumerate(_others(look, choice), start=len(look.models)):
        if curve is not None and curve.values.size:
            series.append(Series(visible(name), _x(curve, x_kind), curve.values))
            inks.append(number)
    return Drawing(
        series=tuple(series),
        marks=_marks(look, reference, x_kind),
        turns=_turns(look, choice, reference, x_kind) if turns else (),
        x_name={"time": "running time"}.get(x_kind, _x_name(look, x_kind)),
        label_x=duration if x_kind == "time" else plain,
        value=count if metric.whole else measured,
        tell_x=_tellers.get(x_kind, lambda x: f"at {count(x)} {_x_name(look, x_kind)}"),
        inks=tuple(inks),
        time_x=x_kind == "time",
        whole_y=metric.whole,
        empty=beginning(look, metric, ascii_only=choice.ascii_only),
    )


def _x_name(look: Look, x_kind: str) -> str:
    """What is counted on the x axis."""
    return x_kind if x_kind != X_KINDS[0] else look.counted


def _others(look: Look, choice: Choice) -> Iterator[tuple[str, Curve | None]]:
    """The curves of the marked sessions, each named session/model; None for a model that is not shown."""
    for other in look.others:
        for model in other.models:
            shown = choice.model in (None, model) or choice.model not in other.models
            yield f"{other.name}/{model}", other.curves.get((model, choice.metric)) if shown else None


def warning(look: Look) -> str:
    """The marked sessions that no metric can compare with this one; "" for none."""
    words = look.settings.get("fingerprint"), look.settings.get("rule")
    strange = [other.name for other in look.others if other.words != words]
    return f"different vocabularies, not comparable: {', '.join(strange)}" if strange else ""


_tellers: dict[str, Callable[[float], str]] = {
    "words": lambda x: f"at {short(x)} words",
    "time": lambda x: f"after {clock(x)}",
}


def _x(curve: Curve, x_kind: str) -> NDArray[np.float64]:
    return {"articles": curve.articles, "words": curve.tokens, "time": curve.seconds}[x_kind]


def _marks(look: Look, curve: Curve | None, x_kind: str) -> tuple[float, ...]:
    """Where training was restarted; restarts before the first article are left out."""
    return _placed(
        sorted({run.first_article for run in look.runs[1:] if run.first_article > 0}), curve, x_kind
    )


def _turns(look: Look, choice: Choice, curve: Curve | None, x_kind: str) -> tuple[tuple[float, bool], ...]:
    """Where topics were born, including by a split, and where they ended, including by a merger."""
    told = {
        (one.articles, one.event in ("born", "split"))
        for one in look.changes_of(choice.models_of(look))
        if one.event != "renamed"
    }
    turns = sorted(told)
    return tuple(
        zip(
            _placed([articles for articles, _ in turns], curve, x_kind),
            (begins for _, begins in turns),
            strict=False,
        )
    )


def _placed(articles: Sequence[int], curve: Curve | None, x_kind: str) -> tuple[float, ...]:
    """Points of the stream on the x axis; empty without a curve."""
    if curve is None or not articles:
        return ()
    at = np.interp(np.array(articles, dtype=np.float64), curve.articles, _x(curve, x_kind))
    return tuple(float(x) for x in at)


def beginning(look: Look, metric: Metric, *, ascii_only: bool) -> tuple[str, ...]:
    """Why there is no curve yet, with a counter that moves as articles come in."""
    status = look.status
    if metric not in SCORES and status.articles:
        return (f"this session has no measurement of {visible(metric.name.replace('_', ' '))}",)
    if not status.running and status.state != "starting":
        return ("nothing was measured before training stopped",) if status.crawled else ("nothing read yet",)
    lines = []
    target = status.held_out_target
    if status.activity.compiling and not status.articles:  # what was last saved is older
        lines.append("compiling the models: this takes a while, but only once after installation")
        lines.append(f"{look.some(status.activity.queue)} read meanwhile")
    elif status.state == "paused":
        lines.append(f"paused before the first measurement; {look.some(status.crawled)} read")
    elif status.crawled == 0 and not status.held_out:
        lines.append(f"starting: compiling the models, asking for the first {look.noun}")
    elif status.held_out < target:
        width = 30
        done = bar(status.held_out / target, width, ascii_only=ascii_only)
        lines.append(f"first {look.noun} arriving, held out for evaluation")
        lines.append(
            f"{done:{'.' if ascii_only else '░'}<{width}} {count(status.held_out)} of {count(target)}"
        )
    elif not status.articles and (status.activity.bound_by == "training" or not status.pending):
        lines.append(f"learning from the first {look.noun}")
        lines.append(f"{look.some(status.crawled)} read")
    elif not status.articles:
        lines.append(f"first minibatch filling: {look.some(status.pending)} waiting to be trained")
    else:
        lines.append(f"{look.some(status.articles)} trained, the first measurement is on its way")
    if status.waiting_for and not status.activity.compiling:
        lines += ["", visible(status.activity.wait(look.at))]
    return tuple(lines)
