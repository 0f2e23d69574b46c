"""`export`: a session's contents in forms that other programs read."""

import sys
from pathlib import Path

import click

from wikitopics.cli.options import model_names, reading, session_option
from wikitopics.cli.output import ProgressLine, put_data, say
from wikitopics.session.analysis.exports import (
    FORMATS,
    TABLES,
    ExportRequest,
    Format,
    Table,
    format_of,
    save,
    written_to,
)
from wikitopics.session.errors import BadUsage
from wikitopics.session.metrics import METRICS, Metric
from wikitopics.session.paths import session_path

# `report`: the topics of a session as one page for a browser.


@click.command(
    epilog="""\b
Examples:
  wikitopics report -o night.html
  wikitopics report --session demo > demo.html"""
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="A file (default: standard output).")
@session_option
def report(output: str | None, session: str) -> None:
    """Write the topics found as one HTML page, to read or send.

    It shows the topics, with their map, tree and history, and the curves. The page is self-contained and
    opens without a network, here or wherever you send it. It contains words and titles of articles, but not
    your contact or any path on this machine. Works while a trainer is running.
    """
    from wikitopics.session.analysis.report import check_page, render
    from wikitopics.session.storage.files import replacing

    path = session_path(session)
    target = None if output in (None, "-") else Path(str(output))
    if target is not None:
        check_page(target)
    elif sys.stdout.isatty():
        raise BadUsage(f"a page is not for a terminal: give -o {path.stem}.html or redirect")
    with reading(path) as reader, ProgressLine("topics read") as progress:
        page = render(reader, progress)
    if target is None:
        put_data([page.encode("utf-8", "backslashreplace")])
        return
    with replacing(target) as file:
        file.write(page.encode())
    say(f"wrote {target}: {len(page.encode()) / 1e6:.1f} MB")


def _described(metric: Metric) -> str:
    return metric.help + (f" ({metric.better} is better)" if metric.better else "")


@click.command(
    epilog="\b\nWHAT is one of:\n"
    + "".join(f"  {table.name:11} {table.label}\n" for table in TABLES.values())
    + "\n\b\nIn `export metrics`, besides metrics that only one kind of model has:\n"
    + "".join(f"  {metric.name:26} {_described(metric)}\n" for metric in METRICS)
    + """
\b
Examples:
  wikitopics export topics > topics.csv
  wikitopics export history --format json -o history.json
  wikitopics export model --model hdp -o hdp.npz"""
)
@click.argument("what", metavar="WHAT", type=click.Choice(list(TABLES)))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Default: by the ending of PATH, otherwise csv"
    + "".join(f", {one.formats[0]} for {one.name}" for one in TABLES.values() if one.formats[0] != "csv")
    + ".",
)
@click.option(
    "-o", "--output", metavar="PATH", type=click.Path(),
    help="A file, or for gensim a folder (default: standard output).",
)  # fmt: skip
@click.option(
    "--model", metavar="NAME", shell_complete=model_names,
    help="Export only this model (default for `export model`: the first).",
)  # fmt: skip
@click.option(
    "--all", "every", is_flag=True,
    help=" ".join(f"{s.name}: {s.everything}." for s in TABLES.values() if s.everything),
)  # fmt: skip
@click.option(
    "--bom", is_flag=True, help="csv, tsv: begin with a byte order mark, as some spreadsheets need."
)
@session_option
def export(
    what: str, form: str | None, output: str | None, model: str | None, every: bool, bom: bool, session: str
) -> None:
    """Write what a session holds in a form that other programs read."""
    from wikitopics.session.analysis.proportions import licence_of

    table = TABLES[what]
    target = None if output is None or output == "-" else Path(output)
    written_as = format_of(table, form) if target is None else written_to(target, table, form)
    if bom and not written_as.bom:
        raise BadUsage(f"--bom is only for csv and tsv, not for {written_as.name}")
    if every and not table.everything:
        known = " and ".join(f"`export {s.name}`" for s in TABLES.values() if s.everything)
        raise BadUsage(f"--all is only for {known}")
    with reading(session) as reader:
        request = ExportRequest(reader, table.models(reader, model), every, bom)
        if target is None:
            to_standard_output(written_as, table, request)
        else:
            with ProgressLine("rows", table.count(request) if table.count else None) as progress:
                rows = save(table, written_as, request, target, progress)
            say(f"wrote {output}" + ("" if rows is None else f": {rows:,} rows"))
        licence = licence_of(reader.settings()) if table.of_texts else None
        if licence is not None:
            say(licence.text)


def to_standard_output(form: Format, table: Table, request: ExportRequest) -> None:
    """Write an export to standard output. Raises `BadUsage` for bytes on a terminal, or a folder."""
    if form.stream is None:
        raise BadUsage(f"{form.name}'s model is several files: name a folder for them with -o")
    if form.binary and sys.stdout.isatty():
        raise BadUsage(f"{form.name} is not for a terminal: give -o FILE.{form.name} or redirect")
    put_data(form.stream(table, request))
