"""Whatever ends the screen, it is certain what becomes of the trainer that it has started."""

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.tui.terminals import LEAVE
from tests.waiting import until
from wikitopics.session import control
from wikitopics.session.system import owner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")

# A wiki large enough that the trainer does not finish before a busy machine has drawn its screen.
SIZE = 200_000
DEMO = (
    f"import sys; sys.argv[1:] = ['demo', '--wiki-size', '{SIZE}']; "
    "from wikitopics.__main__ import main; main()"
)
LARGER = (
    "from wikitopics.cli import main, screen; small = screen.open_demo; "
    f"screen.open_demo = lambda *more: small(*more, given=['--wiki-size', '{SIZE}']); "
)
LEFT = rb"the trainer \(pid (\d+)\) keeps running; `wikitopics stop --session demo` stops it"
SAVED = b"saved; `wikitopics topics --session demo` lists the topics"


def processes(home):
    """Everything that runs with this session folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if f"WIKITOPICS_HOME={home}\0".encode() in environment + b"\0":
            found.append(int(entry.name))
    return [pid for pid in found if pid != os.getpid()]


@pytest.fixture
def demo(home, opened):
    """Opens `wikitopics demo` in a terminal."""

    def start(code=DEMO, *, until=b"Freeze"):
        terminal = opened(code)
        terminal.wait_for(until)
        return terminal

    yield start
    for pid in processes(home):
        os.kill(pid, signal.SIGKILL)


def after(terminal):
    """What was written behind the screen."""
    terminal.end()
    assert b"Traceback" not in terminal.written
    _, left, behind = terminal.written.rpartition(LEAVE)
    return left + behind


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.2, 0.6, 1.0, 1.8, 3.0])
def test_ctrl_c_in_the_first_seconds_leaves_nothing_behind(demo, home, seconds):
    terminal = demo(until=b"")
    time.sleep(seconds)
    terminal.type(b"\x03")
    time.sleep(0.3)
    terminal.type(b"\x03")  # in the dialog, where the screen was there already
    terminal.end()
    assert b"Error" not in terminal.written, "it began"
    until(lambda: not processes(home))


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", [b"", b"starting the trainer", b"Freeze"])
def test_a_signal_to_the_screen_ends_its_trainer(demo, home, number, at):
    terminal = demo(until=at)
    if not at:
        until(lambda: len(processes(home)) > 1)
    os.kill(terminal.pid, number)
    said = after(terminal)
    assert terminal.code == 0
    assert SAVED in said or b"stopped before training began" in said
    until(lambda: not processes(home))


@pytest.mark.parametrize(
    "keys", [[b"q", b"s"], pytest.param([b"\x03", b"\x03"], marks=pytest.mark.long)]
)
def test_save_and_stop(demo, home, keys):
    terminal = demo()
    terminal.wait_for(b"LIVE")
    terminal.type(keys[0], shows=b"Leave it running")
    terminal.type(keys[1])
    assert SAVED in after(terminal)
    until(lambda: not processes(home))
    assert not (home / "demo.db-wal").exists()


def test_leave_it_running(demo, home):
    terminal = demo()
    terminal.wait_for(b"LIVE")
    terminal.type(b"q", shows=b"Leave it running")
    terminal.type(b"l")
    told = re.search(LEFT, after(terminal))
    trainer = owner(home / "demo.db")
    assert told is not None
    assert trainer is not None
    assert int(told[1]) == trainer.pid
    control.stop(home / "demo.db")
    until(lambda: not processes(home))


@pytest.mark.long
@pytest.mark.parametrize("at", [b"starting the trainer", b"Freeze"])
def test_a_closed_terminal_leaves_it_running(demo, home, at):
    terminal = demo(until=at)
    os.kill(terminal.pid, signal.SIGHUP)
    terminal.end()
    until(lambda: owner(home / "demo.db") is not None and (home / "demo.db").exists())
    control.stop(home / "demo.db")
    until(lambda: not processes(home))


@pytest.mark.long
def test_an_error_of_the_screen_ends_its_trainer(demo, home):
    fault = "import wikitopics.tui.app as app; app.Wikitopics.action_freeze = lambda self: 1 / 0; "
    terminal = demo(fault + DEMO)
    terminal.wait_for(b"LIVE")
    terminal.type(b" ")
    assert terminal.end() == 1
    assert SAVED in terminal.written
    until(lambda: not processes(home))


@pytest.mark.long
def test_without_a_network_the_sample_is_offered_at_once(demo, home):
    away = "http://127.0.0.1:9/w/api.php"
    code = f"{LARGER}import sys; sys.argv[1:] = ['--api-url', {away!r}]; main()"
    terminal = demo(code, until=b"embedded sample instead")
    terminal.wait_for(b"trying until")
    terminal.type(b"d", shows=b"LIVE")
    assert not (home / "default.db").exists()
    terminal.type(b"q", shows=b"Leave it running")
    terminal.type(b"s")
    assert SAVED in after(terminal)
