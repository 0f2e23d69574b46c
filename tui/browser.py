"""The user's web browser, which is no part of this terminal."""

import os
import subprocess
import sys

PATIENCE = 20.0
"""Seconds that a browser may take to come up."""
_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_page(address: str) -> bool:
    """Show the page in the user's browser; False where there is none that has a window of its own.

    In a process apart, without this terminal: whatever a browser prints would go across the screen, and one
    that draws in a terminal (as Python chooses it where $TERM is set) would take it over.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _OPEN, address],
            env={name: value for name, value in os.environ.items() if name != "TERM"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
