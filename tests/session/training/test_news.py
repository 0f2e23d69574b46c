"""The session's log: each thing once."""

from dataclasses import replace
from types import SimpleNamespace

from tests.session.rows import settings
from wikitopics.crawler.mediawiki.kinds import Api
from wikitopics.crawler.source import Activity
from wikitopics.session.records import Progress
from wikitopics.session.training.held_out import Measured
from wikitopics.session.training.monitor import Monitor
from wikitopics.session.training.run import Limits, Wait

UNMEASURED = Measured(0, {})


def monitor(source="texts", crawled=0, measured=UNMEASURED, clock=(0.0,)):
    stream = SimpleNamespace(
        progress=Progress(crawled=crawled),
        measured=measured,
        waits_for=None,
        passes=1,
        articles_wanted=None,
    )
    stream.settings = replace(settings(), source=source)
    feed = SimpleNamespace(activity=Activity())
    run = SimpleNamespace(stream=stream, feed=feed, waits_for="", busy=False, warnings=[])
    run.elapsed = lambda: clock[0]
    run.saving_seconds = lambda: 0.0
    run.limits_left = Limits
    return Monitor(None, run, None, None, {})


def since(
    one,
    crawled=0,
    measured=UNMEASURED,
    errors=(),
    warnings=(),
    blocked=None,
    skips=None,
    last=False,
):
    run = one._run
    run.stream.progress = Progress(crawled=crawled)
    run.stream.measured = measured
    for reason, number in (skips or {}).items():
        run.stream.progress.skip(reason, number)
    run.feed.activity.errors = []
    for error in errors:
        run.feed.activity.note(0.0, error)
    run.warnings += warnings
    run.blocked = blocked and Wait(blocked, failing=True)
    return one.news(last=last)


def test_a_perplexity_each_time_the_measured_articles_have_doubled():
    """It is told with the articles that it was measured after, however many have been trained
    since."""
    news = monitor(measured=Measured(100, {"lda": 900.0}))
    assert since(news, measured=Measured(100, {"lda": 900.0})) == []
    assert since(news, measured=Measured(120, {"lda": 850.0})) == []
    told = "after 130 documents: perplexity lda 800.0, hdp 1,234.5"
    assert since(news, measured=Measured(130, {"lda": 800.0, "hdp": 1234.5})) == [("info", told)]
    newest = Measured(250, {"lda": 700.0, "hdp": 1000.0})
    assert since(news, measured=newest) == []
    told = "after 250 documents: perplexity lda 700.0, hdp 1,000.0"
    assert since(news, measured=newest, last=True) == [("info", told)]
    assert since(news, measured=newest, last=True) == []
    assert since(news, measured=Measured(130, {"lda": 800.0}), last=True) == [], (
        "a step that was given up"
    )


def test_why_articles_are_skipped_each_time_there_are_twice_as_many():
    news = monitor(Api.name)
    assert since(news) == []
    assert since(news, skips={"no known word": 1}) == [
        ("info", "skipped so far: 1 (no known word 1)")
    ]
    assert since(news, skips={"no known word": 1}) == []
    many = {"no known word": 1, "disambiguation": 1_200}
    told = ("info", "skipped so far: 1,201 (disambiguation 1,200, no known word 1)")
    assert since(news, skips=many) == [told]
    assert since(news, skips=many | {"redirect": 1}) == []
    assert len(since(news, skips=many | {"redirect": 1}, last=True)) == 1


def test_the_sources_errors_are_told_once_every_warning_and_what_keeps_it_from_saving():
    news = monitor()
    assert since(news, errors=["a", "b"]) == [("warning", "a"), ("warning", "b")]
    assert since(news, errors=["b", "c"], warnings=["skipped"]) == [
        ("warning", "c"),
        ("warning", "skipped"),
    ]
    assert since(news, warnings=["skipped"]) == [("warning", "skipped")]
    news = monitor()
    assert since(news, blocked="full") == [("error", "full")]
    assert since(news, blocked="full") == []
    assert since(news) == []
    assert since(news, blocked="full") == [("error", "full")]


def test_what_hindered_it_is_told_again_only_if_it_returns_and_its_end_if_it_lasted():
    clock = [0.0]
    news = monitor(clock=clock)
    activity = news._run.feed.activity
    activity.trouble = "refused"
    assert since(news, errors=["refused"]) == [("warning", "refused")]
    clock[0] = 30.0
    assert since(news, errors=["refused"]) == []
    activity.trouble = None
    assert since(news, errors=["refused"]) == [("info", "resumed after 30 s: refused")]
    activity.trouble = "refused"
    assert since(news, errors=["refused"]) == [("error", "refused")]
    clock[0] = 31.0
    activity.trouble = None
    assert since(news, errors=["refused"]) == []


def test_a_whole_wiki_by_the_api_is_advised_against_once():
    news = monitor(Api.name)
    assert since(news, crawled=499_999) == []
    assert since(news, crawled=500_000) == [("warning", Api.advice[1])]
    assert since(news, crawled=500_001) == []
    assert since(monitor(Api.name, crawled=600_000), crawled=600_001) == []
    assert since(monitor(), crawled=600_000) == []
