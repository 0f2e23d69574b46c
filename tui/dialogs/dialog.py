"""Base of the dialogs: a screen in front of the others, which ends once."""

from textual import on
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Button, Static

from wikitopics.tui.words import visible


class Dialog(ModalScreen[ScreenResultType]):
    """Ends with its first answer, and only when it is in front: Textual would end whichever screen is."""

    BINDINGS = [Binding("escape", "dismiss(None)", "Close")]  # noqa: RUF012 - Textual's own convention
    TELLS = ""
    """The selector of the line in which `tell` shows words."""

    def __init__(self) -> None:
        super().__init__()
        self._due: tuple[ScreenResultType | None] | None = None

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """End with ``result``, at once or when it comes to the front again; later answers are ignored."""
        if self.is_active:
            return super().dismiss(result)
        if self._due is None:
            self._due = (result,)
        return AwaitComplete()

    def tell(self, words: str) -> None:
        """Show these words in the dialog, unless it has been closed."""
        for line in self.query(self.TELLS).results(Static):
            line.update(Content(visible(words)))

    @on(Button.Pressed, "#close")
    def _close_pressed(self) -> None:
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        if self._due is not None:
            self.dismiss(*self._due)
