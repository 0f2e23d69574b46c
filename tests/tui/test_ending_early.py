"""A screen that is asked to end while it is being opened ends in good order."""

import functools

import pytest

from tests.tui.standins import Process
from wikitopics.session.signals import Signals
from wikitopics.tui.main_screen import Main
from wikitopics.tui.questions import AskContact, Contact, Question
from wikitopics.tui.views.dashboard import Dashboard


def ends_at(owner, step, monkeypatch):
    """Have the app asked to end when this step of a widget begins; returns whether it did, once."""
    whole = getattr(owner, step)
    begun = []

    @functools.wraps(whole)
    def cut_short(widget, *given):
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
        # The dialog while there is no session yet.
        *((Question, step) for step in ("compose", "on_mount")),
        *((AskContact, step) for step in ("compose", "on_mount")),  # the first question
    ],
)
async def test_the_screen(open_app, two_models, tmp_path, monkeypatch, owner, step):
    begun = ends_at(owner, step, monkeypatch)
    with Signals() as signals:
        if owner is AskContact:
            app = Contact(signals)
        else:
            app = (
                open_app(tmp_path / "new.db", trainer=Process())
                if owner is Question
                else open_app(two_models)
            )
        await app.run_async(headless=True)
    assert begun
    assert app.return_code == 0


async def test_a_fault_that_has_nothing_to_do_with_it_is_told(open_app, two_models, monkeypatch):
    ends_at(Dashboard, "on_mount", monkeypatch)
    monkeypatch.setattr(Dashboard, "home", lambda _: 1 / 0)
    app = open_app(two_models)
    await app.run_async(headless=True)
    assert app.return_code == 1
