"""The parts of a form: a row with a label and its field, and a checkbox."""

from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Checkbox, Static


def field(label: str, widget: Widget, classes: str = "") -> Widget:
    """A label and its field in one row."""
    return Horizontal(Static(Content(label), classes="label"), widget, classes=f"field {classes}")


class Tick(Checkbox):
    """A checkbox whose state is visible without colour."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        """The sign in the box."""
        return "x" if self.value else " "
