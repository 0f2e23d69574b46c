"""The fixed rules of the stream: the size of minibatches, and when models are measured and topics
stored.

They depend only on numbers of articles, never on the clock, so that an interrupted run does
exactly what an uninterrupted one does.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

from wikitopics.model.changes import OBSERVATIONS
from wikitopics.session.storage.articles import DROPPED_EVERY

SHORTEST_INTERVAL = 2048
"""The fewest articles between two measurements once doublings are far apart."""
WATCHED_UNTIL = 1_000_000
"""The number of articles up to which a session may ask for more measurements."""
GROWTH = 0.05
"""The fraction of the stream between two snapshots of the topics."""
FURTHEST = 10_000
"""The most articles between two snapshots (plus a minibatch)."""
HALVES = 2
"""The number of looks at the changes of topics per doubling of the articles."""
NEWEST_POINTS = 60
"""The number of newest snapshots that are never thinned."""
FIRST = 64
"""Articles in the first minibatch: few, so that the first point of the curve appears within
seconds."""


def minibatch_size(articles: int, batch_size: int) -> int:
    """Articles in the minibatch that follows ``articles`` trained ones.

    A quarter of what has been seen, in whole multiples of 64, at least 64 and at most
    ``batch_size``: minibatches grow by a quarter each until they reach ``batch_size``.
    """
    return min(batch_size, max(FIRST, articles // 4 // FIRST * FIRST))


@dataclass(frozen=True, slots=True)
class Evaluations:
    """When the models of a session are measured.

    Measurements follow minibatches 1, 2, 4, 8 …, every doubling of the articles, and every further
    50 times the ``held_out`` number of articles. The last rule adds a few per cent to the training
    time, most for an HDP. Models with a ``half_life`` are also measured once per half-life, since
    they may have changed entirely. Up to a million articles, all are measured every
    ``at_least_every`` articles, if that is given.
    """

    held_out: int
    half_life: float | None = None
    at_least_every: int | None = None

    def due(self, minibatches: int, before: int, after: int) -> bool:
        """Whether to measure after minibatch number ``minibatches``, which took ``before`` to
        ``after`` articles."""
        often = self.at_least_every if after <= WATCHED_UNTIL else None
        most = min(50 * self.held_out, self.half_life or math.inf, often or math.inf)
        interval = int(max(SHORTEST_INTERVAL, most))
        powers = minibatches & (minibatches - 1) == 0 or doubled(before, after)
        return powers or before // interval != after // interval

    def next(self, minibatches: int, articles: int, batch_size: int) -> int:
        """Articles at the first measurement after ``articles``, which took this many
        ``minibatches``."""
        while True:
            before, articles = articles, articles + minibatch_size(articles, batch_size)
            minibatches += 1
            if self.due(minibatches, before, articles):
                return articles


def pass_evaluation_due(measured: int, after: int) -> bool:
    """Whether to measure at the end of a pass of several; ``measured``: articles at the last
    measurement.

    Each of the first 20 passes is measured, then one whenever the articles have grown by a
    twentieth, so that the curve shows where further passes no longer help.
    """
    return after - measured >= GROWTH * measured


def snapshot_due(last: int, before: int, after: int) -> bool:
    """Whether the topics are stored after a minibatch that took ``before`` to ``after`` articles.

    ``last``: articles at the last snapshot, 0 before the first. Topics are stored at every
    doubling, and when the stream has grown by a twentieth or by 10,000 articles.
    """
    grown = last > 0 and after - last >= min(FURTHEST, GROWTH * last)
    return grown or doubled(before, after)


def doubled(before: int, after: int) -> bool:
    """Whether the articles have reached or passed a power of two, from 64 on."""
    return after >= FIRST and _steps(before, 1) != _steps(after, 1)


def look_due(before: int, after: int, half_life: float | None = None) -> bool:
    """Whether the changes of topics are examined at a snapshot, given its articles and those at the
    previous one.

    They are examined at the first snapshot at or after each half doubling: 64, 91, 128, 182, 256 …
    Models with a ``half_life`` never settle, so their topics are also examined once per half-life.
    """
    again = half_life is not None and before // half_life != after // half_life
    return again or _steps(before, HALVES) != _steps(after, HALVES)


def renewal_due(before: int, after: int) -> bool:
    """Whether the newest articles are inferred again: each time the stream has doubled, from 1,024
    on.

    This costs about as much as training on them again, so it must become rarer as the stream
    continues.
    """
    return after >= 1024 and doubled(before, after)


def drop_due(before: int, after: int) -> bool:
    """Whether articles that are not among the best of any topic are dropped, with `--keep-articles
    top`.

    Half-way between multiples of `DROPPED_EVERY`. Renewals drop articles too when they end, some
    minibatches after a power of two. Which articles stay does not depend on when a run commits,
    since the stream asks for a commit before its next step.
    """
    half = DROPPED_EVERY // 2
    return (before + half) // DROPPED_EVERY != (after + half) // DROPPED_EVERY


def thinned_snapshots(articles: list[int], half_life: float | None = None) -> set[int]:
    """The snapshots to drop: of those older than the newest 60, one per twentieth of growth is
    kept.

    The first ones at or after each half doubling are kept too, so that the history has 64, 128, 256
    … and the changes of topics can be determined after a resume. A snapshot that is kept once is
    always kept, except for the looks of a ``half_life``, of which only the last are needed.
    """
    stay = {*looks(articles), *looks(articles, half_life)[-OBSERVATIONS:]}
    gone: set[int] = set()
    last = 0
    for a in articles[:-NEWEST_POINTS]:
        if a in stay or a - last >= GROWTH * last:
            last = a
        else:
            gone.add(a)
    return gone


def looks(articles: list[int], half_life: float | None = None) -> list[int]:
    """The snapshots among these at which the changes of topics were examined."""
    return [a for before, a in pairwise([0, *articles]) if look_due(before, a, half_life)]


def _steps(articles: int, parts: int) -> int:
    """How many times this many articles have doubled, in ``parts`` of a doubling; exact, since no
    logarithm is used."""
    return int(articles**parts).bit_length()
