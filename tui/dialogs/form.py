"""One line of a form: what it is, and the field."""

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
    """A box whose state can be told without colour."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        """What stands in the box."""
        return "x" if self.value else " "
