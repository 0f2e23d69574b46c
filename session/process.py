"""Identifies a process: its number alone may belong to another program by now, or one in another
container."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be mistaken for another, as text that others can check."""

    pid: int
    """0: nothing is known of it."""
    place: str
    """Where the number is valid: on Linux this boot of this machine, and the pid namespace in it."""
    start: str
    """Its start time, as the system states it."""

    @classmethod
    def own(cls) -> "Process":
        """The calling process."""
        return cls(os.getpid(), _place(), _look("self" if sys.platform == "linux" else str(os.getpid()))[1])

    @classmethod
    def from_text(cls, text: str) -> "Process":
        """The inverse of `as_text`; any other text gives an unknown process."""
        pid, place, start, *_ = [*text.split("\n"), "", "", ""]
        plausible = pid.isascii() and pid.isdigit() and len(pid) <= _MOST_DIGITS
        return cls(int(pid), place, start) if plausible else UNKNOWN

    def as_text(self) -> str:
        """One line for each field."""
        return f"{self.pid}\n{self.place}\n{self.start}\n"

    def lives(self) -> bool | None:
        """Whether it is still running; None if that cannot be known from here."""
        if not self.start or not self.place or self.place != _place():
            return None
        return _look(str(self.pid))[1] == self.start

    def is_suspended(self) -> bool:
        """Whether it is known to do nothing until it is continued, as after Ctrl+Z."""
        return bool(self.lives()) and _look(str(self.pid))[0] in ("T", "t")


UNKNOWN = Process(0, "", "")


def _place() -> str:
    """The place, or "" if the system does not tell."""
    if sys.platform != "linux":
        return f"{sys.platform} {os.uname().nodename}"
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _look(pid: str) -> tuple[str, str]:
    """(state, start time) of a process; both "" if it has ended or the system does not tell."""
    try:
        if sys.platform == "linux":
            state, *fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            start = fields[18]  # in clock ticks since boot
        else:
            import subprocess  # needed only here

            from wikitopics.session.signals import acting_later

            with acting_later():
                listed = subprocess.run(
                    ["ps", "-o", "state=,lstart=", "-p", pid],
                    capture_output=True,
                    text=True,
                    env={**os.environ, "LC_ALL": "C"},
                )
            state, _, start = listed.stdout.strip().partition(" ")
    except (OSError, ValueError, IndexError):
        return "", ""
    return ("", "") if state[:1] in ("Z", "X") else (state[:1], start.strip())
