"""No number looks alive that is not, in every state of the trainer; what is said of several passes."""

import contextlib
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.session.rows import sql
from tests.tui import canned, seeing
from wikitopics.session.records import Flow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui import chart
from wikitopics.tui.bars import pieces
from wikitopics.tui.chart import measurement_caption
from wikitopics.tui.follow import Choice, SessionView
from wikitopics.tui.views.crawl import (
    facts,
    finished,
    flow_lines,
    last_stretch,
    rate,
    rates,
    request_rate,
    wait_text,
)

# No number looks alive that is not: rates, sparklines and axes in every state of the trainer.


ENDED = ("new", "stopped", "finished", "dead")
STATES = (*ENDED, "starting", "running", "idle", "paused", "stopping", "stalled")


@contextlib.contextmanager
def session_in(path, state):
    """A session whose trainer is in this state; "idle": it runs, and has not trained for a while."""
    still: dict[str, object] = {"crawl_rate": 0.0, "train_rate": 0.0} if state in {"idle", "paused"} else {}
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
def look_in(path, state):
    with session_in(path, state), SessionReader(path) as reader:
        yield SessionView(status=reader.status(), at=time.time(), flow=tuple(reader.flow()))


@pytest.mark.parametrize("state", STATES)
def test_each_state_is_told_as_it_is(tmp_path, state):
    with look_in(tmp_path / "s.db", state) as look:
        s, shown = look.status, in_line(look.status)
        crawl, train = rate(s, s.activity.crawl_rate), rate(s, s.activity.train_rate, "idle")
        pace, ink = wait_text(s, look.at)
    # Rates are bold only while they are of now.
    if state in ENDED:
        assert (crawl, train) == (("-", "faint"), ("-", "faint"))
        assert request_rate(s)[1] == "faint"
        assert "41" not in request_rate(s)[0]
    elif state == "stalled":
        assert crawl[1] == train[1] == request_rate(s)[1] == "faint"
    elif state in {"idle", "paused"}:
        assert (crawl, train) == (("0/s", "strong"), ("idle", "strong"))
    else:
        assert crawl[1] == train[1] == "strong"
        assert "/s" in train[0]
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
    if state == "stalled":
        assert pace.startswith("no sign of life since ")
        assert ink == "bad"
    # The axis of the rates ends where they end.
    if state in ENDED[1:]:
        drawing = rates(look)
        assert drawing.label_x(float(drawing.series[0].x[-1])) == "16:07:28"
        assert (drawing.x_name, drawing.faded) == ("on 2026-05-04", True)
    elif state != "new":
        drawing = rates(look)
        assert (drawing.label_x(float(drawing.series[0].x[-1])) == "now") == (state != "stalled")
        assert drawing.faded == (state == "stalled")


def in_line(status, replay=None):
    """The texts of the status line."""
    return [text for _, parts in pieces(status, "", None, replay, False) for text, _ in parts]


@pytest.mark.parametrize(("state", "last"), [("running", 999.0), ("stalled", 150.0), ("stopped", 150.0)])
def test_the_rates_end_with_that_of_now_while_there_is_one(tmp_path, state, last):
    with look_in(tmp_path / "s.db", state) as look:
        activity = replace(look.status.activity, crawl_rate=999.0)
        flow = tuple(replace(one, crawl_rate=150.0) for one in look.flow)
        drawing = rates(replace(look, status=replace(look.status, activity=activity), flow=flow))
    assert drawing.series[0].y[-1] == last


def test_the_curve_says_how_old_its_end_is_and_when_it_goes_on(tmp_path):
    with look_in(tmp_path / "s.db", "running") as look, SessionReader(tmp_path / "s.db") as reader:
        curve = reader.curve("lda", "perplexity")
    look = replace(look, models=("lda",), curves={("lda", "perplexity"): curve})
    assert measurement_caption(look, Choice()) == "after 12,480 articles"
    due = "after 12,480 articles, next at 17,280"

    def told(**values):
        activity = replace(look.status.activity, **{"next_measurement": 17_280} | values)
        status = replace(look.status, activity=activity, pending=800)
        return measurement_caption(replace(look, status=status), Choice())

    rates = {"train_rate": 40.0, "crawl_rate": 80.0}
    assert told(**rates, bound_by="training") == f"{due} (in 2 min)"
    assert told(**rates, bound_by="network") == f"{due} (in 50 s)", "what is pending need not be waited for"
    assert told(train_rate=0.0, crawl_rate=80.0) == due, "as in a pause"
    assert told(**rates, waiting_for="the wiki is down", failing=True, bound_by="network") == due
    assert told(next_measurement=12_480) == "after 12,480 articles", "the trainer is about to name the next"
    look = replace(look, as_of=12_480)
    assert told(**rates) == "after 12,480 articles", "it replays"


def test_bars_of_a_rate_are_scaled_to_the_allowed_one(tmp_path):
    with look_in(tmp_path / "s.db", "running") as look:
        look = replace(look, flow=tuple(replace(one, crawl_rate=80.0) for one in look.flow))
        activity = replace(look.status.activity, allowed_per_minute=200, batch_pages=100)
        capped = replace(look, status=replace(look.status, activity=activity))
        free = replace(look, status=replace(look.status, activity=replace(activity, allowed_per_minute=None)))
    for each, steady in ((capped, "▂"), (free, "▄")):
        (_, _, (bars, _)), *_ = flow_lines(each, False, 40, 9)
        assert set(bars.strip()) == {steady}


def test_a_sparkline_is_of_one_run():
    flow = [Flow(at, 1.0, 1.0, 1) for at in (0.0, 2.0, 4.0, 3_600.0, 3_602.0)]
    assert last_stretch(flow) == flow[3:]
    assert last_stretch(flow[:3]) == flow[:3]
    assert last_stretch([]) == []


def test_facts_say_which_run_they_are_of(tmp_path):
    with look_in(tmp_path / "s.db", "finished") as look:
        told = facts(look)
    assert ("", "812 in the last run", "muted") in told
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
    with look_in(tmp_path / "one.db", "running") as look:
        activity = replace(look.status.activity, article_limit=limit)
        look = replace(look, status=replace(look.status, articles=articles, activity=activity))
    assert f"{number} {noun}" in "".join(in_line(look.status))
    assert ("trained", number, "") in facts(look)


# What the screen says of a session that reads its documents several times.


@pytest.fixture
def several(trained):
    """The state of a session of 657 documents, in the second of three passes, and one of a single pass."""
    with SessionReader(trained) as reader:
        once = reader.status()
    return replace(once, articles=900, again=243, passes=3), once


def test_several_passes_are_told_of_wherever_readings_count(several):
    status, once = several
    assert "pass 2 of 3" in "".join(in_line(status))
    assert "pass" not in "".join(in_line(once))
    replay = SimpleNamespace(playing=True, articles=600, points=[64, 600, 900])
    assert "pass 1 of 3" in "".join(in_line(status, replay))
    assert "pass" not in "".join(in_line(once, replay))
    for state, x_kind, ends in (
        (status, "articles", " over readings"),
        (status, "words", " over words"),
        (once, "articles", "documents over documents"),
        (replace(once, source="api"), "articles", "articles over articles"),
    ):
        assert chart.title(SessionView(state, 0.0), Choice(), x_kind).endswith(ends)
    for state, noun in ((status, "readings"), (once, "documents")):
        overall = next(told for name, told, _ in facts(SessionView(state, 0.0)) if name == "overall")
        assert overall.endswith(f" {noun} an hour")
    assert finished(status) == "finished: every document has been read 3 times"
    assert finished(once) == "finished: every document has been read once"
    assert finished(replace(once, source="api")) == "finished: every article has been read once"
