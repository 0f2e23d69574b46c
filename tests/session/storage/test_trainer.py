"""The trainer's heartbeat, its log and its runs."""

import contextlib
import dataclasses
import json
import types

import pytest

from tests.session.memory import status
from tests.session.rows import sql
from wikitopics.session.errors import Damaged
from wikitopics.session.records import Progress, TrainerActivity
from wikitopics.session.storage import heartbeats as pulses
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.system import Process, TrainerLock


def test_the_pulse_answers_with_what_others_ask(path):
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        run = pulse.begin(0)
        assert run == 1
        sql(path, "UPDATE control SET save = 1, paused = 1")
        wishes = pulse.beat("running", TrainerActivity(queue=3), keep_flow=True)
        assert (wishes.save, wishes.paused) == (True, True)
        assert not pulse.beat("running", TrainerActivity()).save
        pulse.event("warning", "\x1b[31mred\x1b[0m")
        pulse.end(run, "finished", 64)
        pulse.end(pulse.begin(64), "finished", 64)  # a finished session that was opened again
    with SessionReader(path) as reader:
        (past,) = reader.runs()
        assert past.started_at <= past.ended_at
        assert (past.first_article, past.reason) == (0, "finished")
        assert [flow.queue for flow in reader.flow()] == [3]
        assert reader.events()[0].message == "\x1b[31mred\x1b[0m"


def test_a_run_that_never_said_it_ended_was_killed(path):
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.begin(0)
        pulse.begin(64)
    with SessionReader(path) as reader:
        assert [run.reason for run in reader.runs()] == ["killed", None]


def test_a_trainer_that_ends_is_stopping_until_it_lets_go(path):
    """Not stopped, finished or free for another one; and the rates it had are over."""
    with contextlib.closing(SessionWriter(path)) as store:
        store.commit(Progress(finished=True), Changes(), 0)
    with TrainerLock(path), contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.beat("running", TrainerActivity(train_rate=9.0))
        assert (status(path).state, status(path).activity.train_rate) == ("running", 9.0)
        pulse.beat("stopped", TrainerActivity(train_rate=9.0, requests=4))
        now = status(path)
        assert (now.state, now.running) == ("stopping", True)
        assert now.activity == TrainerActivity(requests=4)
    now = status(path)
    assert (now.state, now.running) == ("finished", False)


def test_flow_and_events_are_bounded(path, monkeypatch):
    monkeypatch.setattr(pulses, "FLOW_ROWS", 40)
    monkeypatch.setattr(pulses, "EVENT_ROWS", 30)
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        for number in range(60):
            pulse.beat("running", TrainerActivity(crawl_rate=float(number)), keep_flow=True)
            pulse.event("info", str(number))
    with SessionReader(path) as reader:
        assert [flow.crawl_rate for flow in reader.flow()] == [float(n) for n in range(20, 60)]
        assert [event.message for event in reader.events()] == [str(n) for n in range(30, 60)]


def test_what_a_trainer_says_comes_back_whole(path):
    first = (9, {"rpm": 60}, "the wiki", 2e9, True, 3.5, 4096)
    numbers = (1.5, 2.5, 3, 4, 5, 6, 0.25, 7, 8, 9)
    later = (1e9, 2e9, True, False, ((1e9, "429"),), 90.0, 600.0, (500.0, 700.0), 29.0)
    said = TrainerActivity(*first, True, 10_112, "network", *numbers, *later)
    nothing = TrainerActivity()
    names = [field.name for field in dataclasses.fields(said)]
    assert all(getattr(said, name) != getattr(nothing, name) for name in names)
    with contextlib.closing(HeartbeatWriter(path)) as pulse, SessionReader(path) as reader:
        for activity in (said, TrainerActivity()):
            pulse.beat("paused", activity)
            beat = reader.heartbeat()
            assert (beat.process, beat.state, beat.activity) == (Process.own(), "paused", activity)


def beating(path, activity):
    """The heartbeat, if this is its activity."""
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.beat("running", TrainerActivity())
    sql(path, "UPDATE heartbeat SET activity = ?", json.dumps(activity))
    with SessionReader(path) as reader:
        return reader.heartbeat()


def test_heartbeats_of_other_versions_are_read(path):
    """They may leave keys out, or say more."""
    told = {"crawl_rate": 2.0, "waiting_for": None, "mood": "fine", "process": "7\n\n\n"}
    beat = beating(path, told)
    assert (beat.process.pid, beat.activity) == (7, TrainerActivity(crawl_rate=2.0))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"queue": -1},
        {"errors": [[1.0]]},
        {"bound_by": "\x1b"},
        {"given": []},
        {"process": 7},
        {"seconds_left": -1},
        {"seconds_left_range": [1]},
    ],
    ids=str,
)
def test_a_heartbeat_that_no_trainer_writes_is_damage(path, wrong):
    told = {"process": "7\n\n\n", **wrong} if wrong else wrong
    with pytest.raises(Damaged, match="heartbeat"):
        beating(path, told)


def test_the_keys_that_older_screens_read_stay(path):
    with contextlib.closing(HeartbeatWriter(path)) as pulse:
        pulse.beat("running", TrainerActivity(errors=((1e9, "429"),)))
    ((activity,),) = sql(path, "SELECT activity FROM heartbeat")
    said = json.loads(activity)
    assert said["errors"] == [[1e9, "429"]]
    assert said.keys() >= {
        "article_limit",
        "waiting_for",
        "waiting_until",
        "bound_by",
        "crawl_rate",
        "train_rate",
        "requests",
        "requests_last_minute",
        "allowed_per_minute",
        "latency_seconds",
        "batch_pages",
        "retries",
        "throttled",
        "errors",
        "process",
    }


def test_a_trainer_that_cannot_write_for_a_full_disk_is_waiting(path, monkeypatch):
    with contextlib.closing(HeartbeatWriter(path)) as pulse, TrainerLock(path):
        pulse.beat("running", TrainerActivity(crawl_rate=9.0, bound_by="training"))
        sql(path, "UPDATE heartbeat SET at = at - 900")
        assert (status(path).state, status(path).hindered) == ("stalled", False)
        free = types.SimpleNamespace(free=4096)
        monkeypatch.setattr("wikitopics.session.storage.reader.shutil.disk_usage", lambda _: free)
        now = status(path)
    assert (now.state, now.hindered, now.activity.crawl_rate) == ("running", True, 0.0)
    assert now.waiting_for == f"the disk is full: {path}"


def test_a_suspended_trainer_is_known_at_once(path, monkeypatch):
    with contextlib.closing(HeartbeatWriter(path)) as pulse, TrainerLock(path):
        pulse.beat("running", TrainerActivity())
        sql(path, "UPDATE heartbeat SET at = at - 3")
        assert (status(path).state, status(path).suspended) == ("running", False)
        monkeypatch.setattr(Process, "is_suspended", lambda _: True)
        assert (status(path).state, status(path).suspended) == ("stalled", True)
