"""Where texts come from: what is given as an address is one, and whoever exports titles or word
counts is told whose they are."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from tests.session.rows import settings
from wikitopics.crawler.licence import SAMPLE, Licence
from wikitopics.session import sources
from wikitopics.session.analysis.origin import addresses, licence_of
from wikitopics.session.records import ArticleRow

SETTINGS = replace(settings(), source_options={"api_url": "https://wiki.org/w/api.php"})
WIKIPEDIA = ("CC BY-SA 4.0", "https://creativecommons.org/licenses/by-sa/4.0/")
"""The name and the address of its licence."""
ROW = ArticleRow(1, 5, "A B", 7, 100, "trained")


def test_the_kind_of_source_says_it():
    assert addresses(SETTINGS)(ROW) == "https://wiki.org/w/index.php?title=A_B&oldid=7"
    assert addresses(replace(SETTINGS, source="gone"))(ROW) is None


@pytest.mark.parametrize(
    "identity", [{}, {"api_url": 5}, {"api_url": "x", "api": []}, {"api_url": "\x1b"}]
)
def test_a_damaged_session_gives_none(identity):
    assert addresses(replace(SETTINGS, source_options=identity))(ROW) is None


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "file:///x", "https://a b", "https://x\x1b\\", 'http://x"', "http:/x"],
)
def test_what_is_no_address_is_not_handed_on(address, monkeypatch):
    odd = Mock(fault=lambda _: "", address=lambda *_: address)
    monkeypatch.setattr(sources, "kind_named", lambda name: odd)
    assert addresses(SETTINGS)(ROW) is None


@pytest.mark.parametrize("source", ["api", "html", "recent"])
def test_of_a_wiki_by_its_address(source):
    def of(address):
        return licence_of(replace(SETTINGS, source=source, source_options={"api_url": address}))

    assert of("https://de.wikipedia.org/w/api.php") == Licence("de.wikipedia.org", *WIKIPEDIA)
    other = of("https://wikipedia.org.example/w/api.php")
    assert other == Licence(
        "wikipedia.org.example", "the licence that this wiki names on its pages"
    )
    assert other.text.endswith(
        "by its authors, under the licence that this wiki names on its pages"
    )
    assert of("no address") is None


def test_of_a_dump_of_the_sample_and_of_somebodys_own_documents():
    dump = replace(SETTINGS, source="dump", source_options={"dump": ["/d.xml"]})
    assert licence_of(dump) is None
    named = {"dump": ["/d.xml"], "base": "https://en.wikipedia.org/wiki/Main_Page"}
    assert licence_of(replace(dump, source_options=named)) == Licence(
        "en.wikipedia.org", *WIKIPEDIA
    )
    demo = replace(SETTINGS, source="demo", source_options={"wiki_size": 20_000})
    assert licence_of(demo) == SAMPLE
    texts = replace(SETTINGS, source="texts", source_options={"texts": ["/a.jsonl"]})
    assert licence_of(texts) is None
    counts = replace(SETTINGS, source="counts", source_options={"counts": "/a.npz"})
    assert licence_of(counts) is None
    assert licence_of(replace(SETTINGS, source="gone")) is None
    assert licence_of(replace(SETTINGS, source_options={"api_url": 5})) is None


def test_it_is_told_beside_what_is_exported(cli, trained, tmp_path, monkeypatch):
    own = cli("export", "words")
    assert own.err == ""
    monkeypatch.setattr(sources.load("counts").__class__, "licence", lambda self, identity: SAMPLE)
    for form in ("csv", "json"):
        outcome = cli("export", "articles", "--all", "--format", form)
        assert outcome.err == SAMPLE.text + "\n"
        assert SAMPLE.name not in outcome.out
    assert cli("export", "words", "-o", tmp_path / "words.csv").err.splitlines()[-1] == SAMPLE.text
    assert (tmp_path / "words.csv").read_text() == own.out
    assert cli("export", "topics").err == SAMPLE.text + "\n"  # it has titles
    assert cli("export", "history").err == ""
