"""Starting a trainer in a process of its own, which outlives the screen that asked for it."""

import os
import subprocess
from pathlib import Path

from crawler.child import start_python
from session.errors import SessionError
from session.paths import log_file


def start_trainer(path: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    """Run ``wikitopics ARGUMENTS`` in the background; what it says goes to the log beside the session."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        log = os.open(log_file(path), os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise SessionError(f"cannot write {log_file(path)}: {error.strerror}") from None
    try:
        return start_python("session.cli", arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    finally:
        os.close(log)
