"""What a session holds, written for other programs and people: `export` and `report`."""

import sys
from pathlib import Path

import click

from wikitopics.cli import options
from wikitopics.cli.options import Command, reading, session_option
from wikitopics.cli.output import ProgressLine, put_data, say
from wikitopics.session.advance import unseen
from wikitopics.session.analysis import exports, formats
from wikitopics.session.errors import BadUsage
from wikitopics.session.metrics import METRICS
from wikitopics.session.paths import session_path
from wikitopics.session.sources import kind_named

# `report`: the topics of a session as one page for a browser.


@click.command(cls=Command)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="A file (default: standard output).",
)
@click.option(
    "--no-snippets",
    is_flag=True,
    help="Leave out the beginnings of your own documents, which the page otherwise shows if the "
    "session keeps them.",
)
@session_option
def report(output: str | None, no_snippets: bool, session: str) -> None:
    """Write the topics found as one HTML page, to read or send.

    It shows the map of articles, the topics with their map, tree and history, and the curves. The
    page is self-contained and opens without a network, here or wherever you send it. It contains
    words and titles of articles and, of your own documents, the first 300 characters, but not your
    contact or any path on this machine. Works while a trainer is running.

    Examples:
      wikitopics report -o night.html
      wikitopics report --session demo > demo.html
      wikitopics report --session reviews --no-snippets -o reviews.html
    """
    from wikitopics.session.analysis.report import check_page, render
    from wikitopics.session.storage.files import replacing

    path = session_path(session)
    target = None if output is None or output == "-" else Path(output)
    if target is not None:
        check_page(target)
    elif sys.stdout.isatty():
        raise BadUsage(f"cannot write a page to a terminal: give -o {path.stem}.html or redirect")
    with reading(path) as reader, ProgressLine() as progress:
        page = render(reader, progress, snippets=not no_snippets)
        has_snippets = reader.has_snippets() and not no_snippets
    remark = ""
    if has_snippets:
        remark = ", with the beginnings of documents (`report --no-snippets` leaves them out)"
    if target is None:
        put_data([page.encode("utf-8", "backslashreplace")])
        if remark:
            say(f"wrote the report{remark}")
        return
    content = page.encode()
    with replacing(target) as file:
        file.write(content)
    say(f"wrote {target}: {len(content) / 1e6:.1f} MB{remark}")


# `export`: the tables of a session, and its models.


def _tables_and_metrics() -> str:
    """The lists at the end of the help. Click keeps the lines of a paragraph that begins with
    "\\b"."""
    lines = ["\b", "WHAT is one of:"]
    for table in exports.TABLES.values():
        lines.append(f"  {table.name:11} {table.label}")
    lines += ["", "\b", "In `export metrics`, besides metrics that only one kind of model has:"]
    for metric in METRICS:
        better = f" ({metric.better} is better)" if metric.better else ""
        lines.append(f"  {metric.name:26} {metric.help}{better}")
    return "\n".join(lines) + "\n\n"


def _default_formats() -> str:
    defaults = ["csv"]
    for table in exports.TABLES.values():
        if table.formats[0] != "csv":
            defaults.append(f"{table.formats[0]} for {table.name}")
    return ", ".join(defaults)


_TABLES_WITH_ALL = [table for table in exports.TABLES.values() if table.everything]
"""The tables that take --all."""


@click.command(cls=Command, epilog=_tables_and_metrics())
@click.argument("what", metavar="WHAT", type=click.Choice(list(exports.TABLES)))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(formats.FORMATS)),
    help=f"The format (default: by the ending of PATH; otherwise {_default_formats()}).",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(),
    help="A file or, for gensim and proxann, a folder (default: standard output).",
)
@click.option(
    "--model",
    metavar="NAME",
    shell_complete=options.model_names,
    help="Export only this model (default for `export map`, `model` and `proxann`: the first).",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help=" ".join(f"{table.name}: {table.everything}." for table in _TABLES_WITH_ALL),
)
@click.option(
    "--bom",
    is_flag=True,
    help="csv, tsv: begin with a byte order mark, which some spreadsheets need.",
)
@click.option(
    "--wide", is_flag=True, help="topics: one row per topic, with its name, area and ten words."
)
@click.option(
    "--snippets",
    is_flag=True,
    help="articles, map: include the beginnings of your own documents, which no other export but "
    "proxann has.",
)
@session_option
def export(
    what: str,
    form: str | None,
    output: str | None,
    model: str | None,
    every: bool,
    bom: bool,
    wide: bool,
    snippets: bool,
    session: str,
) -> None:
    """Write what a session holds in a form that other programs read.

    Examples:
      wikitopics export topics > topics.csv
      wikitopics export topics --wide -o topics.xlsx
      wikitopics export history --format json -o history.json
      wikitopics export articles --session reviews --snippets -o reviews.csv
      wikitopics export map -o map.html
      wikitopics export map -o growth.svg
      wikitopics export model --model hdp -o hdp.npz
      wikitopics export proxann --session reviews -o reviews-proxann
    """
    from wikitopics.session.analysis.origin import licence_of
    from wikitopics.session.analysis.quality import coherence_remark

    if wide and what != exports.WIDE.name:
        raise BadUsage("--wide is only for `export topics`")
    table = exports.WIDE if wide else exports.TABLES[what]
    target = None if output is None or output == "-" else Path(output)
    if target is None:
        written_as = formats.format_of(table, form)
    else:
        written_as = formats.written_to(target, table, form)
    if bom and not written_as.bom:
        raise BadUsage(f"--bom is only for csv and tsv, not for {written_as.name}")
    if snippets and not table.has_snippets:
        raise BadUsage("--snippets is only for `export articles` and `export map`")
    if every and not table.everything:
        known = " and ".join(f"`export {table.name}`" for table in _TABLES_WITH_ALL)
        raise BadUsage(f"--all is only for {known}")
    with reading(session) as reader:
        models = table.models(reader, model)
        progress = ProgressLine()
        # On a terminal, the table itself shows how far it is.
        is_shown = target is None and sys.stdout.isatty()
        advance = unseen if is_shown else progress
        request = exports.ExportRequest(reader, models, every, bom, snippets, advance)
        if target is None:
            stream = _stream_of(written_as)
            with progress:
                put_data(stream(table, request))
        else:
            with progress:
                rows = formats.save(table, written_as, request, target)
            written = "" if rows is None else f": {rows:,} rows"
            say(f"wrote {output}{written}")
        if what == "articles" and not every:
            are_the_users_own = kind_named(reader.settings().source).own
            if are_the_users_own:
                say(f"{reader.status().held_out:,} held-out documents left out; --all writes them")
        if what == "topics":
            remark = coherence_remark(reader)
            if remark:
                say(remark)
        if table.of_texts:
            licence = licence_of(reader.settings())
            if licence is not None:
                say(licence.text)


def _stream_of(form: formats.Format) -> formats.InPieces:
    """What writes a format to standard output. Raises `BadUsage` for one that cannot go there."""
    if form.stream is None:
        raise BadUsage(f"{form.name} writes several files: name a folder for them with -o")
    if form.binary and sys.stdout.isatty():
        raise BadUsage(
            f"cannot write {form.name} to a terminal: give -o FILE.{form.name} or redirect"
        )
    return form.stream
