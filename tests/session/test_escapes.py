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
        output.put_line(" 1% ", "A\x1b", "http://x")
        output.put_line(" 2% ", "B", None)
        written[stream.isatty()] = stream.getvalue()
    assert written[True] == " 1% \x1b]8;;http://x\x1b\\A\\x1b\x1b]8;;\x1b\\\n 2% B\n"
    assert written[False] == " 1% A\\x1b\n 2% B\n"
