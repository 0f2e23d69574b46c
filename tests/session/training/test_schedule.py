"""How large minibatches are, and when a trainer measures and stores topics."""

import itertools
import math

import pytest

from wikitopics.session.training import schedule


def stream(batch_size, end):
    """Article counts after each minibatch."""
    articles = 0
    counts = []
    while articles < end:
        articles += schedule.minibatch_size(articles, batch_size)
        counts.append(articles)
    return counts


def measurements(rule, counts):
    """The article counts at which models are measured."""
    steps = enumerate(itertools.pairwise(counts), 1)
    return [after for n, (before, after) in steps if rule.due(n, before, after)]


def test_minibatches_grow_from_64_to_the_batch_size_and_stay_there():
    sizes = [schedule.minibatch_size(articles, 1024) for articles in stream(1024, 20_000)]
    assert schedule.minibatch_size(0, 1024) == 64
    assert sizes == sorted(sizes)
    assert sizes[-1] == 1024
    assert all(size % 64 == 0 for size in sizes)
    assert [schedule.minibatch_size(articles, 10) for articles in (0, 64, 10_000)] == [10, 10, 10]
    assert schedule.minibatch_size(10**9, 16_384) == 16_384


def test_the_first_minibatches_and_a_million_articles_are_measured_like_those_of_any_session():
    assert [n for n in range(1, 40) if schedule.Evaluations(1000).due(n, 0, 0)] == [
        1,
        2,
        4,
        8,
        16,
        32,
    ]
    rule = schedule.Evaluations(1000, at_least_every=10_000)
    assert rule.due(900, 909_500, 910_500)
    assert not rule.due(1_100, 1_109_500, 1_110_500)
    assert rule.due(1_100, 1_149_500, 1_150_500)


@pytest.mark.parametrize(
    ("half_life", "often", "every"),
    [(None, None, 50_000), (5000, None, 5000), (None, 10_000, 10_000)],
)
def test_later_measurements_come_after_50_times_the_held_out_articles_or_sooner(
    half_life, often, every
):
    counts = [0, *stream(1024, 200_000)]
    due = measurements(schedule.Evaluations(1000, half_life, often), counts)
    assert {after // every for after in due} == {after // every for after in counts}


def test_the_next_measurement_is_known_before():
    rule = schedule.Evaluations(1000, at_least_every=10_000)
    counts = [0, *stream(1024, 60_000)]
    due = measurements(rule, counts)
    for n, articles in enumerate(counts[:-12]):
        assert rule.next(n, articles, 1024) == next(point for point in due if point > articles)


def test_the_last_observations_of_models_that_forget_stay():
    kept = []
    for articles in range(10_240, 6_000_000, 10_240):
        kept.append(articles)
        gone = schedule.thinned_snapshots(kept, 1_000_000)
        kept = [one for one in kept if one not in gone]
    whole = schedule.observations(list(range(10_240, 6_000_000, 10_240)), 1_000_000)
    assert schedule.observations(kept, 1_000_000)[-3:] == whole[-3:]
    assert len(kept) < 250


def thinned_stream(batch_size, articles):
    """Article counts of the snapshots of a stream, as they are taken and as they stay."""
    taken = []
    kept = []
    for before, after in itertools.pairwise([0, *stream(batch_size, articles)]):
        last = kept[-1] if kept else 0
        if schedule.snapshot_due(last, before, after):
            taken.append(after)
            kept.append(after)
            gone = schedule.thinned_snapshots(kept)
            kept = [point for point in kept if point not in gone]
    return taken, kept


@pytest.mark.parametrize("batch_size", [64, 1024, 16_384])
def test_topics_are_kept_at_every_doubling_and_every_twentieth_of_growth(batch_size):
    counts = stream(batch_size, 1_000_000)
    taken, kept = thinned_stream(batch_size, 1_000_000)
    for power in (1 << bits for bits in range(6, 20)):
        first = next(count for count in counts if count >= power)
        assert first in taken
        assert first in kept
    for before, after in itertools.pairwise(taken):
        missed = [count for count in counts if before < count < after]
        furthest = max(10_000, before // 50)
        assert all(count - before < min(furthest, before / 20) for count in missed)
    assert not schedule.snapshot_due(70_000, 72_000, 73_000)
    assert schedule.snapshot_due(70_000, 73_000, 73_500)


@pytest.mark.parametrize(("batch_size", "articles"), [(64, 300_000), (1024, 7_000_000)])
def test_a_night_of_snapshots_stays_small(batch_size, articles):
    taken, kept = thinned_stream(batch_size, articles)
    assert kept[-60:] == taken[-60:]
    assert len(kept) <= 250
    older = kept[:-60]
    asked = set(schedule.observations(taken))
    assert all(b >= 1.05 * a or b in asked for a, b in itertools.pairwise(older))


@pytest.mark.parametrize(("batch_size", "articles"), [(64, 60_000), (16_384, 7_000_000)])
def test_it_is_asked_at_each_half_doubling_what_became_of_topics(batch_size, articles):
    taken, kept = thinned_stream(batch_size, articles)
    asked = [
        after
        for before, after in itertools.pairwise([0, *taken])
        if schedule.observation_due(before, after)
    ]
    assert asked == schedule.observations(taken) == schedule.observations(kept)
    assert [one for one in asked if one < 200] == [64, 128, 192]
    assert len(asked) <= 2 * math.log2(articles / 64) + 1
