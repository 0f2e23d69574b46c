"""Python child processes: all are started in the same way, and end with the process that started
them."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

_PR_SET_PDEATHSIG = 1

Stream = int | IO[bytes]


def start_python(
    module: str,
    arguments: Sequence[str] = (),
    *,
    stdin: Stream,
    stdout: Stream,
    stderr: Stream | None = None,
    keeps: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Run ``python -m MODULE ARGUMENTS``, whatever the working directory contains.

    ``keeps``: descriptors that remain open in it until its end, and with them their locks.

    ``-P``, which no environment variable can undo, keeps the working directory off the module
    search path: a folder `model` or a file `json.py` there is not run instead of ours. The child
    has its own terminal session, so that Ctrl+C reaches only its parent.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        pass_fds=keeps,
    )


def end_with_parent() -> None:
    """Let the kernel kill this process when the thread that started it ends (on Linux; elsewhere do
    nothing).

    This ends even a suspended process. The end of standard input, which a child should watch for on
    every system, does not.
    """
    if sys.platform == "linux":
        import ctypes  # only children need it

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
