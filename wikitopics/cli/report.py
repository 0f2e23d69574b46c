"""`report`: the topics of a session as one page for a browser."""

import sys
from pathlib import Path

import click

from wikitopics.cli.options import reading, session_option
from wikitopics.cli.output import ProgressLine, data_output, say
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import session_path


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
    from wikitopics.session.analysis.report import check_page, made
    from wikitopics.session.storage.files import replacing

    path = session_path(session)
    target = None if output in (None, "-") else Path(str(output))
    if target is not None:
        check_page(target)
    elif sys.stdout.isatty():
        raise BadUsage(f"a page is not for a terminal: give -o {path.stem}.html or redirect")
    progress = ProgressLine("topics read")
    with reading(path) as reader:
        try:
            page = made(reader, progress)
        finally:
            progress.end()
    if target is None:
        with data_output() as write:
            write(page)
        return
    with replacing(target) as file:
        file.write(page.encode())
    say(f"wrote {target}: {len(page.encode()) / 1e6:.1f} MB")
