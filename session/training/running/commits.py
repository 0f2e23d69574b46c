"""When to commit: soon after every minibatch, and not so often that saving takes the time of training."""

import math
import time
from collections.abc import Callable

COMMIT_SECONDS = 1.0
"""A commit follows a minibatch at once, unless the last commit is younger than this."""
LATEST_SECONDS = 1.5
"""Commit first where the next step is likely to end later than this after the last commit."""


class Saving:
    """Knows how old the last commit is, and how long a step is likely to take: as the last of its kind did.

    The kinds: a step that measures too may take as long as many others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._saved = clock()
        self._took: dict[bool, float] = {}

    def saved(self) -> None:
        """A commit is done."""
        self._saved = self._clock()

    def stepped(self, seconds: float, *, measured: bool) -> None:
        """A step is done, and took so long."""
        if not self._took:  # the first step of a run is saved at once: somebody is waiting to see it resume
            self._saved = -math.inf
        self._took[measured] = seconds

    def due(self, measures: bool | None = None) -> bool:
        """Whether to commit now; ``measures``: whether the step that is ready will, None where none is."""
        age = self._clock() - self._saved
        likely = 0.0 if measures is None else self._took.get(measures, 0.0)
        return age >= COMMIT_SECONDS or age + likely > LATEST_SECONDS
