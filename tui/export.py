"""The form for an export or the report, which is written without blocking the screen."""

import asyncio
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content, ContentText
from textual.widgets import Button, Input, Select, Static

from wikitopics.session.analysis.exports import TABLES, ExportRequest, Table
from wikitopics.session.analysis.formats import FORMATS, Format, save, written_to
from wikitopics.session.analysis.origin import licence_of
from wikitopics.session.control import write_report
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import user_path
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import so_far
from wikitopics.tui.background import run_in_background
from wikitopics.tui.bars import TextField
from wikitopics.tui.browser import open_page
from wikitopics.tui.questions import Dialog, Question, field
from wikitopics.tui.text import plural, visible

Labelled = tuple[ContentText, str]
"""A choice: what the user sees, and its value."""

ALL_MODELS = "all models"
REPORT = Table("report", "Report: one page for the browser", formats=("html",))
WHAT = {REPORT.name: REPORT, **TABLES}


class Export(Dialog[None]):
    """What to export, in which format, of which model, to which file."""

    TELLS = "#export-progress"
    BINDINGS = [Binding("q", "app.leave", "Quit", id="app.quit")]  # noqa: RUF012 - Textual's own convention

    def __init__(self, path: Path, models: tuple[str, ...]) -> None:
        super().__init__()
        self._path = path
        self._models = models
        try:
            self._folder = Path.cwd()
        except OSError:  # it has been deleted
            self._folder = Path()
        self._busy = False

    def compose(self) -> ComposeResult:
        with self.box("Export", "Esc closes"):
            tables: list[Labelled] = [(table.label, table.name) for table in WHAT.values()]
            yield field("What", _select("what", tables))
            yield field("Format", _select("form", _forms(REPORT)))
            yield field("Model", _select("model", self._model_choices(REPORT)))
            file = self._default(REPORT.name, "html")
            yield field("File", TextField(file, id="file"))
            yield Static(id="export-progress", classes="hint")
            with Horizontal(classes="buttons"):
                yield Button("Export", variant="primary", id="go", compact=True)
                yield Button("Close", id="close", compact=True)

    def _model_choices(self, table: Table) -> list[Labelled]:
        names = self._models if table.one_model else (ALL_MODELS, *self._models)
        return [(Content(visible(name)), name) for name in names]

    def _default(self, what: str, form: str) -> str:
        return str(self._folder / f"{self._path.stem}-{what}{FORMATS[form].ending}")

    def _chosen(self, *names: str) -> list[str]:
        return [str(self.query_one(name, Select).value) for name in names]

    @on(Select.Changed, "#what")
    def _what(self, event: Select.Changed) -> None:
        table = WHAT[str(event.value)]
        self._offer("#form", _forms(table))
        self._offer("#model", self._model_choices(table))
        self._rename()

    def _offer(self, field_name: str, choices: Sequence[Labelled]) -> None:
        """Let the user choose among these from now on; the first is selected."""
        select = self.query_one(field_name, Select)
        select.set_options(choices)
        select.value = _first(choices)

    @on(Select.Changed, "#form")
    def _rename(self) -> None:
        what, form = self._chosen("#what", "#form")
        self.query_one("#file", Input).value = self._default(what, form)

    @on(Input.Submitted)
    @on(Button.Pressed, "#go")
    def go(self) -> None:
        """Write what is chosen: at first the report, under its usual name."""
        if self._busy:
            return
        what, form, model = self._chosen("#what", "#form", "#model")
        table = WHAT[what]
        with self.telling():
            target = user_path(self.query_one("#file", Input).value)
            # Not Path.is_dir, which raises for a folder that is not readable.
            if not target.name or (os.path.isdir(target) and FORMATS[form].folder is None):
                raise BadUsage(f"name a file in the folder {target}")
            if table is REPORT:
                loop = asyncio.get_running_loop()
                work = partial(self._report, loop, target.absolute())
            else:
                only_model = None if model == ALL_MODELS else model
                work = partial(
                    self._export,
                    asyncio.get_running_loop(),
                    table,
                    written_to(target, table, form),
                    only_model,
                    target,
                )
            self._write_if_agreed(target, work)

    def _write_if_agreed(self, target: Path, work: Callable[[], str]) -> None:
        """Do this work, in the background; ask first if it would replace anything."""

        def write() -> None:
            run_in_background(self, partial(self._write, work), "export")

        def answered(answer: str | None) -> None:
            if answer == "replace":
                write()

        if os.path.islink(target) or os.path.isfile(target) or os.path.isdir(target):
            answers = [("replace", "r", "Replace it"), ("cancel", "c", "Cancel")]
            question = Question("Export", f"{visible(str(target))} already exists.", answers)
            self.app.push_screen(question, answered)
        else:
            write()

    async def _write(self, work: Callable[[], str]) -> None:
        self._busy = True
        self.tell("writing …")
        with self.telling():
            self.tell(await asyncio.to_thread(work))
        self._busy = False

    def _export(
        self,
        loop: asyncio.AbstractEventLoop,
        table: Table,
        form: Format,
        model: str | None,
        target: Path,
    ) -> str:
        """Write a table, in a thread beside the screen's ``loop``; returns a message."""

        def advance(what: str, done: int, total: int) -> None:
            loop.call_soon_threadsafe(self.tell, f"{so_far(done, total)} {what} …")

        with SessionReader(self._path) as reader:
            request = ExportRequest(reader, table.models(reader, model), advance=advance)
            rows = save(table, form, request, target)
            licence = licence_of(reader.settings()) if table.of_texts else None
        message = f"written to {target}"
        if rows is not None:
            message = f"{plural(rows, 'row')} in {target}"
        if licence is not None:
            message += f"; {licence.text}"
        return message

    def _report(self, loop: asyncio.AbstractEventLoop, target: Path) -> str:
        """Write the report and open it, in a thread beside the screen's ``loop``; returns a
        message."""

        def tell(message: str) -> None:
            loop.call_soon_threadsafe(self.tell, message)

        message = write_report(self._path, target, tell)
        if not open_page(target.as_uri()):
            message += "; no browser can be opened here"
        return message


def _first(choices: Sequence[Labelled]) -> str:
    """The value of the first choice."""
    _, value = choices[0]
    return value


def _select(name: str, choices: Sequence[Labelled]) -> Select[str]:
    """A field to choose one of these; the first is selected."""
    return Select(
        choices,
        value=_first(choices),
        allow_blank=False,
        id=name,
        compact=True,
    )


def _forms(table: Table) -> list[Labelled]:
    return [(FORMATS[name].label, name) for name in table.formats]
