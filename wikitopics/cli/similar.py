"""`similar`: the articles most like another one, or like a text."""

import os
from dataclasses import asdict

import click

from wikitopics.cli.infer import infer_files
from wikitopics.cli.options import json_option, limit_option, model_option, session_option
from wikitopics.cli.output import put_json, put_line, say
from wikitopics.session.paths import session_path


@click.command(
    epilog="""\b
Examples:
  wikitopics similar Cello
  wikitopics similar essay.txt --limit 50 --json
  pbpaste | wikitopics similar -"""
)
@click.argument("what", metavar="TITLE|FILE")
@limit_option
@model_option
@session_option
@json_option
def similar(what: str, limit: int, model: str | None, session: str, as_json: bool) -> None:
    """List the articles most like another one, or like any text.

    Give an article by its title, or a text by its file ('-' for standard input).

    An exact title takes precedence over a file of that name (./NAME is always the file), and a file over a
    title that differs only in capitals. The distance is the Hellinger distance (0 to 1) between topic
    proportions. An article's proportions date from its training; those of the newest 20,000 articles are
    updated each time the session doubles in size.
    """
    from wikitopics.session.analysis.proportions import Trained, not_found
    from wikitopics.session.storage.reader import SessionReader

    with SessionReader(session_path(session)) as reader:
        name = reader.model_named(model)
        trained = Trained(reader, name)
        row = None if what == "-" else trained.row_of(reader, what, exact=True)
        if row is None and (what == "-" or os.path.exists(what)):
            (text,) = infer_files(reader, name, [what])
            found = trained.nearest(reader, text.theta, limit)
        else:
            row = trained.row_of(reader, what) if row is None else row
            if row is None:
                raise not_found(reader, what, or_file=True)
            found = trained.like(reader, row, limit)
        has_ids = reader.has_ids()
    say(trained.as_of_told())
    if as_json:
        shown = [asdict(one) for one in found]
        put_json(shown if has_ids else [{k: v for k, v in one.items() if k != "id"} for one in shown])
        return
    put_line("distance     page_id  title")
    for one in found:
        put_line(f"{one.distance:8.3f} {one.page_id:11}  {one.title}")
