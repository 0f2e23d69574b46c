"""`compare`: score sessions and their models on the same articles."""

import contextlib
from dataclasses import asdict

import click

from wikitopics.cli.options import json_option, reading, session_names
from wikitopics.cli.output import ProgressLine, put_json, put_line, say
from wikitopics.session.paths import session_path
from wikitopics.session.sources import noun


@click.command(
    epilog="""\b
Examples:
  wikitopics compare
  wikitopics compare night day ~/old.db --json"""
)
@click.argument("sessions", metavar="[SESSION]\u2026", nargs=-1, shell_complete=session_names)
@click.option(
    "--session", "more", metavar="NAME", multiple=True, shell_complete=session_names,
    help="Another session to compare.",
)  # fmt: skip
@json_option
def compare(sessions: tuple[str, ...], more: tuple[str, ...], as_json: bool) -> None:
    """Score sessions and their models on articles new to all of them.

    If no session is named, the models of `default` are compared.

    The articles scored are those that one session holds out and that every other session either holds out too
    or has not trained on. All models are scored on the same articles, by document completion, as on the
    chart. The sessions must have the same vocabulary. A running session is compared as of its last commit.

    Articles of a wiki are identified by page id, documents of a file by number. Two wikis have no article in
    common. Two files, or a file and a wiki, are assumed to have none, and a message says so. With
    --keep-articles top or none, a session does not know which articles it trained on, so only those that it
    holds out itself are scored.
    """
    from wikitopics.session.analysis.comparison import compare as compared

    named = (*sessions, *more) or ("default",)
    paths = list(dict.fromkeys(session_path(name) for name in named))
    with contextlib.ExitStack() as opened:
        readers = [opened.enter_context(reading(path)) for path in paths]
        nouns = {noun(reader.settings().source) for reader in readers}
        called = nouns.pop() if len(nouns) == 1 else "articles"
        line = ProgressLine("models scored", sum(len(reader.models()) for reader in readers))
        try:
            found = compared(readers, line)
        finally:
            line.end()
    if as_json:
        put_json(asdict(found))
        return
    for remark in found.remarks:
        say(remark)
    put_line(f"{found.articles:,} {called} that no model was trained on")
    width = max(len("session"), *(len(one.session) for one in found.models))
    name = max(len("model"), *(len(one.model) for one in found.models))
    put_line(
        f"{'session':{width}}  {'model':{name}}  {'trained':>11}  {'in use':>11}  {'log likelihood':>14}  "
        f"{'difference':>11}  {'perplexity':>10}"
    )
    for one in found.models:
        used = f"{one.topics_in_use:,} of {one.topics:,}"
        put_line(
            f"{one.session:{width}}  {one.model:{name}}  {one.articles:>11,}  {used:>11}  "
            f"{one.log_likelihood:>14.4f}  {one.difference:>11.4f}  {one.perplexity:>10,.1f}"
        )
