"""Crawl: how the wiki is being read, at what request rate, and what is in the way."""

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile
from pathlib import Path

import numpy as np
from rich.cells import cell_len
from rich.filesize import decimal
from textual import on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from wikitopics.session.escapes import visible
from wikitopics.session.options import ARTICLES
from wikitopics.session.paths import command
from wikitopics.session.records import Event, Flow, Status, age, skips_told
from wikitopics.session.sources import described, noun, unit_noun
from wikitopics.tui.axes import Floats, ago
from wikitopics.tui.bars import condition, progress, source_words
from wikitopics.tui.chart import Chart
from wikitopics.tui.inks import Line, Part, name
from wikitopics.tui.plot import Drawing, Series
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.terminal import bindings
from wikitopics.tui.text import bar, clock, count, folded, limited, plural, short, spark
from wikitopics.tui.views.log import EventList, Fact, Facts
from wikitopics.tui.views.view import View

# The flow of articles: what comes in and what is learnt, how far that has come, and what is in its
# way.

STEADY = 0.05
"""Changes of a rate by less than this share are not magnified."""
MOST_BARS = 40
"""The maximum width, in cells, of a bar and of a row of bars."""
COURSE_WORDS = 28
"""Cells kept free beside bars for the minimum, the maximum and the time."""
GAP = 30.0
"""If no rate was measured for this many seconds, no trainer was running."""
MEASURED_IN_PART, FEWEST_PARTS, MOST_PARTS = 4, 20, 40
"""A line of the chart of rates has the means of stretches of time: at least so many measurements in
each on average, and the least and most stretches."""
NOT_FAR = 2.0
"""The allowed rate is drawn unless it is more than this many times the highest one."""
LOW = 22
"""With fewer lines than this, there is no room for the chart of rates below the facts."""
NEAR = 0.9
"""From this share of the allowed requests on, the allowance is what sets the pace."""


def has_server(status: Status) -> bool:
    """Whether its source asks a server for articles. A source of files has no latency, no rate
    limit, no throttling and no downloads."""
    return described(status.source).asks_server or status.activity.requests > 0


def pace(status: Status) -> str:
    """What limits the pace; "" if that is not known."""
    now = status.activity
    if now.pace:
        return "slowed down so that you can follow; f: faster"
    bound: str | None = now.bound_by
    if bound == "network":
        at_cap = (
            now.allowed_per_minute and now.requests_last_minute >= NEAR * now.allowed_per_minute
        )
        allowance = "the wiki's allowance" if at_cap else "the network"
        bound = allowance if has_server(status) else "reading the files"
    return f"{bound} sets the pace" if bound else ""


def often(number: int) -> str:
    """1 -> "once", 3 -> "3 times"."""
    return "once" if number == 1 else f"{count(number)} times"


def finished(status: Status, advice: str = "") -> str:
    """Why a finished session has ended; ``advice``: what to do if it has reached its limit of
    articles."""
    limit = status.activity.article_limit
    if limit and status.articles >= limit:
        return f"finished: {ARTICLES.flag} {count(limit)} has been reached" + advice
    read = "" if status.added else f" {often(status.passes)}"
    return f"finished: every {noun(status.source)[:-1]} has been read{read}"


def nothing_left(status: Status) -> str:
    """Why a trainer that is started again would end at once; "" if it would not."""
    again = command(f"train {ARTICLES.flag} N", Path(status.session))
    return (
        finished(status, f"; `{again}` continues to a larger N")
        if status.state == "finished"
        else ""
    )


def wait_text(status: Status, now: float) -> Part:
    """What the trainer waits for and until when, or what sets the pace."""
    if status.state == "stalled":
        since = time.strftime(
            "%H:%M:%S", time.localtime(now - (status.heartbeat_age_seconds or 0.0))
        )
        state = "suspended (as by Ctrl+Z)" if status.suspended else "no sign of life"
        return f"{state} since {since}: these are its last numbers", "bad"
    if status.state == "stopping":
        return "saving and stopping", "warn"
    if not status.running:
        text = {
            "starting": visible(status.waiting_for or "the trainer is starting"),
            "finished": finished(status),
            "stopped": "stopped",
            "dead": "the trainer has died; what it had saved is kept",
            "new": "nothing has run yet",
        }.get(status.state, "no trainer is running")
        return text, "bad" if status.state == "dead" else "muted"
    if status.state == "paused":
        return "paused by you; P resumes", "warn"
    if status.activity.compiling:
        return "compiling the models, only once after installation", "warn"
    paced, activity = pace(status), status.activity
    unusual = activity.failing or activity.crawl_rate == 0
    # Waiting for a reply is the usual state.
    if status.waiting_for and (unusual or not paced):
        return visible(activity.wait(now)), "warn" if unusual else "muted"
    return paced, "muted"


def request_rate(status: Status) -> Part:
    """Requests of the last minute against the budget; "" without a trainer."""
    cap, sent = status.activity.allowed_per_minute, count(status.activity.requests_last_minute)
    text = f"{sent} of {cap} a minute" if cap else f"{sent} a minute, no cap"
    return text if status.running else "", "" if status.lively else "faint"


def read(status: Status) -> str:
    """How much has come in: "13,845 articles, 113.6 MB"."""
    bytes_read = (
        f", {decimal(status.bytes_read)}" if status.bytes_read and has_server(status) else ""
    )
    return plural(status.crawled, unit_noun(status.source, status.passes)[:-1]) + bytes_read


def per_second(rate: float) -> str:
    """A rate in at most six characters, per minute if it is slow."""
    if 0 < rate < 1:
        return f"{rate * 60:.1f}/min"
    return f"{short(rate)}/s"


def last_stretch(flow: Sequence[Flow]) -> list[Flow]:
    """The newest rates, back to the last gap in training, an hour at most, oldest first."""
    rates = sorted(flow, key=lambda one: one.at)  # the clock may have been set back
    gaps = [i for i in range(1, len(rates)) if rates[i].at - rates[i - 1].at > GAP]
    return rates[gaps[-1] :] if gaps else rates


def flowing(session: SessionView) -> list[Line]:
    """The rates of reading and learning, bold while they are current, and what waits in between."""
    status, now, facts = session.status, session.status.activity, list[Line]()
    ink, (number, _, unit) = (
        "strong" if status.lively else "faint",
        per_second(now.crawl_rate).partition("/"),
    )
    if status.running:
        facts = [
            [(number, ink), (f" {session.noun}/{unit} in", "muted")],
            [(per_second(now.train_rate), ink), (" learnt", "muted")],
        ]
    if waiting := now.queue if status.running else status.pending:
        filling = status.state == "running" and now.bound_by in ("network", "parsing")
        words = " wait for the next batch" if filling else " wait to be learnt"
        facts.append([(count(waiting), "strong"), (words, "muted")])
    return facts


def gauge(session: SessionView, width: int, ascii_only: bool) -> list[Line]:
    """The present rate as a bar, if there is room for one: requests as a share of those allowed or,
    without a limit, the crawl rate as a share of its peak within the hour."""
    status, now = session.status, session.status.activity
    if not now.crawl_rate:  # the last count of requests may be old
        return []
    most = max(now.crawl_rate, *(flow.crawl_rate for flow in last_stretch(session.flow)), 0.0)
    if now.allowed_per_minute:
        part, words = (
            now.requests_last_minute / now.allowed_per_minute,
            f"requests {request_rate(status)[0]}",
        )
    else:
        part, words = now.crawl_rate / most, f"peak {per_second(most)} this hour"
    room = max(min(width - len(words) - 3, MOST_BARS), 0)
    bars = bar(part, room, ascii_only=ascii_only).ljust(room, "░") + " " * bool(room)
    return [[(bars, "spark" if status.lively else "faint"), (words, "muted")]]


def course(session: SessionView, width: int, ascii_only: bool) -> list[Line]:
    """The crawl rates of the last hour as bars, with the lowest and the highest in words."""
    hour = last_stretch(session.flow)
    usual = float(np.median([flow.crawl_rate for flow in hour])) if hour else 0.0
    rates = [
        *dropwhile(lambda rate: rate < 0.8 * usual, (flow.crawl_rate for flow in hour))
    ]  # no slow start
    room = min(width - COURSE_WORDS, MOST_BARS, len(rates))
    if room < 2 or not any(rates):
        return []
    least, most = per_second(min(rates)), per_second(max(rates))
    words = most if least == most else f"{least} to {most}"
    bars = spark(rates, room, ascii_only=ascii_only, least=STEADY)
    ink, lasted = (
        "spark" if session.status.lively else "faint",
        age(hour[-1].at - hour[-len(rates)].at),
    )
    return [[(bars, ink), (f" {words} in {lasted}", "muted")]]


def troubles(status: Status, now: float) -> list[str]:
    """What has gone wrong in this run, and how long ago."""
    s = status.activity
    server = "wiki" if described(status.source).asks_server else "server"
    asked, retries = f"the {server} asked us to wait {often(s.throttled)}", s.retries - s.throttled
    kinds = (s.throttled, asked, s.throttled_at), (retries, plural(retries, "retry"), s.failed_at)
    every = [kind for kind in kinds if kind[0] > 0] or [
        (1, visible(text), at) for at, text in s.errors[-1:]
    ]
    return [
        words
        if at is None
        else f"{words}, {'the last ' * (number > 1)}{age(max(now - at, 0.0))} ago"
        for number, words, at in every
    ]


def standing(session: SessionView) -> list[Part]:
    """What is in the way now, placed first if it is unusual; what went wrong before, or that
    nothing is wrong."""
    text, ink = wait_text(session.status, session.at)
    before: list[Part] = [(trouble, "") for trouble in troubles(session.status, session.at)]
    now = [(text, ink)] if text else []
    if ink != "muted" or not session.status.running:
        return [*now, *before]
    return [*(before or [("nothing wrong", "muted")]), *now]


def packed(facts: Sequence[Line], width: int, most: int = 99) -> list[Line]:
    """Facts beside one another in at most this many lines; what does not fit is left out."""
    lines, room = list[Line](), 0
    for fact in facts:
        cells = 2 + sum(cell_len(text) for text, _ in fact)
        if lines and cells <= room:
            lines[-1] += [("  ", ""), *fact]
            room -= cells
        elif len(lines) < most:
            lines.append([(" ", ""), *fact])
            room = width - cells
    return lines


def flow_lines(session: SessionView, ascii_only: bool, width: int, height: int) -> list[Line]:
    """The panel: the flow, a gauge of it, the progress, the last hour, and what is in the way.

    With only two lines, the same without the gauge's bar, the most important first.
    """
    if session.as_of is not None:
        return packed(_by_then(session), width, height)
    total, stands = session.settings.get("documents"), standing(session)
    whole = " read"
    if (
        isinstance(total, int)
        and session.status.passes == 1
        and not session.status.activity.article_limit
    ):
        whole = f" of {short(total)} read"
    so_far: list[Line] = [
        [(words, "muted")] for words in [progress(session.status, whole)] if words
    ]
    if height <= 2:
        first, *rest = [[part] for part in stands]
        flows = (
            [first, *flowing(session)]
            if stands[0][1] in ("warn", "bad")
            else [*flowing(session), first]
        )
        facts = [
            *flows,
            *gauge(session, 0, ascii_only),
            *so_far,
            *rest,
            *course(session, width // 2, ascii_only),
        ]
        return packed(facts, width, 2)
    parts = (
        flowing(session),
        gauge(session, width, ascii_only),
        so_far,
        course(session, width, ascii_only),
    )
    lines = [line for facts in parts for line in packed(facts, width)]
    last: list[Line] = [
        [(" " + piece, ink)] for text, ink in stands for piece in folded(text, width - 2)
    ]
    return [*lines[: max(height - len(last), 0)], *last]


def _by_then(session: SessionView) -> list[Line]:
    """What is known of the flow at the moment of a replay."""
    assert session.as_of is not None
    facts: list[Line] = [
        [
            (count(session.as_of), "strong"),
            (f" of {session.some(session.status.articles)} learnt", "muted"),
        ]
    ]
    course, moment = session.course(), session.moment(session.as_of)
    if course is not None:
        seconds = float(np.interp(session.as_of, course.articles, course.seconds))
        facts.append([(f"after {clock(seconds)} of running time", "muted")])
        if seconds > 0:
            facts.append(
                [
                    (per_second(session.as_of / seconds), "strong"),
                    (" on average until then", "muted"),
                ]
            )
    if moment is not None:
        facts.append([(time.strftime("on %Y-%m-%d at %H:%M:%S", time.localtime(moment)), "muted")])
    return facts


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
        self.query_one(Facts).show_items(facts(session))
        self.query_one(Chart).draw(rates(session))
        self._entitle()
        self.query_one(EventList).show_items(errors(session))

    @on(Chart.Pointed)
    def _entitle(self) -> None:
        chart, session = self.query_one(Chart), self.session
        if session is not None:
            title = f"{session.noun.capitalize()} a second{chart.scales()}{session.of_now()}"
            name(chart, title, chart.pointed())


def errors(session: SessionView) -> list[Event]:
    """The newest errors: those that the log has of earlier runs, then those of the last run."""
    began = session.runs[-1].started_at if session.runs else 0.0
    earlier = [event for event in session.events if event.level != "info" and event.at < began]
    return [*earlier, *(Event(at, "warning", text) for at, text in session.status.activity.errors)]


def rates(session: SessionView) -> Drawing:
    """Rates of reading and learning in the last hour of training: over the time before now, ending
    with the present rate, while the trainer is alive, otherwise over the time of day."""
    if not session.flow:
        return Drawing(empty=("no rates measured yet",))
    flows = sorted(session.flow, key=lambda flow: flow.at)  # the clock may have been set back
    newest = flows[-1].at
    alive = session.status.lively and session.at - newest < GAP
    if alive:
        newest = max(newest, session.at)
        flows.append(replace(flows[-1], at=newest, crawl_rate=session.status.activity.crawl_rate))
    zero, local = newest, time.localtime(newest)
    if not alive:  # midnight, so that round values on the axis are round on the clock
        zero -= local.tm_hour * 3_600 + local.tm_min * 60 + local.tm_sec + newest % 1
    x = np.array([flow.at - zero for flow in flows])
    crawl = np.array([flow.crawl_rate for flow in flows])
    train = np.array([flow.train_rate for flow in flows])
    # A pause of the trainer is drawn as a gap, not as a straight line.
    is_paused = np.r_[False, np.diff(x) > GAP]
    crawl[is_paused] = np.nan
    train[is_paused] = np.nan
    lines = [Series("crawl", *_course(x, crawl)), Series("learnt", *_course(x, train), number=1)]
    if len(lines[0].x) < len(x):
        lines.insert(0, Series("range", x, crawl, band=True))
    allowed = allowed_rate(session.status) if alive else 0.0
    most = float(np.fmax.reduce(np.concatenate([crawl, train])))
    if 0 < allowed <= NOT_FAR * most:
        lines.append(Series("allowed", x[[0, -1]], np.full(2, allowed), number=2))
    return Drawing(
        series=tuple(lines),
        x_name="ago" if alive else time.strftime("on %Y-%m-%d", local),
        label_x=ago if alive else lambda value: _time_of_day(zero + value),
        needless="" if alive else ":00",
        time_x=True,
        value=per_second,
        tell_x=lambda value: time.strftime("%H:%M:%S", time.localtime(zero + value)),
        faded=not alive,
    )


def _course(x: Floats, rates: Floats) -> tuple[Floats, Floats]:
    """The mean of a rate in each stretch of time; the measurements themselves if they are few."""
    parts = min(len(x) // MEASURED_IN_PART, MOST_PARTS)
    if parts < FEWEST_PARTS:
        return x, rates
    edges = np.linspace(x[0], x[-1], parts + 1)
    part = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, parts - 1)
    known = np.isfinite(rates)
    number = np.bincount(part, known, minlength=parts)
    total = np.bincount(part, np.where(known, rates, 0.0), minlength=parts)
    means = np.full(parts, np.nan)
    np.divide(total, number, out=means, where=number > 0)
    return (edges[1:] + edges[:-1]) / 2, means


def allowed_rate(status: Status) -> float:
    """The articles a second that the allowed requests would bring; 0 if that is not known."""
    now = status.activity
    return (now.allowed_per_minute or 0) * (now.batch_pages or 0) / 60


def _time_of_day(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(round(at)))


def facts(session: SessionView) -> list[Fact]:
    """Everything about the crawl in words."""
    s, now = session.status, session.status.activity
    _, words, ink = condition(s)
    since = s.checkpoint_age_seconds
    flow = ", ".join("".join(text for text, _ in fact) for fact in flowing(session))
    rows: list[Fact] = [
        ("trainer", words.lower() + (f", pid {s.pid}" if s.pid else ""), ink),
        ("source", source_words(s), "strong"),
        ("", described(s.source).remark, "muted"),
        *(("" if i else "now", *part) for i, part in enumerate(standing(session))),
        ("flow", flow, "" if s.lively else "faint"),
        *(_asking(s) if has_server(s) else []),
        ("overall", f"{short(s.articles_per_hour)} {session.counted} an hour", ""),
        ("crawled" if has_server(s) else "read", read(s), ""),
        ("trained", count(s.articles) + limited(now.article_limit, s.articles), ""),
        ("held out", f"{count(s.held_out)} of {count(s.held_out_target)}, never trained on", ""),
        ("skipped", f"{count(s.skipped)}" + (f": {skips_told(s.skips)}" if s.skips else ""), ""),
        ("progress", progress(s, f" of {source_words(s)} read"), ""),
        ("last save", f"{age(since)} ago" if since is not None else "none", ""),
    ]
    if session.last_words and s.state != "finished":
        rows.insert(1, ("", f"its last message: {visible(session.last_words)}", "warn"))
    return [row for row in rows if row[1]]


def _asking(s: Status) -> list[Fact]:
    """How the server responds to requests."""
    now, seconds = s.activity, s.activity.latency_seconds
    latency = f"{seconds:.2f} s" if seconds is not None else "not measured"
    title, run = ("", "this") if s.running else ("requests", "the last")
    return [
        ("requests", *request_rate(s)),
        (title, f"{count(now.requests)} in {run} run", "muted"),
        ("latency", latency, "" if s.lively else "faint"),
        ("request size", plural(now.batch_pages, "page") if now.batch_pages else "not known", ""),
    ]
