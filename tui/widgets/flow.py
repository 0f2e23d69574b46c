"""The flow of articles: how fast they come in, how fast they are learnt, and what limits it."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from wikitopics.session.paths import command
from wikitopics.session.records import Flow, Status
from wikitopics.session.sources import described
from wikitopics.tui.chart.spark import spark
from wikitopics.tui.inks import Lines, Part
from wikitopics.tui.look import Look
from wikitopics.tui.words import age, clock, count, folded, plural, short, size, visible

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


def finished(status: Status) -> str:
    """Why a finished session has ended."""
    limit = status.activity.article_limit
    if limit is not None and status.articles >= limit:
        return f"finished: --articles {count(limit)} is reached"
    return "finished: every article has been read once"


def waiting(status: Status, now: float) -> Part:
    """What the trainer waits for and until when, or what sets the pace."""
    if status.state == "stalled":
        since = time.strftime("%H:%M:%S", time.localtime(now - (status.heartbeat_age_seconds or 0.0)))
        return f"no sign of life since {since}: these are its last numbers", "bad"
    if status.state == "stopping":
        return "saving and stopping", "warn"
    if not status.running:
        text = {
            "starting": "the trainer is starting",
            "finished": finished(status),
            "stopped": f"stopped; `{begins_again(status)}` continues",
            "dead": f"the trainer has died; `{begins_again(status)}` continues from the last save",
            "new": "nothing has run yet",
        }.get(status.state, "no trainer is running")
        return text, "bad" if status.state == "dead" else "muted"
    if status.state == "paused":
        return "paused by you; P resumes", "warn"
    if status.activity.compiling:
        return COMPILING, "warn"
    paced, crawl_rate, until = pace(status), status.activity.crawl_rate, status.activity.waiting_until
    if status.waiting_for and (until is not None or not paced or crawl_rate == 0):
        text = f"waiting for {visible(status.waiting_for)}"
        if until is not None:
            left = f" ({age(until - now)})" if until - now >= 1 else ""
            text += time.strftime(" until %H:%M:%S", time.localtime(until)) + left
        # Waiting for a reply is the usual state; a wait with a known end is not.
        if status.waiting_for.startswith("the disk"):
            return text, "bad"  # nothing can be saved
        return text, "warn" if until is not None or crawl_rate == 0 else "muted"
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
    return plural(status.crawled, "article") + bytes_read


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
    kept = sorted(flow, key=lambda one: one.at)  # the clock may have been set back
    gaps = [i for i in range(1, len(kept)) if kept[i].at - kept[i - 1].at > GAP]
    return kept[gaps[-1] :] if gaps else kept


def past(look: Look, width: int, *, ascii_only: bool) -> list[list[Part]]:
    """What a replay knows of the flow at that time: how far and how fast training was."""
    course = look.course()
    if course is None or course.articles.size < 2:
        return [[(" nothing had been measured by then", "muted")]]
    took = np.maximum(np.diff(course.seconds), 1e-3)
    rates = (np.diff(course.articles) / took).tolist()
    bars = spark(rates, max(min(width - 17, 40), 0), ascii_only=ascii_only, zero=True)
    so_far: list[Part] = [(short(float(course.tokens[-1])), "strong"), (" words in ", "muted")]
    return [
        [(" train ", "muted"), (f"{per_second(rates[-1]):>8}", "strong"), (f" {bars}", "spark")],
        [(" ", ""), *so_far, (clock(float(course.seconds[-1])), "strong")],
        *[[(" " + piece, "muted")] for piece in folded(OF_THE_PAST, width - 2)],
    ]


class FlowPanel(Lines):
    """Eight lines if there is room, otherwise two."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._look: Look | None = None
        self._stretch: Sequence[Flow] = ()
        """The rates since training was last started."""
        self.ascii_only = False

    def show(self, look: Look, ascii_only: bool) -> None:
        self._look, self.ascii_only = look, ascii_only
        self.redraw()

    def lines(self, width: int, height: int) -> list[list[Part]]:
        if self._look is not None and self._look.as_of is not None:
            return past(self._look, width, ascii_only=self.ascii_only)
        if self._look is not None:
            self._stretch = last_stretch(self._look.flow)
        return self._brief(width) if height <= 2 else self._full(width, height)

    def _brief(self, width: int) -> list[list[Part]]:
        look = self._look
        if look is None:
            return []
        s, now = look.status, look.status.activity
        room = max(min((width - 48) // 2, 24), 0)
        return [
            [
                *self._rate(f" {incoming(s)}", rate(s, now.crawl_rate), lambda flow: flow.crawl_rate, room),
                *self._rate("  train", rate(s, now.train_rate, "idle"), lambda flow: flow.train_rate, room),
                ("  queue ", "muted"),
                (count(s.pending), "strong"),
            ],
            self._held_up(look),
        ]

    @staticmethod
    def _held_up(look: Look) -> list[Part]:
        """Requests and the present wait; the end may be cut off, so problems come first."""
        s, wait = look.status, waiting(look.status, look.at)
        if not asks(s):
            return [(" ", ""), wait]
        requests: list[Part] = [("rate ", "muted"), allowed(s)]
        if s.activity.throttled:
            requests += [("  429s ", "muted"), (count(s.activity.throttled), "warn")]
        first, then = ([wait], requests) if wait[1] != "muted" else (requests, [wait])
        return [(" ", ""), *first, ("  ", ""), *then]

    def _rate(self, name: str, now: Part, of: Callable[[Flow], float], room: int) -> list[Part]:
        """A number and its values over the last minutes."""
        assert self._look is not None
        history = [of(flow) for flow in self._stretch]
        bars = spark(history[-4 * room :], room, ascii_only=self.ascii_only, zero=True) if room else ""
        text, ink = now
        spark_ink = "spark" if self._look.status.lively else "faint"
        return [(f"{name} ", "muted"), (f"{text:>8}", ink), (f" {bars}", spark_ink)]

    @staticmethod
    def _asking(s: Status) -> list[list[Part]]:
        """How the server responds to requests."""
        return [
            [(" rate  ", "muted"), allowed(s)],
            [
                (" told to wait ", "muted"),
                (f"{count(s.activity.throttled)}x", "warn" if s.activity.throttled else ""),
                ("  retries ", "muted"),
                (count(s.activity.retries), ""),
            ],
        ]

    def _full(self, width: int, height: int) -> list[list[Part]]:
        look = self._look
        if look is None:
            return []
        s, now = look.status, look.status.activity
        room = max(width - 17, 0)
        text, colour = waiting(s, look.at)
        lines: list[list[Part]] = [
            self._rate(f" {incoming(s):<5}", rate(s, now.crawl_rate), lambda flow: flow.crawl_rate, room),
            self._rate(" train", rate(s, now.train_rate, "idle"), lambda flow: flow.train_rate, room),
            self._rate(" queue", (count(s.pending), "strong"), lambda flow: flow.queue, room),
            *(self._asking(s) if asks(s) else []),
            [(" in all ", "muted"), (read(s), "")],
            [(" skipped ", "muted"), (count(s.skipped), "")],
        ]
        if s.lap is not None:
            lines[-1] += [("   so far ", "muted"), (f"{100 * s.lap:.2f}% of all", "")]
        told = [[(" " + piece, colour)] for piece in folded(text, width - 2)]
        keep = max(height - len(told), 0)
        return [*lines[:keep], *told]
