"""Base of the dialogs: a screen in front of the others, which ends once."""

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    """Ends with its first answer, and only when it is in front: Textual would end whichever screen is."""

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

    def on_screen_resume(self) -> None:
        if self._due is not None:
            self.dismiss(*self._due)
