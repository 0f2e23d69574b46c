"""Starting a trainer in a process of its own, which outlives the screen that asked for it."""

import fcntl
import os
import subprocess
from pathlib import Path

from crawler.child import start_python
from crawler.ownfile import open_own
from session.errors import SessionError
from session.paths import log_file


def start_trainer(path: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    """Run ``wikitopics ARGUMENTS`` in the background; what it says goes to the log beside the session."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        log = open_own(log_file(path), os.O_WRONLY | os.O_APPEND)
        _begin_anew(log)
    except OSError as error:
        raise SessionError(f"cannot write {log_file(path)}: {error.strerror}") from None
    try:
        return start_python("session.cli", arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    finally:
        os.close(log)


def _begin_anew(log: int) -> None:
    """Empty the log, unless a trainer still writes to it: each holds a lock on it as long as it lives."""
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    os.ftruncate(log, 0)
