"""`stop`, `pause`, `resume`, `save`, `backup`: requests to a session and its trainer."""

from pathlib import Path

import click

from wikitopics.cli.options import session_option
from wikitopics.cli.output import say
from wikitopics.session.paths import session_path


@click.command(epilog="\b\nExample:\n  wikitopics stop --session night")
@session_option
def stop(session: str) -> None:
    """Have the session's trainer save everything and exit."""
    from wikitopics.session.control import requests

    requests.stop(session_path(session), say)
    say("stopped; everything is saved")


@click.command(epilog="\b\nExample:\n  wikitopics pause")
@session_option
def pause(session: str) -> None:
    """Pause the session's trainer until `wikitopics resume`."""
    from wikitopics.session.control import requests

    requests.pause(session_path(session))


@click.command(epilog="\b\nExample:\n  wikitopics resume")
@session_option
def resume(session: str) -> None:
    """Resume a paused trainer."""
    from wikitopics.session.control import requests

    requests.resume(session_path(session))


@click.command(epilog="\b\nExample:\n  wikitopics save")
@session_option
def save(session: str) -> None:
    """Have the session's trainer commit now."""
    from wikitopics.session.control import requests

    requests.save(session_path(session))


@click.command(epilog="\b\nExample:\n  wikitopics backup ~/night.db --session night")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@session_option
def backup(file: Path, session: str) -> None:
    """Copy a whole session to FILE, even while it is being trained."""
    from wikitopics.session.storage.backup import backup as copy

    copy(session_path(session), file)
    say(f"copied to {file}")
