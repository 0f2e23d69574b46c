"""What goes beyond the screen: the browser, links, the terminal's title, notices; and a new
start."""

import contextlib
import re
from pathlib import Path

import pytest

from tests.tui import canned, seeing
from tests.tui.standins import Launcher
from wikitopics.tui.browser import open_page
from wikitopics.tui.views.articles import ArticleList

BAUHAUS = "http://127.0.0.1:9/w/index.php?title=Bauhaus&oldid=9019"


async def test_an_article_is_opened_as_it_was_read(shown, live, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(
        "wikitopics.tui.views.view.open_page",
        lambda address: opened.append(address) or len(opened) == 1,
    )
    async with shown(live, size=(120, 40), words="film, actor") as (app, pilot):
        await pilot.press("w")
        assert not opened, "no article is chosen"
        await seeing.press(pilot, "3", shows="w Browser")
        await pilot.press("w")
        await seeing.until_true(lambda: opened)
        await pilot.press("down", "w")
        await seeing.until_true(lambda: app.clipboard)
        assert opened == [
            BAUHAUS,
            BAUHAUS.replace("Bauhaus", "Faroe_Islands").replace("9019", "9018"),
        ]
        assert app.clipboard == opened[1], "where no browser opens, the address can be pasted"


def test_a_browser_has_nothing_of_this_terminal(tmp_path, monkeypatch):
    browser = tmp_path / "browser"
    told = tmp_path / "told"
    browser.write_text(f'#!/bin/sh\necho noise; echo "$1|$TERM|$(tty)" > {told}\nexit $CODE\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(browser))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("CODE", "0")
    assert open_page(BAUHAUS + "';$(x)")
    assert told.read_text() == f"{BAUHAUS}';$(x)||not a tty\n"
    monkeypatch.setenv("CODE", "1")
    monkeypatch.setenv("PATH", "/nowhere")
    assert not open_page(BAUHAUS)


async def test_titles_are_links_where_the_terminal_takes_them(shown, live):
    async with shown(live, size=(120, 40)) as (app, pilot):
        await seeing.press(pilot, "3", shows="Bauhaus")
        listed = app.screen.query_one(ArticleList)
        assert "\x1b]8" not in listed.render_line(1).render(app.console)
        app.add_class("-links")
        drawn = [listed.render_line(y).render(app.console) for y in range(1, 30)]
        assert f";{BAUHAUS}\x1b\\" in drawn[0]
        # Whatever a title holds, nothing but these sequences reaches the terminal.
        ours = r"\x1b\]8;(id=\d+)?;(http://127\.0\.0\.1:9/[!-~]*?)?\x1b\\|\x1b\[[\d;]*m"
        rest = re.sub(ours, "", "".join(drawn))
        assert "script" in rest
        assert not {"\x1b", "\x07", "\u202e"} & set(rest)


async def test_the_title_and_the_notice(shown, tmp_path, monkeypatch):
    path = canned.build(tmp_path / "night.db")
    terminal = list[str]()
    monkeypatch.setattr(
        "wikitopics.tui.app.Wikitopics.tell_terminal", lambda _, told: terminal.append(told)
    )
    with contextlib.ExitStack() as trainer:
        trainer.enter_context(canned.live(path))
        async with shown(path, notify_by="osc9"):
            live = "\x1b]2;live 1,322 · 0.2%, 13 h left · night · wikitopics\x1b\\"
            await seeing.until_true(lambda: live in terminal)
            assert not any(one.startswith("\x1b]9") for one in terminal)
            trainer.close()
            await seeing.until_true(
                lambda: f"\x1b]9;wikitopics, {path}: trainer died\x1b\\" in terminal
            )
            title = "trainer died 1,322 · night · wikitopics"
            await seeing.until_true(lambda: f"\x1b]2;{title}\x1b\\" in terminal)


async def test_a_dead_trainer_is_started_again_once(shown, tmp_path):
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="dead"))
    launch = Launcher(begin=False)
    Path(f"{path}.log").write_text("the wiki refuses connections; trying\n")
    async with shown(path, launch=launch, size=(120, 40), words="TRAINER DIED") as (_, pilot):
        await seeing.until(pilot, "R restarts it")
        assert "refuses" in await seeing.press(pilot, "R", "R", shows="STARTING")
        await pilot.press("R")
        assert launch.started == [["train", "--session", str(path)]]


async def test_the_contact_is_asked_for_if_none_is_known(shown, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "wikitopics.crawler.mediawiki.kinds.WikiKind.needs_contact", lambda *_: True
    )
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="stopped"))
    launch = Launcher(begin=False)
    async with shown(path, launch=launch, size=(100, 30), words="STOPPED") as (_, pilot):
        await seeing.press(pilot, "R", shows="Your contact, for Wikimedia")
        await seeing.press(pilot, "escape", "R", shows="Your contact, for Wikimedia")
        assert not launch.started
        await seeing.press(pilot, *"me@host.org", "enter", shows="STARTING")
        assert launch.started


async def test_the_limits_of_a_run_started_elsewhere_hold_when_it_is_started_again(shown, tmp_path):
    given = {
        "rpm": 60,
        "threads": 2,
        "max_mb": 0.5,
        "articles": -1,
        "contact": "me@host.org",
        "speed": 9,
    }
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="dead", activity={"given": given}))
    launch = Launcher(begin=False)
    async with shown(path, launch=launch, size=(120, 40), words="TRAINER DIED") as (_, pilot):
        await seeing.press(pilot, "R", shows="STARTING")
    limits = ["--max-mb=0.5", "--threads=2", "--rpm=60"]
    assert launch.started == [["train", "--session", str(path), *limits]]


@pytest.mark.parametrize(
    ("activity", "says"),
    [
        ({}, "every article has been read once"),
        ({"article_limit": 12_480}, "12,480 has been reached"),
    ],
)
async def test_a_finished_session_says_why_nothing_starts(shown, tmp_path, activity, says):
    path = canned.build(tmp_path / "s.db", canned.Recipe(state="finished", activity=activity))
    async with shown(path, size=(100, 30), words="FINISHED") as (app, pilot):
        await pilot.press("R")
        await seeing.until_true(lambda: any(says in notice for notice in seeing.notices(app)))
