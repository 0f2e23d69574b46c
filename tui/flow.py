"""The flow of articles in words and bars: what comes in and what is learnt, how far that has come,
and what is in its way."""

import time
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path

import numpy as np
from rich.filesize import decimal

from wikitopics.session.escapes import visible
from wikitopics.session.options import ARTICLES
from wikitopics.session.paths import command
from wikitopics.session.records import Flow, Status
from wikitopics.session.sources import kind_named, noun, singular, unit_noun
from wikitopics.session.wording import age, starting_over
from wikitopics.tui.bars import progress, share_of
from wikitopics.tui.inks import Line, Part, line_cells
from wikitopics.tui.session_view import SessionView
from wikitopics.tui.text import bar, clock, count, folded, plural, short, spark

STEADY = 0.05
"""Changes of a rate by less than this share are not magnified."""
MOST_BARS = 40
"""The maximum width, in cells, of a bar and of a row of bars."""
COURSE_WORDS = 28
"""Cells kept free beside bars for the minimum, the maximum and the time."""
GAP = 30.0
"""If no rate was measured for this many seconds, no trainer was running."""
SLOW_START = 0.8
"""Rates below this share of the median, at the beginning, are left out of the row of bars."""
NEAR = 0.9
"""From this share of the allowed requests on, the allowance is what sets the pace."""
JUDGED = 10.0
"""In fewer seconds, too few requests are made to tell."""


def has_server(status: Status) -> bool:
    """Whether its source asks a server for articles. A source of files has no latency, no rate
    limit, no throttling and no downloads."""
    return kind_named(status.source).asks_server or status.activity.requests > 0


def pace(status: Status) -> str:
    """What limits the pace; "" if that is not known."""
    now = status.activity
    if now.pace:
        return "slowed down so that you can follow; f: faster"
    limit: str | None = now.bound_by
    if limit == "network":
        # The requests that are allowed in the time in which they are counted.
        allowed = (now.allowed_per_minute or 0) * max(now.requests_seconds, JUDGED) / 60
        if not has_server(status):
            limit = "reading the files"
        elif allowed and now.requests_last_minute >= NEAR * allowed:
            limit = "the wiki's allowance"
        else:
            limit = "the network"
    return f"{limit} sets the pace" if limit else ""


def often(number: int) -> str:
    """1 -> "once", 3 -> "3 times"."""
    return "once" if number == 1 else f"{count(number)} times"


def finished(status: Status, advice: str = "") -> str:
    """Why a finished session has ended; ``advice``: what to do if it has reached its limit of
    articles."""
    limit = status.activity.article_limit
    if limit and status.articles >= limit:
        return f"finished: {ARTICLES.flag} {count(limit)} has been reached" + advice
    how_often = "" if status.added else f" {often(status.passes)}"
    return f"finished: every {singular(noun(status.source))} has been read{how_often}"


def nothing_left(status: Status) -> str:
    """Why a trainer that is started again would end at once; "" if it would not."""
    if status.state != "finished":
        return ""
    continuing = command(f"train {ARTICLES.flag} N", Path(status.session))
    return finished(status, f"; `{continuing}` continues to a larger N")


def wait_text(status: Status, now: float, *, offers: bool = True) -> Part:
    """What the trainer waits for and until when, or what sets the pace; ``offers``: whether to name
    the key that commands the trainer."""
    if status.state == "stalled":
        last_heartbeat = now - (status.heartbeat_age_seconds or 0.0)
        since = time.strftime("%H:%M:%S", time.localtime(last_heartbeat))
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
        ink = "bad" if status.state == "dead" else "muted"
        return text, ink
    if status.state == "paused":
        return "paused by hand" + ("; P resumes" if offers else ""), "warn"
    if status.activity.compiling:
        return "compiling the models, once for each kind of model and of texts", "warn"
    if status.activity.starting_over:
        called = unit_noun(status.source, status.passes)
        return starting_over(status.activity.starting_over, called), "warn"
    what_limits = pace(status)
    activity = status.activity
    if status.waiting_for:
        # Waiting for a reply is the usual state: it is told in grey, and only if nothing else is
        # known to limit the pace.
        if activity.failing or activity.crawl_rate == 0:
            return visible(activity.wait(now)), "warn"
        if not what_limits:
            return visible(activity.wait(now)), "muted"
    return what_limits, "muted"


def request_rate(status: Status) -> Part:
    """Requests of the last minute against the budget; "" without a trainer."""
    ink = "" if status.lively else "faint"
    if not status.running:
        return "", ink
    sent = count(status.activity.requests_last_minute)
    cap = status.activity.allowed_per_minute
    text = f"{sent} of {cap} a minute" if cap else f"{sent} a minute, no cap"
    return text, ink


def read(status: Status) -> str:
    """How much has come in: "13,845 articles, 113.6 MB"."""
    texts = plural(status.crawled, singular(unit_noun(status.source, status.passes)))
    if status.bytes_read and has_server(status):
        return f"{texts}, {decimal(status.bytes_read)}"
    return texts


def per_second(rate: float) -> str:
    """A rate in at most six characters, per minute if it is slow."""
    if 0 < rate < 1:
        return f"{rate * 60:.1f}/min"
    return f"{short(rate)}/s"


def last_stretch(flow: Sequence[Flow]) -> list[Flow]:
    """The newest rates, back to the last gap in training, an hour at most, oldest first."""
    flow = in_order(flow)
    start = 0
    for i in range(1, len(flow)):
        if flow[i].at - flow[i - 1].at > GAP:
            start = i
    return flow[start:]


def in_order(flow: Sequence[Flow]) -> list[Flow]:
    """The rates, oldest first: the clock may have been set back."""
    return sorted(flow, key=lambda rates: rates.at)


def flowing(session: SessionView) -> list[Line]:
    """The rates of reading and learning, bold while they are current, and what waits in between."""
    status = session.status
    now = status.activity
    facts: list[Line] = []
    if status.running:
        ink = "strong" if status.lively else "faint"
        # The noun goes before the slash: "12/s" becomes "12 articles/s in".
        number, _, unit = per_second(now.crawl_rate).partition("/")
        facts.append([(number, ink), (f" {session.noun}/{unit} in", "muted")])
        facts.append([(per_second(now.train_rate), ink), (" learnt", "muted")])
    waiting = now.queue if status.running else status.pending
    if waiting:
        facts.append([(count(waiting), "strong"), (" waiting", "muted")])
    return facts


def gauge(session: SessionView, width: int, ascii_only: bool) -> list[Line]:
    """The present rate as a bar, if there is room for one: requests as a share of those allowed or,
    without a limit, the crawl rate as a share of its peak within the hour."""
    status = session.status
    now = status.activity
    if not status.running:
        return []
    if now.allowed_per_minute:
        part = now.requests_last_minute / now.allowed_per_minute
        rate, _ = request_rate(status)
        words = f"requests {rate}"
    elif not now.crawl_rate:
        return []
    else:
        peak = max([now.crawl_rate, *(flow.crawl_rate for flow in last_stretch(session.flow))])
        part = now.crawl_rate / peak
        words = f"peak {per_second(peak)} this hour"
    room = min(width - len(words) - 3, MOST_BARS)
    if room <= 0:
        return [[(words, "muted")]]
    bars = bar(part, room, ascii_only=ascii_only).ljust(room, "░")
    ink = "spark" if status.lively else "faint"
    return [[(bars + " ", ink), (words, "muted")]]


def course(session: SessionView, width: int, ascii_only: bool) -> list[Line]:
    """The crawl rates of the last hour as bars, with the lowest and the highest in words."""
    hour = last_stretch(session.flow)
    if not hour:
        return []
    usual = float(np.median([flow.crawl_rate for flow in hour]))
    drawn = list(dropwhile(lambda flow: flow.crawl_rate < SLOW_START * usual, hour))
    rates = [flow.crawl_rate for flow in drawn]
    room = min(width - COURSE_WORDS, MOST_BARS, len(rates))
    if room < 2 or not any(rates):
        return []
    bars = spark(rates, room, ascii_only=ascii_only, least=STEADY)
    ink = "spark" if session.status.lively else "faint"
    lowest = per_second(min(rates))
    highest = per_second(max(rates))
    words = highest if lowest == highest else f"{lowest} to {highest}"
    lasted = age(drawn[-1].at - drawn[0].at)
    return [[(bars, ink), (f" {words} in {lasted}", "muted")]]


def troubles(status: Status, now: float) -> list[str]:
    """What has gone wrong in this run, and how long ago."""
    activity = status.activity
    troubles: list[str] = []

    def add(number: int, words: str, last_at: float | None) -> None:
        if last_at is not None:
            which = "the last " if number > 1 else ""
            words += f", {which}{age(max(now - last_at, 0.0))} ago"
        troubles.append(words)

    if activity.throttled > 0:
        server = "wiki" if kind_named(status.source).asks_server else "server"
        words = f"the {server} asked us to wait {often(activity.throttled)}"
        add(activity.throttled, words, activity.throttled_at)
    retries = activity.retries - activity.throttled
    if retries > 0:
        add(retries, plural(retries, "retry"), activity.failed_at)
    if not troubles and activity.errors:
        at, text = activity.errors[-1]
        add(1, visible(text), at)
    return troubles


def standing(session: SessionView, *, offers: bool = True) -> list[Part]:
    """What is in the way now, and what went wrong before, or that nothing is wrong. What is in the
    way now comes first if it is unusual, otherwise last. ``offers``: as for `wait_text`."""
    text, ink = wait_text(session.status, session.at, offers=offers)
    now: list[Part] = [(text, ink)] if text else []
    before: list[Part] = [(trouble, "") for trouble in troubles(session.status, session.at)]
    is_usual = ink == "muted" and session.status.running
    if not is_usual:
        return now + before
    if not before:
        before = [("nothing wrong", "muted")]
    return before + now


def packed(facts: Sequence[Line], width: int, most: int = 99) -> list[Line]:
    """Facts beside one another in at most this many lines; what does not fit is left out."""
    lines: list[Line] = []
    room = 0
    for fact in facts:
        cells = 2 + line_cells(fact)
        if lines and cells <= room:
            lines[-1] += [("  ", ""), *fact]
            room -= cells
        elif len(lines) < most:
            lines.append([(" ", ""), *fact])
            room = width - cells
    return lines


def flow_lines(
    session: SessionView, ascii_only: bool, width: int, height: int, *, offers: bool = True
) -> list[Line]:
    """The panel: the flow, a gauge of it, the progress, the last hour, and what is in the way.
    ``offers``: as for `wait_text`.

    With only two lines, the same without the gauge's bar, the most important first.
    """
    if session.as_of is not None:
        return packed(_by_then(session), width, height)
    flow = flowing(session)
    so_far = _so_far(session)
    stands = standing(session, offers=offers)
    if height <= 2:
        first, *others = stands
        _, ink = first
        is_trouble = ink in ("warn", "bad")
        facts = [[first], *flow] if is_trouble else [*flow, [first]]
        facts += gauge(session, 0, ascii_only)  # without width, its words alone
        facts += so_far
        facts += [[part] for part in others]
        facts += course(session, width // 2, ascii_only)
        return packed(facts, width, 2)
    above = [
        *packed(flow, width),
        *packed(gauge(session, width, ascii_only), width),
        *packed(so_far, width),
        *packed(course(session, width, ascii_only), width),
    ]
    below: list[Line] = []
    for text, ink in stands:
        below += [[(" " + piece, ink)] for piece in folded(text, width - 2)]
    room_above = max(height - len(below), 0)
    return above[:room_above] + below


def _so_far(session: SessionView) -> list[Line]:
    """How far the run has come, as one fact; none if that is not known."""
    status = session.status
    documents = session.settings.get("documents")
    number = ""
    if isinstance(documents, int) and not status.activity.article_limit:
        number = short(documents)
    words = progress(status, share_of(status, number))
    return [[(words, "muted")]] if words else []


def _by_then(session: SessionView) -> list[Line]:
    """What is known of the flow at the moment of a replay."""
    assert session.as_of is not None
    facts: list[Line] = [[(session.some(session.as_of), "strong"), (" learnt", "muted")]]
    course = session.course()
    if course is not None:
        seconds = float(np.interp(session.as_of, course.articles, course.seconds))
        facts.append([(f"after {clock(seconds)} of running time", "muted")])
        if seconds > 0:
            rate = per_second(session.as_of / seconds)
            facts.append([(rate, "strong"), (" on average until then", "muted")])
    moment = session.moment(session.as_of)
    if moment is not None:
        date = time.strftime("on %Y-%m-%d at %H:%M:%S", time.localtime(moment))
        facts.append([(date, "muted")])
    return facts
