"""Starts with a contact: nothing that Wikimedia's servers would not recognise is sent to them."""

import os

import pytest

from wikitopics.crawler.mediawiki.source import CONTACT, Api
from wikitopics.session.config import with_contact
from wikitopics.session.paths import config_file
from wikitopics.session.request import TrainRequest

BROKEN = ["contact = ", "contact = 3", 'contact = "two\\nlines"', 'contact = "name@163.com"', "\x00"]


@pytest.fixture
def save(home):
    """Writes the config file."""
    home.mkdir()
    return config_file().write_text


@pytest.mark.parametrize("contact", ["me@yahoo.co.uk", "name@163.com", "https://host.org/?me", "nobody"])
@pytest.mark.parametrize(
    "command", [["train"], ["train", "--source", "dump"], ["vocab", "build", "--lang", "fr", "-o"]]
)
def test_a_contact_that_would_not_be_recognised_ends_a_start(
    cli, home, save, one_line, tmp_path, contact, command
):
    save(f'contact = "{contact}"\n')
    words = [*command, tmp_path / "words.txt"] if command[-1] == "-o" else command
    outcome = cli(*words)
    one_line(outcome, 2, "--contact")
    assert contact not in outcome.err
    assert os.listdir(home) == ["config.toml"]
    assert not (tmp_path / "words.txt").exists()


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("source", ["counts", "texts", "demo", "dump"])
def test_no_saved_contact_stops_a_source_that_sends_none(cli, save, corpus, tmp_path, text, source):
    save(text)
    (tmp_path / "texts.jsonl").write_text('{"text": "aaa aab aac"}\n' * 30)
    text = "<revision><id>1</id><text>aaa aab</text></revision>"
    pages = "".join(f"<page><title>T{n}</title><ns>0</ns><id>{n}</id>{text}</page>" for n in range(1, 31))
    (tmp_path / "dump.xml").write_text(f"<mediawiki>{pages}</mediawiki>")
    given = {
        "counts": ["train", *corpus.options()],
        "texts": ["train", "--texts", tmp_path / "texts.jsonl", "--vocab", corpus.vocabulary],
        "demo": ["demo", "--headless", "--articles", 1, "--wiki-size", 300],
        "dump": ["train", "--dump", tmp_path / "dump.xml", "--vocab", corpus.vocabulary],
    }[source]
    outcome = cli(*given, *(["--topics", 5] if source != "demo" else []))
    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize(
    ("saved", "sent"),
    [("en:User:Some_One", "[[User:Some One]]"), ("me@m\u00fcller.de", "me@xn--mller-kva.de")],
)
def test_a_saved_contact_of_an_older_kind_is_translated(save, saved, sent):
    save(f'contact = "{saved}"\n')
    for given in ({}, {"contact": saved}):
        request = TrainRequest(**given)
        assert with_contact(request, Api(), request.identity(Api()))[CONTACT] == sent


def test_other_servers_are_sent_what_was_given(save):
    save('contact = "the lab, room 5"\n')
    request = TrainRequest(api_url="http://wiki.host.org/api.php")
    assert with_contact(request, Api(), request.identity(Api()))[CONTACT] == "the lab, room 5"
