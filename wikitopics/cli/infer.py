"""`infer`: the topics of any text, by a session's model."""

import contextlib
import gc
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from wikitopics.cli.options import json_option, model_option, session_option
from wikitopics.cli.output import put_json, put_line, say
from wikitopics.session.paths import command, session_path

if TYPE_CHECKING:
    from wikitopics.session.analysis.inference import Inferred
    from wikitopics.session.storage.reader import SessionReader

_MOST = 32 * 2**20
"""The largest text, in bytes."""
_UNREADABLE = 0.3
"""The share of characters that are not UTF-8 above which a file is no text; in Latin-1 one letter in ten
may be accented."""


@click.command(
    epilog="""\b
Examples:
  wikitopics infer essay.txt
  pbpaste | wikitopics infer --json"""
)
@click.argument("files", metavar="[FILE]…", nargs=-1, type=click.Path())
@model_option
@session_option
@json_option
def infer(files: tuple[str, ...], model: str | None, session: str, as_json: bool) -> None:
    """Infer topic proportions of any text: files, or standard input."""
    from wikitopics.session.storage.reader import SessionReader

    with _uncollected(), SessionReader(session_path(session)) as reader:
        name = reader.model_named(model)
        found = infer_files(reader, name, files or ("-",))
        topics = {
            row.topic: f"{row.name}: {' '.join(word for word, _ in row.words)}"
            for row in reader.topics(name, 8)
        }
    named = list(zip(files or ("-",), found, strict=True))
    if as_json:
        put_json(
            [
                {
                    "file": file,
                    "words": one.words,
                    "known": one.known,
                    "model": name,
                    "proportions": one.theta.tolist(),
                }
                for file, one in named
            ]
        )
        return
    for file, one in named:
        put_line(f"{_called(file)}: {one.known:,} of {one.words:,} words known")
        if not one.known:
            continue
        for topic in (-one.theta).argsort(kind="stable")[:8].tolist():
            if one.theta[topic] >= 0.01:
                put_line(f"  {one.theta[topic]:6.1%}  {topic:4}  {topics.get(topic, '')}")


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Turn garbage collection off, which took a tenth of a start.

    Loading compiled kernels makes about a hundred thousand objects, all of which stay.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def infer_files(reader: "SessionReader", model: str, files: Sequence[str]) -> "list[Inferred]":
    """Infer each file, where "-" is standard input.

    Raises `SessionError` for a file that is not text, and if no word of any file is known.
    """
    from wikitopics.session.analysis.inference import infer
    from wikitopics.session.errors import SessionError

    found = infer(reader, model, [_read(file) for file in files])
    if not any(one.known for one in found):
        held = f"{_called(files[0])} holds" if len(files) == 1 else "these texts hold"
        shown = command("vocab show", reader.path)
        raise SessionError(f"{held} no word of the session's vocabulary (`{shown}` prints it)")
    return found


def _called(file: str) -> str:
    return "standard input" if file == "-" else file


def _read(file: str) -> str:
    from wikitopics.session.errors import SessionError
    from wikitopics.session.storage.files import read_bounded, read_input

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
