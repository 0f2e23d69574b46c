"""A screen that is asked to end while it is being opened ends in good order."""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widget import Widget

from tests.tui.standins import Process
from wikitopics.session.signals import Signals
from wikitopics.tui.app import Wikitopics
from wikitopics.tui.dialogs.ask import Ask
from wikitopics.tui.dialogs.contact import AskContact
from wikitopics.tui.first_question import Contact
from wikitopics.tui.screens import Main
from wikitopics.tui.views.dashboard import Dashboard


def ends_at(owner: type[Widget], step: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have the app asked to end when this step of a widget begins; returns whether it did, once."""
    whole, begun = getattr(owner, step), []

    @functools.wraps(whole)
    def cut_short(widget: Widget, *given: object) -> object:
        begun.append(step)
        widget.app.exit()
        return whole(widget, *given)

    monkeypatch.setattr(owner, step, cut_short)
    return begun


@pytest.mark.parametrize(
    ("owner", "step"),
    [
        (Main, "compose"),
        (Main, "on_mount"),
        (Main, "open_view"),
        (Dashboard, "fit"),
        (Dashboard, "compose"),
        (Dashboard, "on_mount"),
        (Dashboard, "home"),
    ],
)
async def test_the_screen(
    open_app: Callable[..., Wikitopics],
    two_models: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: type[Widget],
    step: str,
) -> None:
    begun = ends_at(owner, step, monkeypatch)
    app = open_app(two_models)
    await app.run_async(headless=True)
    assert begun
    assert app.return_code == 0


@pytest.mark.parametrize("step", ["compose", "on_mount"])
async def test_its_first_dialog(
    open_app: Callable[..., Wikitopics], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    begun = ends_at(Ask, step, monkeypatch)
    app = open_app(tmp_path / "new.db", trainer=Process())
    await app.run_async(headless=True)
    assert begun
    assert app.return_code == 0


@pytest.mark.parametrize("step", ["compose", "on_mount"])
async def test_the_first_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    begun = ends_at(AskContact, step, monkeypatch)
    with Signals() as signals:
        app = Contact(signals)
        await app.run_async(headless=True)
    assert begun
    assert app.return_code == 0


async def test_a_fault_that_has_nothing_to_do_with_it_is_told(
    open_app: Callable[..., Wikitopics], two_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends_at(Dashboard, "on_mount", monkeypatch)
    monkeypatch.setattr(Dashboard, "home", lambda _: 1 / 0)
    app = open_app(two_models)
    await app.run_async(headless=True)
    assert app.return_code == 1
