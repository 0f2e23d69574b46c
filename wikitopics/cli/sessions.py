"""`sessions`, and what is asked of one: `stop`, `pause`, `resume`, `save`, `backup`."""

import os
import time
from pathlib import Path

import click

from wikitopics.cli.options import json_option, refuse_early_options, session_names, session_option
from wikitopics.cli.output import agrees, fields_of, put_json, put_line, say
from wikitopics.session.errors import SessionError
from wikitopics.session.paths import session_folder, session_path
from wikitopics.session.sources import noun
from wikitopics.session.storage.lock import in_use, owner


@click.group(
    invoke_without_command=True, epilog="\b\nExamples:\n  wikitopics sessions\n  wikitopics sessions rm night"
)
@click.option("--session", metavar="NAME", help="List only this one.")
@json_option
@click.pass_context
def sessions(ctx: click.Context, session: str | None, as_json: bool) -> None:
    """List the sessions in the session folder.

    Each line shows a session's state, articles, size, time of the last save, models, and source.
    """
    if ctx.invoked_subcommand is not None:
        refuse_early_options(ctx)
        return
    from wikitopics.session.control.sessions import list_sessions

    _check(session_folder())
    found = [one for one in list_sessions() if session in (None, one[0])]
    if as_json:
        rows = [
            {"name": name, "path": str(path), "error": status}
            if isinstance(status, str)
            else {
                "name": name,
                "path": str(path),
                **fields_of(status, "state", "source", "articles", "committed_at"),
                "models": [fields_of(model, "name", "kind", "topics") for model in status.models],
            }
            for name, path, status in found
        ]
        put_json(rows)
        return
    if not found and session is not None:
        say(f"no session called {session!r} in {session_folder()}: `wikitopics sessions` lists all")
    elif not found:
        say(f"no sessions in {session_folder()}: `wikitopics demo` or `wikitopics train` creates one")
    width = max([20, *(len(name) for name, _, _ in found)])
    for name, path, status in found:
        if isinstance(status, str):
            put_line(f"{name:{width}} {status}")
        else:
            size = path.stat().st_size / 1e6
            saved = time.strftime("%Y-%m-%d %H:%M", time.localtime(status.committed_at))
            models = ", ".join(f"{model.name} {model.topics}" for model in status.models)
            put_line(
                f"{name:{width}} {status.state:9} {status.documents:>12,} {noun(status.source):9}  "
                f"{size:8.1f} MB  {saved}  {models}  {status.source_name}"
            )


def _check(folder: Path) -> None:
    """Raise `SessionError` if the folder exists but cannot be listed."""
    try:
        os.scandir(folder).close()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise SessionError(f"{folder}: {error.strerror}") from None


@sessions.command(epilog="\b\nExample:\n  wikitopics sessions rm night --yes")
@click.argument("name", required=False, shell_complete=session_names)
@click.option("--session", metavar="NAME", shell_complete=session_names, help="The same as NAME.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def rm(name: str | None, session: str | None, yes: bool) -> None:
    """Delete the session NAME and its log for good.

    Asks first on a terminal; needs --yes elsewhere. Never deletes a session with a running trainer, or a
    file that is not a session. If NAME is a symbolic link to a session, only the link is deleted.
    """
    from wikitopics.session.control.sessions import check_removable, remove

    named = {each for each in (name, session) if each is not None}
    if len(named) != 1:
        raise click.UsageError("name the session to delete" if not named else "name one session to delete")
    name = named.pop()
    path = session_path(name)
    check_removable(path)
    trainer = owner(path)
    if trainer is not None:
        raise in_use(path, trainer.pid)
    if not yes and not agrees(f"Delete {path} for good?", f"this deletes {name} for good"):
        say("nothing was deleted")
        return
    remove(path)
    say(f"deleted {path}")


@click.command(epilog="\b\nExample:\n  wikitopics stop --session night")
@session_option
def stop(session: str) -> None:
    """Have the session's trainer save everything and exit."""
    from wikitopics.session.control import requests

    requests.stop(session_path(session), say)
    say("stopped; everything is saved")


def _asking(name: str, help: str, **request: bool) -> click.Command:
    """A command that asks the session's trainer for this."""

    @click.command(name, help=help, epilog=f"\b\nExample:\n  wikitopics {name}")
    @session_option
    def ask(session: str) -> None:
        from wikitopics.session.control import requests

        requests.ask(session_path(session), **request)

    return ask


pause = _asking("pause", "Pause the session's trainer until `wikitopics resume`.", paused=True)
resume = _asking("resume", "Resume a paused trainer.", paused=False)
save = _asking("save", "Have the session's trainer commit now.", save=True)


@click.command(epilog="\b\nExample:\n  wikitopics backup ~/night.db --session night")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@session_option
def backup(file: Path, session: str) -> None:
    """Copy a whole session to FILE, even while it is being trained."""
    from wikitopics.session.storage.reader import backup as copy

    copy(session_path(session), file)
    say(f"copied to {file}")
