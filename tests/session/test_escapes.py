"""What a terminal is told beside text: only one that takes it, and never more than the text
itself."""

import io

import pytest

from wikitopics.cli import output
from wikitopics.session import escapes


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def able(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_who_takes_it(monkeypatch):
    assert escapes.links(Terminal())
    assert not escapes.links(io.StringIO())
    assert not escapes.obeys(None)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not escapes.links(Terminal())
    assert escapes.obeys(Terminal())
    for term in ("dumb", "linux", "vt100"):
        monkeypatch.setenv("TERM", term)
        assert not escapes.obeys(Terminal())
    monkeypatch.delenv("TERM")
    assert not escapes.obeys(Terminal())


def test_foreign_text_ends_nothing_early():
    evil = "a\x1b\\\x07\x9c\u202eb\n"
    for told in (escapes.link(evil, "http://x"), escapes.title(evil), escapes.notice("osc9", evil)):
        inside = told.removeprefix("\x1b]8;;http://x\x1b\\").removesuffix("\x1b]8;;\x1b\\")
        inside = inside.removeprefix("\x1b]2;").removeprefix("\x1b]9;").removesuffix("\x1b\\")
        assert inside == "a\\x1b\\\\x07\\x9c\\u202eb\\x0a"
    assert escapes.notice("bell", evil) == "\x07"


def test_a_title_in_a_table_is_a_link_on_a_terminal_alone(monkeypatch):
    written = {}
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stdout", stream)
        output.put_document(" 1% ", "A\x1b", "http://x")
        output.put_document(" 2% ", "B")
        written[stream.isatty()] = stream.getvalue()
    assert written[True] == " 1% \x1b]8;;http://x\x1b\\A\\x1b\x1b]8;;\x1b\\\n 2% B\n"
    assert written[False] == " 1% A\\x1b\n 2% B\n"


def test_a_title_that_is_longer_than_a_line_of_the_terminal_is_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    title = "A title of many words"
    written = {}
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stdout", stream)
        output.put_document("0.9  ", title, "http://x", "one")
        written[stream.isatty()] = stream.getvalue()
    assert written[True] == "0.9  \x1b]8;;http://x\x1b\\A title of man…\x1b]8;;\x1b\\\n"
    assert written[False] == f"0.9  {title}  [one]\n"


def test_the_beginning_of_a_text_stands_below_its_title_on_a_terminal_alone(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    evil = "\x1b]0;x\x07\u202e\x9b" + "long " * 60
    written = {}
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr("sys.stdout", stream)
        output.put_document("0.9  ", "A", None, "one two " * 9, evil)
        written[stream.isatty()] = stream.getvalue()
    first, second, end = written[True].split("\n")
    assert first == "0.9  A  [one two one two one…"
    assert second == "         \\x1b]0;x\\x07\\u202e\\x…"
    assert end == ""
    first, end = written[False].split("\n")
    assert first.startswith("0.9  A  [one two one")
    assert "  \\x1b]0;x\\x07\\u202e\\x9blong long " in first
    assert end == ""
    assert all(text.replace("\n", "").isprintable() for text in written.values())
