"""Waiting for what another process or thread does."""

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Returns once it is true; fails where it does not become so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:.0f} s"
        time.sleep(0.02)
