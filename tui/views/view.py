"""What all six views have in common."""

from textual.containers import Container
from textual.widget import Widget

from tui.look import Choice, Look
from tui.messages import Ready


class View(Container):
    """One of the six. It draws what it is shown, and asks the app for everything else."""

    TITLE = ""

    def on_mount(self) -> None:
        self.post_message(Ready())

    def show(self, look: Look, choice: Choice) -> None:
        """Draw this look."""
        raise NotImplementedError

    def home(self) -> Widget | None:
        """What has the focus when the view opens."""
        return None

    def fit(self, width: int, height: int) -> None:
        """The terminal has this size now."""

    def copied(self) -> str:
        """What `c` copies; "" for nothing."""
        return ""

    def maximise(self) -> None:
        """Give the focused panel all the room, or take it back."""
