"""Commands from the screen to trainers: pause, save, restart, and stop with the screen."""

from collections.abc import Callable
from pathlib import Path

from rich.text import Text
from textual import on
from textual.worker import Worker, WorkerState

from wikitopics.session.control import launch
from wikitopics.session.errors import SessionError
from wikitopics.session.paths import session_name
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.controls import Controls, TrainerProcess, Trainers
from wikitopics.tui.dialogs.ask import Ask
from wikitopics.tui.dialogs.starting import Agree
from wikitopics.tui.following import Following
from wikitopics.tui.look import Choice
from wikitopics.tui.messages import NewSession as AskNewSession
from wikitopics.tui.messages import TrainerAsks
from wikitopics.tui.restart import lacks_contact, nothing_left


class Commanding(Following):
    """The part of the app that commands trainers. `Following` shows a session, and `Wikitopics` handles all
    other keys."""

    def __init__(
        self,
        open_reader: Callable[[Path], SessionReader],
        path: Path,
        choice: Choice,
        controls: Controls,
        trainers: Trainers | None,
        trainer: TrainerProcess | None,
        notify_by: str | None = None,
    ) -> None:
        """``trainers``: the ones that this screen has started; ``trainer``, ``notify_by``: as for
        `Following`."""
        super().__init__(open_reader, path, choice, trainer, notify_by)
        self._controls = controls
        self._trainers = trainers or launch.Trainers()

    @on(AskNewSession)
    def _new_session(self) -> None:
        from wikitopics.tui.dialogs.newsession import (
            NewSession,  # forms are heavy: not loaded before the first frame
        )

        async def made(new: tuple[Path, TrainerProcess] | None) -> None:
            if new is not None:
                await self.follow(*new)

        self.push_screen(NewSession(self._trainers), made)

    @on(TrainerAsks)
    def _ask_to_agree(self, event: TrainerAsks) -> None:
        path = self.path

        def answered(answer: str | None) -> None:
            if answer == "yes":
                try:
                    trainer = self._trainers.start_again(path, agreed=True)
                except SessionError as error:
                    not_begun(str(error))
                    return
                self.await_trainer(trainer)
                self.wait_for_session()
            elif not path.exists():
                self.exit("stop")

        def not_begun(why: str) -> None:
            if path.exists():
                self.notify(why, severity="warning", markup=False)
            else:  # there is nothing to show
                self.exit("stop", message=Text(why))

        self.push_screen(Agree(event.question), answered)

    def action_pause(self) -> None:
        paused = self.latest is not None and self.latest.status.state == "paused"
        self._tell_trainer(self._controls.resume if paused else self._controls.pause)

    def action_save(self) -> None:
        self._tell_trainer(self._controls.save)

    def action_restart(self) -> None:
        """Start the trainer of this session again, if there is anything left to do."""
        if self.latest is None:
            return
        if why := nothing_left(self.latest.status):
            self.notify(why, markup=False)
            return
        try:
            # A trainer that this screen started may have its contact from an option.
            asks = self.path not in self._trainers.paths() and lacks_contact(self.latest)
            if not asks:
                self.await_trainer(self._trainers.start_again(self.path))
        except SessionError as error:
            self.notify(str(error), severity="warning", markup=False)
            return
        if asks:
            from wikitopics.tui.dialogs.contact import AskContact, ContactBook  # forms are heavy

            def answered(answer: str | None) -> None:
                if answer == "saved":
                    self.action_restart()

            self.push_screen(AskContact(ContactBook.of_user(), leave="Back", sample=False), answered)

    def _tell_trainer(self, control: Callable[[Path], None]) -> None:
        self.run_worker(lambda: control(self.path), name="control", thread=True, exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show why a command could not be carried out. Any other error is a bug and is not hidden."""
        if event.state is WorkerState.ERROR and event.worker.name == "control":
            error = event.worker.error
            if not isinstance(error, SessionError):
                raise RuntimeError("a control command failed") from error
            self.notify(str(error), severity="warning", markup=False)

    async def action_leave(self) -> None:
        if not self._trainers.running():
            self.exit()
        elif isinstance(self.screen, Ask):
            self.exit("stop")  # asked twice without an answer
        else:
            names = ", ".join(session_name(path) for path in self._trainers.running())
            self.push_screen(
                Ask(
                    "Close the screen",
                    f"This screen started the trainer of {names}, which can continue without it.",
                    [
                        ("leave", "l", "Leave it running"),
                        ("stop", "s", "Save and stop"),
                        ("cancel", "c", "Cancel"),
                    ],
                ),
                self._left,
            )

    def _left(self, answer: str | None) -> None:
        if answer in ("leave", "stop"):
            self.exit("leave" if answer == "leave" else "stop")
