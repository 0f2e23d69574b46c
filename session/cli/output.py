"""What goes to the terminal: one-line errors, progress, tables; foreign text made harmless."""

import contextlib
import os
import re
import select
import sys
import time

import click

_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """``text`` with control characters, line ends and direction marks written out, so that none acts."""
    return _UNSAFE.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def error_line(message: str) -> str:
    """A message as the one line that users see."""
    return f"wikitopics: {printable(' '.join(message.split()))}"


def forget_output() -> None:
    """The reader of our output has had enough, as in `wikitopics topics | head`: the rest goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def nobody_reads() -> bool:
    """Whether standard output is a pipe whose reader is gone, known without writing to it."""
    poll = select.poll()
    with contextlib.suppress(OSError):  # no descriptor, where something else takes the output
        poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


def say(message: str) -> None:
    """A message for people, to standard error."""
    with contextlib.suppress(OSError):  # a terminal that is gone is no reason to stop training
        click.echo("\n".join(map(printable, message.split("\n"))), err=True)


class Progress:
    """How far long work has come, to standard error: one line that changes on a terminal, else now and then.

    ``total``: of how many, where that is known.
    """

    def __init__(self, what: str, total: int | None = None) -> None:
        self._what = what
        self._total = total
        self._terminal = sys.stderr.isatty()
        self._every = 0.2 if self._terminal else 30.0
        self._next = time.monotonic() + self._every
        self._shown = False

    def __call__(self, done: int) -> None:
        """``done`` are done by now."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._every
        of = f" of {self._total:,} ({done / self._total:.0%})" if self._total else ""
        line = f"{done:,}{of} {self._what}"
        if self._terminal:
            # Spaces wipe what a longer line left, without an escape code.
            click.echo(f"\r{line:<60}", err=True, nl=False)
            self._shown = True
        else:
            say(line)

    def end(self) -> None:
        """The work is over: what follows begins on a line of its own."""
        if self._shown:
            click.echo(err=True)


def number(value: float) -> str:
    """1,234 for counts; 12.3 for small rates."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def duration(seconds: float) -> str:
    """1:02:03"""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def until(moment: float | None) -> str:
    """ " until 14:05:09" for a known end of a wait, else nothing."""
    return "" if moment is None else time.strftime(" until %H:%M:%S", time.localtime(moment))
