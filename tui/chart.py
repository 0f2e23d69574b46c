"""The chart of a session: its curves, and the widget with a crosshair and a zoom window."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from textual import events
from textual.geometry import Offset
from textual.message import Message

from wikitopics.session.metrics import METRICS, SCORES, Metric
from wikitopics.session.records import Curve
from wikitopics.tui.axes import duration, plain
from wikitopics.tui.inks import age, bar, clock, count, measured, plural, short, visible
from wikitopics.tui.look import Choice, SessionView
from wikitopics.tui.plot import Drawing, Picture, Series, plot

# The chart widget: a picture with a movable crosshair and a zoom window.

Scale = Literal["log_x", "log_y", "fit_y"]
ZOOM = 0.6
SMALLEST_WINDOW = 1e-4


class Chart(Picture, can_focus=True):
    """A picture with a crosshair and a zoom."""

    class Pointed(Message):
        """The crosshair moved or disappeared: `pointed` tells the values there."""

    _held = False
    """Whether the crosshair was set by a key or a click, and so stays when the mouse leaves."""

    def draw(self, drawing: Drawing) -> None:
        """Show this drawing from now on."""
        if drawing.x_name != self.drawing.x_name:
            self.window, self.cross = None, None
        self.drawing = drawing
        self._changed()

    def _changed(self) -> None:
        self.redraw()
        self.post_message(self.Pointed())

    def toggle(self, which: Scale) -> None:
        if which == "log_x":
            self.window = None
        setattr(self, which, not getattr(self, which))
        self._changed()

    def scales(self) -> str:
        """Which axes are logarithmic or cut, e.g. " [log x, y cut]"."""
        said = (("log x", self.log_x), ("log y", self.logs_y), ("cut", self.cut()))
        words = ", ".join(word for word, on in said if on)
        return f" [{words}]" if words else ""

    def cut(self) -> bool:
        """Whether the beginning of a line is cut off."""
        chart = self.current_plot()
        return chart is not None and bool(chart.cuts)

    def cut_off(self) -> str:
        """How to see what is out of sight: "Y: all, up to 5,012", or ""."""
        chart = self.current_plot()
        if chart is None or not chart.cuts:
            return ""
        above = chart.cuts[0].above
        reached = [cut.reach for cut in chart.cuts if cut.above == above]
        way, far = ("up", max(reached)) if above else ("down", min(reached))
        return f"Y: all, {way} to {self.drawing.value(far)}"

    # Crosshair and zoom -------------------------------------------------------------------------

    def step(self, columns: int) -> None:
        """Move the crosshair to the next measured point at least this many columns away."""
        x = self.drawing.all_x
        chart = self.current_plot()
        if not x.size or chart is None:
            return
        width = chart.codes.shape[1]
        here = float(x[-1]) if self.cross is None else self.cross
        with np.errstate(divide="ignore", invalid="ignore"):
            position = chart.x_axis.position(x)
        inside = np.isfinite(position)
        if self.window is None:
            inside &= position >= -1e-9  # not in the part that is cut off
        x, position = x[inside], position[inside]
        if not x.size:
            return
        if self.cross is None and self.window is None:
            self.cross = here
        else:
            goal = float(chart.x_axis.position(np.array([here]))[0]) + columns / width
            index = (
                int(np.searchsorted(position, goal - 1e-9))
                if columns > 0
                else int(np.searchsorted(position, goal + 1e-9, side="right")) - 1
            )
            self.cross = float(x[min(max(index, 0), x.size - 1)])
        self._held = True
        self._follow()
        self._changed()

    def _follow(self) -> None:
        """Shift the window to keep the crosshair in sight."""
        if self.window is None or self.cross is None:
            return
        own = float(np.log10(self.cross)) if self.log_x and self.cross > 0 else self.cross
        low, high = self.window
        if own < low:
            self.window = (own, own + high - low)
        elif own > high:
            self.window = (own - (high - low), own)

    def zoom(self, factor: float) -> None:
        """Show ``factor`` of the present range, around the crosshair or at the right end."""
        chart = self.current_plot()
        if chart is None or not self.drawing.series:
            return
        axis = chart.x_axis
        centre = 1.0 if self.cross is None else float(axis.position(np.array([self.cross]))[0])
        centre = min(max(centre, 0.0), 1.0)
        span = axis.high - axis.low
        low = axis.low + span * centre * (1 - factor)
        high = low + span * factor
        full = plot(self.drawing, replace(self.frame(), window=None)).x_axis
        if high - low >= full.high - full.low:
            self.window = None
        elif high - low > SMALLEST_WINDOW * (full.high - full.low):
            shift = max(full.low - low, 0.0) - max(high - full.high, 0.0)
            self.window = (low + shift, high + shift)
        self._changed()

    def reset(self) -> None:
        """Show the whole range, without a crosshair."""
        self.window, self.cross, self._held = None, None, False
        self._changed()

    def pointed(self) -> str:
        """The values at the crosshair, e.g. "at 4,096 articles: lda 1,402"."""
        if self.cross is None:
            return ""
        told = []
        for s in self.drawing.series:
            nearest = _nearest(s, self.cross)
            if nearest is None:
                continue
            value = self.drawing.value(float(s.y[nearest]))
            told.append(f"{s.name} {value}" if len(self.drawing.series) > 1 else value)
        return f"{self.drawing.tell_x(self.cross)}: {'  '.join(told)}" if told else ""

    # Mouse ------------------------------------------------------------------------------------

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if not self._held:
            self._point_at(event.get_content_offset(self))

    def on_click(self, event: events.Click) -> None:
        self._held = True
        self._point_at(event.get_content_offset(self))

    def on_leave(self, event: events.Leave) -> None:
        if not self._held and self.cross is not None:
            self.cross = None
            self._changed()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.zoom(ZOOM)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.zoom(1 / ZOOM)

    def _point_at(self, place: Offset | None) -> None:
        chart, x = self.current_plot(), self.drawing.all_x
        if place is None or chart is None or not x.size:
            return
        width = chart.codes.shape[1]
        at = chart.x_axis.value((place.x - self.left - 1 + 0.5) / width)
        if self.log_x:
            nearest = int(np.abs(np.log(np.maximum(x, 1e-300)) - np.log(max(at, 1e-300))).argmin())
        else:
            nearest = int(np.abs(x - at).argmin())
        if self.cross != float(x[nearest]):
            self.cross = float(x[nearest])
            self._changed()


def _nearest(series: Series, x: float) -> int | None:
    """Index of the measured point closest to ``x``; None if nothing is measured."""
    at = int(np.searchsorted(series.x, x))
    for reach in (2, 64, series.x.size):
        around = np.arange(max(at - reach, 0), min(at + reach, series.x.size))
        around = around[np.isfinite(series.y[around])]
        if around.size:
            return int(around[np.abs(series.x[around] - x).argmin()])
    return None


# From a look at the session to the drawing of the chart.

X_KINDS = ("articles", "words", "time")


def wanted(look: SessionView | None, choice: Choice, *, small: bool) -> tuple[str, ...]:
    """The metrics whose curves are needed: the selected one, and those of the ``small`` charts."""
    metrics = METRICS if look is None else look.metrics
    beside = [metric.name for metric in metrics if metric.brief] if small else []
    return tuple(sorted({choice.metric, *beside}))


def title(look: SessionView, choice: Choice, x_kind: str) -> str:
    """What the chart shows, and over which x."""
    held = 0 if look.others else look.status.held_out  # each session has its own
    articles = plural(held, f"held-out {look.noun[:-1]}") if held else f"held-out {look.noun}"
    of = visible(look.metric(choice.metric).title).replace("{held_out}", articles)
    return f"{of} over {_x_name(look, x_kind)}"


def measurement_caption(look: SessionView, choice: Choice) -> str:
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


def drawing(look: SessionView, choice: Choice, x_kind: str, *, turns: bool = True) -> Drawing:
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


def _x_name(look: SessionView, x_kind: str) -> str:
    """What is counted on the x axis."""
    return x_kind if x_kind != X_KINDS[0] else look.counted


def _others(look: SessionView, choice: Choice) -> Iterator[tuple[str, Curve | None]]:
    """The curves of the marked sessions, each named session/model; None for a model that is not shown."""
    for other in look.others:
        for model in other.models:
            shown = choice.model in (None, model) or choice.model not in other.models
            yield f"{other.name}/{model}", other.curves.get((model, choice.metric)) if shown else None


def warning(look: SessionView) -> str:
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


def _marks(look: SessionView, curve: Curve | None, x_kind: str) -> tuple[float, ...]:
    """Where training was restarted; restarts before the first article are left out."""
    return _placed(
        sorted({run.first_article for run in look.runs[1:] if run.first_article > 0}), curve, x_kind
    )


def _turns(
    look: SessionView, choice: Choice, curve: Curve | None, x_kind: str
) -> tuple[tuple[float, bool], ...]:
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


def beginning(look: SessionView, metric: Metric, *, ascii_only: bool) -> tuple[str, ...]:
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
