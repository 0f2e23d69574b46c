"""A screen that is asked to end while it is being opened ends in good order."""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widget import Widget

from tests.tui.standins import Process
from wikitopics.session.system import Signals
from wikitopics.tui.app import Main, Wikitopics
from wikitopics.tui.questions import Ask, AskContact, Contact
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
        *((Main, step) for step in ("compose", "on_mount", "open_view")),
        *((Dashboard, step) for step in ("fit", "compose", "on_mount", "home")),
        *((Ask, step) for step in ("compose", "on_mount")),  # the dialog while there is no session yet
    ],
)
async def test_the_screen(
    open_app: Callable[..., Wikitopics],
    two_models: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: type[Widget],
    step: str,
) -> None:
    begun = ends_at(owner, step, monkeypatch)
    app = open_app(tmp_path / "new.db", trainer=Process()) if owner is Ask else open_app(two_models)
    await app.run_async(headless=True)
    assert begun
    assert app.return_code == 0


@pytest.mark.parametrize("step", ["compose", "on_mount"])
async def test_the_first_question(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
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
