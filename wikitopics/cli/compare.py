"""`compare`: score sessions and their models on the same articles."""

import contextlib
from dataclasses import asdict

import click

from wikitopics.cli import options
from wikitopics.cli.options import Command
from wikitopics.cli.output import (
    ProgressLine,
    column,
    put_json,
    put_line,
    say,
)
from wikitopics.session.paths import DEFAULT_SESSION, session_path
from wikitopics.session.sources import noun


@click.command(cls=Command)
@click.argument(
    "sessions",
    metavar="[SESSION]\u2026",
    nargs=-1,
    shell_complete=options.session_names,
)
@click.option(
    "--session",
    "more",
    metavar="NAME",
    multiple=True,
    shell_complete=options.session_names,
    help="Another session to compare.",
)
@options.json_option
def compare(sessions: tuple[str, ...], more: tuple[str, ...], as_json: bool) -> None:
    """Score sessions and their models on articles new to all of them.

    If no session is named, the models of `default` are compared.

    The articles scored are those that one session holds out and that every other session either
    holds out too or has not trained on. All models are scored on the same articles, by document
    completion, as on the chart. The sessions must have the same vocabulary. A running session is
    compared as of its last commit.

    Articles of a wiki are identified by page id, documents of a file by number. Two wikis have no
    article in common. Two files, or a file and a wiki, are assumed to have none, and a message says
    so. With --keep-articles top or none, a session does not know which articles it trained on, so
    only those that it holds out itself are scored.

    Examples:
      wikitopics compare
      wikitopics compare night day ~/old.db --json
    """
    from wikitopics.session.analysis.comparison import compare as compared

    names = [*sessions, *more] or [DEFAULT_SESSION]
    with contextlib.ExitStack() as opened:
        paths = dict.fromkeys(map(session_path, names))  # each once, in their order
        readers = [opened.enter_context(options.reading(path)) for path in paths]
        nouns = {noun(reader.settings().source) for reader in readers}
        articles = nouns.pop() if len(nouns) == 1 else "articles"
        n_models = sum(len(reader.models()) for reader in readers)
        with ProgressLine("models scored", n_models) as progress:
            result = compared(readers, progress)
    if as_json:
        put_json(asdict(result))
        return
    for remark in result.remarks:
        say(remark)
    put_line(f"{result.articles:,} {articles} that no model was trained on")
    head, *padded_sessions = column((score.session for score in result.models), "session")
    width = max(len("model"), *(len(score.model) for score in result.models))
    put_line(
        f"{head}  {'model':{width}}  {'trained':>11}  {'in use':>11}  {'log likelihood':>14}  "
        f"{'difference':>11}  {'perplexity':>10}"
    )
    for score, session in zip(result.models, padded_sessions, strict=True):
        used = f"{score.topics_in_use:,} of {score.topics:,}"
        put_line(
            f"{session}  {score.model:{width}}  {score.articles:>11,}  {used:>11}  "
            f"{score.log_likelihood:>14.4f}  {score.difference:>11.4f}  {score.perplexity:>10,.1f}"
        )
