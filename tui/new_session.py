"""The form of a new session, and the start of its trainer."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, Select, Static

from wikitopics.session import config, sources
from wikitopics.session.control import Trainers, forget, last_words, question
from wikitopics.session.errors import SessionError
from wikitopics.session.options import MODEL, OWN, SOURCE, TOPICS, Option
from wikitopics.session.paths import named_session
from wikitopics.session.request import TrainRequest, check_new
from wikitopics.session.settings import DEFAULT_KIND, load_kind, model_choices, parse_specs
from wikitopics.tui.bars import TextField
from wikitopics.tui.follow import TrainerProcess
from wikitopics.tui.questions import Answer, AskContact, Dialog, Starting, agreement, field

OWN_FIELDS = tuple(option for option in OWN if option.label)


def arguments(
    name: str,
    source: str,
    values: Mapping[str, str],
    models: Sequence[tuple[str, str]],
) -> tuple[list[str], TrainRequest]:
    """The words after `wikitopics` that start this trainer, and the request in them. Raises
    SessionError.

    ``values``: the contents of the fields, by the name of the option. ``models``: kind and topics
    of each model requested: a number, several as for `--topics`, or "" for its default.
    """
    if not name:
        raise SessionError("the session needs a name")
    path = named_session(name)
    if os.path.exists(path):  # Path.exists raises for a folder that is not readable
        raise SessionError(f"a session {name} already exists: open it, or choose another name")
    kind = sources.load(source)
    if kind.command:
        return [kind.command, "--headless", *kind.on_screen, "--session", name], TrainRequest()
    if not models:
        raise SessionError("choose at least one model")
    words = ["train", "--session", name, "--source", source]
    options = {}
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
    specs: list[str] = []
    for model, topics in models:
        if topics:  # of several numbers, each makes a model of its own
            specs += map(str, parse_specs([model], {TOPICS.name: topics}))
        else:
            specs.append(model)
    parse_specs(specs, {})
    for spec in specs:
        words += [MODEL.flag, spec]
    return words, TrainRequest(**options)


class Tick(Checkbox):
    """A checkbox whose state is visible without colour."""

    @property
    def BUTTON_INNER(self) -> str:  # type: ignore[override]
        """The sign in the box."""
        return "x" if self.value else " "


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
            source = Select(
                choices,
                value=SOURCE.default,
                allow_blank=False,
                id="source",
                compact=True,
            )
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
                    yield TextField(placeholder=topics, id=f"topics-{kind}")
                    yield Static(Content(words), classes="words")
                self._hints[f"topics-{kind}"] = TOPICS.help
            with Vertical(classes="foot"):  # in sight wherever the form is scrolled to
                yield Static(id="new-hint", classes="explained")
                yield Static(id="new-told")
                with Horizontal(classes="buttons"):
                    yield Button("Start", variant="primary", id="go", compact=True)
                    yield Button("Cancel", id="close", compact=True)

    def on_mount(self) -> None:
        self._show_fields_of(str(SOURCE.default))
        self.query_one("#name", Input).focus()

    def _fields(self, source: str) -> Iterator[Widget]:
        """Fields for the options of this kind of source, without those already present for
        another."""
        for option in sources.kind_named(source).options:
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
        self._show_fields_of(str(event.value))

    def _show_fields_of(self, source: str) -> None:
        """Show the fields that this source needs."""
        kind = sources.kind_named(source)
        names = {option.name for option in kind.options}
        for name in self._options:
            self.query(f".of-{name}").set(display=name in names)
        self.query(".trained").set(display=not kind.command)
        self._show_default_topics()

    @on(Checkbox.Changed)
    def _show_default_topics(self) -> None:
        """Show the default number of topics in the fields left empty; kinds of other packages are
        loaded when chosen."""
        source = sources.kind_named(str(self.query_one("#source", Select).value))
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

        source = str(self.query_one("#source", Select).value)
        fields = [*self._options, *(option.name for option in OWN_FIELDS)]
        values = {name: value(f"option-{name}") for name in fields}
        models = []
        for kind, _, _ in model_choices():
            if self.query_one(f"#use-{kind}", Checkbox).value:
                models.append((kind, value(f"topics-{kind}")))
        return value("name"), source, values, models

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def _go(self) -> None:
        name, source, values, models = self.entries()

        def answered(answer: Answer | None) -> None:
            if answer == "demo":
                self.query_one("#source", Select).value = "demo"
            if answer in {"saved", "demo"}:
                self._go()

        with self.telling():
            words, request = arguments(name, source, values, models)
            path = named_session(name)
            kind = sources.load(source)
            needs_contact = not kind.command and kind.needs_contact(check_new(request, kind))
            if needs_contact and config.lacks_contact():
                self.tell("")  # clear the message of an earlier error
                self.app.push_screen(AskContact(leave="Back"), answered)
            else:
                self._begin(path, self._trainers.start(path, words))

    def _begin(self, path: Path, process: TrainerProcess) -> None:
        """Show what the trainer says until there is a session, or else what went wrong."""

        async def answered(answer: str | None) -> None:
            if answer == "begun":
                self.dismiss((path, process))
                return
            if answer == "again":
                self._start_again(path)
                return
            if answer == "stop":
                process.terminate()
            code = await asyncio.to_thread(process.wait)
            asked = question(path)
            words = last_words(path)
            forget(path)
            self.tell(asked or words or f"the trainer ended with code {code}")
            if asked:
                self.app.push_screen(agreement(asked), agreed)

        def agreed(answer: str | None) -> None:
            if answer == "yes":
                self._start_again(path, agreed=True)
            else:
                self.tell("nothing was started")

        self.app.push_screen(Starting(path, process, sample=False), answered)

    def _start_again(self, path: Path, *, agreed: bool = False) -> None:
        with self.telling():
            self._begin(path, self._trainers.start_again(path, agreed=agreed))
