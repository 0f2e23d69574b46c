"""When to commit: soon after every minibatch, but not so often that saving takes up the training time."""

import math
import time
from collections.abc import Callable

COMMIT_SECONDS = 1.0
"""Seconds: a commit follows a minibatch at once, unless the last commit is younger than this."""
LATEST_SECONDS = 1.5
"""Seconds: commit first if the next step is likely to end later than this after the last commit."""


class Saving:
    """Knows the age of the last commit, and how long a step is likely to take: as long as the last of its
    kind.

    There are two kinds, since a step that also measures may take as long as many others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._saved = clock()
        self._took: dict[bool, float] = {}

    def saved(self) -> None:
        """Note that a commit is done."""
        self._saved = self._clock()

    def stepped(self, seconds: float, *, measured: bool) -> None:
        """Note that a step is done, and how long it took."""
        if not self._took:  # the first step of a run is saved at once, so that people see it resume
            self._saved = -math.inf
        self._took[measured] = seconds

    def due(self, measures: bool | None = None) -> bool:
        """Whether to commit now; ``measures``: whether the next step will measure, None if no step is
        ready."""
        age = self._clock() - self._saved
        likely = 0.0 if measures is None else self._took.get(measures, 0.0)
        return age >= COMMIT_SECONDS or age + likely > LATEST_SECONDS
