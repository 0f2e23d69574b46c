"""`demo` at the command line: how large its wiki is, and when it ends."""

import json

import pytest

from wikitopics.crawler.embedded import Demo
from wikitopics.crawler.embedded.corpus import SAMPLE_ARTICLES, SampleArticles, load_sample
from wikitopics.session.request import TrainRequest


@pytest.mark.parametrize(
    ("articles", "wiki_size", "size"),
    [
        (None, None, 20_000),
        (20_000, None, 20_200),
        (None, 300, 300),
        (100_000, 300, 300),
        (None, 1_000_000, 1_000_000),
    ],
)
def test_the_wiki_is_as_large_as_the_sample_unless_more_is_asked_for(articles, wiki_size, size):
    request = TrainRequest(source="demo", held_out=200, articles=articles, wiki_size=wiki_size)
    assert Demo().identity(request.asked(Demo())) == {"wiki_size": size}


def test_a_wiki_as_large_as_the_sample_has_no_copies():
    sample = load_sample()
    assert len(sample.titles) == SAMPLE_ARTICLES
    articles = SampleArticles(sample, SAMPLE_ARTICLES)
    assert {articles.title(i) for i in range(SAMPLE_ARTICLES)} == set(sample.titles)


def test_the_demo_ends_when_each_text_has_been_read_once(cli, monkeypatch):
    monkeypatch.setattr("wikitopics.crawler.embedded.corpus.SAMPLE_ARTICLES", 300)
    assert "every article has been read once" in cli.ok("demo", "--headless").err
    now = cli.json("status", "--session", "demo")
    assert (now["state"], now["articles"], now["crawled"]) == ("finished", 100, 300)
    exported = cli("export", "articles", "--session", "demo", "--format", "json").out
    titles = [row["title"] for row in json.loads(exported)]
    assert len(set(titles)) == 100
    assert not any("(copy" in title for title in titles)
    cli.ok("demo", "--headless", "--pace", 1, "--session", "slow")
    for what in ("articles", "topics", "proportions"):
        assert (
            cli("export", what, "--session", "slow").out
            == cli("export", what, "--session", "demo").out
        )
    assert cli("demo", "--headless", "--pace", 1e300).code == 2  # no heartbeat can say so
    assert "100, fewer than --articles 500" in cli.ok("demo", "--headless", "--articles", 500).err
