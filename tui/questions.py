"""The dialogs: their base, small questions, a starting trainer, the contact, a new session, and exports."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content, ContentText
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, OptionList, Select, Static
from textual.widgets.option_list import Option as Choice

from wikitopics.session import config, sources
from wikitopics.session.analysis.exports import (
    FORMATS,
    TABLES,
    ExportRequest,
    Format,
    Table,
    save,
    written_to,
)
from wikitopics.session.analysis.proportions import licence_of
from wikitopics.session.control import Trainers, checked, forget, last_words, question
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.options import MODEL, OWN, SHARED, SOURCE, Option
from wikitopics.session.paths import log_file, named_session, user_path
from wikitopics.session.records import TopicRow
from wikitopics.session.request import DOWNLOAD, TrainRequest, check_new
from wikitopics.session.settings import DEFAULT_KIND, load_kind, model_choices, parse_specs
from wikitopics.session.storage.decoding import LONGEST_NAME
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.system import Signals
from wikitopics.tui.bars import TextField
from wikitopics.tui.follow import TrainerProcess, run_in_background
from wikitopics.tui.terminal import SUSPEND, TerminalApp, obey_signals, open_app
from wikitopics.tui.text import plural, visible

# Base of the dialogs: a screen in front of the others, which ends once.


class Dialog(ModalScreen[ScreenResultType]):
    """Ends with its first answer, and only when it is in front: Textual would end whichever screen is."""

    BINDINGS = [Binding("escape", "dismiss(None)", "Close")]  # noqa: RUF012 - Textual's own convention
    TELLS = ""
    """The selector of the line in which `tell` shows words."""

    def __init__(self) -> None:
        super().__init__()
        self._due: tuple[ScreenResultType | None] | None = None

    def box(self, title: str, below: str = "", classes: str = "dialog form") -> VerticalScroll:
        """The frame of the dialog, with a title and a text at its lower edge."""
        box = VerticalScroll(classes=classes, can_focus=False)
        box.border_title, box.border_subtitle = Content(title), below
        return box

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

    @contextlib.contextmanager
    def telling(self) -> Iterator[None]:
        """What is done within this tells a `SessionError`, and ends with it."""
        try:
            yield
        except SessionError as error:
            self.tell(str(error))

    @on(Button.Pressed, "#close")
    def _close_pressed(self) -> None:
        self.dismiss(None)

    def on_screen_resume(self) -> None:
        if self._due is not None:
            self.dismiss(*self._due)


# The parts of a form: a row with a label and its field, and a checkbox.


def field(label: str, widget: Widget, classes: str = "") -> Widget:
    """A label and its field in one row."""
    return Horizontal(Static(Content(label), classes="label"), widget, classes=f"field {classes}")


class Tick(Checkbox):
    """A checkbox whose state is visible without colour."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        """The sign in the box."""
        return "x" if self.value else " "


# A question with a few answers.


class Ask(Dialog[str | None]):
    """Answered by arrow keys and Enter, an answer's letter, or a click; Escape gives None."""

    def __init__(self, title: str, text: str, answers: Sequence[Sequence[str]]) -> None:
        """``answers``: (return value, letter, label)."""
        super().__init__()
        self._title, self._text, self._answers = title, text, answers

    def compose(self) -> ComposeResult:
        with self.box(self._title, classes="dialog ask"):
            yield Static(Content(self._text), classes="reason")
            yield OptionList()

    def on_mount(self) -> None:
        self.offer(self._answers)
        self.query_one(OptionList).focus()

    def offer(self, answers: Sequence[Sequence[str]]) -> None:
        """Let the user choose among these answers; the first is selected."""
        self._answers, choices = answers, self.query_one(OptionList)
        choices.set_options(
            Choice(Content.assemble((f" {letter} ", "bold $accent"), f" {label}"), id=name)
            for name, letter, label in answers
        )
        choices.highlighted = 0

    def on_key(self, event: events.Key) -> None:
        for name, letter, _ in self._answers:
            if letter == event.key:
                event.stop()
                self.dismiss(name)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


# A dialog with one field for the name of a topic.

HINT = (
    f"At most {LONGEST_NAME} characters. Enter saves it for every screen and export; an empty name restores "
    "the one made of its words."
)


class Rename(Dialog[str | None]):
    """Returns the topic's new name, or None if nothing changes."""

    TELLS = "#rename-told"

    def __init__(self, row: TopicRow, rename: Callable[[str], str]) -> None:
        """``rename`` takes the typed text and returns the topic's new name; it may raise `SessionError`."""
        super().__init__()
        self._row, self._rename = row, rename

    def compose(self) -> ComposeResult:
        with self.box(f"Name of topic {self._row.topic}", "Esc cancels"):
            yield TextField(visible(self._row.name), id="topic-name")
            yield Static(id="rename-told", classes="told")
            yield Static(HINT, classes="hint")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.tell("")
        with self.telling():
            checked(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        async def rename() -> None:
            with self.telling():
                name = await asyncio.to_thread(self._rename, event.value)  # a trainer may be saving
                if self.is_current:
                    self.dismiss(name)

        if event.value == visible(self._row.name):
            self.dismiss(None)
        else:
            run_in_background(self, rename, "rename")


# Shows what a trainer says and asks before it has a session, and offers a way to avoid the wait.

EVERY = 0.2
"""Seconds between two checks of the trainer."""

State = tuple[Literal["", "offline", "begun", "ended"], str]
"""Whether the session exists or its trainer has ended, perhaps because it could not reach the wiki; and the
trainer's last message."""


class Starting(Ask):
    """Returns "begun" once there is a session, "ended" if its trainer has ended, otherwise the answer:
    "again" after it could not reach the wiki, "demo" or "stop"."""

    BINDINGS = [Binding("escape", "dismiss('stop')", "Quit")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, state: Callable[[], State], *, sample: bool) -> None:
        """``sample``: whether the embedded sample is offered."""
        self._state, self._offline = state, False
        answers = [("demo", "d", "Try the embedded sample instead")] if sample else []
        super().__init__("Starting", "starting the trainer …", [*answers, ("stop", "q", "Quit")])

    def on_mount(self) -> None:
        self.set_interval(EVERY, self._look)

    def _look(self) -> None:
        outcome, words = self._state()
        if outcome in ("begun", "ended"):
            self.dismiss(outcome)
            return
        if words:
            self.query_one(".reason", Static).update(Content(visible(words)))
        if outcome == "offline" and not self._offline:
            self._offline = True
            self.offer([("again", "a", "Try again"), *self._answers])


class Agree(Ask):
    """A question that a trainer asks before it begins; returns "yes" if the user agrees."""

    def __init__(self, question: str) -> None:
        # A hasty Enter selects the first answer.
        answers = [("no", "n", "Do not start"), ("yes", "y", "Continue")]
        super().__init__("Before it starts", f"{visible(question)}.", answers)


# Ask for a contact for Wikimedia, once, before the first article is fetched: as a dialog, or on a screen of
# its own while there is no session to open a screen on.

Answer = Literal["saved", "demo", "quit"]

WHY = (
    "Wikipedia is run by a charity, and programs may read it for free. In return, its rules ask every "
    "program to say whom to contact if it misbehaves, so that it need not be blocked."
)
WHERE = (
    "An e-mail address, User:Name or the address of your web page will do. It is kept in your configuration "
    "file, readable only by you, and sent to the wiki with each request. It goes to nobody else, and never "
    "into a session, a log or an export."
)


class AskContact(Dialog[Answer]):
    """One field for the contact, and ways to go on without one."""

    TELLS = "#contact-told"
    AUTO_FOCUS = ""
    BINDINGS = [Binding("escape", "dismiss('quit')", "Quit")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, *, leave: str = "Quit", sample: bool = True) -> None:
        """``leave``: the label for leaving without an answer. ``sample``: whether the embedded sample is
        offered."""
        super().__init__()
        self._leave, self._offers_sample = leave, sample
        self._saved = config.contact() or ""
        """The contact saved so far, which is asked for again because it is not acceptable."""

    def compose(self) -> ComposeResult:
        with self.box("wikitopics: before the first article"):
            yield Static(Content(WHY), classes="reason")
            yield Static("Your contact, for Wikimedia", classes="label")
            example = "you@host.org or https://host.org/you"
            yield TextField(self._saved, placeholder=example, id="address")
            wrong = (self._saved and config.contact_problem(self._saved)) or ""
            yield Static(Content(wrong), id="contact-told", classes="told")
            yield Static(Content(WHERE), classes="hint")
            yield Static(Content(f"What will be downloaded: {DOWNLOAD}."), classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Save and start", variant="primary", id="save", compact=True)
                if self._offers_sample:
                    yield Button("Try the embedded sample", id="demo", compact=True)
                yield Button(self._leave, id="quit", compact=True)

    def on_mount(self) -> None:
        # Scrolling to the field would go too far: on a low terminal, the lines above are hidden only later.
        self.query_one(Input).focus(scroll_visible=False)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self._saved:
            self.tell("")

    @on(Input.Submitted)
    @on(Button.Pressed, "#save")
    def _submitted(self) -> None:
        text = self.query_one(Input).value.strip()
        try:
            if wrong := config.contact_problem(text):
                raise SessionError(wrong)
            config.save_contact(text)
            self.dismiss("saved")
        except SessionError as error:
            self.tell(str(error))
            self.query_one(self.TELLS).scroll_visible(animate=False)

    @on(Button.Pressed, "#demo, #quit")
    def _declined(self, event: Button.Pressed) -> None:
        self.dismiss("demo" if event.button.id == "demo" else "quit")


class Contact(TerminalApp[Answer]):
    """The question, and nothing else."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [  # noqa: RUF012 - Textual's own convention
        Binding("ctrl+c,ctrl+q", "quit", "Quit", priority=True, show=False),
        SUSPEND,
    ]

    def __init__(self, signals: Signals) -> None:
        super().__init__()
        self._signals = signals

    def on_mount(self) -> None:
        obey_signals(self, self._signals, lambda _: "quit")
        self.push_screen(AskContact(), self.exit)


def ask() -> Answer:
    """Ask for the contact and return what the user decided."""
    with Signals() as signals:
        return open_app(Contact(signals)) or "quit"


# Settings of a new session; the one in focus is explained. Its trainer is then started.

PATIENCE = 90.0
"""Seconds that a trainer may take to create its session file."""

OWN_FIELDS = tuple(option for option in OWN if option.label)
TOPICS = next(option for option in SHARED if option.name == "topics")


def arguments(
    name: str, source: str, values: Mapping[str, str], models: Sequence[tuple[str, str]]
) -> tuple[list[str], TrainRequest]:
    """The words after `wikitopics` that start this trainer, and the request in them. Raises SessionError.

    ``values``: the contents of the fields, by the name of the option. ``models``: kind and topics of each
    model requested; "" for its default.
    """
    if not name:
        raise SessionError("the session needs a name")
    path = named_session(name)
    if os.path.exists(path):  # Path.exists raises for a folder that is not readable
        raise SessionError(f"a session {name} already exists: open it, or choose another name")
    kind = sources.load(source)
    if kind.command:
        return [kind.command, "--headless", "--session", name], TrainRequest()
    if not models:
        raise SessionError("choose at least one model")
    words, options = ["train", "--session", name, "--source", source], {}
    for option in (*kind.options, *OWN_FIELDS):
        text = values.get(option.name, "")
        if option.needed and not text:
            raise SessionError(f"the source {source} needs a {option.label.lower()}")
        if text and text != option.default:
            try:
                value = option.parse(text)
            except ValueError as error:
                raise SessionError(f"{option.label} {error}") from None
            words += [option.flag, text]
            options[option.name] = (value,) if option.of is tuple else value
    specs = [f"{kind}:topics={topics}" if topics else kind for kind, topics in models]
    parse_specs(specs, {})
    for spec in specs:
        words += [MODEL.flag, spec]
    return words, TrainRequest(**options)


class NewSession(Dialog[tuple[Path, TrainerProcess] | None]):
    """Returns the path of the new session, once its trainer has created it, and the trainer."""

    TELLS = "#new-told"

    def __init__(self, trainers: Trainers) -> None:
        super().__init__()
        self._trainers = trainers
        self._options: dict[str, Option[Any]] = {}
        """The options of sources that have a field, by name."""
        self._hints = {"name": "Letters, digits, dots, dashes and underscores."}
        """The explanation of each field while it has the focus, by its id."""

    def compose(self) -> ComposeResult:
        with self.box("New session", "Esc cancels"):
            yield field("Name", TextField("night", id="name"))
            # The kinds of other packages are not loaded for this.
            choices = [(sources.load(name).label, name) for name in sources.BUILT_IN]
            choices += [(name, name) for name in sources.names() if name not in sources.BUILT_IN]
            source = Select(choices, value=SOURCE.default, allow_blank=False, id="source", compact=True)
            yield field("Source", source)
            with Vertical(id="of-source"):
                for name in sources.BUILT_IN:
                    yield from self._fields(name)
            for option in OWN_FIELDS:
                yield self._field(option, "trained")
            words = "Models, trained side by side on the same texts, and their topics"
            yield Static(words, classes="trained")
            for kind, topics, words in model_choices():
                with Horizontal(classes="trained model"):
                    yield Tick(kind, value=kind == DEFAULT_KIND, id=f"use-{kind}", compact=True)
                    yield TextField(placeholder=topics, id=f"topics-{kind}", type="integer")
                    yield Static(Content(words), classes="words")
                self._hints[f"topics-{kind}"] = TOPICS.help
            with Vertical(classes="foot"):  # in sight wherever the form is scrolled to
                yield Static(id="new-hint", classes="explained")
                yield Static(id="new-told")
                with Horizontal(classes="buttons"):
                    yield Button("Start", variant="primary", id="go", compact=True)
                    yield Button("Cancel", id="close", compact=True)

    def on_mount(self) -> None:
        self._suit(str(SOURCE.default))
        self.query_one("#name", Input).focus()

    def _fields(self, source: str) -> Iterator[Widget]:
        """Fields for the options of this kind of source, without those already present for another."""
        for option in sources.described(source).options:
            if option.label and option.name not in self._options:
                self._options[option.name] = option
                yield self._field(option)

    def _field(self, option: Option[Any], classes: str = "") -> Widget:
        """The row for an option."""
        value = "" if option.default is None else str(option.default)
        entry = TextField(value, id=f"option-{option.name}")
        self._hints[f"option-{option.name}"] = option.help
        return field(option.label, entry, f"of-{option.name} {classes}")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        hint = self._hints.get(event.widget.id or "", "")
        self.query_one("#new-hint", Static).update(Content(hint))

    @on(Select.Changed, "#source")
    async def _source(self, event: Select.Changed) -> None:
        await self.query_one("#of-source").mount_all(self._fields(str(event.value)))
        self._suit(str(event.value))

    def _suit(self, source: str) -> None:
        """Show the fields that this source needs."""
        kind = sources.described(source)
        names = {option.name for option in kind.options}
        for name in self._options:
            self.query(f".of-{name}").set(display=name in names)
        self.query(".trained").set(display=not kind.command)
        self._show_default_topics()

    @on(Checkbox.Changed)
    def _show_default_topics(self) -> None:
        """Name the topics of the models that are given no number; kinds of other packages are loaded when
        chosen."""
        source = sources.described(str(self.query_one("#source", Select).value))
        for kind, topics, _ in model_choices():
            topics = str(source.model_defaults.get(TOPICS.name, topics))
            if not topics and self.query_one(f"#use-{kind}", Checkbox).value:
                with self.telling():
                    topics = str(load_kind(kind).default_topics)
            self.query_one(f"#topics-{kind}", Input).placeholder = topics

    def entries(self) -> tuple[str, str, dict[str, str], list[tuple[str, str]]]:
        """The form as filled in now, as `arguments` takes it."""

        def value(name: str) -> str:
            return self.query_one(f"#{name}", Input).value.strip()

        fields = (*self._options, *(option.name for option in OWN_FIELDS))
        models = [
            (kind, value(f"topics-{kind}"))
            for kind, _, _ in model_choices()
            if self.query_one(f"#use-{kind}", Checkbox).value
        ]
        source = str(self.query_one("#source", Select).value)
        return value("name"), source, {name: value(f"option-{name}") for name in fields}, models

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def _go(self) -> None:
        entries = self.entries()

        def answered(answer: Answer | None) -> None:
            if answer == "demo":
                self.query_one("#source", Select).value = "demo"
            if answer in {"saved", "demo"}:
                self._go()

        with self.telling():
            words, request = arguments(*entries)
            path, kind = named_session(entries[0]), sources.load(entries[1])
            needs = not kind.command and kind.needs_contact(check_new(request, kind))
            if needs and config.lacks_contact():
                self.tell("")  # what was wrong before is right now
                self.app.push_screen(AskContact(leave="Back"), answered)
            else:
                self._begin(path, partial(self._trainers.start, path, words))

    def _begin(self, path: Path, launch: Callable[[], TrainerProcess]) -> None:
        self.query_one("#go", Button).disabled = True
        run_in_background(self, partial(self._start, path, launch), "start")

    async def _start(self, path: Path, launch: Callable[[], TrainerProcess]) -> None:
        def answered(answer: str | None) -> None:
            if answer == "yes":
                self._begin(path, partial(self._trainers.start_again, path, agreed=True))
            else:
                self.tell("nothing was started")

        self.tell("starting the trainer …")
        with self.telling():
            process = await asyncio.to_thread(launch)
            is_question, failure = await self._failure(path, process)
            if not failure:
                self.dismiss((path, process))
                return
            self.tell(failure)
            if is_question:
                self.app.push_screen(Agree(failure), answered)
        self.query_one("#go", Button).disabled = False

    async def _failure(self, path: Path, process: TrainerProcess) -> tuple[bool, str]:
        """Why the trainer has not created its session, and whether that is its question; "" if it has."""
        deadline = time.monotonic() + PATIENCE
        try:
            while not os.path.exists(path):
                code = process.poll()
                if code is not None:
                    words = question(path)
                    failure = words or last_words(path) or f"the trainer ended with code {code}"
                    forget(path)
                    return bool(words), failure
                if time.monotonic() > deadline:
                    process.terminate()
                    return False, f"the trainer did not start in time; see its log: {log_file(path)}"
                await asyncio.sleep(0.1)
        except asyncio.CancelledError:  # the dialog was closed: nobody would learn of the trainer
            process.terminate()
            await asyncio.to_thread(process.wait)
            forget(path)
            raise
        return False, ""


# Writes part of the session to a file, without blocking the screen.

ALL_MODELS = "all models"


class Export(Dialog[None]):
    """What to export, in which format, of which model, to which file."""

    TELLS = "#export-progress"

    def __init__(self, path: Path, models: tuple[str, ...]) -> None:
        super().__init__()
        self._path, self._models = path, models
        try:
            self._folder = Path.cwd()
        except OSError:  # it has been deleted
            self._folder = Path()
        self._busy = False

    def compose(self) -> ComposeResult:
        with self.box("Export", "Esc closes"):
            first = next(iter(TABLES.values()))
            file = self._default(first.name, _forms(first)[0][1])
            for label, name, choices in (
                ("What", "what", [(table.label, table.name) for table in TABLES.values()]),
                ("Format", "form", _forms(first)),
                ("Model", "model", self._model_choices(first)),
            ):
                select = Select(choices, value=choices[0][1], allow_blank=False, id=name, compact=True)
                yield field(label, select)
            yield field("File", TextField(file, id="file"))
            yield Static(id="export-progress", classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Export", variant="primary", id="go", compact=True)
                yield Button("Close", id="close", compact=True)

    def _model_choices(self, table: Table) -> list[tuple[ContentText, str]]:
        names = self._models if table.one_model else (ALL_MODELS, *self._models)
        return [(Content(visible(name)), name) for name in names]

    def _default(self, what: str, form: str) -> str:
        return str(self._folder / f"{self._path.stem}-{what}{FORMATS[form].ending}")

    def _chosen(self, *names: str) -> list[str]:
        return [str(self.query_one(name, Select).value) for name in names]

    @on(Select.Changed, "#what")
    def _what(self, event: Select.Changed) -> None:
        table = TABLES[str(event.value)]
        for name, choices in (("#form", _forms(table)), ("#model", self._model_choices(table))):
            select = self.query_one(name, Select)
            select.set_options(choices)
            select.value = choices[0][1]
        self._rename()

    @on(Select.Changed, "#form")
    def _rename(self) -> None:
        self.query_one("#file", Input).value = self._default(*self._chosen("#what", "#form"))

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def _go(self) -> None:
        if self._busy:
            return
        what, form, model = self._chosen("#what", "#form", "#model")
        table = TABLES[what]
        with self.telling():
            target = user_path(self.query_one("#file", Input).value)
            # Not Path.is_dir, which raises for a folder that is not readable.
            if not target.name or (os.path.isdir(target) and FORMATS[form].folder is None):
                raise BadUsage(f"name a file in the folder {target}")
            written_as = written_to(target, table, form)
            work = partial(self._write, table, written_as, None if model == ALL_MODELS else model, target)
            write = partial(run_in_background, self, work, "export")
            if os.path.islink(target) or os.path.isfile(target) or os.path.isdir(target):
                answers = [("replace", "r", "Replace it"), ("cancel", "c", "Cancel")]
                question = Ask("Export", f"{visible(str(target))} exists already.", answers)
                self.app.push_screen(question, lambda answer: write() if answer == "replace" else None)
            else:
                write()

    async def _write(self, table: Table, form: Format, model: str | None, target: Path) -> None:
        loop = asyncio.get_running_loop()

        def written(rows: int) -> None:
            loop.call_soon_threadsafe(self.tell, f"{plural(rows, 'row')} written …")

        def in_thread() -> str:
            with SessionReader(self._path) as reader:
                rows = save(table, form, ExportRequest(reader, table.models(reader, model)), target, written)
                licence = licence_of(reader.settings()) if table.of_texts else None
            message = f"{plural(rows, 'row')} in {target}" if rows is not None else f"written to {target}"
            return f"{message}; {licence.text}" if licence is not None else message

        self._busy = True
        self.tell("writing …")
        with self.telling():
            self.tell(await asyncio.to_thread(in_thread))
        self._busy = False


def _forms(table: Table) -> list[tuple[ContentText, str]]:
    return [(FORMATS[name].label, name) for name in table.formats]
