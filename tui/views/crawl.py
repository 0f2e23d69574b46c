"""Crawl: how the wiki is being read, at what request rate, and what is in the way."""

import time
from dataclasses import replace

import numpy as np
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from wikitopics.session.escapes import visible
from wikitopics.session.records import Event, Flow, Status
from wikitopics.session.sources import kind_named
from wikitopics.session.wording import age, skips_told
from wikitopics.tui.axes import Floats, ago
from wikitopics.tui.bars import condition, progress, share_of, source_words
from wikitopics.tui.chart import Chart
from wikitopics.tui.flow import (
    GAP,
    flowing,
    has_server,
    in_order,
    per_second,
    read,
    request_rate,
    standing,
)
from wikitopics.tui.inks import name
from wikitopics.tui.plot import Drawing, Series
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import count, limited, plural, short
from wikitopics.tui.views.log import EventList, Fact, Facts
from wikitopics.tui.views.view import View

# In the chart of rates, the time is divided into equal parts, and a line has the mean of each part.
MEASURED_IN_PART = 4
"""The minimum number of measurements in each part, on average."""
FEWEST_PARTS = 20
"""With fewer parts than this, the line has the measurements themselves."""
MOST_PARTS = 40
"""The maximum number of parts."""
NOT_FAR = 2.0
"""The allowed rate is drawn unless it is more than this many times the highest one."""
LOW = 22
"""With fewer lines than this, there is no room for the chart of rates below the facts."""


class Crawl(View):
    """Facts beside the rates of the last hour, with the newest errors below."""

    TITLE = "Crawl"
    OF_MODEL = False
    BINDINGS = bindings("crawl")

    def compose(self) -> ComposeResult:
        with Container(id="crawl-panels"):
            with Vertical(id="crawl-told"):
                yield Facts(id="crawl-facts")
                yield EventList(id="crawl-errors")
            yield Chart(id="rates")

    def on_mount(self) -> None:
        self.query_one(Chart).log_x = False
        self.query_one(EventList).empty = " none"
        name(self.query_one(EventList), "Last errors")

    def fit(self, width: int, height: int) -> None:
        super().fit(width, height)
        self.set_class(height < LOW, "-low")

    def home(self) -> Widget:
        chart = self.query_one(Chart)
        # Below one another, not all facts fit, and they scroll only with the focus.
        return chart if self.has_class("-wide") else self.query_one(Facts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "chart" and self.is_mounted:
            return self.query_one(Chart).display
        return super().check_action(action, parameters)

    def draw(self, session: SessionView) -> None:
        name(self.query_one(Facts), "Crawl" + session.of_now())
        self.query_one(Facts).show_items(facts(session, offers=not self.host.READ_ONLY))
        self.query_one(Chart).draw(rates(session))
        self._entitle()
        self.query_one(EventList).show_items(errors(session))

    @on(Chart.Pointed)
    def _entitle(self) -> None:
        chart = self.query_one(Chart)
        session = self.session
        if session is not None:
            title = f"{session.noun.capitalize()} a second{chart.scales()}{session.of_now()}"
            name(chart, title, chart.pointed())


def errors(session: SessionView) -> list[Event]:
    """The newest errors: first those of earlier runs, which are in the log, then those of the last
    run."""
    began = session.runs[-1].started_at if session.runs else 0.0
    earlier = [event for event in session.events if event.level != "info" and event.at < began]
    return [*earlier, *(Event(at, "warning", text) for at, text in session.status.activity.errors)]


def rates(session: SessionView) -> Drawing:
    """Rates of reading and learning in the last hour of training.

    While the trainer is alive, the x axis is the time before now, and the lines end with the
    present rate. Otherwise, the x axis is the time of day.
    """
    if not session.flow:
        return Drawing(empty=("no rates measured yet",))
    flows = in_order(session.flow)
    newest = flows[-1].at
    alive = session.status.lively and session.at - newest < GAP
    if alive:
        newest = max(newest, session.at)
        now = session.status.activity
        flows.append(Flow(newest, now.crawl_rate, now.train_rate, now.queue))
    # The moment at which x is 0: now, or else midnight, so that round values on the axis are round
    # on the clock.
    zero = newest if alive else _midnight_before(newest)
    x = np.array([flow.at - zero for flow in flows])
    crawl = np.array([flow.crawl_rate for flow in flows])
    train = np.array([flow.train_rate for flow in flows])
    # A pause of the trainer is drawn as a gap, not as a straight line.
    after_pause = 1 + np.flatnonzero(np.diff(x) > GAP)
    crawl[after_pause] = np.nan
    train[after_pause] = np.nan
    lines = [Series("crawl", *_course(x, crawl)), Series("learnt", *_course(x, train), number=1)]
    has_means = len(lines[0].x) < len(x)
    if has_means:
        # The measurements themselves are behind the lines, as a band.
        lines.insert(0, Series("range", x, crawl, band=True))
    drawing = Drawing(
        time_x=True,
        value=per_second,
        tell_x=lambda value: time.strftime("%H:%M:%S", time.localtime(zero + value)),
    )
    if not alive:
        return replace(
            drawing,
            series=tuple(lines),
            x_name=time.strftime("on %Y-%m-%d", time.localtime(newest)),
            label_x=lambda value: _time_of_day(zero + value),
            needless=":00",
            faded=True,
        )
    allowed = allowed_rate(session.status)
    highest = float(np.fmax.reduce(np.concatenate([crawl, train])))
    if 0 < allowed <= NOT_FAR * highest:
        lines.append(Series("allowed", x[[0, -1]], np.full(2, allowed), number=2))
    return replace(drawing, series=tuple(lines), x_name="ago", label_x=ago)


def _midnight_before(moment: float) -> float:
    """The last midnight by the local clock."""
    local = time.localtime(moment)
    return moment - (local.tm_hour * 3_600 + local.tm_min * 60 + local.tm_sec + moment % 1)


def _course(x: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """The mean of a rate in each of equal parts of the time, at the middle of the part, and the
    last measurement; the measurements themselves if they are few."""
    parts = min(len(x) // MEASURED_IN_PART, MOST_PARTS)
    if parts < FEWEST_PARTS:
        return x, rates
    edges = np.linspace(x[0], x[-1], parts + 1)
    part = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, parts - 1)
    known = np.isfinite(rates)
    known_in_part = np.bincount(part, known, minlength=parts)
    total = np.bincount(part, np.where(known, rates, 0.0), minlength=parts)
    means = np.full(parts, np.nan)
    np.divide(total, known_in_part, out=means, where=known_in_part > 0)
    middles = (edges[1:] + edges[:-1]) / 2
    return np.append(middles, x[-1]), np.append(means, rates[-1])


def allowed_rate(status: Status) -> float:
    """The articles a second that the allowed requests would bring; 0 if that is not known."""
    now = status.activity
    return (now.allowed_per_minute or 0) * (now.batch_pages or 0) / 60


def _time_of_day(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(round(at)))


def facts(session: SessionView, *, offers: bool = True) -> list[Fact]:
    """Everything about the crawl in words. ``offers``: as for `wait_text`."""
    status = session.status
    _, condition_words, condition_ink = condition(status)
    trainer = condition_words.lower()
    if status.pid:
        trainer += f", pid {status.pid}"
    rows: list[Fact] = [("trainer", trainer, condition_ink)]
    if session.last_words and status.state != "finished":
        rows.append(("", f"its last message: {visible(session.last_words)}", "warn"))
    rows.append(("source", source_words(status), "strong"))
    rows.append(("", kind_named(status.source).remark, "muted"))

    title = "now"
    for text, ink in standing(session, offers=offers):
        rows.append((title, text, ink))
        title = ""  # only the first line has one

    flow_facts = ["".join(text for text, _ in fact) for fact in flowing(session)]
    flow = ", ".join(flow_facts)
    flow_ink = "" if status.lively else "faint"
    rows.append(("flow", flow, flow_ink))
    overall = f"{short(status.articles_per_hour)} {session.counted} an hour"
    if has_server(status):
        rows += _asking(status)
        rows.append(("overall", overall, ""))
        rows.append(("crawled", read(status), ""))
    else:
        rows.append(("overall", overall, ""))
        rows.append(("read", read(status), ""))

    trained = count(status.articles) + limited(status.activity.article_limit, status.articles)
    rows.append(("trained", trained, ""))
    held_out = f"{count(status.held_out)} of {count(status.held_out_target)}, never trained on"
    rows.append(("held out", held_out, ""))
    skipped = count(status.skipped)
    if status.skips:
        skipped += f": {skips_told(status.skips)}"
    rows.append(("skipped", skipped, ""))
    rows.append(("progress", progress(status, share_of(status, source_words(status))), ""))
    since = status.checkpoint_age_seconds
    last_save = f"{age(since)} ago" if since is not None else "none"
    rows.append(("last save", last_save, ""))
    return [(title, text, ink) for title, text, ink in rows if text]


def _asking(status: Status) -> list[Fact]:
    """How the server responds to requests."""
    now = status.activity
    sent = count(now.requests)
    rate, rate_ink = request_rate(status)
    latency = "not measured"
    if now.latency_seconds is not None:
        latency = f"{now.latency_seconds:.2f} s"
    latency_ink = "" if status.lively else "faint"
    size = plural(now.batch_pages, "page") if now.batch_pages else "not known"
    if status.running:
        requests: list[Fact] = [
            ("requests", rate, rate_ink),
            ("", f"{sent} in this run", "muted"),
        ]
    else:
        requests = [("requests", f"{sent} in the last run", "muted")]
    return [
        *requests,
        ("latency", latency, latency_ink),
        ("request size", size, ""),
    ]
