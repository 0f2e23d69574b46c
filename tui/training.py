"""Commands from the screen to trainers: start, pause, save, restart, and stop with the screen."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.text import Text

from wikitopics.session import config, control, sources
from wikitopics.session.errors import SessionError
from wikitopics.session.paths import session_name, session_path
from wikitopics.tui.follow import TrainerProcess
from wikitopics.tui.look import SessionView, run_in_background
from wikitopics.tui.questions import Agree, Ask, Starting, State
from wikitopics.tui.views.crawl import nothing_left

if TYPE_CHECKING:
    from wikitopics.tui.app import Wikitopics

Ending = Literal["leave", "stop", "demo"]
"""What to do with the trainers started by a screen when it is closed: leave them running, stop them, or
stop them and open the embedded sample instead."""


class Training:
    """The trainers that this screen has started, and the one of the session on screen."""

    def __init__(self, app: "Wikitopics", trainers: control.Trainers) -> None:
        self._app, self._trainers = app, trainers

    # Starting -------------------------------------------------------------------------------------

    def wait_for_session(self) -> None:
        """If there is no session yet, show what its trainer says until there is one or the user gives up."""
        app, path, trainer = self._app, self._app.path, self._app.watched.awaited
        if trainer is None or path.exists():
            return

        def state() -> State:
            code = trainer.poll()
            if path.exists():
                return "begun", ""
            words = control.last_words(path)
            if code is None:
                return "", words
            return ("offline" if code == control.UNREACHABLE else "ended"), words

        def answered(answer: str | None) -> None:
            if answer == "begun":
                app.look_again()
            elif answer == "ended" and (question := control.question(path)):
                self._ask_to_agree(question)
            elif answer == "again":
                self._start_waiting()
            else:  # the error is shown after the screen has closed
                app.exit("demo" if answer == "demo" else "stop")

        app.push_screen(Starting(state, sample=path != session_path("demo")), answered)

    def failed(self, code: int) -> None:
        """The trainer of the session on screen ended before it opened it: ask its question, or say why."""
        path = self._app.path
        if question := control.question(path):
            self._ask_to_agree(question)
        else:
            words = control.last_words(path) or f"the trainer ended with code {code}"
            self._app.notify(words, severity="error", markup=False)

    def _ask_to_agree(self, question: str) -> None:
        app, path = self._app, self._app.path

        def answered(answer: str | None) -> None:
            if answer == "yes":
                self._start_waiting(agreed=True)
            elif not path.exists():
                app.exit("stop")

        app.push_screen(Agree(question), answered)

    def _start_waiting(self, *, agreed: bool = False) -> None:
        """Start the trainer again, and wait for its session if there is none yet."""
        app = self._app
        try:
            self._start_again(agreed=agreed)
        except SessionError as error:
            if app.path.exists():
                app.notify(str(error), severity="warning", markup=False)
            else:  # there is nothing to show
                app.exit("stop", message=Text(str(error)))
            return
        self.wait_for_session()

    def _start_again(self, *, agreed: bool = False) -> None:
        self._app.watched.awaited = self._trainers.start_again(self._app.path, agreed=agreed)
        self._app.look_again()

    def new_session(self) -> None:
        """Ask for a new session's settings, start its trainer, and show it."""
        from wikitopics.tui.newsession import NewSession

        async def made(new: tuple[Path, TrainerProcess] | None) -> None:
            if new is not None:
                await self._app.follow(*new)

        self._app.push_screen(NewSession(self._trainers), made)

    def restart(self) -> None:
        """Start the trainer of this session again, if there is anything left to do."""
        app = self._app
        if app.latest is None:
            return
        if why := nothing_left(app.latest.status):
            app.notify(why, markup=False)
            return
        try:
            # A trainer that this screen started may have its contact from an option.
            asks = app.path not in self._trainers.paths() and _lacks_contact(app.latest)
            if not asks:
                self._start_again()
        except SessionError as error:
            app.notify(str(error), severity="warning", markup=False)
            return
        if asks:
            from wikitopics.tui.newsession import AskContact

            def answered(answer: str | None) -> None:
                if answer == "saved":
                    self.restart()

            app.push_screen(AskContact(leave="Back", sample=False), answered)

    def idle(self, action: str) -> str:
        """Why this key has nothing to do now; "" if it has."""
        latest, awaited = self._app.latest, self._app.watched.awaited is not None
        status = None if latest is None else latest.status
        if action in ("pause", "save"):
            running = status is not None and status.running
            return "" if running else f"nothing to {action}: no trainer is running on this session"
        if action != "restart" or (status is not None and status.pid is None and not awaited):
            return ""
        return "nothing to start: the trainer is " + ("starting" if awaited else "running")

    # Telling --------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Have the trainer pause, or continue."""
        latest = self._app.latest
        self._tell(paused=latest is None or latest.status.state != "paused")

    def save(self) -> None:
        """Have the trainer save now."""
        self._tell(save=True)

    def _tell(self, **columns: bool) -> None:
        app, path = self._app, self._app.path

        async def tell() -> None:
            try:
                await asyncio.to_thread(control.ask, path, **columns)
            except SessionError as error:
                app.notify(str(error), severity="warning", markup=False)

        run_in_background(app, tell, "control", exclusive=False)

    # Ending ---------------------------------------------------------------------------------------

    def leave(self) -> None:
        """Close the screen; if it started trainers, ask first whether they should keep running."""
        app, running = self._app, self._trainers.running()
        if not running:
            app.exit()
        elif isinstance(app.screen, Ask):
            app.exit("stop")  # asked twice without an answer
        else:
            names = ", ".join(map(session_name, running))
            answers = [
                ("leave", "l", "Leave it running"),
                ("stop", "s", "Save and stop"),
                ("cancel", "c", "Cancel"),
            ]
            words = f"This screen started the trainer of {names}, which can continue without it."
            app.push_screen(Ask("Close the screen", words, answers), self._left)

    def _left(self, answer: str | None) -> None:
        if answer in ("leave", "stop"):
            self._app.exit("leave" if answer == "leave" else "stop")


def _lacks_contact(look: SessionView) -> bool:
    """Whether the server requires a contact, and there is none. Raises SessionError."""
    kind, identity = sources.described(look.status.source), look.settings.get("source_options")
    if not isinstance(identity, Mapping) or kind.fault(identity):
        return False  # the trainer reports what is wrong
    return kind.needs_contact(identity) and config.lacks_contact()
