"""How long a run will still take, on clocks that pass at once."""

import math
import random
from types import SimpleNamespace

import pytest

from tests.session.rows import settings
from wikitopics.compiled import compiling
from wikitopics.crawler.source import Activity
from wikitopics.session.records import Progress
from wikitopics.session.training.held_out import Measured
from wikitopics.session.training.monitor import Monitor
from wikitopics.session.training.run import Limits
from wikitopics.session.training.time_left import Goal, TimeLeft

BEAT = 0.5
"""The seconds between two heartbeats of short runs."""
SLOW_BEAT = 5.0
"""The same for long ones, which differ little by it."""
MINUTE = 60.0


def crawl(total, rate, *, seed=0, slower_from=math.inf):
    """(seconds, articles) as batches of 50 come in, at times after a wait of 5 s or more; at half
    the rate from a moment on."""
    rng = random.Random(seed)
    now = 0.0
    arrived = 0
    arrivals = []
    while arrived < total:
        present_rate = rate if now < slower_from else rate / 2
        now += 50 / present_rate * max(0.2, rng.gauss(1, 0.25))
        if rng.random() < 0.1:
            now += 5 * rng.choice([1, 1, 2, 4])
        arrived = min(total, arrived + 50)
        arrivals.append((now, arrived))
    return arrivals


def told(arrivals, *, until, times=None, earlier=None, total=None):
    """What is told at each heartbeat of a run: (seconds of it, the time left)."""
    time_left = times or TimeLeft({"source": 0.0}, 0.0)
    total = total or arrivals[-1][1]
    before = earlier or 0
    found = []
    coming = iter(arrivals)
    arrived = 0
    due = next(coming, None)
    for beat in range(int(until / SLOW_BEAT)):
        now = beat * SLOW_BEAT
        while due is not None and due[0] <= now:
            _, arrived = due
            due = next(coming, None)
        share = (before + arrived) / (before + total)
        found.append((now, time_left.note(now, {"source": Goal(share, 1 - share)})))
    return found


@pytest.mark.parametrize("rate", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_an_even_crawl_has_a_steady_time_left(rate, seed):
    """After minute 5, no two readings a minute apart differ by over a tenth."""
    readings = told(crawl(8 * 3600 * rate, rate, seed=seed), until=90 * MINUTE)
    since = [left for now, left in readings if now >= 5 * MINUTE]
    apart = int(MINUTE / SLOW_BEAT)
    for early, late in zip(since, since[apart:], strict=False):
        assert late.seconds == pytest.approx(early.seconds - MINUTE, rel=0.1)


def test_the_time_left_is_right_and_between_its_bounds():
    arrivals = crawl(3 * 3600 * 3, 3)
    end, _ = arrivals[-1]
    within = []
    for now, left in told(arrivals, until=end - 10 * MINUTE):
        if left is not None:
            within.append(left.low <= end - now <= left.high)
        if now >= 30 * MINUTE:
            assert left.seconds == pytest.approx(end - now, rel=0.15)
    assert sum(within) > 0.8 * len(within)


def test_nothing_is_told_before_there_is_something_to_tell_by():
    readings = told(crawl(100_000, 3), until=5 * MINUTE)
    early = [left for now, left in readings if now < 30]
    assert not any(early)
    first = next(left for _, left in readings if left)
    _, last = readings[-1]
    assert last.high / last.low < first.high / first.low < 3


def test_a_crawl_that_becomes_slower_for_good_is_followed():
    slower_from = 3600.0
    arrivals = crawl(3 * 3600 * 4, 3, slower_from=slower_from)
    end, _ = arrivals[-1]
    readings = told(arrivals, until=slower_from + 30 * MINUTE)
    for now, left in readings:
        if now >= slower_from + 14 * MINUTE:
            assert left.seconds == pytest.approx(end - now, rel=0.2)


def test_a_wait_of_some_minutes_changes_little():
    arrivals = crawl(8 * 3600 * 3, 3)
    late = [(now + 4 * MINUTE if now > 3600 else now, number) for now, number in arrivals]
    end, _ = late[-1]
    for now, left in told(late, until=90 * MINUTE):
        if now >= 3600:
            assert left.seconds == pytest.approx(end - now, rel=0.2)


def test_nothing_is_told_of_a_run_that_stands_still():
    arrivals = crawl(5000, 3)
    (*_, (_, left)) = told(arrivals, until=3 * 3600, total=100_000)
    assert left is None


def test_earlier_runs_count_at_first():
    """At once there is an estimate, and a changed pace comes through within minutes."""
    done = 50_000
    seconds = done / 3
    total = 200_000
    arrivals = crawl(total, 6)
    end, _ = arrivals[-1]
    times = TimeLeft({"source": done / (done + total)}, seconds)
    readings = told(arrivals, until=20 * MINUTE, times=times, earlier=done, total=total)
    _, first = readings[0]
    assert first.seconds == pytest.approx(total / 3, rel=0.05), "as the earlier runs went"
    assert first.high > 1.3 * first.low, "uncertain"
    for now, left in readings:
        if now >= 6 * MINUTE:
            assert left.seconds == pytest.approx(end - now, rel=0.2)


def test_a_pause_and_a_sleep_of_the_machine_do_not_count():
    time_left = TimeLeft({}, 0.0)

    def note(now, done):
        return time_left.note(now, {"source": Goal(done, 1 - done)})

    for beat in range(200):
        before = note(beat * BEAT, beat / 1000)
    time_left.pause()
    after_pause = note(10_000.0, 199 / 1000)
    assert after_pause.seconds == pytest.approx(before.seconds, abs=1)
    after_sleep = note(20_000.0, 199 / 1000)
    assert after_sleep.seconds == pytest.approx(before.seconds, rel=0.1)
    for beat in range(200, 300):
        left = note(20_000.0 + (beat - 199) * BEAT, beat / 1000)
    assert left.seconds == pytest.approx(350, rel=0.1)


def test_the_first_end_that_is_reached_counts():
    time_left = TimeLeft({}, 0.0)
    for beat in range(200):
        now = beat * BEAT
        goals = {
            "source": Goal(beat / 10_000, 1 - beat / 10_000),
            "articles": Goal(beat, 1000 - beat),
        }
        left = time_left.note(now, goals, most=3600 - now)
    assert left.seconds == pytest.approx(400, rel=0.05), "by articles: 2 a second"
    only_hours = TimeLeft({}, 0.0).note(0.0, {}, most=3600.0)
    assert only_hours == (3600, 3600, 3600)
    assert TimeLeft({}, 0.0).note(0.0, {}) is None, "no end is known"


def test_a_later_pass_has_a_pace_of_its_own():
    time_left = TimeLeft({}, 0.0)

    def note(now, done, again):
        return time_left.note(now, {"source": Goal(done, 1 - done)}, stage=again)

    for beat in range(200):
        left = note(beat * BEAT, beat / 600, False)
    assert left.seconds == pytest.approx(200, rel=0.1)
    assert note(100.0, 200 / 600, True) is None
    for beat in range(60):
        left = note(100.5 + beat * BEAT, 1 / 3 + beat / 150, True)
    assert left.seconds == pytest.approx(20, rel=0.15)


class Trainer:
    """A monitored run whose clock and counts the test sets."""

    def __init__(self, monkeypatch, limits=None, **progress):
        self.now = 0.0
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr("wikitopics.session.training.monitor.time", clock)
        limits = limits or Limits()
        self.progress = Progress(**progress)
        self.stream = SimpleNamespace(
            progress=self.progress,
            settings=settings(),
            passes=1,
            measured=Measured(0, {}),
            articles_taken=0,
            articles_wanted=None,
            waits_for=None,
            article_limit=None,
            next_measurement=None,
            starting_over=0,
            dirty=False,
        )
        self.activity = Activity()
        feed = SimpleNamespace(
            activity=self.activity, waits_for=None, arrivals=lambda: 0.0, queued=0
        )
        self.run = SimpleNamespace(
            waits_for="",
            stream=self.stream,
            feed=feed,
            state="running",
            blocked=None,
            busy=False,
            elapsed=lambda: self.now,
            saving_seconds=lambda: 0.0,
            limits_left=lambda: limits.less(self.now, self.activity.bytes_read),
            learnt=SimpleNamespace(of_steps=lambda: 0.0),
        )
        self.monitor = Monitor(None, self.run, None, None, {})

    def beat(self, lap=None):
        """The activity after another heartbeat."""
        self.now += BEAT
        self.progress.lap = lap
        self.monitor._sample()
        return self.monitor._activity()


def test_a_trainer_tells_its_time_left_only_while_it_trains_at_a_pace_of_its_own(monkeypatch):
    trainer = Trainer(monkeypatch)
    for beat in range(100):
        said = trainer.beat(lap=beat / 1000)
    assert said.seconds_left == pytest.approx(450, rel=0.05)
    low, high = said.seconds_left_range
    assert low < said.seconds_left < high
    assert said.time_left.endswith("min left")
    trainer.run.state = "paused"
    assert trainer.monitor._activity().seconds_left is None
    said = trainer.beat(lap=0.1)
    assert (said.seconds_left, said.seconds_left_range, said.time_left) == (None, None, "")
    trainer.run.state = "running"
    assert trainer.beat(lap=0.1).seconds_left is not None
    trainer.activity.pace = 90.0
    assert trainer.beat(lap=0.1).seconds_left is None, "a source that spreads its articles"


def test_the_last_reading_has_a_pace_of_its_own(monkeypatch):
    trainer = Trainer(monkeypatch)
    for beat in range(100):
        assert trainer.beat(lap=0.9 * beat / 100).seconds_left != 0
    trainer.progress.renew_from = -1
    assert trainer.beat(lap=0.9).seconds_left is None
    for beat in range(40):
        said = trainer.beat(lap=0.9 + 0.1 * beat / 80)
    assert said.seconds_left == pytest.approx(20, rel=0.1)


def test_the_limits_of_a_run_count(monkeypatch):
    trainer = Trainer(monkeypatch, Limits(hours=1))
    said = trainer.beat()
    assert (said.seconds_left, said.time_left) == (3600 - BEAT, "60 min left")
    trainer = Trainer(monkeypatch, Limits(megabytes=10), bytes_read=5_000_000)
    for _ in range(100):
        trainer.activity.bytes_read += 50_000
        said = trainer.beat()
    assert said.seconds_left == pytest.approx(50, rel=0.05)
    trainer = Trainer(monkeypatch)
    trainer.stream.articles_wanted = 1_000
    for beat in range(100):
        trainer.stream.articles_taken = 5 * beat
        said = trainer.beat()
    assert said.seconds_left == pytest.approx(50, rel=0.05)


def test_a_run_that_is_paused_after_each_heartbeat_has_no_time_left_to_tell():
    times = TimeLeft({}, 0.0)
    for beat in range(20):
        assert times.note(beat, {"articles": Goal(beat, 100 - beat)}) is None
        times.pause()


def test_compiling_is_told_while_a_step_or_the_first_parsing_waits_for_it(monkeypatch):
    trainer = Trainer(monkeypatch)
    assert not trainer.beat().compiling
    with compiling():
        assert not trainer.beat().compiling, "nothing waits for it"
        trainer.run.feed.waits_for = "parsing"
        assert trainer.beat().compiling
        trainer.run.feed.waits_for = "network"
        assert not trainer.beat().compiling
        trainer.run.busy = True
        assert trainer.beat().compiling
    assert not trainer.beat().compiling
