"""`status`, `articles` and `sessions`; `stop`, `pause`, `resume` and `save` for a trainer;
`backup`."""

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wikitopics.cli import options, output
from wikitopics.cli.options import Command, Group
from wikitopics.session.paths import command, session_folder, session_path
from wikitopics.session.sources import kind_named, noun, singular, unit_noun
from wikitopics.session.system import in_use, owner

if TYPE_CHECKING:
    from wikitopics.session.records import Status

# `status` and `articles`: look at a session from another process.

_STATUS_KEYS = (
    "session",
    "running",
    "pid",
    "source",
    "articles",
    "tokens",
    "held_out",
    "crawled",
    "pending",
    "skipped",
    "elapsed_seconds",
    "articles_per_hour",
    "bytes_read",
    "checkpoint_age_seconds",
    "waiting_for",
)
_STATES = {
    "new": "nothing has been trained yet",
    "starting": "starting",
    "running": "training",
    "hindered": "waiting",
    "suspended": "the trainer is suspended (as by Ctrl+Z); `kill -CONT {pid}` resumes it",
    "paused": "paused; `{resume}` resumes training",
    "stopping": "stopping",
    "stopped": "stopped; `{train}` resumes training",
    "finished": "finished",
    "dead": "the trainer has died; `{train}` resumes from the last save",
    "stalled": "the trainer holds the session but shows no sign of life",
}


@click.command(cls=Command)
@options.session_option
@options.json_option
def status(session: str, as_json: bool) -> None:
    """Print the state of a session, even while it is being trained.

    With --json, "state" is new, starting, running, paused, stopping, stopped, finished, dead
    (killed, or the machine went down) or stalled. Models of a session with a half-life also have
    "prequential_log_likelihood", once articles have been scored before training.

    Examples:
      wikitopics status
      wikitopics status --session demo --json | jq .articles
    """
    with options.reading(session) as reader:
        now = reader.status()
    if as_json:
        _put_status_as_json(now)
    else:
        _put_status(now, reader.path)


def _put_status_as_json(now: "Status") -> None:
    # Models of a session without a half-life keep the keys that they always had.
    models = [
        output.unless_none(asdict(model), "prequential_log_likelihood") for model in now.models
    ]
    status = output.fields_of(now, *_STATUS_KEYS)
    status["models"] = models
    status |= output.fields_of(
        now, "state", "skips", "seconds_left", "seconds_left_range", "passes"
    )
    status["pass"] = now.passes if now.added else now.pass_
    status["replicas"] = now.replicas
    output.put_json(status)


def _put_status(now: "Status", path: Path) -> None:
    from wikitopics.session.records import DOING, perplexity
    from wikitopics.session.wording import skips_told, starting_over

    output.put_line(f"{now.session}: {_state(now, path)}")
    output.put_line(f"source     {now.source_name} ({now.source})")
    called = unit_noun(now.source, now.passes)
    label = called.split()[-1]  # "reads" for "document reads", which is wider than the column
    output.put_line(
        f"{label:10} {now.articles:,} trained, {now.held_out:,} held out, {now.pending:,} "
        f"pending, {now.skipped:,} skipped, {now.crawled:,} crawled"
    )
    if now.passes > 1 and now.added:
        output.put_line(f"passes     {now.passes:,}; added documents are read once")
    elif now.passes > 1:
        output.put_line(
            f"pass       {now.pass_:,} of {now.passes:,} over {now.documents:,} documents"
        )
    if now.in_last_reading:
        output.put_line("reading    all documents once more, to infer their topics")
    if now.skips:
        output.put_line(f"skipped    {skips_told(now.skips)}")
    read = f", {now.bytes_read / 1e6:,.1f} MB read" if now.bytes_read else ""
    hourly = f"{output.rate(now.articles_per_hour)} {called} an hour"
    left = f", {now.time_left}" if now.time_left else ""
    output.put_line(f"time       {output.duration(now.elapsed_seconds)}, {hourly}{read}{left}")
    if now.checkpoint_age_seconds is not None:
        output.put_line(f"saved      {output.duration(now.checkpoint_age_seconds)} ago")
    if now.activity.starting_over:
        start = starting_over(now.activity.starting_over, called)
        output.put_line(f"topics     {start.removeprefix('topics ')}")
    if now.waiting_for:
        wait = now.activity.wait(time.time())
        label = "now" if wait.startswith(DOING) else "waiting"
        output.put_line(f"{label:10} {wait.removeprefix('waiting ')}")
    for model in now.models:
        score = "not measured yet"
        if model.perplexity is not None:
            score = f"perplexity {model.perplexity:,.1f} after {model.measured_at or 0:,} {called}"
        if model.prequential_log_likelihood is not None:
            on_new = perplexity(model.prequential_log_likelihood)
            score += f" ({on_new:,.1f} on new articles, before training)"
        kind = "" if model.name == model.kind else f"{model.kind}, "
        updates = "1 update" if model.updates == 1 else f"{model.updates:,} updates"
        output.put_line(
            f"{model.name:10} {kind}{model.topics} topics ({model.topics_in_use} in use), "
            f"{updates}, {score}"
        )
    if now.replicas:
        output.put_line(f"replicas   {now.replicas:,} beside each model, with other seeds")


def _state(now: "Status", path: Path) -> str:
    """The state of a session in words, and what can be done about it."""
    if now.suspended:
        sentence = _STATES["suspended"]
    elif now.hindered:
        sentence = _STATES["hindered"]
    else:
        sentence = _STATES[now.state]
    command_to_train = kind_named(now.source).command or "train"
    state = sentence.format(
        pid=now.pid,
        resume=command("resume", path),
        train=command(command_to_train, path),
    )
    if now.pid:
        state += f" (pid {now.pid})"
    return state


@click.command(cls=Command)
@options.of_model
@click.option(
    "--topic",
    metavar="K",
    type=options.whole(0),
    required=True,
    shell_complete=options.topic_numbers,
    help="The topic's number, from 0.",
)
@options.limit_option
@options.json_option
def articles(session: str, topic: int, limit: int, model: str | None, as_json: bool) -> None:
    """List the articles that are most about a topic.

    The most typical come first: those with a large share of the topic, while the share of a short
    article counts for less, since chance may have made it. The topic's words that are in the
    article follow its title in brackets, if the session has the article's words. The beginning of
    the text follows for your own documents, on a terminal on a line of its own.

    On a terminal, each title is a link to the revision that was read, if its wiki is known. With
    --json, "url" is that revision's address, or null, and "snippet" the first 300 characters of
    your own document, or null.

    Examples:
      wikitopics articles --topic 12
      wikitopics articles --topic 12 --limit 100 --json
    """
    from wikitopics.session.analysis.listing import listed_articles
    from wikitopics.session.wording import in_line

    with options.reading(session) as reader, reader.one_moment():
        name = reader.model_named(model)
        rows = listed_articles(reader, name, topic, limit)
        article = singular(noun(reader.settings().source))
    if as_json:
        values = []
        for row in rows:
            value = {
                **output.fields_of(row, "page_id", "title", "revision_id", "words"),
                "model": name,
                **output.fields_of(row, "topic", "proportion", "id", "url"),
                **output.fields_of(row, "typicality", "topic_words", "snippet"),
            }
            values.append(output.unless_none(value, "id"))
        output.put_json(values)
        return
    if not rows:
        output.say(f"no stored {article} has topic {topic} of {name} as its largest")
        return
    head = f"{'typical':>7} {'share':>6} {'words':>7}  "
    output.put_line(f"{head}title")
    for row in rows:
        figures = f"{row.typicality:7.2f} {row.proportion:6.1%} {row.words:7,}  "
        words = in_line(row.topic_words)
        output.put_document(figures, row.title, row.url, words, row.snippet)


@click.group(cls=Group, invoke_without_command=True)
@click.option("--session", metavar="NAME", help="List only this one.")
@options.json_option
@click.pass_context
def sessions(ctx: click.Context, session: str | None, as_json: bool) -> None:
    """List the sessions in the session folder.

    Each line shows a session's state, articles, size, time of the last save, models, and source.

    Examples:
      wikitopics sessions
      wikitopics sessions rm night
    """
    if ctx.invoked_subcommand is not None:
        options.refuse_early_options(ctx)
        return
    from wikitopics.session.control import list_sessions

    if session_folder().exists():
        os.scandir(session_folder()).close()  # raises the error of a folder that cannot be listed
    rows = [
        (name, path, status)
        for name, path, status in list_sessions()
        if session is None or name == session
    ]
    if as_json:
        output.put_json(
            [{"name": name, "path": str(path), **_values(status)} for name, path, status in rows]
        )
        return
    if not rows and session is not None:
        output.say(
            f"no session called {session!r} in {session_folder()}: `wikitopics sessions` lists all"
        )
    elif not rows:
        output.say(
            f"no sessions in {session_folder()}: `wikitopics demo` or `wikitopics train` creates "
            "one"
        )
    least_width = 20
    _, *padded_names = output.column((name for name, _, _ in rows), " " * least_width)
    for name, (_, path, status) in zip(padded_names, rows, strict=True):
        if isinstance(status, str):
            output.put_line(f"{name} {status}")
        else:
            size = path.stat().st_size / 1e6
            saved = time.strftime("%Y-%m-%d %H:%M", time.localtime(status.committed_at))
            models = ", ".join(f"{model.name} {model.topics}" for model in status.models)
            output.put_line(
                f"{name} {status.state:9} {status.documents:>12,} {noun(status.source):9}  "
                f"{size:8.1f} MB  {saved}  {models}  {status.source_name}"
            )


def _values(status: "Status | str") -> dict[str, object]:
    """A session in JSON, or the error with which it cannot be read."""
    if isinstance(status, str):
        return {"error": status}
    models = [output.fields_of(model, "name", "kind", "topics") for model in status.models]
    return {
        **output.fields_of(status, "state", "source", "articles", "committed_at"),
        "models": models,
    }


@sessions.command()
@click.argument("name", required=False, shell_complete=options.session_names)
@click.option(
    "--session",
    metavar="NAME",
    shell_complete=options.session_names,
    help="The same as NAME.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def rm(name: str | None, session: str | None, yes: bool) -> None:
    """Delete the session NAME and its log for good.

    Asks first on a terminal; needs --yes elsewhere. Never deletes a session with a running trainer,
    or a file that is not a session. If NAME is a symbolic link to a session, only the link is
    deleted.

    Example:
      wikitopics sessions rm night --yes
    """
    from wikitopics.session.control import check_removable, remove

    if name is None:
        name = session
    if name is None:
        raise click.UsageError("name the session to delete")
    if session is not None and session != name:
        raise click.UsageError("name one session to delete")
    path = session_path(name)
    check_removable(path)
    trainer = owner(path)
    if trainer is not None:
        raise in_use(path, trainer.pid)
    if not yes and not output.agrees(f"Delete {path} for good?", f"this deletes {name} for good"):
        output.say("nothing was deleted")
        return
    remove(path)
    output.say(f"deleted {path}")


@click.command(cls=Command)
@options.session_option
def stop(session: str) -> None:
    """Have the session's trainer save everything and exit.

    Example:
      wikitopics stop --session night
    """
    from wikitopics.session import control

    control.stop(session_path(session), output.say)
    output.say("stopped; everything is saved")


def _asking(name: str, help: str, **request: bool) -> click.Command:
    """A command that asks the session's trainer for this."""

    @click.command(name, cls=Command, help=f"{help}\n\nExample:\n  wikitopics {name}")
    @options.session_option
    def ask(session: str) -> None:
        from wikitopics.session import control

        control.ask(session_path(session), **request)

    return ask


pause = _asking("pause", "Pause the session's trainer until `wikitopics resume`.", paused=True)
resume = _asking("resume", "Resume a paused trainer.", paused=False)
save = _asking("save", "Have the session's trainer save now.", save=True)


@click.command(cls=Command)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@options.session_option
def backup(file: Path, session: str) -> None:
    """Copy a whole session to FILE, even while it is being trained.

    The copy has everything, including the beginnings of your own documents.

    Example:
      wikitopics backup ~/night.db --session night
    """
    from wikitopics.session.storage.reader import backup as copy

    copy(session_path(session), file)
    output.say(f"copied to {file}")
