"""Shell completion of sessions, models and topics."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click
from click.shell_completion import CompletionItem

from wikitopics.session.errors import SessionError
from wikitopics.session.paths import session_folder, session_path

if TYPE_CHECKING:
    from wikitopics.session.storage.reader import SessionReader

Answer = TypeVar("Answer")


def session_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The names in the session folder that begin with what was typed."""
    return sorted(path.stem for path in session_folder().glob("[!.]*.db") if path.stem.startswith(begun))


def model_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """The models of the session that the command line names."""
    return [name for name in _of_session(ctx, lambda reader: reader.models()) if name.startswith(begun)]


def topic_numbers(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """The model's topics, most prevalent first, each with its name.

    Names have no commas here, since fish cuts the help at a comma.
    """
    asked = ctx.params.get("model")
    rows = sorted(
        _of_session(ctx, lambda reader: reader.topics(reader.model_named(asked))), key=lambda row: -row.share
    )
    told = [(str(row.topic), row.name.replace(",", "")) for row in rows]
    return [CompletionItem(number, help=name) for number, name in told if number.startswith(begun)]


def _of_session(ctx: click.Context, ask: "Callable[[SessionReader], Sequence[Answer]]") -> Sequence[Answer]:
    """Ask the session of an unfinished command line; returns nothing if it cannot be read."""
    from wikitopics.session.storage.reader import SessionReader

    try:
        with SessionReader(session_path(ctx.params.get("session") or "default")) as reader:
            return ask(reader)
    except SessionError:
        return ()
