"""The app as its views know it."""

from pathlib import Path
from typing import Literal

from wikitopics.session.records import ArticleRow
from wikitopics.tui.follow import TrainerProcess, Watch
from wikitopics.tui.session_view import Choice, SessionView
from wikitopics.tui.terminal import TerminalApp

Ending = Literal["leave", "stop", "demo"]
"""What becomes of the trainers that a screen started when the screen is closed: they are left
running, stopped, or stopped to open the embedded sample instead."""


class Host(TerminalApp[Ending]):
    """What a view may ask of the app: the session on screen, what the user has chosen to see of it,
    and other views."""

    watched: Watch
    choice: Choice

    @property
    def path(self) -> Path:
        """The session on screen."""
        return self.watched.path

    @property
    def latest(self) -> SessionView | None:
        """The session as it was last read."""
        return self.watched.latest

    def show(self) -> None:
        """Draw the session as it was last read, in the view in sight."""
        raise NotImplementedError

    def settle(self) -> None:
        """Put the focus where the view in sight wants it."""
        raise NotImplementedError

    async def view_ready(self) -> None:
        """Draw a view that has just been made."""
        raise NotImplementedError

    async def follow(self, path: Path, trainer: TrainerProcess | None = None) -> None:
        """Switch to another session."""
        raise NotImplementedError

    async def open_topic(self, topic: int) -> None:
        """Show everything about this topic of the model in use."""
        raise NotImplementedError

    async def action_view(self, title: str) -> None:
        """Open a view, by its title."""
        raise NotImplementedError

    async def action_ask(self, article: ArticleRow | None = None) -> None:
        """Show the card of this article; without one, a field for a text to ask about."""
        raise NotImplementedError

    async def action_export(self, report: bool = False) -> None:
        """Ask what to export; with ``report``, write the report."""
        raise NotImplementedError
