"""A dialog with one field for the name of a topic."""

import asyncio
from collections.abc import Callable
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from wikitopics.session.control.naming import checked
from wikitopics.session.errors import SessionError
from wikitopics.session.records import TopicRow
from wikitopics.session.storage.decoding import LONGEST_NAME
from wikitopics.tui.background import begin
from wikitopics.tui.dialogs.dialog import Dialog
from wikitopics.tui.widgets.entry import Entry
from wikitopics.tui.words import visible

HINT = (
    f"At most {LONGEST_NAME} characters. Enter saves it for every screen and export; an empty name restores "
    "the one made of its words."
)


class Rename(Dialog[str | None]):
    """Returns the topic's new name, or None if nothing changes."""

    TELLS = "#rename-told"

    def __init__(self, row: TopicRow, rename: Callable[[str], str]) -> None:
        """``rename`` takes the typed text and returns the topic's new name; it may raise `SessionError`."""
        super().__init__()
        self._row, self._rename = row, rename

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog form", can_focus=False) as box:
            box.border_title = Content(f"Name of topic {self._row.topic}")
            box.border_subtitle = "Esc cancels"
            yield Entry(visible(self._row.name), id="topic-name")
            yield Static(id="rename-told", classes="told")
            yield Static(HINT, classes="hint")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        try:
            checked(event.value)
        except SessionError as error:
            self.tell(str(error))
        else:
            self.tell("")

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if event.value == visible(self._row.name):
            self.dismiss(None)
        else:
            begin(self, partial(self._keep, event.value), "rename")

    async def _keep(self, name: str) -> None:
        try:
            called = await asyncio.to_thread(self._rename, name)  # a trainer may be saving
        except SessionError as error:
            self.tell(str(error))
        else:
            if self.is_current:
                self.dismiss(called)
