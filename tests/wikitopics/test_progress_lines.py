"""The lines, and the JSON, in which a trainer without a screen tells its progress; the line of other
long work."""

import io
import json
import os
import sys
from dataclasses import replace

import pytest

from wikitopics.cli.output import ProgressLine, rate
from wikitopics.cli.progress import JsonLines, ProgressLines
from wikitopics.session.records import Progress, TrainerActivity
from wikitopics.session.training.held_out import Measured
from wikitopics.session.training.monitor import Report


def report(articles, state="running", **activity):
    progress = Progress(articles=articles, held_out=10)
    measured = Measured(activity.pop("measured_at", 0), activity.pop("perplexities", {}))
    return Report(state, progress, measured, TrainerActivity(elapsed_seconds=61.0, **activity))


@pytest.mark.parametrize("kind", [ProgressLines, JsonLines])
def test_compiling_is_told_once_and_only_while_it_happens(kind):
    told = []
    lines = kind(told.append)
    lines(report(0))
    assert not [line for line in told if "compiling" in line]
    for _ in range(3):
        lines(report(0, compiling=True))
    lines(report(64))
    (line,) = (line for line in told if "compiling" in line)
    assert "once for each kind of model and of texts" in line


def test_progress_tells_that_topics_start_over_while_they_do():
    told = []
    lines = ProgressLines(told.append)
    lines._every = 0.0
    for documents in (0, 10_112, 0):
        lines(report(10_112, starting_over=documents))
    assert ["start over from 10,112 articles" in line for line in told] == [False, True, False]


def test_a_burst_of_reports_is_one_line_and_the_last_is_of_the_end():
    told = []
    lines = ProgressLines(told.append)
    for articles in range(50):
        lines(report(articles, waiting_for="the wiki's reply"))
    assert told == ["0:01:01  0 articles  10 held out  waiting for the wiki's reply"]
    assert report(0, waiting_for="placing 3 articles on the map").activity.wait(0.0) == (
        "placing 3 articles on the map"
    ), "nothing outside is waited for"
    for _ in range(50):
        lines(report(80, measured_at=64, perplexities={"lda": 5776.4}, crawl_rate=100.0))
    assert told[1:] == ["0:01:01  80 articles  perplexity lda 5,776 at 64  reading 360k/h"]
    told = []
    lines = ProgressLines(told.append)
    lines(report(0))
    scores = {"lda": 5000.0, "hdp": 4800.0}
    ending = report(
        97,
        "stopping",
        measured_at=97,
        perplexities=scores,
        waiting_for="the wiki's reply",
    )
    lines(replace(ending, noun="documents"))
    lines.end("finished")
    line = "0:01:01  97 documents  perplexity lda 5,000, hdp 4,800 at 97"
    assert told[1:] == [line, "finished; everything is saved"]


def test_articles_per_hour_how_much_is_read_and_when_it_is_through(capsys):
    JsonLines(lambda _: None)(report(610, crawl_rate=100.0))
    line = json.loads(capsys.readouterr().out)
    assert line["articles_per_hour"] == 36_000  # of the session so far, as in `status --json`
    assert line["crawled_per_hour"] == 360_000  # now
    assert (line["lap"], line["seconds_left"]) == (None, None)
    told = []
    half = report(400, seconds_left=250.0, seconds_left_range=(240.0, 260.0))
    half.progress.lap = 0.5
    ProgressLines(told.append)(half)
    assert told[0].endswith("50.0% done  4 min left")
    JsonLines(lambda _: None)(half)
    line = json.loads(capsys.readouterr().out)
    assert (line["lap"], line["seconds_left"]) == (0.5, 250.0)
    assert line["seconds_left_range"] == [240.0, 260.0]


@pytest.mark.parametrize(
    ("articles", "lap", "done"),
    [(3_600, 0.18, "100.0%"), (900, 0.05, "25.0%"), (1_000, 1.0, "100.0%"), (900, None, "25.0%")],
)
def test_the_share_that_is_done_is_of_what_was_asked_for(articles, lap, done):
    told = []
    now = report(articles, article_limit=3_600)
    now.progress.lap = lap
    ProgressLines(told.append)(now)
    assert told[0].endswith(f"  {done} done")


def test_a_line_has_the_rate_of_what_sets_the_pace_in_a_hundred_characters():
    told = []
    lines = ProgressLines(told.append)
    lines._every = 0.0
    rates = {"crawl_rate": 1_160.0, "train_rate": 416.0}
    scores = {"measured_at": 4_194_304, "perplexities": {"lda": 2_345.6}}
    left = {"seconds_left": 250.0, "seconds_left_range": (240.0, 260.0)}
    for bound_by in ("training", "parsing", None):
        now = report(7_100_000, bound_by=bound_by, **rates, **scores, **left)
        now.progress.lap = 0.5
        lines(replace(now, noun="documents"))
    begin = "0:01:01  7,100,000 documents  perplexity lda 2,346 at 4.2M"
    end = "50.0% done  4 min left"
    paces = ("learning 1.5M/h", "reading 4.2M/h", "reading 4.2M/h")
    assert told == [f"{begin}  {pace}  {end}" for pace in paces]
    assert max(map(len, told)) <= 100
    ended = report(7_100_000, "stopped", bound_by="training", **rates)
    lines(ended)
    ended.progress.renew_from = -1
    lines(replace(ended, state="running"))
    assert not any("/h" in line for line in told[3:])


@pytest.mark.parametrize(("own", "skipped"), [(True, 1_000), (True, 0), (False, 1_000)])
def test_the_last_lines_tell_how_many_of_ones_own_documents_were_skipped(own, skipped):
    told = []
    lines = ProgressLines(told.append)
    now = report(3_800)  # 1,900 in two passes
    now.progress.again = 1_900
    now.progress.skip("no text", skipped)
    now.progress.crawled = 3_800 + 10 + skipped
    lines(replace(now, own=own))
    lines.end("finished")
    expected = ["skipped: 1,000 of 2,910 (no text 1,000)"] if own and skipped else []
    assert [line for line in told if "skipped" in line] == expected


def test_the_log_has_the_end_of_a_run_whose_reader_went_away(monkeypatch):
    told = []
    lines = JsonLines(told.append)
    lines(report(610))
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, write_through=True))
        with pytest.raises(BrokenPipeError):
            lines.end("stopped by SIGINT")
    assert told == ["stopped by SIGINT; everything is saved"]


def test_a_reader_that_went_away_is_noticed_before_the_next_line_is_due(monkeypatch):
    reading, writing = os.pipe()
    with open(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        lines = JsonLines(lambda _: None)
        lines(report(64))
        os.close(reading)
        with pytest.raises(BrokenPipeError):
            lines(report(64))


def test_a_line_of_other_work_tells_how_much_is_done_now_and_then(monkeypatch):
    err = io.StringIO()
    monkeypatch.setattr("sys.stderr", err)
    progress = ProgressLine()
    monkeypatch.setattr(progress, "_next", 0.0)
    progress("titles read", 300, 1200)
    assert err.getvalue().endswith("300 of 1,200 (25%) titles read\n")
    progress("titles read", 301, 1200)  # too soon for another line
    assert "301" not in err.getvalue()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (6_072_549.4, "6.1M"),
        (999_600.0, "1.0M"),
        (588_123.0, "588k"),
        (10_000.0, "10k"),
        (9_999.0, "9,999"),
        (120.4, "120"),
        (12.34, "12.3"),
        (0.0, "0"),
    ],
)
def test_a_rate_has_no_digits_that_mean_nothing(value, told):
    assert rate(value) == told
