"""Our Python processes: child processes are all started in the same way, and end with the process
that started them; and none spends its start on looking for garbage."""

import atexit
import gc
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import IO

_PR_SET_PDEATHSIG = 1
_YOUNG_OBJECTS = 10_000
"""How many more objects there are when the youngest are searched for garbage."""

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


def collect_rarely() -> None:
    """Search this process for garbage less often than Python does by itself (at 700 objects), and
    not when it ends.

    Loading modules and kernels makes hundreds of thousands of objects, nearly all of which stay: to
    search them took a fifth of the time of a short command.
    """
    _, *older = gc.get_threshold()
    gc.set_threshold(_YOUNG_OBJECTS, *older)
    atexit.register(gc.freeze)
