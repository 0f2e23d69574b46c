"""Output to the terminal: one-line errors, progress, tables, and foreign text made harmless."""

import contextlib
import io
import json
import os
import re
import select
import shutil
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TextIO

import click

from wikitopics.session import escapes
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.wording import snippet_shown, so_far

INTERRUPTED = (KeyboardInterrupt, click.Abort)
"""Ctrl+C. At a question, click turns both Ctrl+C and the end of the input into an error of its
own."""


_BELOW = 9
"""The cells by which a text is indented that stands below a document's title."""


class ReaderGone(BrokenPipeError):
    """Standard output is a pipe whose reader has closed it, as in `wikitopics topics | head`. This
    is not a failure.

    A broken pipe to anything else stays a plain BrokenPipeError.
    """


def mend_standard_streams() -> None:
    """Replace standard streams that are closed, as by `1>&-`.

    Otherwise the next file opened, perhaps the session itself, would get their descriptor and
    whatever is printed.
    """
    for descriptor, name, flags, mode in (
        (0, "stdin", os.O_RDONLY, "r"),
        # Writing to standard output is still an error, which will be reported.
        (1, "stdout", os.O_RDONLY, "w"),
        (2, "stderr", os.O_WRONLY, "w"),
    ):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)  # gets the lowest free descriptor: this one
            stream = open(descriptor, mode, closefd=False)  # noqa: SIM115 (stays open)
            setattr(sys, name, stream)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What the terminal cannot show is escaped.
        sys.stdout.reconfigure(errors="backslashreplace")


@contextlib.contextmanager
def standard_output() -> Iterator[TextIO]:
    """Standard output, flushed at the end. Raises `ReaderGone`, or `SessionError`."""
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        raise output_failed(error) from None


def output_failed(error: OSError) -> ReaderGone | SessionError:
    """What an error of writing to standard output means; nothing more is written there."""
    # Otherwise Python would write what is left again at exit, and complain.
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if isinstance(error, BrokenPipeError):
        return ReaderGone()
    return SessionError(f"cannot write to standard output: {error.strerror or error}")


def is_echo(error: OSError) -> bool:
    """Whether click failed to write something of its own to standard output."""
    return any(
        frame.f_code is click.echo.__code__ for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def put_data(pieces: Iterable[bytes]) -> None:
    """Write data for other programs to standard output as it is; on a terminal, make its text
    harmless."""
    with standard_output() as out:
        for piece in pieces:
            if out.isatty():
                out.write(_visible_lines(piece.decode()))
            else:
                out.buffer.write(piece)


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def put_line(text: str) -> None:
    """Print one line for people; nothing in it can control the terminal."""
    with standard_output() as out:
        out.write(f"{visible(text)}\n")


def put_document(
    figures: str,
    title: str,
    address: str | None = None,
    words: str = "",
    snippet: str | None = None,
) -> None:
    """Print a document of a list: its title after some figures, as a link to this address if the
    terminal supports links, the topic's words that are in it, and the beginning of its text.

    On a terminal, the text stands in a line below, and both lines are cut.
    """
    shown = visible(title)
    after = f"  [{visible(words)}]" if words else ""
    text = visible(snippet_shown(snippet))
    with standard_output() as out:
        is_terminal = out.isatty()
        if is_terminal:
            line = cut_to_terminal(f"{figures}{shown}{after}")[len(figures) :]
            after = line[len(shown) :]
            shown = line[: len(shown)]
        elif text:
            after += f"  {text}"
        if address and escapes.links(out):
            shown = escapes.link(shown, address)
        out.write(f"{figures}{shown}{after}\n")
        if is_terminal and text:
            below = cut_to_terminal(" " * _BELOW + text)
            out.write(f"{below}\n")


def cut_to_terminal(text: str) -> str:
    """The text in one line of the terminal."""
    from rich.cells import cell_len, set_cell_size

    width = shutil.get_terminal_size().columns
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}\u2026"


def put_marked(start: str, text: str, spans: Iterable[tuple[int, int]]) -> None:
    """Print one line for people that ends with ``text``, of which these parts are bold if the
    terminal supports that; nothing in it can control the terminal."""
    with standard_output() as out:
        is_bold = escapes.links(out)
        line = visible(start)
        end = 0
        for begin, stop in spans:
            part = text[begin:stop]
            line += visible(text[end:begin])
            line += escapes.bold(part) if is_bold else visible(part)
            end = stop
        out.write(f"{line}{visible(text[end:])}\n")


def column(texts: Iterable[str], head: str, *, right: bool = False) -> Iterator[str]:
    """``head``, then the texts, each as wide on the screen as the widest: wide characters take
    two. ``right``: aligned to the right, as numbers are."""
    from rich.cells import cell_len

    cells = [head, *map(visible, texts)]
    width = max(map(cell_len, cells))
    for text in cells:
        blanks = " " * (width - cell_len(text))
        yield blanks + text if right else text + blanks


def put_table(rows: Sequence[tuple[str, str]], indent: int) -> None:
    """Print a table for people, whose last column is apart.

    On a terminal that is too narrow for it, the last column stands below the others, ``indent``
    cells from the left, and what is too long for a line is cut.
    """
    from rich.cells import cell_len

    whole = [f"{visible(start)}  {visible(last)}".rstrip() for start, last in rows]
    width = shutil.get_terminal_size().columns
    if not sys.stdout.isatty() or max(map(cell_len, whole), default=0) <= width:
        for line in whole:
            put_line(line)
        return
    for start, last in rows:
        for text in (visible(start).rstrip(), " " * indent + visible(last)):
            if text.strip():
                put_line(cut_to_terminal(text))


def put_json(value: object) -> None:
    """Print ``value`` as one line of JSON."""
    with standard_output() as out:
        out.write(json.dumps(value) + "\n")


def put_json_array(values: Iterable[object]) -> None:
    """Print an array of JSON, one of its values a line, each as it comes. An error ends it, so that
    what came before can be read."""
    before = "["
    end = "[]\n"
    try:
        for value in values:
            with standard_output() as out:
                out.write(before + json.dumps(value))
            before = ",\n"
            end = "]\n"
    finally:
        with standard_output() as out:
            out.write(end)


def objects(columns: str, rows: Iterable[Sequence[object]]) -> list[dict[str, object]]:
    """The rows of a table as objects for JSON. ``columns``: their names, with blanks between."""
    names = columns.split()
    return [dict(zip(names, row, strict=True)) for row in rows]


def exit_code(error: BaseException) -> int:
    """The exit code of a program that this error ends."""
    if isinstance(error, ReaderGone):
        return 0
    if isinstance(error, INTERRUPTED):
        return 130
    return getattr(error, "exit_code", 1)


def fields_of(row: object, *names: str) -> dict[str, Any]:
    """These attributes of a row, for JSON."""
    return {name: getattr(row, name) for name in names}


def unless_none(record: Mapping[str, object], key: str) -> dict[str, object]:
    """A record for JSON that has this key only if its value is known."""
    return {name: value for name, value in record.items() if name != key or value is not None}


def error_line(message: str) -> str:
    """A message as the one line shown to users."""
    line = re.sub(r"[ \t\r\n]+", " ", message.strip())  # other spaces may be part of a file's name
    return f"wikitopics: {visible(line)}"


def nobody_reads() -> bool:
    """Whether standard output is a pipe whose reader is gone, found without writing to it."""
    poll = select.poll()
    with contextlib.suppress(OSError):  # no descriptor, if something else replaces the output
        poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


def say(message: str) -> None:
    """Print a message for people to standard error, in one line."""
    with contextlib.suppress(OSError):  # a closed terminal is no reason to stop training
        click.echo(visible(message), err=True)


def agrees(question: str, otherwise: str) -> bool:
    """Ask the user on the terminal. If that is impossible, raise BadUsage with ``otherwise`` and a
    mention of `--yes`."""
    from wikitopics.session.control import NOBODY_ASKED

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadUsage(f"{otherwise} {NOBODY_ASKED}")
    return click.confirm(visible(question), err=True)


class ProgressLine:
    """Progress of long work, on standard error: one changing line on a terminal, otherwise a line
    now and then. It is an `Advance`.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty() and not escapes.is_dumb()
        self._every = 0.2 if self._terminal else 10.0
        self._next = time.monotonic() + self._every
        self._shown = False

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` are done; 0: the total is unknown."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        line = visible(f"{so_far(done, total)} {what}")
        if self._terminal:
            # Spaces overwrite what a longer line left, without an escape code.
            click.echo(f"\r{line:<60}", err=True, nl=False)
            self._shown = True
        else:
            say(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Any further output begins on a new line."""
        if self._shown:
            click.echo(err=True)


def rate(value: float) -> str:
    """A rate, without digits that mean nothing: 6.1M, 588k, 1,234, 12.3."""
    if value >= 999_500:
        return f"{value / 1e6:.1f}M"
    if value >= 10_000:
        return f"{value / 1e3:.0f}k"
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds: 1:02:03."""
    minutes, seconds_left = divmod(int(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours}:{minutes_left:02}:{seconds_left:02}"
