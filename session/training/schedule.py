"""The fixed rules of the stream: the size of minibatches, and when models are measured and topics
stored.

They depend only on numbers of articles, never on the clock, so that an interrupted run does
exactly what an uninterrupted one does.
"""

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
"""The most articles between two snapshots (plus a minibatch), until there are 50 times as many."""
OBSERVATIONS_PER_DOUBLING = 2
"""The number of observations of the topics, to see how they change, per doubling of the
articles."""
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
    quarter = articles // 4
    multiple = quarter // FIRST * FIRST
    return min(batch_size, max(FIRST, multiple))


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
        is_power_of_two = minibatches.bit_count() == 1
        if is_power_of_two or doubled(before, after):
            return True
        interval: float = 50 * self.held_out
        if self.half_life is not None:
            interval = min(interval, self.half_life)
        if self.at_least_every is not None and after <= WATCHED_UNTIL:
            interval = min(interval, self.at_least_every)
        return _passes_multiple(before, after, int(max(SHORTEST_INTERVAL, interval)))

    def next(self, minibatches: int, articles: int, batch_size: int) -> int:
        """Articles at the first measurement after ``articles``, which took this many
        ``minibatches``."""
        while True:
            before = articles
            articles += minibatch_size(articles, batch_size)
            minibatches += 1
            if self.due(minibatches, before, articles):
                return articles


def pass_evaluation_due(measured: int, after: int) -> bool:
    """Whether to measure at the end of a pass of several; ``measured``: articles at the last
    measurement.

    Each of the first 20 passes is measured, since it adds at least a twentieth to the articles of
    those before it. Later, a pass is measured once the articles have grown by a twentieth. So the
    curve shows where further passes no longer help.
    """
    return after - measured >= GROWTH * measured


def snapshot_due(last: int, before: int, after: int) -> bool:
    """Whether the topics are stored after a minibatch that took ``before`` to ``after`` articles.

    ``last``: articles at the last snapshot, 0 before the first. Topics are stored at every
    doubling, and when the stream has grown by a twentieth or by 10,000 articles; by a fiftieth
    from 500,000 articles on.
    """
    if doubled(before, after):
        return True
    furthest = max(FURTHEST, last // 50)
    return last > 0 and after - last >= min(furthest, GROWTH * last)


def doubled(before: int, after: int) -> bool:
    """Whether the articles have reached or passed a power of two, from 64 on."""
    return after >= FIRST and _doublings(before) != _doublings(after)


def last_doubling(articles: int) -> int:
    """The largest power of two up to this many articles."""
    return 1 << (articles.bit_length() - 1)


def observation_due(before: int, after: int, half_life: float | None = None) -> bool:
    """Whether the topics are observed at a snapshot, to see how they change, given its articles and
    those at the previous one.

    They are observed at the first snapshot at or after each half doubling: 64, 91, 128, 182, 256 …
    Models with a ``half_life`` never settle, so their topics are also observed once per half-life.
    """
    parts = OBSERVATIONS_PER_DOUBLING
    if _doublings(before, parts) != _doublings(after, parts):
        return True
    return half_life is not None and _passes_multiple(before, after, half_life)


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

    They are dropped half-way between multiples of `DROPPED_EVERY`. A renewal begins at a power of
    two and drops articles too when it ends some minibatches later; half-way, this is long over.
    Which articles stay does not depend on when a run commits otherwise: when articles are to be
    dropped, the stream asks for a commit before its next step.
    """
    half = DROPPED_EVERY // 2
    return _passes_multiple(before + half, after + half, DROPPED_EVERY)


def thinned_snapshots(articles: list[int], half_life: float | None = None) -> set[int]:
    """The snapshots to drop: of those older than the newest 60, one per twentieth of growth is
    kept.

    The first ones at or after each half doubling are kept too, so that the history has 64, 128, 256
    … and the changes of topics can be determined after a resume. A snapshot that is kept once is
    always kept, except for the observations of a ``half_life``, of which only the last are needed.
    """
    at_half_doublings = observations(articles)
    last_observations = observations(articles, half_life)[-OBSERVATIONS:]
    stay = {*at_half_doublings, *last_observations}
    gone: set[int] = set()
    last_kept = 0
    for point in articles[:-NEWEST_POINTS]:
        if point in stay or point - last_kept >= GROWTH * last_kept:
            last_kept = point
        else:
            gone.add(point)
    return gone


def observations(articles: list[int], half_life: float | None = None) -> list[int]:
    """The snapshots among these at which the topics were observed."""
    return [
        after
        for before, after in pairwise([0, *articles])
        if observation_due(before, after, half_life)
    ]


def _doublings(articles: int, parts: int = 1) -> int:
    """How many times this many articles have doubled, counted in parts of a doubling.

    With every doubling, a number gets one bit more. Its power with the exponent ``parts`` gets
    ``parts`` bits more, one for each part of the doubling. Unlike a logarithm, this never rounds.
    """
    return int(articles**parts).bit_length()


def _passes_multiple(before: int, after: int, interval: float) -> bool:
    """Whether a multiple of ``interval`` has been reached or passed."""
    return before // interval != after // interval
