"""The dashboard: the curve, the flow, the topics, and the articles being read."""

from dataclasses import dataclass, replace
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from wikitopics.session.errors import SessionError
from wikitopics.session.records import ArticleRow, TopicRow, in_line
from wikitopics.tui.chart import X_KINDS, Chart, Scale, drawing, measurement_caption, title, warning
from wikitopics.tui.inks import Lines, count, name
from wikitopics.tui.keys import binding
from wikitopics.tui.look import Choice, SessionView, run_in_background, same
from wikitopics.tui.plot import Picture
from wikitopics.tui.views.crawl import flow_lines, numbers
from wikitopics.tui.views.log import NOTHING_CHANGED, EventList, told, what_changed
from wikitopics.tui.views.map import TopicMap
from wikitopics.tui.views.view import A_TOPIC, TINY_HEIGHT, TINY_WIDTH, OpenTopic, View, next_choice
from wikitopics.tui.widgets.articles import now_reading
from wikitopics.tui.widgets.rowlist import featured
from wikitopics.tui.widgets.topiclist import TopicCard, TopicList, topics_title

# Small charts beside the large one: the models' other metrics at a glance.

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

    def show(self, look: SessionView, choice: Choice, x_kind: str, like: Chart) -> None:
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


WIDE, VAST = 120, 180
LOW = 22
"""With fewer lines than this, the chart and the topics share them; otherwise the chart has eleven."""
LOFTY = 52
"""The number of lines from which the log has room beside the rest."""
ABOUT = 12
"""Articles listed on the topic card."""
FIT_Y = "show the later part of the curves, or the whole"
CROSS = "move the crosshair from measurement to measurement"
FAR = 10
"""Columns of a long step of the crosshair."""


class Panel(Lines, can_focus=True):
    """Lines that can be maximised."""

    DEFAULT_CLASSES = "panel"


class Dashboard(View):
    """Panels side by side if the terminal is wide, otherwise one below another."""

    TITLE = "Dashboard"
    FINDS = A_TOPIC
    LISTS_TOPICS = True
    PANELS = 8
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        binding("chart.log_x", "x", "scale('log_x')", "Log x", "logarithmic or linear x axis"),
        binding("chart.log_y", "y", "scale('log_y')", "Log y", "logarithmic or linear y axis"),
        binding("chart.fit_y", "Y", "scale('fit_y')", "Whole", FIT_Y, "Y"),
        binding("chart.axis", "a", "x_kind", "Axis", "x axis: articles, words or time"),
        binding("chart.metric", "v", "metric", "Metric", "which metric the chart shows"),
        binding("chart.left", "left", "cross(-1)", "Crosshair", CROSS, "←→"),
        binding("chart.right", "right", "cross(1)", "Crosshair"),
        ("shift+left", f"cross(-{FAR})"),
        ("shift+right", f"cross({FAR})"),
        binding("chart.zoom_in", "plus,equals_sign", "zoom(1)", "Zoom", "zoom around the crosshair", "+-"),
        binding("chart.zoom_out", "minus", "zoom(-1)", "Zoom out"),
        binding("chart.reset", "0", "reset", "Reset", "show the whole curve, no crosshair"),
        ("up", "list('move', -1)"),
        ("down", "list('move', 1)"),
        ("pageup", "list('page', -1)"),
        ("pagedown", "list('page', 1)"),
        binding("dashboard.detail", "enter", "list('choose')", "Detail", "open the topic", "Enter"),
        binding("dashboard.all", "escape", "all", "All topics", "show all topics again"),
    ]

    x_kind = X_KINDS[0]
    _drawn: tuple[object, ...] = ()
    _carded: tuple[object, ...] = ()
    """The topic whose articles the card shows, and the moment they are from."""

    def compose(self) -> ComposeResult:
        yield Lines(id="numbers")
        with Container(id="panels"):
            with Vertical(id="left"):
                yield Chart(id="chart")
                yield SmallCharts(id="small-charts")
                yield Lines(id="flow-brief", classes="panel")
                with Horizontal(id="below"):
                    yield TopicList(id="topics")
                    yield TopicMap(id="over-time")
            with Vertical(id="right"):
                yield Lines(id="flow", classes="panel")
                yield Panel(id="reading")
                yield TopicCard(id="card")
                yield Panel(id="changes")
                yield EventList(id="log")

    def on_mount(self) -> None:
        self.query_one(Chart).fit_y = True
        for selector, words in (
            ("#flow", "Flow"),
            ("#topics", "Topics by share"),
            ("#changes", "What changed"),
            ("#card", "Topic"),
            ("#over-time", "Over time"),
            ("#log", "Log"),
        ):
            name(self.query_one(selector, Widget), words)
        self.query_one("#changes", Panel).show_lines(lambda *_: [[(NOTHING_CHANGED, "muted")]])

    def home(self) -> Widget | None:
        return self.query_one("#topics", TopicList)

    def fit(self, width: int, height: int) -> None:
        tiny = width < TINY_WIDTH or height < TINY_HEIGHT
        self.set_class(tiny, "-tiny")
        self.set_class(width >= WIDE and not tiny, "-wide")
        self.set_class(width >= VAST and not tiny, "-vast")
        self.set_class(height >= 40, "-tall")
        self.set_class(height >= LOFTY, "-lofty")
        self.set_class(height < LOW, "-low")

    def draw(self, look: SessionView) -> None:
        if self.has_class("-tiny"):
            self.query_one("#numbers", Lines).show_lines(lambda *_: numbers(look, self.choice))
            return
        chart, model = self.query_one(Chart), self.choice.model_of(look)
        # A new look often has the old curves, and then the picture stays as it is.
        values = (self.choice.model, self.choice.metric, self.choice.ascii_only, self.x_kind)
        shown = look.curves, look.runs, look.changes, look.others, *values
        loaded = not look.models or (look.models[0], self.choice.metric) in look.curves
        if loaded and not (same(shown, self._drawn) and chart.drawing.series):
            self._drawn = shown
            chart.draw(drawing(look, self.choice, self.x_kind))  # this also sets the title
        else:
            self._entitle()
        for flow in self.query("#flow, #flow-brief").results(Lines):
            flow.show_lines(partial(flow_lines, look, self.choice.ascii_only))
        topics = self.query_one(TopicList)
        topics.show_topics(look, self.choice, self.sought)
        self._entitle_topics(look)
        reading, changes = self.query_one("#reading", Panel), self.query_one("#changes", Panel)
        name(reading, "Now reading" if look.status.lively else "Last read")
        reading.show_lines(partial(now_reading, look, model))
        models = self.choice.models_of(look)
        changes.show_lines(partial(what_changed, look.changes_of(models), len(models) > 1))
        if self.has_class("-vast"):
            self.query_one(SmallCharts).show(look, self.choice, self.x_kind, chart)
            self._show_card(look)
            over_time = self.query_one(TopicMap)
            over_time.show_map(look, self.choice, self.sought, partial(self.ask, aside=True))
            self.query_one(EventList).show_items(look.events)

    def _show_card(self, look: SessionView) -> None:
        """Show one topic in more detail: the one selected here, or the one that matters most."""
        listed, model = self.query_one(TopicList), self.choice.model_of(look)
        rows = look.topics_of(model)
        row, why = featured(rows, listed.topic if listed.held else None, self.choice.pinned_of(model))
        self.query_one(TopicCard).show(row, look, self.choice, why)
        now = (look.status.session, model, row and row.topic, look.recent, look.as_of)
        if row is not None and model is not None and now != self._carded:
            self._carded = now
            run_in_background(self, partial(self._fill_card, row, model, look), "card")

    async def _fill_card(self, row: TopicRow, model: str, look: SessionView) -> None:
        card = self.query_one(TopicCard)
        if look.as_of is not None:  # the topics of articles at that time are not known
            card.show_articles(None)
            return
        try:
            card.show_articles(await self.ask(lambda reader: reader.articles_about(model, row.topic, ABOUT)))
        except SessionError:
            self._carded = ()  # the old drawing stays; the next look asks again

    def _entitle_topics(self, look: SessionView) -> None:
        title, below = topics_title(look, self.choice, self.sought)
        change = self._newest_change(look)
        after = f" · {look.topics_after(self.choice.model_of(look))}" if change else ""
        name(self.query_one(TopicList), title + after, change or below)

    def _newest_change(self, look: SessionView) -> str:
        """The latest event, if there is no room for its panel."""
        models = self.choice.models_of(look)
        events = look.changes_of(models)
        if not events or (self.has_class("-wide") and self.has_class("-tall")):
            return ""
        return f"{count(events[0].articles)} {told(events[0], len(models) > 1)}"

    @on(Chart.Pointed)
    def _entitle(self) -> None:
        if self.look is None:
            return
        chart = self.query_one(Chart)
        told = (warning(self.look), measurement_caption(self.look, self.choice), chart.cut_off())
        below = chart.pointed() or " · ".join(text for text in told if text)
        name(chart, title(self.look, self.choice, self.x_kind) + chart.scales(), below)

    @on(SmallCharts.Picked)
    def _picked(self, event: SmallCharts.Picked) -> None:
        self.choice.metric = event.metric
        self.host.look_again()

    @on(TopicList.Chosen, "#topics")
    @on(TopicMap.Chosen, "#over-time")
    def _chosen(self, event: TopicList.Chosen) -> None:
        if isinstance(event.row, TopicRow):
            at = event.control.at if isinstance(event.control, TopicMap) else None
            self.post_message(OpenTopic(event.row.topic, at))

    @on(TopicList.Moved, "#topics")
    def _moved(self) -> None:
        listed = self.query_one(TopicList)
        if self.look is not None and self.has_class("-vast"):
            self._show_card(self.look)
            if listed.topic is not None:
                self.query_one(TopicMap).choose(listed.topic)

    @on(TopicMap.Pointed)
    @on(TopicMap.Moved, "#over-time")
    def _entitle_map(self) -> None:
        drawn, look = self.query_one(TopicMap), self.look
        after = "" if look is None else look.topics_after(self.model)
        name(drawn, drawn.legend, drawn.told if drawn.has_focus else after)

    # Keys -------------------------------------------------------------------------------------

    def action_scale(self, which: Scale) -> None:
        chart = self.query_one(Chart)
        chart.toggle(which)
        if which == "log_y" and chart.log_y and not chart.logs_y:
            self.app.notify("some of these values are negative and have no logarithm: y stays linear")
        self.again()

    def action_x_kind(self) -> None:
        self.x_kind = next_choice(self.x_kind, X_KINDS)
        self.again()

    def action_metric(self) -> None:
        if self.look is not None:
            self.choice.metric = next_choice(
                self.choice.metric, [metric.name for metric in self.look.metrics]
            )
            self.host.look_again()

    def action_list(self, what: str, by: int = 0) -> None:
        topics = self.query_one(TopicList)
        if what == "choose":
            topics.action_choose()
        elif what == "page":
            topics.action_page(by)
        else:
            topics.action_move(by)

    def chosen_topic(self) -> TopicRow | None:
        return self.query_one(TopicList).topic if not self.has_class("-tiny") else None

    def chosen_article(self) -> ArticleRow | None:
        recent = self.look.recent if self.look is not None else ()
        return recent[0] if recent and self.query_one("#reading").has_focus else None

    def copied(self) -> str:
        current = self.query_one(TopicList).topic
        return in_line(word for word, _ in current.words) if current else ""
