"""The session's log: each thing once."""

from session.news import DUMP_ADVICE, News
from session.store import Progress


def since(news, articles=0, crawled=0, perplexities=None, errors=(), warnings=(), blocked=None):
    progress = Progress(articles=articles, crawled=crawled)
    return news.since(progress, perplexities or {}, errors, warnings, blocked)


def test_a_perplexity_each_time_the_stream_has_doubled():
    news = News("counts", Progress(articles=100), {"lda": 900.0})
    assert since(news, 100, perplexities={"lda": 900.0}) == []
    assert since(news, 120, perplexities={"lda": 850.0}) == []
    assert since(news, 130, perplexities={"lda": 800.0, "hdp": 1234.5}) == [
        ("info", "after 130 articles: perplexity lda 800.0, hdp 1,234.5")
    ]
    assert since(news, 250, perplexities={"lda": 700.0, "hdp": 1000.0}) == []


def test_the_sources_errors_are_told_once_and_every_warning():
    news = News("counts", Progress(), {})
    assert since(news, errors=["a", "b"]) == [("warning", "a"), ("warning", "b")]
    assert since(news, errors=["b", "c"], warnings=["skipped"]) == [("warning", "c"), ("warning", "skipped")]
    assert since(news, warnings=["skipped"]) == [("warning", "skipped")]


def test_what_keeps_it_from_saving_is_told_once_each_time():
    news = News("counts", Progress(), {})
    assert since(news, blocked="full") == [("error", "full")]
    assert since(news, blocked="full") == []
    assert since(news) == []
    assert since(news, blocked="full") == [("error", "full")]


def test_a_whole_wiki_by_the_api_is_advised_against_once():
    news = News("api", Progress(), {})
    assert since(news, crawled=499_999) == []
    assert since(news, crawled=500_000) == [("warning", DUMP_ADVICE)]
    assert since(news, crawled=500_001) == []
    assert since(News("api", Progress(crawled=600_000), {}), crawled=600_001) == []
    assert since(News("dump", Progress(), {}), crawled=600_000) == []
