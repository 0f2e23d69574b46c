"""The dashboard: the curve, the flow, the topics, and the articles being read."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical

from wikitopics.session.analysis.quality import coherence
from wikitopics.session.analysis.spotlight import TURN, Spot, spotlight
from wikitopics.session.analysis.story import SCORE, SPANS, Moment, doublings, movements, story
from wikitopics.session.metrics import Metric
from wikitopics.session.records import ArticleRow, TopicRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import in_line
from wikitopics.tui.chart import Chart, PlainChart, Scale
from wikitopics.tui.curves import X_KINDS, drawing, measurement_caption, title, warning
from wikitopics.tui.flow import flow_lines
from wikitopics.tui.inks import Lines, marks_of, name
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.topic_card import TopicCard
from wikitopics.tui.topic_list import TopicList, topics_title
from wikitopics.tui.topic_order import featured
from wikitopics.tui.views.articles import Reading, for_measuring
from wikitopics.tui.views.atlas import Maps
from wikitopics.tui.views.log import MOMENTS, Log, Spotlight, Story, ticker
from wikitopics.tui.views.view import A_TOPIC, FAR, View, next_choice

# Small charts beside the large one: the models' other metrics at a glance.

MOST_CHARTS = 4
"""The maximum number of charts: narrower ones would be unreadable."""


class SmallChart(PlainChart):
    """The curves of one metric; a click moves it to the large chart."""

    named = False
    metric = ""

    def on_click(self) -> None:
        self.query_ancestor(Dashboard).show_metric(self.metric)


class SmallCharts(Container):
    """One chart for each metric of the session that has a brief name and is not on the large
    chart."""

    DEFAULT_CLASSES = "-empty"

    def compose(self) -> ComposeResult:
        for _ in range(MOST_CHARTS):
            yield SmallChart()

    def show(self, session: SessionView, choice: Choice, x_kind: str, like: Chart) -> None:
        """Draw them over the same x as the large chart, ``like``, and with the same cut."""
        drawn = like.current_plot()
        window = None
        if drawn is not None and drawn.cut is not None:
            window = (drawn.x_axis.low, drawn.x_axis.high)
        metrics = _measured_besides(session, choice)[:MOST_CHARTS]
        self.set_class(not metrics, "-empty")
        for index, chart in enumerate(self.query(SmallChart)):
            chart.display = index < len(metrics)
            if not chart.display:
                continue
            metric = metrics[index]
            chart.metric = metric.name
            chart.log_x = like.log_x
            chart.fit_y = like.fit_y
            chart.window = window
            of_metric = replace(choice, metric=metric.name)
            chart.drawing = drawing(session, of_metric, x_kind, turns=False)
            chart.redraw()
            name(chart, metric.brief, chart.drawing.in_words)


def _measured_besides(session: SessionView, choice: Choice) -> list[Metric]:
    """The metrics with a brief name that are not on the large chart and that have been measured."""

    def is_measured(metric: Metric) -> bool:
        curves = [session.curves.get((model, metric.name)) for model in choice.models_of(session)]
        return any(curve is not None and curve.values.size for curve in curves)

    others = [metric for metric in session.metrics if metric.name != choice.metric]
    return [metric for metric in others if metric.brief and is_measured(metric)]


WIDE = 120
"""The number of columns from which panels stand side by side."""
VAST = 180
"""The number of columns from which there is room for the small charts, a card and the atlas."""
TALL = 40
"""The number of lines from which more panels are shown."""
LOW = 22
"""With fewer lines than this, the chart and the topics share them; otherwise the chart has
eleven."""
LOFTY = 52
"""The number of lines from which the card has room for articles."""
ABOUT = 12
"""Articles listed on the topic card."""


def _present(session: SessionView) -> float | None:
    """When the session was read; None in a replay or while no trainer is alive, as no time passes
    then."""
    return session.at if session.as_of is None and session.status.lively else None


def _turn(session: SessionView) -> int:
    """The number of the turn that the line below the topics and the spotlight are at."""
    return int(session.at / TURN)


class Dashboard(View):
    """Panels side by side if the terminal is wide, otherwise one below another."""

    TITLE = "Dashboard"
    HOME = TopicList
    FINDS = A_TOPIC
    FINDS_TOPICS = True
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        *bindings("dashboard"),
        ("shift+left", f"chart('step', -{FAR})"),
        ("shift+right", f"chart('step', {FAR})"),
        ("up", "list('move', -1)"),
        ("down", "list('move', 1)"),
        ("pageup", "list('page', -1)"),
        ("pagedown", "list('page', 1)"),
    ]

    x_kind = X_KINDS[0]
    _moments: tuple[Moment, ...] = ()
    _spot: Spot | None = None

    def compose(self) -> ComposeResult:
        with Container(id="panels"):
            with Vertical(id="left"):
                yield Chart(id="chart")
                yield SmallCharts(id="small-charts")
                yield Lines(id="flow-brief", classes="panel")
                with Horizontal(id="below"):
                    yield TopicList(id="topics")
                    yield Maps(id="dashboard-atlas")
            with Vertical(id="right"):
                yield Lines(id="flow", classes="panel")
                yield Reading(id="reading")
                yield TopicCard(id="card")
                yield Spotlight(id="spotlight")
                yield Story(id="story")

    def on_mount(self) -> None:
        self.query_one(Chart).fit_y = True
        name(self.query_one("#flow", Lines), "Flow")

    def fit(self, width: int, height: int) -> None:
        self.set_class(width >= WIDE, "-wide")
        self.set_class(width >= VAST, "-vast")
        self.set_class(height >= TALL, "-tall")
        self.set_class(height >= LOFTY, "-lofty")
        self.set_class(height < LOW, "-low")

    def draw(self, session: SessionView) -> None:
        model = self.choice.model_of(session)
        chart = self.query_one(Chart)
        is_read = not session.models or (session.models[0], self.choice.metric) in session.curves
        if is_read:  # otherwise the metric has just been chosen
            chart.draw(drawing(session, self.choice, self.x_kind, pins=self._pins()))
        self._entitle()
        offers = not self.host.READ_ONLY
        for flow in self.query("#flow, #flow-brief").results(Lines):
            flow.show_lines(partial(flow_lines, session, self.choice.ascii_only, offers=offers))

        self._show_story(session)
        self._show_spotlight(session)
        topics = self.query_one(TopicList)
        topics.show_topics(session, self.choice, self.search)
        title, below = topics_title(session, self.choice, self.search)
        has_story_in_sight = self.has_class("-wide") and self.has_class("-tall")
        if self._moments and not has_story_in_sight:  # there is room for one moment
            title += f" · {session.topics_after(model)}"
            several = len(self.choice.models_of(session)) > 1
            below = ticker(self._moments, several, _present(session), _turn(session), self._spot)
        name(topics, title, below)
        self.fill_titles(topics, session)

        reading = self.query_one(Reading)
        status = session.status
        if session.as_of is not None:
            heading = "Read by then"
        elif status.state == "running" and status.activity.crawl_rate:
            heading = "Now reading"
        else:
            heading = "Last read"
        name(reading, heading, for_measuring(session, session.recent))
        reading.show_session(session, model)
        if self.has_class("-vast"):
            self.query_one(SmallCharts).show(session, self.choice, self.x_kind, chart)
            self._show_card(session)
            self.query_one(Maps).show_map(self, session)

    def _show_story(self, session: SessionView) -> None:
        """Show the story as it is known, and derive it again in the background if something has
        happened."""
        if self.fillings.get("story", ())[:1] != (self.host.path,):
            self._moments = ()  # they are those of another session
            self._spot = None
        models = self.choice.models_of(session)
        marks = {model: marks_of(self, session, model) for model in models}
        self.query_one(Story).show_moments(self._moments, marks, _present(session))
        measured = tuple(curve.articles.size for curve in session.curves.values())
        values = (
            session.as_of,
            models,
            measured,
            session.topics,
            session.changes,
            session.runs,
            session.events,
        )
        self.fill("story", values, partial(self._fill_story, models, session))

    async def _fill_story(self, models: Sequence[str], session: SessionView) -> None:
        def derived(reader: SessionReader) -> tuple[Moment, ...]:
            model = models[0]  # shares move in the list of topics, which shows one model
            points = reader.snapshots_since_start(model, session.as_of)
            spans = doublings(points)[-SPANS - 1 :]
            snapshots = reader.words_at(model, spans)
            shares = [(snapshot.articles, snapshot.shares) for snapshot in snapshots]
            names = [row.name for row in session.topics_of(model)]
            atlas = session.atlases.get(model)
            areas = atlas.areas if atlas is not None else ()
            moved = movements(model, shares, names, areas) if names else []
            return story(
                {model: session.curves[model, SCORE.name] for model in models},
                session.changes_of(models),
                session.runs,
                session.events,
                session.flow,
                moved,
                session.counted,
            )

        self._moments = await self.ask(derived)
        self.again()

    def _pins(self) -> list[tuple[int, str, str]]:
        """What the story tells that is marked beside the curves, the newest first; of the same
        words only the newest."""
        pins: dict[str, tuple[int, str, str]] = {}
        for moment in self._moments:
            is_of_score = moment.kind == "ahead"
            if moment.brief and (not is_of_score or self.choice.metric == SCORE.name):
                sign, _, _ = MOMENTS[moment.kind]
                pins.setdefault(moment.brief, (moment.articles, sign, moment.brief))
        return list(pins.values())

    def _show_spotlight(self, session: SessionView) -> None:
        """Show the article in the spotlight; none in a replay, since articles are known as they are
        now."""
        self.set_class(session.as_of is not None, "-replay")
        if session.as_of is not None:
            self._spot = None
        panel = self.query_one(Spotlight)
        panel.empty = Spotlight.empty
        if session.settings.get("keep_articles") == "none":
            panel.empty = " this session keeps none of its articles"
        panel.show_spot(self._spot)
        model = self.choice.model_of(session)
        turn = _turn(session)
        self.fill(
            "spotlight",
            (model, turn, session.as_of is None),
            partial(self._fill_spotlight, model, turn, session),
        )

    async def _fill_spotlight(self, model: str, turn: int, session: SessionView) -> None:
        if session.as_of is not None:
            return
        atlas = session.atlases.get(model)
        self._spot = await self.ask(
            lambda reader: spotlight(reader, model, turn, atlas), aside=True
        )
        self.query_one(Spotlight).show_spot(self._spot)

    def _show_card(self, session: SessionView) -> None:
        """Show one topic in more detail: the one selected here, or the one that matters most."""
        model = self.choice.model_of(session)
        listed = self.query_one(TopicList)
        chosen = listed.topic if listed.held else None
        pinned = self.choice.pinned_of(model)
        row, why = featured(session.topics_of(model), chosen, pinned)
        self.query_one(TopicCard).show(row, session, self.choice, why)
        if row is not None:
            values = (session.status.session, model, row.topic, session.recent, session.as_of)
            self.fill("card", values, partial(self._fill_card, row.topic, model, session))

    async def _fill_card(self, topic: int, model: str, session: SessionView) -> None:
        articles = await self.ask(lambda reader: reader.articles_about(model, topic, ABOUT))
        articles = [article for article in articles if session.seen_by_now(article)]
        self.query_one(TopicCard).show_articles(articles)
        if session.as_of is None:
            npmi = await self.ask(lambda reader: coherence(reader, model, topic), aside=True)
            self.query_one(TopicCard).show_coherence(npmi)

    @on(Chart.Pointed)
    def _entitle(self) -> None:
        if self.session is None:
            return
        chart = self.query_one(Chart)
        below = chart.pointed()
        if not below:
            notes = [warning(self.session), measurement_caption(self.session, self.choice)]
            below = " · ".join(note for note in notes if note)
        name(chart, title(self.session, self.choice, self.x_kind) + chart.scales(), below)

    def open_row(self, row: object) -> None:
        if not isinstance(row, tuple):
            super().open_row(row)
            return
        moment: Moment | Spot
        moment, _ = row  # of the story, or of the spotlight
        if isinstance(moment, Spot):
            super().open_row(moment.article)
        elif moment.kind in ("wait", "restart"):
            self.host.call_later(self.host.action_view, Log.TITLE)
        elif moment.topic is not None:
            if moment.model != self.model:  # the view of topics shows those of one model
                self.choice.model = moment.model
            self.host.call_later(self.host.open_topic, moment.topic)

    @on(TopicList.Moved)
    def _moved(self, event: TopicList.Moved) -> None:
        if self.session is not None and self.has_class("-vast"):
            self._show_card(self.session)
            if isinstance(event.row, TopicRow):
                self.query_one(Maps).choose(event.row.topic)

    # Keys -------------------------------------------------------------------------------------

    def action_scale(self, which: Scale) -> None:
        chart = self.query_one(Chart)
        chart.toggle(which)
        if which == "log_y" and chart.log_y and not chart.logs_y:
            self.app.notify(
                "some of these values are negative and have no logarithm: y stays linear"
            )
        self.again()

    def action_x_kind(self) -> None:
        self.x_kind = next_choice(self.x_kind, X_KINDS)
        self.again()

    def action_metric(self) -> None:
        if self.session is not None:
            metrics = [metric.name for metric in self.session.metrics]
            self.show_metric(next_choice(self.choice.metric, metrics))

    def show_metric(self, metric: str) -> None:
        """Show this metric on the large chart."""
        self.choice.metric = metric
        self.host.watched.read_again()

    def chosen_topic(self) -> TopicRow | None:
        return self.query_one(TopicList).topic

    def chosen_article(self) -> ArticleRow | None:
        reading = self.query_one(Reading)
        spot = self._spot
        if reading.has_focus and reading.current is not None:
            article, _ = reading.current
            return article
        if spot is not None and self.query_one(Spotlight).has_focus:
            return spot.article
        return None

    def copied(self) -> str:
        row = self.query_one(TopicList).topic
        return "" if row is None else in_line(word for word, _ in row.shown)
