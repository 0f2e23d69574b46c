"""The form for an export or the report, which is written without blocking the screen."""

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content, ContentText
from textual.widgets import Button, Input, Select, Static

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
from wikitopics.session.control import write_report
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import user_path
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.background import run_in_background
from wikitopics.tui.bars import TextField
from wikitopics.tui.browser import open_page
from wikitopics.tui.questions import Ask, Dialog, field
from wikitopics.tui.text import plural, visible

ALL_MODELS = "all models"
REPORT = Table("report", "Report: one page for the browser", formats=("html",))
WHAT = {REPORT.name: REPORT, **TABLES}
FORMS = {**FORMATS, "html": Format("html", "HTML", ending=".html")}


class Export(Dialog[None]):
    """What to export, in which format, of which model, to which file."""

    TELLS = "#export-progress"
    BINDINGS = [Binding("q", "app.leave", "Quit", id="app.quit")]  # noqa: RUF012 - Textual's own convention

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
            file = self._default(REPORT.name, "html")
            for label, name, choices in (
                ("What", "what", [(table.label, table.name) for table in WHAT.values()]),
                ("Format", "form", _forms(REPORT)),
                ("Model", "model", self._model_choices(REPORT)),
            ):
                select = Select(
                    choices,
                    value=choices[0][1],
                    allow_blank=False,
                    id=name,
                    compact=True,
                )
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
        return str(self._folder / f"{self._path.stem}-{what}{FORMS[form].ending}")

    def _chosen(self, *names: str) -> list[str]:
        return [str(self.query_one(name, Select).value) for name in names]

    @on(Select.Changed, "#what")
    def _what(self, event: Select.Changed) -> None:
        table = WHAT[str(event.value)]
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
    def go(self) -> None:
        """Write what is chosen: at first the report, under its usual name."""
        if self._busy:
            return
        what, form, model = self._chosen("#what", "#form", "#model")
        table = WHAT[what]
        with self.telling():
            target = user_path(self.query_one("#file", Input).value)
            # Not Path.is_dir, which raises for a folder that is not readable.
            if not target.name or (os.path.isdir(target) and FORMS[form].folder is None):
                raise BadUsage(f"name a file in the folder {target}")
            if table is REPORT:
                work = partial(self._report, target.absolute())
            else:
                loop, only = asyncio.get_running_loop(), None if model == ALL_MODELS else model
                work = partial(
                    self._export,
                    loop,
                    table,
                    written_to(target, table, form),
                    only,
                    target,
                )
            write = partial(run_in_background, self, partial(self._write, work), "export")
            if os.path.islink(target) or os.path.isfile(target) or os.path.isdir(target):
                answers = [("replace", "r", "Replace it"), ("cancel", "c", "Cancel")]
                question = Ask("Export", f"{visible(str(target))} already exists.", answers)
                self.app.push_screen(
                    question, lambda answer: write() if answer == "replace" else None
                )
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

        def written(rows: int) -> None:
            loop.call_soon_threadsafe(self.tell, f"{plural(rows, 'row')} written …")

        with SessionReader(self._path) as reader:
            rows = save(
                table,
                form,
                ExportRequest(reader, table.models(reader, model)),
                target,
                written,
            )
            licence = licence_of(reader.settings()) if table.of_texts else None
        message = (
            f"{plural(rows, 'row')} in {target}" if rows is not None else f"written to {target}"
        )
        return f"{message}; {licence.text}" if licence is not None else message

    def _report(self, target: Path) -> str:
        """Write the report and open it, in a thread; returns a message."""
        message = write_report(self._path, target)
        return (
            message if open_page(target.as_uri()) else f"{message}; no browser can be opened here"
        )


def _forms(table: Table) -> list[tuple[ContentText, str]]:
    return [(FORMS[name].label, name) for name in table.formats]
