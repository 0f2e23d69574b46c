"""`infer`: what any text is about, by a session's model."""

import sys

import click

from session.cli.look import choose_model
from session.cli.options import json_option, session_option
from session.cli.output import put_json, put_line, say
from session.paths import session_path


@click.command(
    epilog="""\b
Examples:
  wikitopics infer essay.txt
  pbpaste | wikitopics infer --json"""
)
@click.argument("files", metavar="[FILE]…", nargs=-1, type=click.Path())
@click.option("--model", metavar="NAME", help="The model (default: the session's first).")
@session_option
@json_option
def infer(files: tuple[str, ...], model: str | None, session: str, as_json: bool) -> None:
    """Topic proportions of any text: files, or standard input."""
    from session.infer import proportions
    from session.reader import SessionReader

    with SessionReader(session_path(session)) as reader:
        name = choose_model(reader.models(), model)
        texts = [(file, _read(file)) for file in files or ("-",)]
        found = proportions(reader, name, [text for _, text in texts])
        words = {row.topic: [word for word, _ in row.words] for row in reader.topics(name, 8)}
    if as_json:
        put_json(
            [
                {"file": file, "words": count, "model": name, "proportions": theta.tolist()}
                for (file, _), (count, theta) in zip(texts, found, strict=True)
            ]
        )
        return
    for (file, _), (count, theta) in zip(texts, found, strict=True):
        put_line(f"{_called(file)}: {count:,} words of the vocabulary")
        for topic in (-theta).argsort(kind="stable")[:8].tolist():
            if theta[topic] >= 0.01:
                put_line(f"  {theta[topic]:6.1%}  {topic:4}  {' '.join(words.get(topic, []))}")


def _called(file: str) -> str:
    return "standard input" if file == "-" else file


def _read(file: str) -> str:
    from session.errors import SessionError

    if file == "-":
        if sys.stdin.isatty():
            say("type or paste a text; Ctrl+D ends it")
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        with open(file, "rb") as source:
            return source.read().decode("utf-8", "replace")
    except OSError as error:
        raise SessionError(f"{file}: {error.strerror}") from None
