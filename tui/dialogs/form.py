"""One row of a form: a label and its field."""

from collections.abc import Iterator

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Checkbox, Static


class Field(Horizontal):
    """A label and its field in one row."""

    def __init__(self, label: str, field: Widget, classes: str = "") -> None:
        super().__init__(classes=f"field {classes}")
        self._name_of, self._of = label, field

    def compose(self) -> ComposeResult:
        yield Static(Content(self._name_of), classes="label")
        yield self._of


def field(label: str, widget: Widget, classes: str = "") -> Iterator[Widget]:
    """The row."""
    yield Field(label, widget, classes)


class Tick(Checkbox):
    """A checkbox whose state is visible without colour."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        """The sign in the box."""
        return "x" if self.value else " "
