"""Small charts beside the large one: the models' other metrics at a glance."""

from dataclasses import dataclass, replace

from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from wikitopics.tui.chart.chart import Chart
from wikitopics.tui.chart.picture import Picture
from wikitopics.tui.curves import drawing
from wikitopics.tui.inks import name
from wikitopics.tui.look import Choice, Look, same

MOST = 4
"""The most charts: narrower ones would be unreadable."""


class SmallChart(Picture):
    """The curves of one metric; a click moves it to the large chart."""

    named = False
    metric = ""

    def on_click(self) -> None:
        self.post_message(SmallCharts.Picked(self.metric))


class SmallCharts(Container):
    """One for each metric of the session that has a brief name and is not on the large chart."""

    @dataclass
    class Picked(Message):
        """The metric that the large chart should show."""

        metric: str

    DEFAULT_CLASSES = "-empty"
    _drawn: tuple[object, ...] = ()
    _window: tuple[float, float] | None = None

    def compose(self) -> ComposeResult:
        for _ in range(MOST):
            yield SmallChart()

    def show(self, look: Look, choice: Choice, x_kind: str, like: Chart) -> None:
        """Draw them over the same x as the large chart, ``like``, and with the same cut."""
        drawn = like.current_plot()
        window = (drawn.x_axis.low, drawn.x_axis.high) if drawn is not None and drawn.cuts else None
        values = (choice.model, choice.metric, choice.ascii_only, x_kind, like.log_x, like.fit_y)
        shown = look.curves, look.runs, look.others, *values
        if same(shown, self._drawn) and window == self._window:
            return
        self._drawn, self._window = shown, window
        models = choice.models_of(look)
        metrics = [
            metric
            for metric in look.metrics
            if metric.brief
            and metric.name != choice.metric
            and any((curve := look.curves.get((m, metric.name))) and curve.values.size for m in models)
        ][:MOST]
        self.set_class(not metrics, "-empty")
        for index, chart in enumerate(self.query(SmallChart)):
            chart.display = index < len(metrics)
            if not chart.display:
                continue
            metric = metrics[index]
            chart.metric = metric.name
            chart.log_x, chart.fit_y, chart.window = like.log_x, like.fit_y, window
            chart.drawing = drawing(look, replace(choice, metric=metric.name), x_kind, turns=False)
            chart.redraw()
            name(chart, metric.brief)
