"""How packages are installed where this program is."""

import shlex
import sys
from importlib.util import find_spec


def install_command(requirement: str) -> str:
    """The command that installs a package, such as "wikitopics[report]", where this program is
    installed.

    It names this interpreter: another one's pip knows nothing of a wikitopics that came from a
    checkout.
    """
    python = shlex.quote(sys.executable or "python3")
    if find_spec("pip") is None:  # as in environments that uv has made
        return f"uv pip install --python {python} '{requirement}'"
    return f"{python} -m pip install '{requirement}'"
