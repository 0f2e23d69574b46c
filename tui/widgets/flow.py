"""The flow of articles: how fast they come in, how fast they are learnt, and what limits it; and the whole
session in a few numbers, for a terminal too small for anything else."""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from wikitopics.session.options import ARTICLES
from wikitopics.session.paths import command
from wikitopics.session.records import Flow, Status
from wikitopics.session.sources import counted, described, noun
from wikitopics.tui.chart.spark import spark
from wikitopics.tui.inks import Line, Part
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.widgets.listing import ordered
from wikitopics.tui.words import clock, count, folded, measured, plural, share, short, size, visible

STEADY = 0.2
"""A rate that varies by less than this share is drawn as steady."""
GAP = 30.0
"""With this many seconds without a measured rate, no trainer was running."""
OF_THE_PAST = "from the measurements, the only rates in a replay"
COMPILING = "compiling the models, only once after installation"


def asks(status: Status) -> bool:
    """Whether its source asks a server for articles. A source of files has no latency, no rate limit, no
    throttling and no downloads."""
    return described(status.source).asks_server or status.activity.requests > 0


def incoming(status: Status) -> str:
    """The word for how articles come in."""
    return "crawl" if asks(status) else "read"


def pace(status: Status) -> str:
    """What limits the pace; "" if that is not known."""
    first = "the network" if asks(status) else "reading the files"
    return {
        "network": f"{first} sets the pace",
        "parsing": "parsing sets the pace",
        "training": "training sets the pace",
    }.get(status.activity.bound_by or "", "")


def begins_again(status: Status) -> str:
    """The command that starts a trainer on this session."""
    return visible(command(described(status.source).command, Path(status.session)))


def limit_reached(status: Status) -> int | None:
    """The limit of articles at which a finished session has ended; None if its source has ended."""
    limit = status.activity.article_limit
    return limit if limit is not None and status.articles >= limit else None


def finished(status: Status) -> str:
    """Why a finished session has ended."""
    limit = limit_reached(status)
    if limit:
        return f"finished: {ARTICLES.flag} {count(limit)} is reached"
    often = "once" if status.passes == 1 else f"{status.passes:,} times"
    return f"finished: every {noun(status.source)[:-1]} has been read {often}"


def nothing_left(status: Status) -> str:
    """Why a trainer that is started again would end at once; "" if it would not."""
    if status.state != "finished":
        return ""
    again = command(f"train {ARTICLES.flag} N", Path(status.session))
    more = f"; `{again}` continues to a larger N" if limit_reached(status) else ""
    return finished(status) + more


def _died(status: Status) -> str:
    return "the trainer has died" + (f" ({status.death})" if status.death else "")


def waiting(status: Status, now: float) -> Part:
    """What the trainer waits for and until when, or what sets the pace."""
    if status.state == "stalled":
        since = time.strftime("%H:%M:%S", time.localtime(now - (status.heartbeat_age_seconds or 0.0)))
        told = "suspended, as by Ctrl+Z," if status.suspended else "no sign of life"
        return f"{told} since {since}: these are its last numbers", "bad"
    if status.state == "stopping":
        return "saving and stopping", "warn"
    if not status.running:
        text = {
            "starting": "the trainer is starting",
            "finished": finished(status),
            "stopped": f"stopped; `{begins_again(status)}` continues",
            "dead": f"{_died(status)}; `{begins_again(status)}` continues from the last save",
            "new": "nothing has run yet",
        }.get(status.state, "no trainer is running")
        return text, "bad" if status.state == "dead" else "muted"
    if status.state == "paused":
        return "paused by you; P resumes", "warn"
    if status.activity.compiling:
        return COMPILING, "warn"
    paced, activity = pace(status), status.activity
    unusual = activity.failing or activity.waiting_until is not None or activity.crawl_rate == 0
    # Waiting for a reply is the usual state.
    if status.waiting_for and (unusual or not paced):
        return visible(activity.wait(now)), "warn" if unusual else "muted"
    return paced, "muted"


def allowed(status: Status) -> Part:
    """Requests of the last minute against the budget; without a trainer, only the budget."""
    cap = status.activity.allowed_per_minute
    if not status.running:
        return (f"up to {cap} a minute" if cap else "no cap"), "faint"
    sent = count(status.activity.requests_last_minute)
    text = f"{sent}/{cap} a minute" if cap else f"{sent} a minute, no cap"
    return text, "" if status.lively else "faint"


def read(status: Status) -> str:
    """How much has come in: "13,845 articles, 113.6 MB"."""
    bytes_read = f", {size(status.bytes_read)}" if status.bytes_read and asks(status) else ""
    return plural(status.crawled, counted(status.source, status.passes)[:-1]) + bytes_read


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


def most_allowed(status: Status) -> float | None:
    """Articles a second at the allowed rate of requests; None if there is no cap."""
    now = status.activity
    return (
        now.allowed_per_minute * now.batch_pages / 60 if now.allowed_per_minute and now.batch_pages else None
    )


def last_stretch(flow: Sequence[Flow]) -> list[Flow]:
    """The newest rates, back to the last gap in training, oldest first."""
    kept = sorted(flow, key=lambda one: one.at)  # the clock may have been set back
    gaps = [i for i in range(1, len(kept)) if kept[i].at - kept[i - 1].at > GAP]
    return kept[gaps[-1] :] if gaps else kept


def past(look: Look, width: int, *, ascii_only: bool) -> list[Line]:
    """What a replay knows of the flow at that time: how far and how fast training was."""
    course = look.course()
    if course is None or course.articles.size < 2:
        return [[(" too little had been measured by then for a rate", "muted")]]
    took = np.maximum(np.diff(course.seconds), 1e-3)
    rates = (np.diff(course.articles) / took).tolist()
    bars = spark(rates, max(min(width - 17, 40), 0), ascii_only=ascii_only, zero=True)
    so_far: Line = [(short(float(course.tokens[-1])), "strong"), (" words in ", "muted")]
    return [
        [(" train ", "muted"), (f"{per_second(rates[-1]):>8}", "strong"), (f" {bars}", "spark")],
        [(" ", ""), *so_far, (clock(float(course.seconds[-1])), "strong")],
        *[[(" " + piece, "muted")] for piece in folded(OF_THE_PAST, width - 2)],
    ]


def flow_lines(look: Look, ascii_only: bool, width: int, height: int) -> list[Line]:
    """The panel: eight lines if there is room, otherwise two."""
    if look.as_of is not None:
        return past(look, width, ascii_only=ascii_only)
    status, now, stretch = look.status, look.status.activity, last_stretch(look.flow)
    bars_ink = "spark" if status.lively else "faint"

    def course(name: str, rate: Part, of: Callable[[Flow], float], room: int, full: float | None) -> Line:
        """A number and its values since training was last started, from 0 to ``full``; None: from the least
        to the most."""
        history = [of(flow) for flow in stretch][-4 * room :]
        zero = full is not None
        bars = spark(history, room, ascii_only=ascii_only, zero=zero, least=STEADY, full=full or 0.0)
        text, ink = rate
        return [(f"{name} ", "muted"), (f"{text:>8}", ink), (f" {bars}", bars_ink)]

    crawl, train = rate(status, now.crawl_rate), rate(status, now.train_rate, "idle")
    # While the models are compiled, or in a long step, nothing is saved, but reading continues.
    queue = (count(now.queue if status.running else status.pending), "strong")
    full = most_allowed(status)
    if height <= 2:
        room = max(min((width - 48) // 2, 24), 0)
        first = course(f" {incoming(status)}", crawl, lambda flow: flow.crawl_rate, room, full)
        first += course("  train", train, lambda flow: flow.train_rate, room, full)
        return [[*first, ("  queue ", "muted"), queue], _held_up(look)]
    room = max(width - 17, 0)
    lines = [
        course(f" {incoming(status):<5}", crawl, lambda flow: flow.crawl_rate, room, full),
        course(" train", train, lambda flow: flow.train_rate, room, full),
        course(" queue", queue, lambda flow: flow.queue, room, 0.0),
        *(_asking(status) if asks(status) else []),
        [(" in all ", "muted"), (read(status), "")],
        [(" skipped ", "muted"), (count(status.skipped), "")],
    ]
    if status.lap is not None:
        lines[-1] += [("   so far ", "muted"), (f"{100 * status.lap:.2f}% of all", "")]
    text, ink = waiting(status, look.at)
    told = [[(" " + piece, ink)] for piece in folded(text, width - 2)]
    return [*lines[: max(height - len(told), 0)], *told]


def _held_up(look: Look) -> Line:
    """Requests and the present wait; the end may be cut off, so problems come first."""
    status, wait = look.status, waiting(look.status, look.at)
    if not asks(status):
        return [(" ", ""), wait]
    requests: Line = [("rate ", "muted"), allowed(status)]
    if status.activity.throttled:
        requests += [("  429s ", "muted"), (count(status.activity.throttled), "warn")]
    first, then = ([wait], requests) if wait[1] != "muted" else (requests, [wait])
    return [(" ", ""), *first, ("  ", ""), *then]


def _asking(status: Status) -> list[Line]:
    """How the server responds to requests."""
    throttled = status.activity.throttled
    return [
        [(" rate  ", "muted"), allowed(status)],
        [
            (" told to wait ", "muted"),
            (f"{count(throttled)}x", "warn" if throttled else ""),
            ("  retries ", "muted"),
            (count(status.activity.retries), ""),
        ],
    ]


def numbers(look: Look, choice: Choice) -> list[Line]:
    """The whole session, one number per line, the most important first."""
    lines = _progress(look) if look.as_of is None else [[(" as it was then", "muted")]]
    model = choice.model_of(look)
    if after := look.topics_after(model):
        lines.append([(f" topics {after}", "muted")])
    for row in ordered(look.topics_of(model), choice.order, choice.pinned_of(model)):
        lines.append([(f"{row.topic:>4} {share(row.share):>5} ", "muted"), (row.name, "")])
    return lines


def _progress(look: Look) -> list[Line]:
    """The progress of training."""
    s = look.status
    lines: list[Line] = []
    for model in s.models:
        value = "not measured yet" if model.perplexity is None else measured(model.perplexity)
        at = "" if model.measured_at is None else f" after {count(model.measured_at)}"
        lines.append(
            [(f" {model.name} ", "muted"), ("perplexity ", "muted"), (value, "strong"), (at, "muted")]
        )
        if model.prequential_log_likelihood is not None:
            coming = measured(math.exp(-model.prequential_log_likelihood))
            lines.append([(f" on new {look.noun}, before training ", "muted"), (coming, "strong")])
    crawl, train = rate(s, s.activity.crawl_rate), rate(s, s.activity.train_rate, "idle")
    articles, crawled = (count(s.articles), "strong"), (count(s.crawled), "")
    return [
        *lines,
        [(f" {look.counted} ", "muted"), articles, (" crawled ", "muted"), crawled],
        [(" held out ", "muted"), (f"{count(s.held_out)} of {count(s.held_out_target)}", "")],
        [(f" {incoming(s)} ", "muted"), crawl, (" train ", "muted"), train],
        [(" ", ""), waiting(s, look.at)],
    ]
