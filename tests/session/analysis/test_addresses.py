"""What a session gives as the address of an article is one, whoever wrote it or its kind of source."""

from dataclasses import replace

import pytest

from wikitopics.crawler.source import PageKind
from wikitopics.session import sources
from wikitopics.session.analysis.addresses import addresses
from wikitopics.session.records import ArticleRow
from wikitopics.session.settings import Settings
from wikitopics.session.specs import ModelSpec

SETTINGS = Settings(
    {},
    source="api",
    source_name="wiki.org",
    source_options={"api_url": "https://wiki.org/w/api.php"},
    vocabulary="english",
    fingerprint="",
    rule="1",
    models=(ModelSpec(kind="lda", name="lda", topics=2),),
    batch_sizes=(64,),
)
ROW = ArticleRow(1, 5, "A B", 7, 100, "trained")


def test_the_kind_of_source_says_it():
    assert addresses(SETTINGS)(ROW) == "https://wiki.org/w/index.php?title=A_B&oldid=7"
    assert addresses(replace(SETTINGS, source="gone"))(ROW) is None


@pytest.mark.parametrize("identity", [{}, {"api_url": 5}, {"api_url": "x", "api": []}, {"api_url": "\x1b"}])
def test_a_damaged_session_gives_none(identity):
    assert addresses(replace(SETTINGS, source_options=identity))(ROW) is None


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "file:///x", "https://a b", "https://x\x1b\\", 'http://x"', "http:/x"]
)
def test_what_is_no_address_is_not_handed_on(address, monkeypatch):
    class Odd(PageKind):
        def identity(self, asked):
            return {}

        def open(self, identity, asked):
            raise NotImplementedError

        def address(self, identity, title, revision_id):
            return address

    monkeypatch.setattr(sources, "described", lambda name: Odd())
    assert addresses(SETTINGS)(ROW) is None
