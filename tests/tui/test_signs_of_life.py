"""No number looks alive that is not, in every state of the trainer; what is said of several
passes."""

import contextlib
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.session.rows import sql
from tests.tui import canned, seeing
from wikitopics.session.records import Flow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui import curves
from wikitopics.tui.bars import pieces
from wikitopics.tui.curves import measurement_caption
from wikitopics.tui.flow import finished, flow_lines, flowing, last_stretch, request_rate, wait_text
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.views.crawl import facts, rates

# No number looks alive that is not: rates, sparklines and axes in every state of the trainer.


ENDED = ("new", "stopped", "finished", "dead")
STATES = (*ENDED, "starting", "running", "idle", "paused", "stopping", "stalled")


@contextlib.contextmanager
def session_in(path, state):
    """A session whose trainer is in this state; "idle": it runs, and has not trained for a
    while."""
    still: dict[str, object] = (
        {"crawl_rate": 0.0, "train_rate": 0.0, "seconds_left": None}
        if state in {"idle", "paused"}
        else {}
    )
    recorded = {"idle": "running", "stalled": "running"}.get(state, state)
    recipe = canned.Recipe(state=recorded, activity=still)
    canned.build(path, recipe)
    if state in ENDED:
        yield path
        return
    with canned.live(path, recipe):
        if state == "stalled":
            sql(path, "UPDATE heartbeat SET at = at - 900")
            sql(path, "UPDATE flow SET at = at - 900")
        yield path


@contextlib.contextmanager
def view_of(path, state):
    with session_in(path, state), SessionReader(path) as reader:
        yield SessionView(status=reader.status(), at=time.time(), flow=tuple(reader.flow()))


@pytest.mark.parametrize("state", STATES)
def test_each_state_is_told_as_it_is(tmp_path, state):
    with view_of(tmp_path / "s.db", state) as session:
        shown = in_line(session.status)
        shown_rates = []
        for rate, (words, _) in flowing(session):
            if "wait" not in words:
                shown_rates.append(rate)
        requests = request_rate(session.status)
        flow = []
        for line in flow_lines(session, False, 62, 6):
            flow += line
        pace, ink = wait_text(session.status, session.at)
    # Rates are bold only while they are of now.
    if state in ENDED:
        assert shown_rates == []
        assert requests == ("", "faint")
    elif state == "stalled":
        assert [ink for _, ink in (*shown_rates, requests)] == ["faint"] * 3
    elif state in {"idle", "paused"}:
        assert shown_rates == [("0", "strong"), ("0/s", "strong")]
    else:
        (_, reading_ink), (learning, learning_ink) = shown_rates
        assert reading_ink == learning_ink == "strong"
        assert "/s" in learning
    # The status line tells the truth.
    words = {
        "idle": "LIVE",
        "running": "LIVE",
        "dead": "TRAINER DIED",
        "stalled": "NO SIGN OF LIFE for 15 min",
    }
    assert [text for text in shown if words.get(state, state.upper()) in text]
    assert any("LIVE" in text for text in shown) == (state in {"idle", "running"})
    # Only a working trainer has a pace.
    assert ("sets the pace" in pace) == (state in {"starting", "running", "idle"}), pace
    assert ("P resumes" in pace) == (state == "paused")
    if state == "stalled":
        assert pace.startswith("no sign of life since ")
        assert ink == "bad"
    assert any(ink == "spark" for _, ink in flow) == (state not in {*ENDED, "stalled"})
    # The panel has the same count of requests as the view of the crawl, also while nothing comes in.
    rate, _ = requests
    assert any(f"requests {rate}" in text for text, _ in flow) == (state not in ENDED)
    texts = [*shown, *(text for text, _ in flow)]
    assert any(" left" in text for text in texts) == (state == "running")
    # The axis of the rates ends where they end.
    if state in ENDED[1:]:
        drawing = rates(session)
        end = float(drawing.series[0].x[-1])
        assert drawing.label_x(end) == "16:07:28"
        assert drawing.x_name == "on 2026-05-04"
        assert drawing.faded
    elif state != "new":
        drawing = rates(session)
        end = float(drawing.series[0].x[-1])
        assert (drawing.label_x(end) == "now") == (state != "stalled")
        assert drawing.faded == (state == "stalled")


def in_line(status, replay=None):
    """The texts of the status line."""
    texts = []
    for _, parts in pieces(status, "", None, replay, 80):
        texts += [text for text, _ in parts]
    return texts


@pytest.mark.parametrize(
    ("state", "last"), [("running", 999.0), ("stalled", 150.0), ("stopped", 150.0)]
)
def test_the_rates_end_with_that_of_now_while_there_is_one(tmp_path, state, last):
    with view_of(tmp_path / "s.db", state) as session:
        earlier = tuple(replace(flow, crawl_rate=150.0) for flow in session.flow)
        drawing = rates(doing(replace(session, flow=earlier), crawl_rate=999.0))
    assert drawing.series[0].y[-1] == last


def test_the_curve_says_how_old_its_end_is_and_when_it_goes_on(tmp_path):
    with (
        view_of(tmp_path / "s.db", "running") as session,
        SessionReader(tmp_path / "s.db") as reader,
    ):
        curve = reader.curve("lda", "perplexity")
    session = replace(session, models=("lda",), curves={("lda", "perplexity"): curve})
    assert measurement_caption(session, Choice()) == "after 12,480 articles"
    due = "after 12,480 articles, next at 17,280"

    def caption(**activity):
        now = doing(session, **{"next_measurement": 17_280} | activity)
        status = replace(now.status, pending=800)
        return measurement_caption(replace(now, status=status), Choice())

    rates = {"train_rate": 40.0, "crawl_rate": 80.0}
    assert caption(**rates, bound_by="training") == f"{due} (in 2 min)"
    assert caption(**rates, bound_by="network") == f"{due} (in 50 s)", (
        "what is pending need not be waited for"
    )
    assert caption(train_rate=0.0, crawl_rate=80.0) == due, "as in a pause"
    fault = {"waiting_for": "the wiki is down", "failing": True, "bound_by": "network"}
    assert caption(**rates, **fault) == due
    assert caption(next_measurement=12_480) == "after 12,480 articles", (
        "the trainer is about to name the next"
    )
    session = replace(session, as_of=12_480)
    assert caption(**rates) == "after 12,480 articles", "it replays"


def text_of(session, width=62, height=6, *, ascii_only=False):
    lines = flow_lines(session, ascii_only, width, height)
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def doing(session, **activity):
    """The same with the trainer doing this."""
    activity = replace(session.status.activity, **activity)
    return replace(session, status=replace(session.status, activity=activity))


UNTROUBLED = {
    "retries": 0,
    "throttled": 0,
    "errors": (),
    "requests_last_minute": 190,
    "crawl_rate": 139.0,
}


def test_flow_in_five_lines(tmp_path):
    """Of the last hour the least and the most are drawn and said; a start is no least."""
    with view_of(tmp_path / "s.db", "running") as session:
        session = replace(session, settings={"documents": 6_000_000})
        session = doing(session, **UNTROUBLED, train_rate=137.0)
    rates = [0.0] * 10 + [131.0] * 60 + [142.0] * 60
    flow = tuple(Flow(session.at - 300 + 2 * i, rate, 0.0, 0) for i, rate in enumerate(rates))
    bars = "█" * 29 + "▌"
    track = "░"
    assert text_of(replace(session, flow=flow)) == [
        " 139 articles/s in  137/s learnt  340 waiting",
        f" {bars}{track} requests 190 of 200 a minute",
        " 0.2% of 6M read, 13 h left",
        f" {'▁' * 17}{'█' * 17} 131/s to 142/s in 4 min",
        " nothing wrong",
        " the wiki's allowance sets the pace",
    ]
    steady = replace(session, flow=tuple(replace(point, crawl_rate=139.0) for point in flow))
    assert re.fullmatch(r" (.)\1{33} 139/s in 4 min", text_of(steady)[3]), "a flat rate is a line"
    free = doing(steady, allowed_per_minute=None, crawl_rate=69.5)
    assert text_of(free, ascii_only=True)[1] == f" {'#' * 20}{'░' * 19} peak 139/s this hour"
    own = replace(session.status, source="texts")
    assert text_of(replace(session, status=own))[2] == " 0.2% done, 13 h left", "of two readings"
    assert text_of(doing(session, article_limit=50_000))[2].startswith(" 0.2% read"), (
        "of more than 50,000"
    )
    assert text_of(session, 80, 2) == [
        " 139 articles/s in  137/s learnt  340 waiting  nothing wrong",
        " requests 190 of 200 a minute  0.2% of 6M read, 13 h left",
    ]


def test_in_the_first_minute_the_requests_so_far_tell_what_sets_the_pace(tmp_path):
    with view_of(tmp_path / "s.db", "running") as session:
        young = doing(session, **UNTROUBLED | {"requests_last_minute": 96}, requests_seconds=29.0)
        slow = doing(session, **UNTROUBLED | {"requests_last_minute": 60}, requests_seconds=29.0)
        first = doing(session, **UNTROUBLED | {"requests_last_minute": 2}, requests_seconds=0.4)
    assert " requests 96 of 200 a minute" in text_of(young)[1]
    assert text_of(young)[-1] == " the wiki's allowance sets the pace"
    assert text_of(slow)[-1] == " the network sets the pace"
    assert text_of(first)[-1] == " the network sets the pace", "two requests tell nothing"


def test_what_went_wrong_is_told_with_its_age(tmp_path):
    with view_of(tmp_path / "s.db", "running") as session:
        ago = {"throttled_at": session.at - 130, "failed_at": session.at - 600}
        told = doing(session, **UNTROUBLED | ago | {"retries": 19, "throttled": 3})
    asked = "the wiki asked us to wait 3 times, the last 2 min ago"
    retried = "16 retries, the last 10 min ago"
    assert text_of(told, 62, 9)[4:6] == [f" {asked}", f" {retried}"]
    assert [text for _, text, _ in facts(told) if text in (asked, retried)] == [asked, retried]
    once = doing(told, throttled=0, retries=1)
    assert text_of(once)[4] == " 1 retry, 10 min ago"
    assert not any("asked" in line for line in text_of(once))
    unknown = doing(told, throttled=1, retries=1, throttled_at=None)
    assert text_of(unknown)[4] == " the wiki asked us to wait once"
    error = doing(session, **UNTROUBLED | {"errors": ((session.at - 5, "\x1b[31m bad line"),)})
    assert text_of(error)[4] == " \\x1b[31m bad line, 5 s ago"
    waits = {
        "waiting_for": "no route",
        "waiting_until": session.at + 40.5,
        "failing": True,
        "bound_by": None,
    }
    first, *_ = text_of(doing(told, **waits), 80, 2)
    assert first.startswith(" no route; next try in 40 s  139 articles/s in")


def test_only_what_changes_is_said_to_need_saving(tmp_path):
    with view_of(tmp_path / "s.db", "running") as session:
        for unsaved in (None, True, False):
            words = "nothing new to save" if unsaved is False else "saved 4 min ago"
            status = replace(doing(session, unsaved=unsaved).status, checkpoint_age_seconds=240.0)
            assert words in in_line(status)
        assert "saved 9 s ago" in in_line(replace(status, checkpoint_age_seconds=9.0))


def test_a_sparkline_is_of_one_run():
    flow = [Flow(at, 1.0, 1.0, 1) for at in (0.0, 2.0, 4.0, 3_600.0, 3_602.0)]
    assert last_stretch(flow) == flow[3:]
    assert last_stretch(flow[:3]) == flow[:3]
    assert last_stretch([]) == []


def test_facts_say_which_run_they_are_of(tmp_path):
    with view_of(tmp_path / "s.db", "finished") as session:
        told = facts(session)
    assert ("requests", "812 in the last run", "muted") in told
    assert ("latency", "0.31 s", "faint") in told


async def test_a_trainer_without_a_sign_of_life_on_the_screen(shown, tmp_path):
    with session_in(tmp_path / "s.db", "stalled") as path:
        async with shown(path, size=(140, 40)) as (_, pilot):
            assert "sets the pace" not in await seeing.until(pilot, "no sign of life since")
            seen = await seeing.press(pilot, "4", shows="Articles a second")
            assert "sets the pace" not in seen
            assert re.findall(r"\bnow +(\w+)", seen) == ["no"], "and not on the axis"


@pytest.mark.parametrize(
    ("articles", "limit", "number", "noun"),
    [
        (1, None, "1", "article"),
        (1, 9, "1 of 9", "articles"),
        (2, None, "2", "articles"),
        (12_480, 20_000, "12,480 of 20,000", "articles"),
        (12_480, 400, "12,480", "articles"),  # a limit that is passed is no total
    ],
)
def test_progress_is_told_with_its_limit(tmp_path, articles, limit, number, noun):
    with view_of(tmp_path / "one.db", "running") as session:
        activity = replace(session.status.activity, article_limit=limit)
        session = replace(
            session, status=replace(session.status, articles=articles, activity=activity)
        )
    assert f"{number} {noun}" in "".join(in_line(session.status))
    assert ("trained", number, "") in facts(session)


# What the screen says of a session that reads its documents several times.


def test_several_passes_are_told_of_wherever_readings_count(trained):
    """Of 657 documents, in the second of three passes; and of a single pass."""
    with SessionReader(trained) as reader:
        once = reader.status()
    status = replace(once, articles=900, again=243, passes=3)
    assert "pass 2 of 3" in "".join(in_line(status))
    assert "pass" not in "".join(in_line(once))
    replay = SimpleNamespace(playing=True, articles=600, points=[64, 600, 900])
    assert "pass 1 of 3" in "".join(in_line(status, replay))
    assert "pass" not in "".join(in_line(once, replay))
    for state, x_kind, ends in (
        (status, "words", " over words"),
        (once, "articles", "held-out documents"),
        (replace(once, source="api"), "articles", "held-out articles"),
    ):
        assert curves.title(SessionView(state, 0.0), Choice(), x_kind).endswith(ends)
    for state, noun in ((status, "document reads"), (once, "documents")):
        overall = next(
            told for name, told, _ in facts(SessionView(state, 0.0)) if name == "overall"
        )
        assert overall.endswith(f" {noun} an hour")
    assert finished(status) == "finished: every document has been read 3 times"
    assert finished(once) == "finished: every document has been read once"
    assert finished(replace(once, source="api")) == "finished: every article has been read once"


def test_the_rates_of_an_hour_are_means_before_a_band(tmp_path):
    """However much they jump, there are few points; a pause of the trainer stays a gap."""
    with view_of(tmp_path / "s.db", "running") as session:
        activity = replace(
            session.status.activity,
            allowed_per_minute=200,
            batch_pages=50,
            crawl_rate=140.0,
            train_rate=120.0,
        )
        status = replace(session.status, activity=activity)
        noise = np.random.default_rng(0).uniform(0, 280, 1_500)
        times = session.at - 3_600 + 2 * np.arange(1_500) + np.where(np.arange(1_500) > 700, 600, 0)
        rows = zip(times.tolist(), noise.tolist(), strict=True)
        flow = tuple(Flow(at, rate, 120.0, 0) for at, rate in rows)
        drawing = rates(replace(session, status=status, flow=flow))
    band, crawl, learnt, allowed = drawing.series
    assert (band.band, crawl.name, learnt.name, allowed.name) == (
        True,
        "crawl",
        "learnt",
        "allowed",
    )
    assert len(crawl.x) == len(learnt.x) <= 60
    assert (crawl.x[-1], crawl.y[-1]) == (band.x[-1], band.y[-1]), (
        "the present rate, as in the flow"
    )
    known = crawl.y[np.isfinite(crawl.y)]
    assert (known > 90).all()
    assert (known < 200).all()
    assert set(learnt.y[np.isfinite(learnt.y)].tolist()) == {120.0}
    assert np.isnan(crawl.y).sum() >= 5, "the pause"
    assert set(allowed.y.tolist()) == {200 * 50 / 60}
    few = rates(replace(session, status=status, flow=flow[-20:]))
    assert [series.name for series in few.series] == ["crawl", "learnt", "allowed"]
    far = replace(status, activity=replace(activity, allowed_per_minute=60_000))
    assert len(rates(replace(session, status=far, flow=flow)).series) == 3, (
        "it would flatten the others"
    )
