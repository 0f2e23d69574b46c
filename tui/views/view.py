"""What all views have in common."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from textual.containers import Container
from textual.widget import Widget

from wikitopics.session.records import ArticleRow, TopicRow
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.chart.chart import ZOOM, Chart
from wikitopics.tui.look import Choice, Look
from wikitopics.tui.messages import Ready

if TYPE_CHECKING:
    from wikitopics.tui.app import Wikitopics

T = TypeVar("T")

TINY_WIDTH, TINY_HEIGHT = 60, 16
"""With fewer cells than this, there is room only for numbers."""
A_TOPIC = "a topic's name, number or word"
"""What `/` finds in a list of topics."""


class View(Container):
    """A view. It draws the look that it is shown, and asks the session for anything else it needs."""

    TITLE = ""
    FINDS = ""
    """What `/` finds here; "" if there is nothing to find."""
    PANELS = 1
    """With one panel there is nothing to maximise."""
    OF_MODEL = True
    """Whether it shows the selected model."""
    LISTS_TOPICS = False
    """Whether it lists topics in the selected order."""

    look: Look | None = None
    """What was shown last."""
    choice = Choice()
    """What the user has chosen to see."""
    sought = ""
    """Only rows that contain this are shown."""

    def on_mount(self) -> None:
        self.post_message(Ready())

    async def ask(self, question: Callable[[SessionReader], T], *, aside: bool = False) -> T:
        """Put a question to the session's reader; ``aside``: one that may take long. Raises SessionError
        if the file cannot be read now; the status line says so."""
        answer = await cast("Wikitopics", self.app).ask(question, aside=aside)
        if not self.is_running:
            raise asyncio.CancelledError  # the view has gone meanwhile: nothing is left to fill
        return answer

    def show(self, look: Look, choice: Choice) -> None:
        """Draw this look."""
        self.look, self.choice = look, choice
        self.draw(look, choice)

    def draw(self, look: Look, choice: Choice) -> None:
        """Hand the look to the panels."""
        raise NotImplementedError

    def again(self) -> None:
        """Draw the same look again: something else has changed."""
        if self.is_mounted and self.look is not None:
            self.draw(self.look, self.choice)

    @property
    def model(self) -> str | None:
        """The model whose topics are listed."""
        return None if self.look is None else self.choice.model_of(self.look)

    def home(self) -> Widget | None:
        """The widget that has the focus when the view opens."""
        return None

    def fit(self, width: int, height: int) -> None:
        """Adjust to the terminal's size."""

    def find(self, text: str) -> None:
        """Show only rows that contain ``text``; "" shows everything."""
        self.sought = text
        self.refresh_bindings()
        self.again()

    def action_all(self) -> None:
        self.find("")

    def action_cross(self, columns: int) -> None:
        """Move the crosshair of the view's chart."""
        self.query_one(Chart).step(columns)

    def action_zoom(self, way: int) -> None:
        self.query_one(Chart).zoom(ZOOM if way > 0 else 1 / ZOOM)

    def action_reset(self) -> None:
        self.query_one(Chart).reset()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return bool(self.sought) if action == "all" else True

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
