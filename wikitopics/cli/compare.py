"""`compare`: score sessions and their models on the same articles."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

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
from wikitopics.session.settings import vary_in_topics
from wikitopics.session.sources import noun

if TYPE_CHECKING:
    from wikitopics.session.analysis.comparison import ComparedModel, Comparison

NAMES = ("session", "model")
"""The columns of text."""
_SCORES = ("in use", "log likelihood", "difference", "error")
OF_SESSIONS = ("session", "model", "trained", *_SCORES)
OF_ONE_SESSION = ("model", *_SCORES, "npmi", "distinct", "found")
"""Also what each session counts in articles of its own, which says nothing beside another's."""
WIDEST = 60
"""The most cells of a curve."""
LEAST_SHOWN = 1e-4
"""The smallest difference of log-likelihoods that the table shows, and so the curve."""


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

    The difference is that of the log-likelihood per word from the best one's. Its standard error
    is over articles: a difference of less than twice the error may be chance. For the models of
    one session, npmi is the mean coherence of the topics in use, distinct the share of distinct
    words among their ten most probable ones, and found the part of the replicas that have such a
    topic, on average. Models of one kind are in the order of their number of topics;
    if that differs, their log-likelihoods are drawn as a curve.

    Articles of a wiki are identified by page id, documents of a file by number. Two wikis have no
    article in common. Two files, or a file and a wiki, are assumed to have none, and a message says
    so. With --keep-articles top or none, a session does not know which articles it trained on, so
    only those that it holds out itself are scored.

    Examples:
      wikitopics compare
      wikitopics compare night day ~/old.db --json
      wikitopics compare sizes             after `train --session sizes --topics 25,50,100`
    """
    from wikitopics.session.analysis.comparison import compare as compared

    names = [*sessions, *more] or [DEFAULT_SESSION]
    with contextlib.ExitStack() as opened:
        paths = dict.fromkeys(map(session_path, names))  # each once, in their order
        readers = [opened.enter_context(options.reading(path)) for path in paths]
        nouns = {noun(reader.settings().source) for reader in readers}
        articles = nouns.pop() if len(nouns) == 1 else "articles"
        with ProgressLine() as progress:
            result = compared(readers, progress)
    if as_json:
        put_json(asdict(result))
        return
    for remark in result.remarks:
        say(remark)
    for line in lines_of(result, articles):
        put_line(line)


def lines_of(result: Comparison, noun: str) -> Iterator[str]:
    """The comparison as a table and, for models of one session that differ in their number of
    topics, the curve of the log-likelihood. ``noun``: what the texts are called."""
    models = result.by_topics()
    rows = [_cells(model) for model in models]
    of_one_session = len({model.session for model in models}) == 1
    columns = []
    for head in OF_ONE_SESSION if of_one_session else OF_SESSIONS:
        cells = [row[head] for row in rows]
        if not any(cells):
            continue  # not known of any
        columns.append(list(column(cells, head, right=head not in NAMES)))
    yield f"{result.articles:,} {noun} that no model was trained on"
    yield from map("  ".join, zip(*columns, strict=True))
    if of_one_session and vary_in_topics((model.kind, model.topics) for model in models):
        yield from _curve(models)
    level = result.level()
    if of_one_session:
        names = [model.model for model in level]
    else:
        names = [f"{model.model} of {model.session}" for model in level]
    if names:
        yield f"less than twice the error behind the best: {', '.join(names)}"


def _cells(model: ComparedModel) -> dict[str, str]:
    """The cells of a model, by the heads of their columns."""

    def number(value: float | None, decimals: int) -> str:
        if value is None:
            return ""
        rounded = round(value, decimals) + 0.0  # no -0
        return f"{rounded:.{decimals}f}"

    return {
        "session": model.session,
        "model": model.model,
        "trained": f"{model.articles:,}",
        "in use": f"{model.topics_in_use:,} of {model.topics:,}",
        "log likelihood": number(model.log_likelihood, 4),
        "difference": number(model.difference, 4),
        "error": number(model.standard_error, 4),
        "npmi": number(model.npmi, 3),
        "distinct": number(model.distinct, 2),
        "found": number(model.found, 2),
    }


def _curve(models: Sequence[ComparedModel]) -> Iterator[str]:
    """The log-likelihoods beneath each other, each with twice the error of its difference."""
    _, *names = column((model.model for model in models), "")
    room = shutil.get_terminal_size().columns - len(names[0]) - len("  ")
    last = min(max(room, 2), WIDEST) - 1
    low = min(model.log_likelihood - model.margin for model in models)
    high = max(model.log_likelihood + model.margin for model in models)

    def place(value: float) -> int:
        if high - low < LEAST_SHOWN:
            return 0
        return round(last * (value - low) / (high - low))

    yield ""
    yield "log likelihood (o), and twice the error of its difference (-)"
    for name, model in zip(names, models, strict=True):
        first = place(model.log_likelihood - model.margin)
        middle = place(model.log_likelihood)
        end = place(model.log_likelihood + model.margin)
        bar = "-" * (middle - first) + "o" + "-" * (end - middle)
        yield f"{name}  {' ' * first}{bar}"
