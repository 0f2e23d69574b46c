"""The trainer's heartbeat, its log and its runs."""

import contextlib
import sqlite3

from session.storage import heartbeat as pulses
from session.storage.heartbeat import HeartbeatWriter
from session.storage.reader import SessionReader


def test_the_pulse_answers_with_what_others_ask(path):
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        run = pulse.begin(0)
        assert run == 1
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("UPDATE control SET save = 1, paused = 1")
            other.commit()
        wishes = pulse.beat("running", {"x": 1}, (1.0, 2.0, 3))
        assert (wishes.save, wishes.paused) == (True, True)
        assert not pulse.beat("running", {}, None).save
        pulse.event("warning", "\x1b[31mred\x1b[0m")
        pulse.end(run, "finished")
    with SessionReader(path) as reader:
        ((started, ended, first, reason),) = [
            (r.started_at, r.ended_at, r.first_article, r.reason) for r in reader.runs()
        ]
        assert started <= ended
        assert (first, reason) == (0, "finished")
        assert len(reader.flow()) == 1
        assert reader.events()[0].message == "\x1b[31mred\x1b[0m"


def test_a_run_that_never_said_it_ended_was_killed(path):
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.begin(0)
        pulse.begin(64)
    with SessionReader(path) as reader:
        assert [run.reason for run in reader.runs()] == ["killed", None]


def test_flow_and_events_are_bounded(path):
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        for number in range(pulses.FLOW_ROWS + 20):
            pulse.beat("running", {}, (float(number), 0.0, 0))
    with SessionReader(path) as reader:
        rates = [flow.crawl_rate for flow in reader.flow()]
        assert rates == [float(n) for n in range(20, pulses.FLOW_ROWS + 20)]
