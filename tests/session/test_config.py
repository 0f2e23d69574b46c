"""The user's settings, and the contact that is saved among them."""

import os
import stat

import pytest

from wikitopics.crawler.mediawiki.kinds import CONTACT, Api
from wikitopics.session import config
from wikitopics.session.config import with_contact
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import config_file
from wikitopics.session.request import TrainRequest


@pytest.fixture
def save(home):
    """Writes the config file."""
    home.mkdir()
    return config_file().write_text


def test_the_contact_is_kept_and_the_rest_of_the_file_too(home, save):
    assert config.contact() is None
    save('# mine\ntheme = "dark"\ncontact = "old"\n\n[keys]\nquit = "q"\n')
    config.save_contact('User:"Quoted" \\ ü\u2603')
    sent = "https://meta.wikimedia.org/wiki/User%3A%22Quoted%22_%5C_%C3%BC%E2%98%83"
    assert config.contact() == sent
    assert config.load() == {"contact": sent, "theme": "dark", "keys": {"quit": "q"}}
    assert "# mine" in config_file().read_text()
    assert stat.S_IMODE(config_file().stat().st_mode) == 0o600
    assert os.listdir(home) == ["config.toml"]


def test_a_contact_inside_a_table_is_not_the_contact(save):
    save('[other]\ncontact = "not this"\n')
    config.save_contact("me@host.org")
    assert config.load() == {"contact": "me@host.org", "other": {"contact": "not this"}}


@pytest.mark.parametrize("before", ['contact = """\nold"""\n', 'a = [\n[1],\n]\ncontact = "old"\n'])
def test_a_file_that_would_be_broken_is_left_as_it_is(save, before):
    save(before)
    with pytest.raises(BadUsage, match=r'put this line in it: contact = "me@host\.org"'):
        config.save_contact("me@host.org")
    assert config_file().read_text() == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"contact = ", "not valid TOML"),
        (b"\xff\xfe", "not valid TOML"),
        (b"contact = 3", "text in quotes"),
        pytest.param(b"a = " + b"[" * 10_000 + b"]" * 10_000, "nested too deep", id="nested"),
        pytest.param(b"a = " + b"9" * 5_000, "not valid TOML", id="digits"),
    ],
)
def test_a_broken_config_is_one_line(home, cli, text, says, one_line):
    home.mkdir()
    config_file().write_bytes(text)
    one_line(cli("train"), 2, says)


def test_a_config_that_is_no_file_or_without_end_is_one_line(home, cli, one_line):
    home.mkdir()
    os.mkfifo(config_file())
    one_line(cli("train"), 1, "config.toml: a pipe, not a regular file")
    config_file().unlink()
    config_file().write_bytes(b"#" * 10_000_000)
    one_line(cli("train"), 1, "config.toml: more than")


def test_a_contact_is_kept_through_no_link_and_over_no_draft(home, tmp_path):
    home.mkdir()
    mine = tmp_path / "mine"
    mine.write_text("")
    config_file().symlink_to(mine)
    (home / f".config.toml.{os.getpid()}.new").symlink_to(mine)
    config.save_contact("me@host.org")
    assert mine.read_text() == ""
    assert config.contact() == "me@host.org"


BROKEN = [
    "contact = ",
    "contact = 3",
    'contact = "two\\nlines"',
    'contact = "name@163.com"',
    "\x00",
]


@pytest.mark.parametrize(
    "contact", ["me@yahoo.co.uk", "name@163.com", "https://host.org/?me", "nobody"]
)
@pytest.mark.parametrize(
    "command", [["train"], ["train", "--source", "dump"], ["vocab", "build", "--lang", "fr", "-o"]]
)
def test_a_contact_that_nobody_recognises_ends_a_start(
    cli,
    home,
    save,
    one_line,
    tmp_path,
    contact,
    command,
):
    save(f'contact = "{contact}"\n')
    if command[-1] == "-o":
        command = [*command, tmp_path / "words.txt"]
    outcome = cli(*command)
    one_line(outcome, 2, "--contact")
    assert contact not in outcome.err
    assert os.listdir(home) == ["config.toml"]
    assert not (tmp_path / "words.txt").exists()


@pytest.mark.parametrize(
    ("source", "text"),
    [
        *(("counts", text) for text in BROKEN),
        *((source, BROKEN[0]) for source in ("texts", "demo", "dump")),
    ],
)
def test_no_saved_contact_stops_a_source_that_sends_none(
    cli, save, corpus, tmp_path, counted_here, text, source
):
    save(text)
    (tmp_path / "texts.jsonl").write_text('{"text": "aaa aab aac"}\n' * 30)
    revision = "<revision><id>1</id><text>aaa aab</text></revision>"
    pages = "".join(
        f"<page><title>T{n}</title><ns>0</ns><id>{n}</id>{revision}</page>" for n in range(1, 31)
    )
    (tmp_path / "dump.xml").write_text(f"<mediawiki>{pages}</mediawiki>")
    few = ["--topics", 5]
    words = ["--vocab", corpus.vocabulary]
    command = {
        "counts": ["train", *corpus.options(), *few],
        "texts": ["train", "--texts", tmp_path / "texts.jsonl", *words, *few],
        "demo": ["demo", "--headless", "--articles", 1, "--wiki-size", 300],
        "dump": ["train", "--dump", tmp_path / "dump.xml", *words, *few],
    }[source]
    cli.ok(*command)


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
