"""What all views have in common."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar, cast

from textual.containers import Container
from textual.widget import Widget

from wikitopics.session.records import ArticleRow, TopicRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.inks import name as name
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.messages import Ready

T = TypeVar("T")

TINY_WIDTH, TINY_HEIGHT = 60, 16
"""With fewer cells than this, there is room only for numbers."""


class _Asks(Protocol):
    def ask(self, question: Callable[[SessionReader], T], *, aside: bool) -> Awaitable[T]: ...


class View(Container):
    """A view. It draws the look that it is shown, and asks the session for anything else it needs."""

    TITLE = ""
    PANELS = 1
    """With one panel there is nothing to maximise."""
    OF_MODEL = True
    """Whether it shows the selected model."""
    LISTS_TOPICS = False
    """Whether it lists topics in the selected order."""

    def on_mount(self) -> None:
        self.post_message(Ready())

    async def ask(self, question: Callable[[SessionReader], T], *, aside: bool = False) -> T:
        """Put a question to the session's reader; ``aside``: one that may take long. Raises SessionError
        if the file cannot be read now; the status line says so."""
        answer = await cast(_Asks, self.app).ask(question, aside=aside)
        if not self.is_running:
            raise asyncio.CancelledError  # the view has gone meanwhile: nothing is left to fill
        return answer

    def show(self, look: Look, choice: Choice) -> None:
        """Draw this look."""
        raise NotImplementedError

    def home(self) -> Widget | None:
        """The widget that has the focus when the view opens."""
        return None

    def fit(self, width: int, height: int) -> None:
        """Adjust to the terminal's size."""

    def find(self, text: str) -> None:
        """Show only rows that contain ``text``; "" shows everything."""

    def finds(self) -> str:
        """What `/` finds here; "" if there is nothing to find."""
        return ""

    def copied(self) -> str:
        """The text that `c` copies; "" for none."""
        return ""

    def chosen_topic(self) -> TopicRow | None:
        """The topic under the cursor; None in views without topics."""
        return None

    def chosen_article(self) -> ArticleRow | None:
        """The article under the cursor; None if there is none."""
        return None

    def maximise(self) -> None:
        """Give the focused panel all the room, or shrink it again."""
        focused = self.screen.focused
        inside = focused is not None and focused is not self and self in focused.ancestors
        on_now = self.has_class("-max")
        for widget in self.query(".-maximal"):
            widget.remove_class("-maximal")
        self.set_class(not on_now and inside, "-max")
        if on_now or focused is None or not inside:
            return
        for node in focused.ancestors_with_self:
            if node is self:
                break
            node.add_class("-maximal")
