"""The form of an export, and its writing, which does not block the screen."""

import asyncio
import os
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
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
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import user_path
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.bars import TextField
from wikitopics.tui.follow import run_in_background
from wikitopics.tui.questions import Ask, Dialog, field
from wikitopics.tui.text import plural, visible

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
