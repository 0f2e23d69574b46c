"""Settings of a new session, each with a line of explanation; then its trainer is started."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Checkbox, Input, Select, Static

from session import config
from session.errors import SessionError
from session.paths import log_file, session_path
from session.request import DOWNLOAD
from session.specs import parse_specs
from session.storage.files import last_line
from tui.controls import TrainerProcess
from tui.dialogs.contact import Answer, AskContact, ContactBook
from tui.dialogs.form import Tick, field
from tui.words import visible

PATIENCE = 90.0
"""Seconds that a trainer may take until its session file exists."""

SOURCES = {
    "api": "Wikipedia by its API, random articles, politely",
    "recent": "Recent changes: the articles being edited right now",
    "html": "Rendered pages of a wiki, one by one",
    "dump": "A Wikipedia dump file: the fastest way, no network",
    "counts": "Word counts from a file",
    "demo": "The embedded sample: no network, nothing to set",
}
FILES = frozenset({"dump", "counts"})
WIKIMEDIA = frozenset({"api", "recent", "html"})
KINDS = {
    "lda": ("100", "online LDA: the one to begin with"),
    "scvb0": ("100", "collapsed LDA: the quickest"),
    "hdp": ("300", "HDP: finds how many it needs, up to this"),
}
Launch = Callable[[Path, list[str]], TrainerProcess]


@dataclass(frozen=True, slots=True)
class Wish:
    """What was filled in."""

    name: str
    source: str
    language: str
    file: str
    vocabulary: str
    held_out: str
    models: tuple[tuple[str, str], ...]
    """(kind, topics) of each model asked for."""


def arguments(wish: Wish) -> list[str]:
    """The words after `wikitopics` that start this trainer. Raises :class:`SessionError`."""
    if not wish.name:
        raise SessionError("the session needs a name")
    path = session_path(wish.name)
    if path.exists():
        raise SessionError(f"there is a session {wish.name} already: open it, or take another name")
    if wish.source == "demo":
        return ["demo", "--headless", "--session", wish.name]
    if not wish.models:
        raise SessionError("choose at least one model")
    words = ["train", "--session", wish.name, "--source", wish.source]
    if wish.source in FILES:
        if not wish.file:
            raise SessionError(f"the source {wish.source} needs a file")
        words += [f"--{wish.source}", wish.file]
    elif wish.language and wish.language != "en":
        words += ["--lang", wish.language]
    if wish.vocabulary and wish.vocabulary != "english":
        words += ["--vocab", wish.vocabulary]
    specs = [f"{kind}:topics={topics}" for kind, topics in wish.models]
    parse_specs(specs, {})
    for spec in specs:
        words += ["--model", spec]
    if wish.held_out:
        if not wish.held_out.isdecimal():
            raise SessionError(f"held-out articles must be a whole number, not {wish.held_out}")
        words += ["--held-out", wish.held_out]
    return words


class NewSession(ModalScreen[tuple[Path, TrainerProcess] | None]):
    """Gives the path of the new session, once its trainer has made it, and the trainer."""

    BINDINGS = [Binding("escape", "dismiss(None)", "Cancel")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, launch: Launch) -> None:
        super().__init__()
        self._launch = launch

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog form", can_focus=False) as box:
            box.border_title = "New session"
            box.border_subtitle = "Esc cancels"
            yield from field("Name", Input("night", id="name", compact=True))
            sources = [(words, kind) for kind, words in SOURCES.items()]
            yield from field(
                "Source", Select(sources, value="api", allow_blank=False, id="source", compact=True)
            )
            yield from field(
                "Language",
                Input("en", id="language", compact=True),
                "of the Wikipedia; others than en need a vocabulary",
                "online",
            )
            yield from field("File", Input(id="file", compact=True), "the file to read", "fromfile")
            yield from field(
                "Vocabulary",
                Input("english", id="vocabulary", compact=True),
                "english, or a file with one word a line",
                "trained",
            )
            yield from field(
                "Held out",
                Input("1000", id="held-out", type="integer", compact=True),
                "articles never trained on, to measure on",
                "trained",
            )
            yield Static("Models, side by side on the same articles: topics each", classes="trained")
            for kind, (topics, words) in KINDS.items():
                with Horizontal(classes="trained model"):
                    yield Tick(kind, value=kind == "lda", id=f"use-{kind}", compact=True)
                    yield Input(topics, id=f"topics-{kind}", type="integer", compact=True)
                    yield Static(words, classes="words")
            yield Static(id="new-told", classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Start", variant="primary", id="go", compact=True)
                yield Button("Cancel", id="close", compact=True)

    def on_mount(self) -> None:
        self._suit("api")
        self.query_one("#name", Input).focus()

    @on(Select.Changed, "#source")
    def _source(self, event: Select.Changed) -> None:
        self._suit(str(event.value))

    def _suit(self, source: str) -> None:
        """Show the fields that this source has."""
        for selector, fits in (
            (".online", source in WIKIMEDIA),
            (".fromfile", source in FILES),
            (".trained", source != "demo"),
        ):
            for widget in self.query(selector):
                widget.display = fits

    def wish(self) -> Wish:
        """What is filled in now."""

        def value(name: str) -> str:
            return self.query_one(f"#{name}", Input).value.strip()

        models = tuple(
            (k, value(f"topics-{k}")) for k in KINDS if self.query_one(f"#use-{k}", Checkbox).value
        )
        return Wish(
            value("name"),
            str(self.query_one("#source", Select).value),
            value("language"),
            value("file"),
            value("vocabulary"),
            value("held-out"),
            models,
        )

    @on(Button.Pressed, "#close")
    def _cancelled(self) -> None:
        self.dismiss(None)

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def _go(self) -> None:
        wish = self.wish()
        try:
            words = arguments(wish)
            path = session_path(wish.name)
        except SessionError as error:
            self._tell(str(error))
            return
        if wish.source in WIKIMEDIA and config.contact() is None:
            book = ContactBook(config.contact_problem, config.save_contact, DOWNLOAD)
            self.app.push_screen(AskContact(book, leave="Back"), self._asked)
            return
        self.query_one("#go", Button).disabled = True
        self.run_worker(self._start(path, words), exclusive=True)

    def _asked(self, answer: Answer | None) -> None:
        """Go on as the first start does."""
        if answer == "demo":
            self.query_one("#source", Select).value = "demo"
        if answer in {"saved", "demo"}:
            self._go()

    async def _start(self, path: Path, words: list[str]) -> None:
        self._tell("starting the trainer …")
        try:
            process = await asyncio.to_thread(self._launch, path, words)
        except SessionError as error:
            self._failed(str(error))
            return
        deadline = time.monotonic() + PATIENCE
        try:
            while not path.exists():
                code = process.poll()
                if code is not None:
                    self._failed(last_line(log_file(path)) or f"the trainer ended with code {code}")
                    return
                if time.monotonic() > deadline:
                    process.terminate()
                    self._failed(f"the trainer did not start in time; see its log: {log_file(path)}")
                    return
                await asyncio.sleep(0.1)
        except asyncio.CancelledError:  # the dialog is closed: nobody would know of it
            process.terminate()
            raise
        self.dismiss((path, process))

    def _failed(self, words: str) -> None:
        self._tell(words)
        self.query_one("#go", Button).disabled = False

    def _tell(self, words: str) -> None:
        self.query_one("#new-told", Static).update(Content(visible(words)))
