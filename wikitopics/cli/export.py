"""`export`: topics, history, metrics and articles as CSV or JSON, the model as .npz."""

import sys
from pathlib import Path

import click

from session.paths import session_path
from wikitopics.cli.look import choose_model
from wikitopics.cli.options import session_option
from wikitopics.cli.output import ProgressLine, data_output, say, standard_output


@click.command(
    epilog="""\b
Examples:
  wikitopics export topics > topics.csv
  wikitopics export history --format json -o history.json
  wikitopics export model --model hdp -o hdp.npz"""
)
@click.argument("what", type=click.Choice(["topics", "history", "metrics", "articles", "model"]))
@click.option(
    "--format", "form", type=click.Choice(["csv", "json", "npz"]), help="Default csv; npz for a model."
)
@click.option("-o", "--output", metavar="PATH", type=click.Path(), help="A file (default: standard output).")
@click.option("--model", metavar="NAME", help="One model only (for `export model` default: the first).")
@click.option(
    "--all", "every_role", is_flag=True, help="articles: held-out and skipped ones too, with a column role."
)
@session_option
def export(
    what: str, form: str | None, output: str | None, model: str | None, every_role: bool, session: str
) -> None:
    """Write topics, history, metrics, articles or the model."""
    from session.answers import export as exports
    from session.errors import BadUsage
    from session.storage.reader import SessionReader

    form = form or ("npz" if what == "model" else "csv")
    if (what == "model") != (form == "npz"):
        raise BadUsage(f"{what} is exported as {'npz' if what == 'model' else 'csv or json'}, not {form}")
    if every_role and what != "articles":
        raise BadUsage("--all belongs to `export articles`")
    with SessionReader(session_path(session)) as reader:
        name = choose_model(reader.models(), model) if model or what == "model" else None
        if output is not None and output != "-":
            models = 1 if name else len(reader.models())
            total = reader.status().articles * models if what == "articles" and not every_role else None
            progress = ProgressLine("rows", total)
            count = exports.export_file(
                reader, what, form, Path(output), model=name, every_role=every_role, progress=progress
            )
            progress.end()
            say(f"wrote {output}" + (f": {count:,} rows" if form != "npz" else ""))
        elif form == "npz":
            if sys.stdout.isatty():
                raise BadUsage("npz is not for a terminal: give -o FILE.npz or redirect")
            with standard_output() as out:
                out.buffer.write(exports.model_npz(reader, name or reader.models()[0]))
        else:
            lines = exports.rows(
                reader, what, reader.models() if name is None else [name], every_role=every_role
            )
            with data_output() as write:
                if form == "csv":
                    exports.write_csv(exports.columns(what, every_role=every_role), lines, write)
                else:
                    exports.write_json(lines, write)
