"""`watch --web`: a read-only screen in a browser, for whoever has its address and for nobody
else."""

import asyncio
import contextlib
import http.client
import itertools
import re
import signal
import socket
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from textual.app import SystemCommand
from textual.color import Color
from textual.widgets import Input

from tests import waiting
from tests.browsers import too_small
from tests.tui import canned, seeing
from tests.tui.opening import KEYS, is_open
from wikitopics.extra import WEB
from wikitopics.tui import terminal, viewer
from wikitopics.tui.bars import KeyBar
from wikitopics.tui.main_screen import NUMBERED
from wikitopics.tui.views.view import View

ENDS = {"q", "ctrl+c", "ctrl+q"}
BUTTONS = [f"f{number}" for number in range(1, len(NUMBERED) + 1)]
"""What the page's buttons type."""
WRITES = (
    "delete",
    "export",
    "new",
    "pause",
    "picture",
    "rename",
    "restart",
    "save",
    "suspend_process",
)
attempts: list[str] | None = None
"""What has been tried to change outside this process, from when a test sets it."""


def audit(event, values):
    if attempts is not None and viewer.changes(event, values):
        attempts.append(f"{event} {values}")


sys.addaudithook(audit)


def contents(folder):
    """Each session and what else lies there, but for the files that SQLite makes for its
    readers."""
    return {
        file: file.read_bytes()
        for file in folder.iterdir()
        if not file.name.endswith(("-shm", "-wal"))
    }


@pytest.mark.long
async def test_no_key_and_no_command_changes_anything(live, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.setattr(viewer.Viewer, "open_url", lambda *_: None)  # the browser's part
    monkeypatch.setattr(sys.modules[__name__], "attempts", [])
    app = viewer.Viewer(live)
    before = contents(live.parent)
    commands = dict[str, SystemCommand]()

    async def back():
        while len(app.screen_stack) > 1 or app.main.finding:
            await pilot.press("escape")

    async with app.run_test(size=(120, 40)) as pilot:
        await seeing.until(pilot, "film, actor")
        for title, opens in KEYS.items():
            await pilot.press(*opens)
            await seeing.until_true(lambda title=title: is_open(app, title))
            commands |= {each.title: each for each in app.get_system_commands(app.screen)}
            bound = {
                key for _, bindings in app.screen._binding_chain for key in bindings.key_to_bindings
            }
            for key in sorted(bound - ENDS - {*"1234567", *BUTTONS}):
                await pilot.press(key)
                await back()
        del commands[next(title for title in commands if title.startswith("Close this screen"))]
        for command in commands.values():
            work = command.callback()
            if work is not None:
                await work
            await back()
        for node, action in itertools.product((app, *app.main.query(View)), WRITES):
            assert not await app.run_action(action, node)
            assert getattr(node, f"action_{action}", lambda: None)() is None
        await pilot.press("q")
    assert (attempts, told, contents(live.parent), [*tmp_path.iterdir()]) == ([], [], before, [])


async def test_a_button_opens_its_view_but_types_nothing_into_a_dialog(live):
    app = viewer.Viewer(live)
    async with app.run_test(size=(60, 40)) as pilot:
        await seeing.until(pilot, "film, actor")
        for button, kind in zip(BUTTONS, NUMBERED, strict=True):
            await pilot.press("slash", button)
            await seeing.until_true(lambda kind=kind: app.main.current == kind.TITLE)
        await pilot.press("ctrl+p")
        palette = app.screen
        await pilot.press(BUTTONS[1])
        assert palette is app.screen is not app.main
        assert palette.query_one(Input).value == ""
        assert app.main.current == NUMBERED[-1].TITLE


@pytest.mark.parametrize("view", ["Dashboard", "Crawl"])
async def test_of_a_pause_it_offers_no_key(tmp_path, view):
    recipe = canned.Recipe(state="paused")
    path = canned.build(tmp_path / "s.db", recipe)
    app = viewer.Viewer(path)
    with canned.live(path, recipe):
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press(*KEYS[view])
            told = await seeing.until(pilot, "paused by hand")
    assert "resumes" not in told


async def test_quit_is_a_key_but_not_in_the_bar_where_a_thumb_could_hit_it(live):
    app = viewer.Viewer(live)
    async with app.run_test(size=(300, 40)) as pilot:
        await seeing.until(pilot, "film, actor")
        bar = app.main.query_one(KeyBar).render_line(0).text
        assert "? Help" in bar
        assert "Quit" not in bar
        await pilot.press("q")
    assert not app.is_running


def test_what_is_wrong_is_told_before_anything_is_served(cli, trained, one_line, monkeypatch):
    one_line(
        cli("watch", "--web", "--port", 90, "--host", "0.0.0.0"), 2, "ssh -L 90:127.0.0.1:90 HOST"
    )
    one_line(cli("watch", "--port", 90), 2, "need --web")
    monkeypatch.setattr("wikitopics.extra._is_installed", lambda package: False)
    one_line(cli("watch", "--web"), 2, WEB.command)
    monkeypatch.setattr("wikitopics.extra._is_installed", lambda package: True)
    one_line(cli("watch", "--web", "--session", "missing"), 1, "there is no session")


@pytest.fixture
def served(trained, spawn, monkeypatch):
    """A server of a session whose name no shell and no page should take for its own: process and
    address."""
    odd = trained.rename(trained.with_name("a';$(touch x) &<b>.db"))
    monkeypatch.setenv("SECRET", "for nobody")
    two = "from wikitopics.tui import web; web.MOST_VIEWERS = 2; "
    two += "from wikitopics.cli import main; main()"
    process = spawn("watch", "--web", "--session", odd, program=("-c", two), cwd=trained.parent)
    yield process, process.stdout.readline().strip()
    process.kill()
    process.communicate()


def viewers(process):
    """The processes behind browsers."""
    children = []
    for thread in Path(f"/proc/{process.pid}/task").iterdir():
        # A thread may end between being listed and being asked.
        with contextlib.suppress(OSError):
            children += map(int, (thread / "children").read_text().split())
    return children


def get(address, path, **headers):
    parts = urlsplit(address)
    with contextlib.closing(http.client.HTTPConnection(parts.hostname, parts.port)) as connection:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode(errors="replace")


@pytest.mark.interop
def test_nothing_is_told_to_whoever_lacks_the_token_or_asks_for_another_site(
    served,
    cli,
    one_line,
    home,
):
    process, address = served
    parts = urlsplit(address)
    for path in (
        "/",
        "/ws",
        "/js/textual.js",
        f"/{'x' * 43}/",
        f"/{'x' * 43}/ws",
        "/%ff/ws",
        "//",
        "/../",
    ):
        assert get(address, path)[0] == 403
    for header, value in (
        ("Host", "evil.example"),
        ("Host", ""),
        ("Origin", "http://evil.example"),
    ):
        for path in ("", "ws", "js/textual.js"):
            assert get(address, parts.path + path, **{header: value})[0] == 403
    for host in (parts.netloc, "localhost:9", "127.0.0.1"):
        status, headers, text = get(address, parts.path, Host=host)
        assert (status, f'"ws://{host}{parts.path}ws"' in text) == (200, True)
        assert headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert "a&#x27;;$(touch x) &amp;&lt;b&gt;" in text
    assert get(address, f"{parts.path}js/../../server.py")[0] == 404
    (session,) = home.glob("*.db")
    one_line(
        cli("watch", "--web", "--port", parts.port, "--session", session),
        1,
        "Address already in use",
    )
    assert viewers(process) == []


RECORD = """
const Socket = WebSocket; window.drawn = "";
window.WebSocket = class extends Socket { constructor(...all) { super(...all);
    this.addEventListener("message", ({data}) =>
        drawn += data instanceof ArrayBuffer ? new TextDecoder().decode(data) : ""); } };
"""


def recorded(browser, address):
    """Open the page in the browser; returns a function that waits until these words were drawn."""
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": RECORD})
    browser.get(address)
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    return lambda words: waiting.until(
        lambda: words in browser.execute_script("return window.drawn")
    )


async def seen(browser, words):
    """Read what is drawn until it has these words."""
    drawn = b""
    while words not in drawn:
        drawn += (await asyncio.wait_for(browser.receive(), 60)).data


@pytest.mark.interop
@pytest.mark.parametrize(
    ("path", "theme"), [("ws", terminal.DARK), ("ws/light", terminal.LIGHT)], ids=["dark", "light"]
)
async def test_the_screen_is_as_light_or_dark_as_the_browser(served, path, theme):
    _, address = served
    red, green, blue = Color.parse(theme.background).rgb
    async with (
        aiohttp.ClientSession() as client,
        client.ws_connect(f"{address}{path}?width=80&height=24") as browser,
    ):
        await seen(browser, f"48;2;{red};{green};{blue}".encode())


def environment(process):
    """The environment of the viewer, once it has begun: until then, it is the server's."""
    found = []

    def is_told():
        for viewer_process in viewers(process):
            told = Path(f"/proc/{viewer_process}/environ").read_text(encoding="utf-8")
            if "TEXTUAL_FPS" in told:
                found.append(told)
        return found

    waiting.until(is_told)
    return found[0]


@pytest.mark.interop
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_the_page_is_as_light_or_dark_as_the_browser_and_fits_a_phone(served, browser, scheme):
    process, address = served
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    shows = recorded(browser, address)

    told = environment(process)
    ground = terminal.LIGHT if scheme == "light" else terminal.DARK
    paper = "return getComputedStyle(document.body).backgroundColor"
    assert Color.parse(browser.execute_script(paper)) == Color.parse(ground.background)
    assert ("COLORFGBG=0;15" in told) == (scheme == "light")
    (columns,) = re.findall(r"\0COLUMNS=(\d+)\0", told)
    assert 60 <= int(columns) < 80
    assert browser.execute_script("return document.documentElement.scrollWidth") == 390
    assert too_small(browser, "button") == []
    names = "return [...document.querySelectorAll('nav button')].map(button => button.textContent)"
    assert browser.execute_script(names) == [kind.TITLE for kind in NUMBERED]
    shows("FINISHED")
    lower_edge = "return document.getElementById('terminal').getBoundingClientRect().bottom"
    assert browser.execute_script(lower_edge) == 844 - 2 * 44
    for button, words in (("Topics", "Topics by share"), ("Dashboard", "Perplexity")):
        browser.execute_script("window.drawn = ''")
        browser.find_element("xpath", f"//button[.='{button}']").click()
        shows(words)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert not browser.find_element("tag name", "nav").is_displayed()


def touch(browser, kind, *points):
    """Put a finger on the page, move it, or lift it."""
    at = [{"x": x, "y": y} for x, y in points]
    browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})


@pytest.fixture
def phone(browser):
    """The browser as a phone that is held sideways."""
    size = {"width": 844, "height": 390, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    yield browser
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.interop
def test_on_a_phone_held_sideways_thumbs_scroll_click_and_type(served, phone):
    process, address = served
    shows = recorded(phone, address)
    (rows,) = re.findall(r"\0ROWS=(\d+)\0", environment(process))
    assert int(rows) >= 18
    shows("FINISHED")

    def press(button):
        phone.execute_script("window.drawn = ''")
        phone.find_element("xpath", f"//button[.='{button}']").click()

    press("? Help")
    shows("held-out")
    below = "explain all keys and signs"
    assert below not in phone.execute_script("return window.drawn")
    touch(phone, "touchStart", (400, 250))
    for y in range(240, 40, -10):
        touch(phone, "touchMove", (400, y))
    touch(phone, "touchEnd")
    shows(below)
    press("Esc")
    shows("Perplexity")
    press("Topics")
    shows("Topics by share")
    phone.execute_script("window.drawn = ''")
    touch(phone, "touchStart", (200, 3.5 * 13))
    touch(phone, "touchEnd")
    shows("over time")
    phone.switch_to.active_element.send_keys("q")
    waiting.until(lambda: phone.find_element("class name", "ended").is_displayed())
    press("Topics")
    waiting.until(lambda: not phone.find_element("class name", "ended").is_displayed())
    waiting.until(lambda: viewers(process))


@pytest.mark.interop
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
async def test_no_process_outlives_its_browser_or_the_server(served, home, number):
    process, address = served
    before = contents(home)
    async with aiohttp.ClientSession() as client:
        sockets = [await client.ws_connect(f"{address}ws?width=100&height=1e9") for _ in range(2)]
        for each in sockets:
            await seen(each, b"FINISHED")
        status, _, text = get(address, urlsplit(address).path)
        assert (status, text) == (503, "2 browsers watch already: close one, then reload")
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect(f"{address}ws")
        closed, left = viewers(process)
        assert b"SECRET" not in Path(f"/proc/{left}/environ").read_bytes()
        await sockets[0].send_json(
            ["resize", {"width": -1, "height": "many"}]
        )  # which no browser says
        await sockets[1].send_json(["stdin", "e"])
        await sockets[1].send_json(["stdin", "PRSND?"])
        await seen(sockets[1], b"Help")
        await waiting.until_true(lambda: viewers(process) == [left])
        assert waiting.gone(closed)
        process.send_signal(getattr(signal, number))
        await waiting.until_true(lambda: waiting.gone(left) and process.poll() is not None)
        for each in sockets:
            await each.close()
    code = -9 if number == "SIGKILL" else 0
    assert process.returncode == code
    told = process.stderr.read()
    assert "Traceback" not in told
    assert told.count("\n") == 2
    assert contents(home) == before


@pytest.fixture
def crowded(trained, spawn):
    """A server that may open 64 files and waits half a second for a request: process, address and
    port."""
    limits = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); "
    limits += "from wikitopics.tui import web; web.REQUEST_SECONDS = 0.5; "
    program = limits + "from wikitopics.cli import main; main()"
    process = spawn(
        "watch",
        "--web",
        "--session",
        trained,
        program=("-c", program),
        cwd=trained.parent,
    )
    address = process.stdout.readline().strip()
    yield process, address, urlsplit(address).port
    process.kill()
    process.communicate()


def connected(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def is_closed(connection):
    """Whether the server closes the connection, without an answer or after one."""
    with contextlib.suppress(ConnectionError):
        while connection.recv(4096):
            pass
    return True


@pytest.mark.interop
@pytest.mark.parametrize("sends", [b"", b"GET / HT", b"GET /x/ws HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
def test_whoever_has_the_token_gets_in_past_hundreds_of_idle_connections(crowded, sends):
    process, address, port = crowded
    page = urlsplit(address).path
    with contextlib.ExitStack() as held:
        for number in range(300):
            one = held.enter_context(connected(port))
            with contextlib.suppress(ConnectionError):
                one.sendall(sends)
            if number % 100 == 99:
                assert get(address, page)[0] == 200
        assert get(address, page)[0] == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert process.stderr.read().count("\n") == 2, "what it says when it begins, and nothing else"


@pytest.mark.interop
def test_it_ends_quietly_among_more_connections_than_it_has_files_for(crowded):
    process, address, port = crowded
    with contextlib.ExitStack() as held:
        for _ in range(300):
            one = held.enter_context(connected(port))
            with contextlib.suppress(ConnectionError):
                one.sendall(b"GET / HT")
        assert get(address, urlsplit(address).path)[0] == 200
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(ConnectionError):
            while True:  # until nothing listens any more
                held.enter_context(connected(port))
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.count("\n") == 2, "what it says when it begins, and nothing else"


@pytest.mark.interop
def test_a_connection_is_closed_that_sends_no_whole_request_in_time(crowded):
    _, address, port = crowded
    slow = connected(port)
    idle = connected(port)
    with slow, idle, contextlib.suppress(ConnectionError):
        for letter in b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 100:
            slow.sendall(bytes([letter]))
            time.sleep(0.05)
        raise AssertionError("headers came byte by byte without end")
    idle = connected(port)
    with idle:
        assert is_closed(idle)
    used = connected(port)
    with used:  # the next request may not come later than the first
        used.sendall(
            f"GET {urlsplit(address).path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        )
        assert used.recv(12) == b"HTTP/1.1 200"
        assert is_closed(used)
    stranger = connected(port)
    with stranger:  # without the token, there is no next request, and no body is waited for
        stranger.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n")
        assert stranger.recv(12) == b"HTTP/1.1 403"
        assert is_closed(stranger)
    assert get(address, urlsplit(address).path)[0] == 200


@pytest.mark.interop
async def test_browsers_beside_a_crowd(crowded):
    """As many as are allowed open their screens while strangers hold what they can."""
    process, address, port = crowded
    with contextlib.ExitStack() as held:
        async with aiohttp.ClientSession() as client:
            browsers = []
            for _ in range(2):
                for _ in range(40):
                    held.enter_context(connected(port))
                browsers.append(await client.ws_connect(f"{address}ws?width=100&height=30"))
                await seen(browsers[-1], b"FINISHED")
            for each in browsers:
                await each.close()
    await waiting.until_true(lambda: not viewers(process))


def test_the_oldest_of_too_many_strangers_goes():
    class Connection:
        transport: object = "open"

        def force_close(self):
            self.transport = None

    web = pytest.importorskip("wikitopics.tui.web", exc_type=ImportError)
    door = web.Door(3)
    made = [door.open(Connection) for _ in range(3)]
    door.let_in(made[0])
    made += [door.open(Connection) for _ in range(3)]
    assert [one.transport for one in made] == ["open", None, None, "open", "open", "open"]


@pytest.mark.interop
def test_it_is_shown_in_a_browser_that_asks_nobody_else(served, browser):
    process, address = served

    first = browser.current_window_handle
    for window in (first, None):
        if window is None:
            browser.switch_to.new_window("tab")
        shows = recorded(browser, address)
        shows("FINISHED")
    browser.switch_to.active_element.send_keys("2")
    shows("Topics by share")
    loaded = "return performance.getEntriesByType('resource').map(each => each.name)"
    files = {name.removeprefix(address) for name in browser.execute_script(loaded)}
    assert files == {"css/xterm.css", "js/textual.js", "fonts/RobotoMono-VariableFont_wght.ttf"}
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert len(viewers(process)) == 2
    browser.close()
    browser.switch_to.window(first)
    waiting.until(lambda: len(viewers(process)) == 1)
    browser.switch_to.active_element.send_keys("q")
    waiting.until(lambda: browser.find_element("class name", "ended").is_displayed())
    waiting.until(lambda: not viewers(process))
    browser.get("about:blank")
