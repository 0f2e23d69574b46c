"""Crawl: how the wiki is being read, at what request rate, and what is in the way."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from wikitopics.session.escapes import visible
from wikitopics.session.options import ARTICLES
from wikitopics.session.paths import command
from wikitopics.session.records import Event, Flow, Status, age, skips_told
from wikitopics.session.sources import described, noun, unit_noun
from wikitopics.tui.bars import condition, source_words
from wikitopics.tui.chart import Chart
from wikitopics.tui.follow import Choice, SessionView
from wikitopics.tui.inks import Line, Part, name
from wikitopics.tui.plot import Drawing, Series, ago
from wikitopics.tui.terminal import binding
from wikitopics.tui.text import clock, count, folded, limited, measured, plural, share, short, size, spark
from wikitopics.tui.topics import ordered
from wikitopics.tui.views.log import EventList, Fact, Facts
from wikitopics.tui.views.view import View, chart_keys

# The flow of articles: how fast they come in, how fast they are learnt, and what limits it; and the whole
# session in a few numbers, for a terminal too small for anything else.

STEADY = 0.2
"""A rate that varies by less than this share is drawn as steady."""
GAP = 30.0
"""With this many seconds without a measured rate, no trainer was running."""
OF_THE_PAST = "from the measurements, the only rates in a replay"


def has_server(status: Status) -> bool:
    """Whether its source asks a server for articles. A source of files has no latency, no rate limit, no
    throttling and no downloads."""
    return described(status.source).asks_server or status.activity.requests > 0


def incoming(status: Status) -> str:
    """The word for how articles come in."""
    return "crawl" if has_server(status) else "read"


def pace(status: Status) -> str:
    """What limits the pace; "" if that is not known."""
    if status.activity.pace:
        return "slowed down, so that you can follow; f: faster"
    bound = status.activity.bound_by
    reading = "the network" if has_server(status) else "reading the files"
    return f"{reading if bound == 'network' else bound} sets the pace" if bound else ""


def restart_command(status: Status) -> str:
    """The command that starts a trainer on this session."""
    return visible(command(described(status.source).command, Path(status.session)))


def finished(status: Status, advice: str = "") -> str:
    """Why a finished session has ended; ``advice``: what to do if it is for a limit of articles."""
    limit = status.activity.article_limit
    if limit and status.articles >= limit:
        return f"finished: {ARTICLES.flag} {count(limit)} is reached" + advice
    often = "once" if status.passes == 1 else f"{status.passes:,} times"
    return f"finished: every {noun(status.source)[:-1]} has been read {often}"


def nothing_left(status: Status) -> str:
    """Why a trainer that is started again would end at once; "" if it would not."""
    again = command(f"train {ARTICLES.flag} N", Path(status.session))
    return finished(status, f"; `{again}` continues to a larger N") if status.state == "finished" else ""


def wait_text(status: Status, now: float) -> Part:
    """What the trainer waits for and until when, or what sets the pace."""
    if status.state == "stalled":
        since = time.strftime("%H:%M:%S", time.localtime(now - (status.heartbeat_age_seconds or 0.0)))
        state = "suspended, as by Ctrl+Z," if status.suspended else "no sign of life"
        return f"{state} since {since}: these are its last numbers", "bad"
    if status.state == "stopping":
        return "saving and stopping", "warn"
    if not status.running:
        death = f" ({status.death})" if status.death else ""
        text = {
            "starting": "the trainer is starting",
            "finished": finished(status),
            "stopped": f"stopped; `{restart_command(status)}` continues",
            "dead": f"the trainer has died{death}; `{restart_command(status)}` continues from the last save",
            "new": "nothing has run yet",
        }.get(status.state, "no trainer is running")
        return text, "bad" if status.state == "dead" else "muted"
    if status.state == "paused":
        return "paused by you; P resumes", "warn"
    if status.activity.compiling:
        return "compiling the models, only once after installation", "warn"
    paced, activity = pace(status), status.activity
    unusual = activity.failing or activity.waiting_until is not None or activity.crawl_rate == 0
    # Waiting for a reply is the usual state.
    if status.waiting_for and (unusual or not paced):
        return visible(activity.wait(now)), "warn" if unusual else "muted"
    return paced, "muted"


def request_rate(status: Status) -> Part:
    """Requests of the last minute against the budget; without a trainer, only the budget."""
    cap = status.activity.allowed_per_minute
    if not status.running:
        return (f"up to {cap} a minute" if cap else "no cap"), "faint"
    sent = count(status.activity.requests_last_minute)
    text = f"{sent}/{cap} a minute" if cap else f"{sent} a minute, no cap"
    return text, "" if status.lively else "faint"


def read(status: Status) -> str:
    """How much has come in: "13,845 articles, 113.6 MB"."""
    bytes_read = f", {size(status.bytes_read)}" if status.bytes_read and has_server(status) else ""
    return plural(status.crawled, unit_noun(status.source, status.passes)[:-1]) + bytes_read


def per_second(rate: float) -> str:
    """A rate in at most six characters, per minute if it is slow."""
    if 0 < rate < 1:
        return f"{rate * 60:.1f}/min"
    return f"{short(rate)}/s"


def rate(status: Status, number: float, idle: str = "0/s") -> Part:
    """A rate as the trainer's state allows: bold if it is current, grey if it was the last one, none
    without a trainer. ``idle``: the text for a rate of zero."""
    if not status.running:
        return "-", "faint"
    return (per_second(number) if number else idle), "strong" if status.lively else "faint"


def last_stretch(flow: Sequence[Flow]) -> list[Flow]:
    """The newest rates, back to the last gap in training, oldest first."""
    rates = sorted(flow, key=lambda one: one.at)  # the clock may have been set back
    gaps = [i for i in range(1, len(rates)) if rates[i].at - rates[i - 1].at > GAP]
    return rates[gaps[-1] :] if gaps else rates


def past(look: SessionView, width: int, *, ascii_only: bool) -> list[Line]:
    """What a replay knows of the flow at that time: how far and how fast training was."""
    course = look.course()
    if course is None or course.articles.size < 2:
        return [[(" too little had been measured by then for a rate", "muted")]]
    rates = (np.diff(course.articles) / np.maximum(np.diff(course.seconds), 1e-3)).tolist()
    bars = spark(rates, max(min(width - 17, 40), 0), ascii_only=ascii_only, full=0.0)
    so_far: Line = [(short(float(course.tokens[-1])), "strong"), (" words in ", "muted")]
    return [
        [(" train ", "muted"), (f"{per_second(rates[-1]):>8}", "strong"), (f" {bars}", "spark")],
        [(" ", ""), *so_far, (clock(float(course.seconds[-1])), "strong")],
        *[[(" " + piece, "muted")] for piece in folded(OF_THE_PAST, width - 2)],
    ]


def flow_lines(look: SessionView, ascii_only: bool, width: int, height: int) -> list[Line]:
    """The panel: eight lines if there is room, otherwise two."""
    if look.as_of is not None:
        return past(look, width, ascii_only=ascii_only)
    status, now, stretch = look.status, look.status.activity, last_stretch(look.flow)
    bars_ink = "spark" if status.lively else "faint"

    def course(name: str, rate: Part, of: Callable[[Flow], float], room: int, full: float) -> Line:
        """A number and its values since training was last started, from 0 to ``full``; NaN: from the least to
        the most."""
        history = [of(flow) for flow in stretch][-4 * room :]
        bars = spark(history, room, ascii_only=ascii_only, least=STEADY, full=full)
        return [(f"{name} ", "muted"), (f"{rate[0]:>8}", rate[1]), (f" {bars}", bars_ink)]

    crawl, train = rate(status, now.crawl_rate), rate(status, now.train_rate, "idle")
    # While the models are compiled, or in a long step, nothing is saved, but reading continues.
    queue = (count(now.queue if status.running else status.pending), "strong")
    # Articles a second at the allowed rate of requests; NaN if there is no cap.
    full = (now.allowed_per_minute or 0) * (now.batch_pages or 0) / 60 or math.nan
    throttled = count(now.throttled), "warn" if now.throttled else ""
    text, ink = wait_text(status, look.at)
    if height <= 2:
        room = max(min((width - 48) // 2, 24), 0)
        first = course(f" {incoming(status)}", crawl, lambda flow: flow.crawl_rate, room, full)
        first += course("  train", train, lambda flow: flow.train_rate, room, full)
        second: Line = [(text, ink)]
        if has_server(status):  # the end may be cut off, so problems come first
            requests: Line = [("rate ", "muted"), request_rate(status)]
            requests += [("  429s ", "muted"), throttled] if now.throttled else []
            second = [*second, ("  ", ""), *requests] if ink != "muted" else [*requests, ("  ", ""), *second]
        return [[*first, ("  queue ", "muted"), queue], [(" ", ""), *second]]
    room = max(width - 17, 0)
    requests = [(" told to wait ", "muted"), (throttled[0] + "x", throttled[1])]
    requests += [("  retries ", "muted"), (count(now.retries), "")]
    lines = [
        course(f" {incoming(status):<5}", crawl, lambda flow: flow.crawl_rate, room, full),
        course(" train", train, lambda flow: flow.train_rate, room, full),
        course(" queue", queue, lambda flow: flow.queue, room, 0.0),
        *([[(" rate  ", "muted"), request_rate(status)], requests] if has_server(status) else []),
        [(" in all ", "muted"), (read(status), "")],
        [(" skipped ", "muted"), (count(status.skipped), "")],
    ]
    if status.lap is not None:
        lines[-1] += [("   so far ", "muted"), (f"{100 * status.lap:.2f}% of all", "")]
    last = [[(" " + piece, ink)] for piece in folded(text, width - 2)]
    return [*lines[: max(height - len(last), 0)], *last]


def numbers(look: SessionView, choice: Choice) -> list[Line]:
    """The whole session, one number per line, the most important first."""
    s, model = look.status, choice.model_of(look)
    lines: list[Line] = [] if look.as_of is None else [[(" as it was then", "muted")]]
    for each in s.models if look.as_of is None else ():
        value = "not measured yet" if each.perplexity is None else measured(each.perplexity)
        at = "" if each.measured_at is None else f" after {count(each.measured_at)}"
        lines.append([(f" {each.name} perplexity ", "muted"), (value, "strong"), (at, "muted")])
        if each.prequential_log_likelihood is not None:
            new = measured(math.exp(-each.prequential_log_likelihood))
            lines.append([(f" on new {look.noun}, before training ", "muted"), (new, "strong")])
    if look.as_of is None:
        crawl, train = rate(s, s.activity.crawl_rate), rate(s, s.activity.train_rate, "idle")
        articles, crawled = (count(s.articles), "strong"), (count(s.crawled), "")
        lines += [
            [(f" {look.counted} ", "muted"), articles, (" crawled ", "muted"), crawled],
            [(" held out ", "muted"), (f"{count(s.held_out)} of {count(s.held_out_target)}", "")],
            [(f" {incoming(s)} ", "muted"), crawl, (" train ", "muted"), train],
            [(" ", ""), wait_text(s, look.at)],
        ]
    if after := look.topics_after(model):
        lines.append([(f" topics {after}", "muted")])
    for row in ordered(look.topics_of(model), choice.order, choice.pinned_of(model)):
        lines.append([(f"{row.topic:>4} {share(row.share):>5} ", "muted"), (row.name, "")])
    return lines


class Crawl(View):
    """Facts beside the rates of the last half hour, with the newest errors below."""

    TITLE = "Crawl"
    OF_MODEL = False
    PANELS = 3
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        binding("crawl.log_y", "y", "chart('toggle', 'log_y')", "Log y", "logarithmic or linear rates"),
        *chart_keys("crawl", "show the rates at one moment", "the whole half hour"),
    ]

    _flow: object = None

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

    def home(self) -> Widget:
        chart = self.query_one(Chart)
        return chart if chart.display else self.query_one(Facts)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "chart" and self.is_mounted:
            return self.query_one(Chart).display
        return super().check_action(action, parameters)

    def draw(self, look: SessionView) -> None:
        name(self.query_one(Facts), "Crawl" + look.of_now())
        self.query_one(Facts).show_items(facts(look))
        values = (look.flow, look.status.lively, look.status.activity.crawl_rate)
        if self._flow != values or not look.flow:
            self._flow = values
            self.query_one(Chart).draw(rates(look))
        self._entitle()
        self.query_one(EventList).show_items(errors(look))

    @on(Chart.Pointed)
    def _entitle(self) -> None:
        chart, look = self.query_one(Chart), self.look
        if look is not None:
            title = f"{look.noun.capitalize()} a second{chart.scales()}{look.of_now()}"
            name(chart, title, chart.pointed())


def errors(look: SessionView) -> list[Event]:
    """The newest errors: those of the last run, after what the log tells of the runs before it."""
    began = look.runs[-1].started_at if look.runs else 0.0
    earlier = [event for event in look.events if event.level != "info" and event.at < began]
    return [*earlier, *(Event(at, "warning", text) for at, text in look.status.activity.errors)]


def rates(look: SessionView) -> Drawing:
    """Crawl rates of the last half hour of training: over the time before now, ending with the present rate,
    while the trainer is alive, otherwise over the time of day."""
    if not look.flow:
        return Drawing(empty=("no rates measured yet",))
    flows = sorted(look.flow, key=lambda flow: flow.at)  # the clock may have been set back
    newest = flows[-1].at
    alive = look.status.lively and look.at - newest < GAP
    if alive:
        newest = max(newest, look.at)
        flows.append(replace(flows[-1], at=newest, crawl_rate=look.status.activity.crawl_rate))
    zero, local = newest, time.localtime(newest)
    if not alive:  # midnight, so that round values on the axis are round on the clock
        zero -= local.tm_hour * 3_600 + local.tm_min * 60 + local.tm_sec + newest % 1
    x = np.array([flow.at - zero for flow in flows])
    crawl = np.array([flow.crawl_rate for flow in flows])
    # A pause of the trainer is drawn as a gap, not as a straight line.
    crawl = np.where(np.r_[False, np.diff(x) > GAP], np.nan, crawl)
    return Drawing(
        series=(Series("crawl", x, crawl),),
        x_name="ago" if alive else time.strftime("on %Y-%m-%d", local),
        label_x=ago if alive else lambda value: _time_of_day(zero + value),
        time_x=True,
        value=per_second,
        tell_x=lambda value: time.strftime("%H:%M:%S", time.localtime(zero + value)),
        faded=not alive,
    )


def _time_of_day(at: float) -> str:
    return time.strftime("%H:%M" if round(at) % 60 == 0 else "%H:%M:%S", time.localtime(round(at)))


def facts(look: SessionView) -> list[Fact]:
    """Everything about the crawl in words."""
    s, now = look.status, look.status.activity
    _, words, ink = condition(s)
    wait, wait_ink = wait_text(s, look.at)
    since = s.checkpoint_age_seconds
    progress = [f"{share(s.lap)} of {source_words(s)} read"] if s.lap is not None else []
    progress += [f"{age(s.seconds_left)} left"] if s.lively and s.seconds_left is not None else []
    rows: list[Fact] = [
        ("trainer", words.lower() + (f", pid {s.pid}" if s.pid else ""), ink),
        ("source", source_words(s), "strong"),
        ("", described(s.source).remark, "muted"),
        ("now", wait or "working", wait_ink),
        (incoming(s), *rate(s, now.crawl_rate)),
        ("train", *rate(s, now.train_rate, "idle")),
        ("overall", f"{short(s.articles_per_hour)} {look.counted} an hour", ""),
        *(_asking(s) if has_server(s) else []),
        ("crawled" if has_server(s) else "read", read(s), ""),
        ("trained", count(s.articles) + limited(now.article_limit, s.articles), ""),
        ("held out", f"{count(s.held_out)} of {count(s.held_out_target)}, never trained on", ""),
        ("pending", f"{count(s.pending)} not yet trained on", ""),
        ("skipped", f"{count(s.skipped)}" + (f": {skips_told(s.skips)}" if s.skips else ""), ""),
        ("progress", ", ".join(progress), ""),
        ("last save", f"{age(since)} ago" if since is not None else "none", ""),
    ]
    if look.last_words and s.state != "finished":
        rows.insert(1, ("", f"its last message: {visible(look.last_words)}", "warn"))
    return [row for row in rows if row[1]]


def _asking(s: Status) -> list[Fact]:
    """How the server responds to requests."""
    now, seconds = s.activity, s.activity.latency_seconds
    latency = f"{seconds:.2f} s" if seconds is not None else "not measured"
    return [
        ("requests", *request_rate(s)),
        ("", f"{count(now.requests)} in {'this' if s.running else 'the last'} run", "muted"),
        ("latency", latency, "" if s.lively else "faint"),
        ("request size", plural(now.batch_pages, "page") if now.batch_pages else "not known", ""),
        ("retries", count(now.retries), "warn" if now.retries else ""),
        ("told to wait", f"{count(now.throttled)} times (429, 503, maxlag)", "warn" if now.throttled else ""),
    ]
