"""Crawl: how the wiki is being read, at what request rate, and what is in the way."""

import time
from dataclasses import replace

import numpy as np
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from wikitopics.session.records import Event, Status, skips_told
from wikitopics.session.sources import described
from wikitopics.tui.chart.axes import ago
from wikitopics.tui.chart.chart import Chart
from wikitopics.tui.chart.plot import Drawing, Series
from wikitopics.tui.inks import name
from wikitopics.tui.keys import key
from wikitopics.tui.look import Look
from wikitopics.tui.views.view import View
from wikitopics.tui.widgets.events import EventList, Fact, Facts
from wikitopics.tui.widgets.flow import GAP, allowed, asks, incoming, per_second, rate, read, waiting
from wikitopics.tui.widgets.statusline import condition, source_words
from wikitopics.tui.words import age, count, limited, plural, share, short, visible

WIDE, TALL = 110, 34


class Crawl(View):
    """Facts beside the rates of the last half hour, with the newest errors below."""

    TITLE = "Crawl"
    OF_MODEL = False
    PANELS = 3
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        key("crawl.log_y", "y", "log_y", "Log y", "logarithmic or linear rates"),
        key("crawl.left", "left", "cross(-1)", "Crosshair", "show the rates at one moment", "←→"),
        key("crawl.right", "right", "cross(1)", "Crosshair"),
        key("crawl.zoom_in", "plus,equals_sign", "zoom(1)", "Zoom", "zoom around the crosshair", "+-"),
        key("crawl.zoom_out", "minus", "zoom(-1)", "Zoom out"),
        key("crawl.reset", "0", "reset", "Reset", "the whole half hour"),
    ]

    _flow: object = None

    def compose(self) -> ComposeResult:
        with Container(id="crawl-panels"):
            with Vertical(id="crawl-told"):
                yield Facts(id="crawl-facts")
                yield EventList(id="crawl-errors")
            yield Chart(id="rates")

    def on_mount(self) -> None:
        chart = self.query_one(Chart)
        chart.log_x = False
        errors = self.query_one(EventList)
        errors.empty = " none"
        name(errors, "Last errors")

    def home(self) -> Widget | None:
        chart = self.query_one(Chart)
        return chart if chart.display else self.query_one(Facts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in {"log_y", "cross", "zoom", "reset"} and self.is_mounted:
            return self.query_one(Chart).display
        return super().check_action(action, parameters)

    def fit(self, width: int, height: int) -> None:
        self.set_class(width >= WIDE, "-wide")
        self.set_class(height >= TALL, "-tall")

    def draw(self, look: Look) -> None:
        facts_ = self.query_one(Facts)
        name(facts_, "Crawl" + look.of_now())
        facts_.show_items(facts(look))
        shown = (look.flow, look.status.lively, look.status.activity.crawl_rate)
        if self._flow != shown or not look.flow:
            self._flow = shown
            self.query_one(Chart).draw(rates(look))
        self._entitle()
        self.query_one(EventList).show_items(errors(look))

    def action_log_y(self) -> None:
        self.query_one(Chart).toggle("log_y")

    @on(Chart.Pointed)
    def _entitle(self) -> None:
        chart, look = self.query_one(Chart), self.look
        if look is not None:
            shown = f"{look.noun.capitalize()} a second{chart.scales()}{look.of_now()}"
            name(chart, shown, chart.pointed())


def errors(look: Look) -> list[Event]:
    """The newest errors: those of the last run, after what the log tells of the runs before it."""
    began = look.runs[-1].started_at if look.runs else 0.0
    before = [event for event in look.events if event.level != "info" and event.at < began]
    return [*before, *look.status.activity.errors]


def rates(look: Look) -> Drawing:
    """Crawl rates of the last half hour of training: over the time before now, ending with the present rate,
    while the trainer is alive, otherwise over the time of day."""
    if not look.flow:
        return Drawing(empty=("no rates measured yet",))
    kept = sorted(look.flow, key=lambda flow: flow.at)  # the clock may have been set back
    newest = kept[-1].at
    alive = look.status.lively and look.at - newest < GAP
    if alive:
        newest = max(newest, look.at)
        kept.append(replace(kept[-1], at=newest, crawl_rate=look.status.activity.crawl_rate))
    zero = newest if alive else newest - _since_midnight(newest)
    x = np.array([flow.at - zero for flow in kept])
    crawl = np.array([flow.crawl_rate for flow in kept])
    # A pause of the trainer is drawn as a gap, not as a straight line.
    crawl = np.where(np.r_[False, np.diff(x) > GAP], np.nan, crawl)
    return Drawing(
        series=(Series("crawl", x, crawl),),
        x_name="ago" if alive else time.strftime("on %Y-%m-%d", time.localtime(newest)),
        label_x=ago if alive else lambda value: _time_of_day(zero + value),
        time_x=True,
        value=per_second,
        tell_x=lambda value: time.strftime("%H:%M:%S", time.localtime(zero + value)),
        faded=not alive,
    )


def _since_midnight(at: float) -> float:
    """Seconds since midnight, so that round values on the axis are round on the clock."""
    local = time.localtime(at)
    return local.tm_hour * 3_600 + local.tm_min * 60 + local.tm_sec + at % 1


def _time_of_day(at: float) -> str:
    return time.strftime("%H:%M" if round(at) % 60 == 0 else "%H:%M:%S", time.localtime(round(at)))


def facts(look: Look) -> list[Fact]:
    """Everything about the crawl in words."""
    s, now = look.status, look.status.activity
    _, words, ink = condition(s)
    held_up, held_ink = waiting(s, look.at)
    train, train_ink = rate(s, now.train_rate, "idle")
    rows: list[Fact] = [
        ("trainer", words.lower() + (f", pid {s.pid}" if s.pid else ""), ink),
        ("source", source_words(s), "strong"),
        ("", described(s.source).remark, "muted"),
        ("now", held_up or "working", held_ink),
        (incoming(s), *rate(s, now.crawl_rate)),
        ("train", train, train_ink),
        ("overall", f"{short(s.articles_per_hour)} {look.counted} an hour", ""),
        *(_asking(s) if asks(s) else []),
        ("crawled" if asks(s) else "read", read(s), ""),
        ("trained", count(s.articles) + limited(now.article_limit, s.articles), ""),
        ("held out", f"{count(s.held_out)} of {count(s.held_out_target)}, never trained on", ""),
        ("pending", f"{count(s.pending)} not yet trained on", ""),
        ("skipped", f"{count(s.skipped)}" + (f": {skips_told(s.skips)}" if s.skips else ""), ""),
        ("progress", _progress(s), ""),
        (
            "last save",
            f"{age(s.checkpoint_age_seconds)} ago" if s.checkpoint_age_seconds is not None else "none",
            "",
        ),
    ]
    if look.last_words and s.state != "finished":
        rows.insert(1, ("", f"its last message: {visible(look.last_words)}", "warn"))
    return [row for row in rows if row[1]]


def _progress(s: Status) -> str:
    """How much of the source is read, and when it will be through."""
    read = [f"{share(s.lap)} of {source_words(s)} read"] if s.lap is not None else []
    left = [f"{age(s.seconds_left)} left"] if s.lively and s.seconds_left is not None else []
    return ", ".join(read + left)


def _asking(s: Status) -> list[Fact]:
    """How the server responds to requests."""
    now = s.activity
    return [
        ("requests", *allowed(s)),
        ("", f"{count(now.requests)} in {'this' if s.running else 'the last'} run", "muted"),
        (
            "latency",
            f"{now.latency_seconds:.2f} s" if now.latency_seconds is not None else "not measured",
            "" if s.lively else "faint",
        ),
        ("request size", plural(now.batch_pages, "page") if now.batch_pages else "not known", ""),
        ("retries", count(now.retries), "warn" if now.retries else ""),
        ("told to wait", f"{count(now.throttled)} times (429, 503, maxlag)", "warn" if now.throttled else ""),
    ]
