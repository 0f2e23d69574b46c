"""The terminal is given back as it was found, whatever ends the screen (seen through a pty)."""

import json
import os
import pty
import signal
import threading
import tty
from contextlib import suppress
from types import SimpleNamespace

import pytest

from tests.session.rows import sql
from tests.tui import canned, seeing
from tests.tui.terminals import ENTER, LEAVE, Terminal
from tests.waiting import until
from wikitopics.session import escapes
from wikitopics.session.system import TrainerLock
from wikitopics.tui.main_screen import VIEWS
from wikitopics.tui.terminal import TerminalOutput, speaks_utf8

SHOW_CURSOR = b"\x1b[?25h"
MOUSE_OFF = b"\x1b[?1000l"
KEEP = escapes.KEEP_TITLE.encode()
TITLE = b"wikitopics\x1b\\"
GIVE_BACK = escapes.GIVE_BACK_TITLE.encode()
OPEN = (
    "from pathlib import Path\nfrom wikitopics.session.signals import Signals\n"
    "from wikitopics.tui.app import run\nwith Signals() as s: run(Path({!r}), s)"
)


@pytest.fixture
def screen(two_models, opened):
    def start(before=""):
        terminal = opened(
            f"import wikitopics.tui.app as app; {before}\n{OPEN.format(str(two_models))}"
        )
        for words in (b"articles", b"Freeze", TITLE):
            terminal.wait_for(words)
        return terminal

    return start


def check_restored(terminal):
    written = terminal.written
    at = [written.find(words) for words in (KEEP, TITLE, GIVE_BACK)]
    assert -1 < at[0] < at[1] < at[2], "the window has its own title again"
    assert written.count(KEEP) == written.count(GIVE_BACK) == 1
    assert written.count(ENTER) == 1
    assert written.rindex(LEAVE) > written.rindex(ENTER)
    assert SHOW_CURSOR in written[written.rindex(ENTER) :]
    assert MOUSE_OFF in written[written.rindex(ENTER) :]


@pytest.mark.parametrize("keys", [b"q", b"\x03"], ids=["q", "ctrl-c"])
def test_after_a_key(screen, keys):
    terminal = screen()
    terminal.type(keys)
    assert terminal.end() == 0
    check_restored(terminal)


@pytest.mark.parametrize(
    "what",
    [b"\xff", b"\x1b[999999999999A", b"\x1b[9999999;5u"],
    ids=["not UTF-8", "huge", "no character"],
)
def test_input_that_is_no_key_ends_nothing(screen, what):
    terminal = screen()

    def left():
        os.write(
            terminal.fd, b"\x03"
        )  # again and again, since what comes beside that input is dropped
        with suppress(AssertionError):
            terminal.read(lambda written: LEAVE in written, patience=1.0)
        return LEAVE in terminal.written

    os.write(terminal.fd, what)
    until(left)
    assert terminal.end() == 0
    assert b"Traceback" not in terminal.written
    check_restored(terminal)


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        *(pytest.param(n, marks=pytest.mark.long) for n in (signal.SIGHUP, signal.SIGINT)),
    ],
)
def test_after_a_signal(screen, number):
    terminal = screen()
    os.kill(terminal.pid, number)
    assert terminal.end() == 0
    check_restored(terminal)


@pytest.mark.parametrize("keys", [b"\x1a", b""], ids=["ctrl-z", "a signal from elsewhere"])
def test_a_suspended_screen_gives_the_terminal_back_and_paints_all_of_it_anew(screen, keys):
    """Without a shell that could continue it, it goes on at once."""
    terminal = screen()
    for number in (signal.SIGTSTP, signal.SIGCONT):
        seen = len(terminal.written)
        if keys:
            terminal.type(keys)
        else:
            os.kill(terminal.pid, number)
        for words in (b"Freeze", b"Perplexity"):  # the last line and the first panel
            terminal.read(lambda written: words in written[seen:].partition(ENTER)[2])  # noqa: B023
        assert LEAVE in terminal.written[seen:].partition(ENTER)[0]
    terminal.type(b"q")
    assert terminal.end() == 0
    assert terminal.written.count(KEEP) == terminal.written.count(GIVE_BACK)


def test_it_draws_on_the_terminal_though_standard_error_is_a_file(screen, tmp_path):
    file = tmp_path / "errors"
    terminal = screen(f"import os; os.dup2(os.open({str(file)!r}, os.O_WRONLY | os.O_CREAT), 2)")
    terminal.type(b"q")
    assert terminal.end() == 0
    check_restored(terminal)
    assert file.read_bytes() == b""


def test_after_a_fault(screen):
    terminal = screen("app.Wikitopics.action_freeze = lambda self: 1 / 0")
    terminal.type(b" ")
    assert terminal.end() == 1
    check_restored(terminal)
    assert b"ZeroDivisionError" in terminal.written[terminal.written.rindex(LEAVE) :]


@pytest.mark.parametrize(
    "before", ["", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"]
)
def test_a_terminal_that_goes_away_ends_the_screen(two_models, before):
    terminal = Terminal(before + OPEN.format(str(two_models)))
    terminal.wait_for(b"Freeze")
    os.close(terminal.fd)
    try:
        until(lambda: os.waitpid(terminal.pid, os.WNOHANG)[0])
    except AssertionError:
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
        raise


@pytest.fixture
def pty_pair():
    """A terminal that nobody reads: its other side, and itself."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_a_terminal_that_takes_nothing_does_not_hold_up_the_end(pty_pair, monkeypatch):
    monkeypatch.setattr("wikitopics.tui.terminal.PATIENCE", 0.2)
    drawing = TerminalOutput(pty_pair[1], "utf-8")
    end = threading.Timer(0.3, setattr, (drawing, "ending", True))
    end.start()
    drawing.write("x" * 500_000)
    assert drawing.ending
    assert not os.isatty(pty_pair[1])  # what is said behind the screen does not wait for it either


HANGS = """if True:
    import contextlib, os, signal
    from pathlib import Path
    from wikitopics.session.signals import Signals
    from wikitopics.tui import app, terminal

    os.set_blocking(1, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(1, b"x" * 100)
    os.set_blocking(1, True)
    terminal.PATIENCE = 0.2
    with Signals() as signals:
        os.kill(os.getpid(), signal.SIGTERM)
        app.run(Path({!r}), signals)
"""
"""Opens a screen that was told to end before, on a terminal that takes nothing."""


def test_nor_does_it_where_the_signal_came_before_the_screen(two_models, opened):
    terminal = opened(HANGS.format(str(two_models)))
    until(lambda: os.waitid(os.P_PID, terminal.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
    assert terminal.end() == 0


def test_what_is_drawn_arrives_whole(pty_pair):
    tty.setraw(pty_pair[1])
    words = "é" * 100_000
    arrived = b""
    writing = threading.Thread(target=TerminalOutput(pty_pair[1], "utf-8").write, args=(words,))
    writing.start()
    while len(arrived) < 2 * len(words):
        arrived += os.read(pty_pair[0], 65536)
    writing.join()
    assert arrived.decode() == words


@pytest.mark.parametrize("begins", [True, False])
def test_a_watcher_waits_for_a_trainer_however_long_it_takes(tmp_path, opened, begins):
    path = tmp_path / "night.db"
    with TrainerLock(path):
        terminal = opened(
            f"from wikitopics.cli import main; main(['watch', '--session', {str(path)!r}])"
        )
        terminal.wait_for(b"night.db to begin")
        if begins:
            canned.build(path, canned.Recipe(state="stopped"))
    if begins:
        terminal.wait_for(b"STOPPED")
        terminal.type(b"q")
    assert terminal.end() == (0 if begins else 1)
    assert b"Traceback" not in terminal.written


def test_a_watcher_that_comes_before_the_trainer_waits_for_it(tmp_path, opened):
    path = tmp_path / "night.db"
    terminal = opened(
        f"from wikitopics.cli import main; main(['watch', '--session', {str(path)!r}])"
    )
    terminal.wait_for(b"night.db yet: waiting")
    canned.build(tmp_path / "made.db", canned.Recipe(state="stopped")).rename(path)
    terminal.wait_for(b"STOPPED")
    terminal.type(b"q")
    assert terminal.end() == 0


def test_a_watcher_does_not_wait_for_ever(tmp_path, opened):
    code = "from wikitopics.cli import main, screen; screen.BEGIN_SECONDS = 0.2; "
    terminal = opened(code + f"main(['watch', '--session', {str(tmp_path / 'nigth.db')!r}])")
    assert terminal.end() == 1
    assert b"there is no session" in terminal.written
    assert b"Traceback" not in terminal.written


def test_the_contact_screen_gives_the_terminal_back(opened):
    asked = "from wikitopics.tui.questions import ask_contact; print('ANSWER', ask_contact())"
    terminal = opened(asked)
    terminal.wait_for(b"Your contact")
    terminal.type(b"nonsense\r", shows=b"does not look like")
    terminal.written = b""
    terminal.type(
        b"\x7f" * 8, shows=b"you@host.org"
    )  # letters overtake keys that are bound to actions
    terminal.type(b"me@x.org\r")
    assert terminal.end() == 0
    assert b"ANSWER saved" in terminal.written[terminal.written.rindex(LEAVE) :]


@pytest.mark.parametrize(
    ("said", "speaks"),
    [
        ({}, True),
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LC_CTYPE": "UTF-8"}, True),
        ({"LANG": "C"}, False),
        ({"LANG": "de_DE@euro"}, False),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "C", "LC_ALL": "C.UTF-8"}, True),
    ],
)
def test_what_the_user_says_of_the_terminal_counts(monkeypatch, said, speaks):
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    for encoding, expected in (("utf-8", speaks), ("latin-1", False)):
        stream = SimpleNamespace(encoding=encoding)
        flags = SimpleNamespace(utf8_mode=0)
        monkeypatch.setattr(
            "wikitopics.tui.terminal.sys", SimpleNamespace(flags=flags, __stdout__=stream)
        )
        assert speaks_utf8() is expected


async def test_nothing_that_a_session_holds_acts_on_the_terminal(shown, tmp_path):
    path = canned.build(
        tmp_path / "home" / "s.db", canned.Recipe(models=("lda", "hdp"), state="finished")
    )
    evil = "\x1b]52;c;ZXZpbA==\x07\x9b31m\u202e"
    for table, column in ("articles", "title"), ("events", "message"), ("topic_events", "name"):
        sql(path, f"UPDATE {table} SET {column} = ? || {column}", evil)
    sql(path, "UPDATE runs SET reason = ?", evil)
    for topic in range(20):
        sql(path, "INSERT INTO given_names VALUES (0, ?, ?)", topic, f"{evil}{topic}")
    sql(path, "UPDATE settings SET value = ? WHERE key = 'source_name'", json.dumps(evil))
    seen = []
    copied = set[str]()
    async with shown(path, size=(200, 60), words="FINISHED") as (app, pilot):
        for view in range(len(VIEWS)):
            await pilot.press(str(view + 1))
            for key in ("down", "enter", "m", "c", "e", "escape"):
                await pilot.press(key)
                await pilot.pause()
                seen.append(seeing.text(app))
                copied.add(app.clipboard)
    for text in (*seen, *copied):
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text), text
    assert any(r"\x1b]52" in text for text in seen)
    assert len(copied) > 1, "at first it is empty"
