"""Progress lines without a screen: few, plain, and the last one tells how it ended."""

import io
import json
import os
import sys
from dataclasses import replace
from typing import Any

import pytest

from wikitopics.cli.output import rate
from wikitopics.cli.train import JsonLines, ProgressLines
from wikitopics.session.records import State, TrainerActivity
from wikitopics.session.storage.settings import Progress
from wikitopics.session.training.measuring import Measured
from wikitopics.session.training.run import Report


def report(articles: int, state: State = "running", **activity: Any) -> Report:
    progress = Progress(articles=articles, held_out=10)
    measured = Measured(activity.pop("measured_at", 0), activity.pop("perplexities", {}))
    return Report(state, progress, measured, TrainerActivity(elapsed_seconds=61.0, **activity))


def test_a_burst_of_reports_is_one_line_and_the_first_measurement_another() -> None:
    told: list[str] = []
    lines = ProgressLines(told.append)
    for articles in range(50):
        lines(report(articles, waiting_for="the wiki's reply"))
    assert told == ["0:01:01  0 articles  10 held out  waiting for the wiki's reply"]
    for _ in range(50):
        lines(report(80, measured_at=64, perplexities={"lda": 5776.4}, crawl_rate=100.0))
    assert told[1:] == ["0:01:01  80 articles  perplexity after 64: lda 5,776  reading 360k articles/h"]


def test_the_last_line_is_of_the_end() -> None:
    told: list[str] = []
    lines = ProgressLines(told.append)
    lines(report(0))
    scores = {"lda": 5000.0, "hdp": 4800.0}
    ending = report(97, "stopping", measured_at=97, perplexities=scores, waiting_for="the wiki's reply")
    lines(replace(ending, noun="documents"))
    lines.end("finished")
    line = "0:01:01  97 documents  perplexity after 97: lda 5,000, hdp 4,800"
    assert told[1:] == [line, "finished; everything is saved"]


def test_articles_per_hour_is_the_same_in_every_json(capsys: pytest.CaptureFixture[str]) -> None:
    JsonLines(lambda _: None)(report(610, crawl_rate=100.0))
    line = json.loads(capsys.readouterr().out)
    assert line["articles_per_hour"] == 36_000  # of the session so far, as in `status --json`
    assert line["crawled_per_hour"] == 360_000  # now
    assert (line["lap"], line["seconds_left"]) == (None, None)


def test_how_much_is_read_and_when_it_is_through(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    half = report(400, crawl_rate=2.0)
    half.progress.crawled, half.progress.lap = 500, 0.5
    ProgressLines(told.append)(half)
    assert told[0].endswith("50.0% of the source read  4 min left")
    limited = report(400, crawl_rate=2.0, article_limit=460)
    limited.progress.crawled, limited.progress.lap = 500, 0.5
    JsonLines(lambda _: None)(limited)
    line = json.loads(capsys.readouterr().out)
    assert (line["lap"], line["seconds_left"]) == (0.5, 30.0)


def test_the_log_has_the_end_of_a_run_whose_reader_went_away(monkeypatch: Any) -> None:
    told: list[str] = []
    lines = JsonLines(told.append)
    lines(report(610))
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pipe, write_through=True))
        with pytest.raises(BrokenPipeError):
            lines.end("stopped by SIGINT")
    assert told == ["stopped by SIGINT; everything is saved"]


def test_a_reader_that_went_away_is_noticed_before_the_next_line_is_due(monkeypatch: Any) -> None:
    reading, writing = os.pipe()
    with open(writing, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        lines = JsonLines(lambda _: None)
        lines(report(64))
        os.close(reading)
        with pytest.raises(BrokenPipeError):
            lines(report(64))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (6_072_549.4, "6.1M"), (999_600.0, "1.0M"), (588_123.0, "588k"), (10_000.0, "10k"),
        (9_999.0, "9,999"), (120.4, "120"), (12.34, "12.3"), (0.0, "0"),
    ],
)  # fmt: skip
def test_a_rate_has_no_digits_that_mean_nothing(value: float, told: str) -> None:
    assert rate(value) == told
