"""`sessions`, `stop`, `pause`, `resume`, `save`, `backup`: looking after sessions."""

from pathlib import Path

import click

from session.paths import session_folder, session_path
from wikitopics.cli.options import json_option, session_option
from wikitopics.cli.output import put_json, put_line, say


@click.command(epilog="\b\nExample:\n  wikitopics sessions")
@click.option("--session", metavar="NAME", help="Only this one.")
@json_option
def sessions(session: str | None, as_json: bool) -> None:
    """List the sessions in the session folder."""
    from session.doors.listing import list_sessions

    found = [one for one in list_sessions() if session in (None, one[0])]
    if as_json:
        rows = [
            {"name": name, "path": str(path), "error": status}
            if isinstance(status, str)
            else {
                "name": name,
                "path": str(path),
                "state": status.state,
                "source": status.source,
                "articles": status.articles,
            }
            for name, path, status in found
        ]
        put_json(rows)
        return
    if not found:
        say(f"no sessions in {session_folder()}: `wikitopics demo` or `wikitopics train` makes one")
    width = max([20, *(len(name) for name, _, _ in found)])
    for name, path, status in found:
        if isinstance(status, str):
            put_line(f"{name:{width}} {status}")
        else:
            size = path.stat().st_size / 1e6
            put_line(
                f"{name:{width}} {status.state:9} {status.articles:>12,} articles  {size:8.1f} MB  "
                f"{status.source_name}"
            )


@click.command(epilog="\b\nExample:\n  wikitopics stop --session night")
@session_option
def stop(session: str) -> None:
    """Have the session's trainer save everything and exit."""
    from session.doors import control

    control.stop(session_path(session))
    say("stopped; everything is saved")


@click.command(epilog="\b\nExample:\n  wikitopics pause")
@session_option
def pause(session: str) -> None:
    """Let the session's trainer stand still until `resume`."""
    from session.doors import control

    control.pause(session_path(session))


@click.command(epilog="\b\nExample:\n  wikitopics resume")
@session_option
def resume(session: str) -> None:
    """Let a paused trainer go on."""
    from session.doors import control

    control.resume(session_path(session))


@click.command(epilog="\b\nExample:\n  wikitopics save")
@session_option
def save(session: str) -> None:
    """Have the session's trainer commit now."""
    from session.doors import control

    control.save(session_path(session))


@click.command(epilog="\b\nExample:\n  wikitopics backup ~/night.db --session night")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@session_option
def backup(file: Path, session: str) -> None:
    """Copy a session to FILE, whole, even while it trains."""
    from session.storage.backup import backup as copy

    copy(session_path(session), file)
    say(f"copied to {file}")
