"""The session's log: each thing once."""

from wikitopics.crawler.mediawiki.source import Api
from wikitopics.session.storage.tables.progress import Progress
from wikitopics.session.training.evaluation import Measured
from wikitopics.session.training.monitor import News

UNMEASURED = Measured(0, {})


def since(news, crawled=0, measured=UNMEASURED, errors=(), warnings=(), blocked=None, skips=None):
    progress = Progress(articles=10**6, crawled=crawled)
    for reason, number in (skips or {}).items():
        progress.skip(reason, number)
    return news.since(progress, measured, errors, warnings, blocked)


def test_a_perplexity_each_time_the_measured_articles_have_doubled():
    """It is told with the articles that it was measured after, however many have been trained since."""
    news = News(None, Progress(articles=100), Measured(100, {"lda": 900.0}))
    assert since(news, measured=Measured(100, {"lda": 900.0})) == []
    assert since(news, measured=Measured(120, {"lda": 850.0})) == []
    assert since(news, measured=Measured(130, {"lda": 800.0, "hdp": 1234.5})) == [
        ("info", "after 130 articles: perplexity lda 800.0, hdp 1,234.5")
    ]
    newest = Measured(250, {"lda": 700.0, "hdp": 1000.0})
    assert since(news, measured=newest) == []
    assert news.at_the_end(Progress(articles=255), newest) == [
        ("info", "after 250 articles: perplexity lda 700.0, hdp 1,000.0")
    ]
    assert news.at_the_end(Progress(articles=255), newest) == []
    assert news.at_the_end(Progress(), Measured(130, {"lda": 800.0})) == [], "a step that was given up"


def test_why_articles_are_skipped_each_time_there_are_twice_as_many():
    news = News(Api.advice, Progress(), UNMEASURED)
    assert since(news) == []
    assert since(news, skips={"no known word": 1}) == [("info", "skipped so far: 1 (no known word 1)")]
    assert since(news, skips={"no known word": 1}) == []
    many = {"no known word": 1, "disambiguation": 1_200}
    told = ("info", "skipped so far: 1,201 (disambiguation 1,200, no known word 1)")
    assert since(news, skips=many) == [told]
    assert since(news, skips=many | {"redirect": 1}) == []
    assert len(news.at_the_end(Progress(skipped=1_202, skips=many | {"redirect": 1}), UNMEASURED)) == 1


def test_the_sources_errors_are_told_once_and_every_warning():
    news = News(None, Progress(), UNMEASURED)
    assert since(news, errors=["a", "b"]) == [("warning", "a"), ("warning", "b")]
    assert since(news, errors=["b", "c"], warnings=["skipped"]) == [("warning", "c"), ("warning", "skipped")]
    assert since(news, warnings=["skipped"]) == [("warning", "skipped")]


def test_what_keeps_it_from_saving_is_told_once_each_time():
    news = News(None, Progress(), UNMEASURED)
    assert since(news, blocked="full") == [("error", "full")]
    assert since(news, blocked="full") == []
    assert since(news) == []
    assert since(news, blocked="full") == [("error", "full")]


def test_a_whole_wiki_by_the_api_is_advised_against_once():
    news = News(Api.advice, Progress(), UNMEASURED)
    assert since(news, crawled=499_999) == []
    assert since(news, crawled=500_000) == [("warning", Api.advice[1])]
    assert since(news, crawled=500_001) == []
    assert since(News(Api.advice, Progress(crawled=600_000), UNMEASURED), crawled=600_001) == []
    assert since(News(None, Progress(), UNMEASURED), crawled=600_000) == []
