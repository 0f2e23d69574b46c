"""`infer`: what any text is about, by a session's model."""

import sys

import click

from session.paths import command, session_path
from wikitopics.cli.options import json_option, session_option
from wikitopics.cli.output import put_json, put_line, say

_MOST = 32 * 2**20
"""Bytes of one text."""
_UNREADABLE = 0.3
"""A text has fewer characters than this that are no UTF-8; in Latin-1 one letter in ten may be accented."""


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
    from session.answers.inference import proportions
    from session.errors import SessionError
    from session.storage.reader import SessionReader

    with SessionReader(session_path(session)) as reader:
        name = reader.model_named(model)
        texts = [(file, _read(file)) for file in files or ("-",)]
        counts, thetas = proportions(reader, name, [text for _, text in texts])
        if not counts.any():
            held = f"{_called(texts[0][0])} holds" if len(texts) == 1 else "these texts hold"
            shown = command("vocab show", reader.path)
            raise SessionError(f"{held} no word of the session's vocabulary, which `{shown}` prints")
        topics = {
            row.topic: f"{row.name}: {' '.join(word for word, _ in row.words)}"
            for row in reader.topics(name, 8)
        }
    found = [
        (file, count, theta) for (file, _), count, theta in zip(texts, counts.tolist(), thetas, strict=True)
    ]
    if as_json:
        put_json(
            [
                {"file": file, "words": count, "model": name, "proportions": theta.tolist()}
                for file, count, theta in found
            ]
        )
        return
    for file, count, theta in found:
        put_line(f"{_called(file)}: {count:,} {'word' if count == 1 else 'words'} of the vocabulary")
        if not count:
            continue
        for topic in (-theta).argsort(kind="stable")[:8].tolist():
            if theta[topic] >= 0.01:
                put_line(f"  {theta[topic]:6.1%}  {topic:4}  {topics.get(topic, '')}")


def _called(file: str) -> str:
    return "standard input" if file == "-" else file


def _read(file: str) -> str:
    from session.errors import SessionError
    from session.storage.files import read_bounded, read_input

    if file == "-" and sys.stdin.isatty():
        say("type or paste a text; Ctrl+D ends it")
    try:
        data = read_bounded(sys.stdin.buffer, _MOST) if file == "-" else read_input(file, _MOST, pipes=True)
    except OSError as error:
        raise SessionError(f"{_called(file)}: {error.strerror}") from None
    text = data.decode("utf-8", "replace")
    if "\0" in text or text.count("\N{REPLACEMENT CHARACTER}") > len(text) * _UNREADABLE:
        raise SessionError(f"{_called(file)}: a binary file, or not UTF-8 text")
    return text
