"""How long a run will still take, from the pace that it has kept so far.

The pace is the mean over the last half hour, waits included, but never far from that of the last
ten minutes: so it is steady in an even crawl, and follows one that has become slower for good.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LONG = 1800.0
"""The seconds over which the mean pace is taken."""
RECENT = 600.0
"""The last seconds, whose mean pace bounds that of all, and from which its uncertainty is
estimated."""
APART = 0.1
"""The share by which the two may differ, unless two standard errors of the latter are more."""
STRETCHES = 12
"""The most stretches that the last seconds are divided into."""
FEWEST = 6
"""The fewest stretches from whose paces something can be said."""
WARM_UP = 5.0
"""The seconds at the beginning of a run that may be unlike the rest."""
UNKNOWN = 3.0
"""Nothing is said of a time whose upper bound is more than this many times the lower one."""
EARLIER = 30.0
"""The seconds for which the pace of a session's earlier runs counts in this one."""
MOST_GAP = 10.0
"""The trainer notes how far it is twice a second. If it has not for longer than this, it was
suspended or the machine was asleep, and the rest of that time does not count."""
SPACING = 5.0
"""The seconds between two marks of a long run."""
STALE = 60.0
"""After so many seconds, what was said is replaced by the current estimate."""
NEWS = 0.04
"""By this share the current estimate differs from what was said if it replaces that at once."""
SETTLING = 60.0
"""The seconds within which it moves most of the way to the current estimate."""
MOST = 4e10
"""The longest time that is said, in seconds."""


class Left(NamedTuple):
    """An estimate of the seconds left."""

    seconds: float
    low: float
    high: float


class Goal(NamedTuple):
    """One of the ends that a run goes towards, in units of its own, such as articles."""

    done: float
    left: float


def time_left(
    times: Sequence[float], done: Sequence[float], now: float, left: float
) -> Left | None:
    """The seconds until ``left`` more units are done; None while that cannot be said, and once
    nothing is left, when a run only has to end.

    ``done[i]``: the units done at ``times[i]``, in seconds of running up to ``now``. The bounds are
    about two standard errors of the mean pace from the estimate.
    """
    if left <= 0 or len(times) <= FEWEST:
        return None
    moments = np.asarray(times)
    course = (moments, np.asarray(done))
    # That nothing new is done lowers the pace only once the next step is overdue.
    newest = times[-1]
    start = _start(moments, newest, RECENT)
    usual_step = (newest - start) / int(np.count_nonzero(moments > start))
    end = max(newest, now - usual_step)
    recent = _mean_pace(course, end, RECENT)
    usual = _mean_pace(course, end, LONG)
    if recent is None or usual is None:
        return None
    apart = 1 + max(APART, 2 * recent.error)
    slowest = recent.pace / apart
    fastest = recent.pace * apart
    pace = min(max(usual.pace, slowest), fastest)
    mean = usual if pace == usual.pace else recent
    seconds = min(left / pace, MOST)
    # The pace of what is left varies as that of the past did, the more the shorter it is.
    error = mean.error * math.sqrt(1 + mean.seconds / seconds)
    uncertain = math.hypot(2 * error, WARM_UP / (end - times[0]))
    if 1 + uncertain > UNKNOWN * (1 - uncertain):
        return None
    low = seconds / (1 + uncertain)
    high = seconds / (1 - uncertain)
    return Left(seconds, low, min(high, MOST))


class Pace(NamedTuple):
    """A mean pace, its standard error as a share of it, and the seconds of which it is the mean."""

    pace: float
    error: float
    seconds: float


def _mean_pace(
    course: tuple[NDArray[np.float64], NDArray[np.float64]], end: float, seconds: float
) -> Pace | None:
    """The mean pace over the last ``seconds`` up to ``end``, whose error follows from how much the
    paces of equal stretches differ; None if nothing was done."""
    times, _ = course
    start = _start(times, end, seconds)
    if end <= start:
        return None
    steps = int(np.count_nonzero(times > start))
    stretches = min(STRETCHES, max(FEWEST, steps))
    edges = np.linspace(start, end, stretches + 1)
    paces = np.diff(np.interp(edges, *course)) / np.diff(edges)
    pace = float(paces.mean())
    if pace <= 0:
        return None
    error = float(paces.std(ddof=1)) / math.sqrt(stretches) / pace
    return Pace(pace, error, end - start)


def _start(times: NDArray[np.float64], end: float, seconds: float) -> float:
    """The moment that many ``seconds`` before ``end``, or an earlier one if steps are rare."""
    of_few_steps = times[-1 - FEWEST]
    return float(max(times[0], min(end - seconds, of_few_steps)))


class Marks:
    """How far a run was towards one goal, at moments of its last half hour."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.done: list[float] = []

    def add(self, now: float, done: float) -> None:
        """Note how far it is; a moment at which nothing is new is no mark, and one moment, as after
        a pause, is one mark."""
        if self.done and done == self.done[-1]:
            return
        if self.times and now == self.times[-1]:
            self.done[-1] = done
            return
        if len(self.times) >= 2:
            spacing = min(SPACING, (now - self.times[0]) / 50)
            if now - self.times[-2] < spacing:
                del self.times[-1], self.done[-1]
        self.times.append(now)
        self.done.append(done)
        while len(self.times) > FEWEST + 1 and self.times[1] < now - LONG:
            del self.times[0], self.done[0]


class TimeLeft:
    """Follows a run and says how long it will still take."""

    def __init__(self, earlier: Mapping[str, float], seconds: float) -> None:
        """``earlier``: how far the session's earlier runs came towards each goal, in ``seconds`` of
        running."""
        self._clock = 0.0
        self._noted_at: float | None = None
        self._marks: dict[str, Marks] = {}
        self._stage: object = None
        self._said: Left | None = None
        self._said_at = 0.0
        known = min(EARLIER, seconds)
        for goal, done in earlier.items():
            if known > 0 and done > 0:
                marks = Marks()
                self._marks[goal] = marks
                for number in range(FEWEST + 1):
                    before = known * (FEWEST - number) / FEWEST
                    marks.add(-before, done - done * before / seconds)

    def note(
        self,
        now: float,
        goals: Mapping[str, Goal],
        *,
        stage: object = None,
        most: float = math.inf,
    ) -> Left | None:
        """Note how far the run is at ``now``, on any clock; returns the time until it reaches the
        first of the goals, or ``most`` seconds if that is sooner. Not called during a pause.

        A run that enters another ``stage`` goes at another pace.
        """
        if self._noted_at is not None:
            self._clock += min(now - self._noted_at, MOST_GAP)
        self._noted_at = now
        if self._stage is not None and stage != self._stage:
            self._marks.clear()
        self._stage = stage
        return self._steady(self._estimate(goals, most))

    def pause(self) -> None:
        """The time until the next note does not count."""
        self._noted_at = None

    def _estimate(self, goals: Mapping[str, Goal], most: float) -> Left | None:
        """How long the goal that is reached first will take, at most ``most`` seconds; None if that
        cannot be told of all goals."""
        soonest = Left(most, most, most)
        for name, goal in goals.items():
            marks = self._marks.setdefault(name, Marks())
            marks.add(self._clock, goal.done)
            left = time_left(marks.times, marks.done, self._clock, goal.left)
            if left is None:
                return None
            soonest = Left(
                min(soonest.seconds, left.seconds),
                min(soonest.low, left.low),
                min(soonest.high, left.high),
            )
        return soonest if math.isfinite(soonest.seconds) else None

    def _steady(self, estimate: Left | None) -> Left | None:
        """What was said, less the time since, as long as that is about the current estimate;
        otherwise it moves towards the estimate."""
        passed = self._clock - self._said_at
        said = self._said
        is_exact = estimate is not None and estimate.low == estimate.high
        if said is not None and estimate is not None and not is_exact:
            counted_down = Left(*(max(0.0, each - passed) for each in said))
            difference = abs(estimate.seconds - counted_down.seconds)
            if passed < STALE and difference <= NEWS * estimate.seconds:
                return counted_down
            within = min(SETTLING, estimate.seconds / 10)
            part = -math.expm1(-passed / within)
            pairs = zip(counted_down, estimate, strict=True)
            estimate = Left(*(old + part * (new - old) for old, new in pairs))
        self._said = estimate
        self._said_at = self._clock
        return estimate
