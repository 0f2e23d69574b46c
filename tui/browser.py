"""The user's web browser, outside this terminal."""

import os
import subprocess
import sys

PATIENCE = 20.0
"""Seconds that a browser may take to start."""
_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_page(address: str) -> bool:
    """Show the page in the user's browser; returns False if there is none with a window of its own.

    It runs in a separate process without this terminal. Otherwise its output would spoil the
    screen, and a browser that draws in a terminal (which Python may choose if $TERM is set) would
    take it over.
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
