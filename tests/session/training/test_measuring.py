"""What a trainer measures and when; what it keeps of topics beside their words."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from tests.session.training.driving import MODELS, Driver
from wikitopics.model import Minibatch, kinds
from wikitopics.model.changes import OBSERVATIONS
from wikitopics.session.records import Progress, Scored, TopicEvent, TopWords
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.training import measuring


def stream(batch_size, end):
    """Article counts after each minibatch."""
    articles, counts = 0, []
    while articles < end:
        articles += measuring.minibatch_size(articles, batch_size)
        counts.append(articles)
    return counts


def measurements(rule, counts):
    """The article counts at which models are measured."""
    steps = enumerate(itertools.pairwise(counts), 1)
    return [after for n, (before, after) in steps if rule.due(n, before, after)]


def test_minibatches_grow_from_64_to_the_batch_size_and_stay_there():
    sizes = [measuring.minibatch_size(articles, 1024) for articles in stream(1024, 20_000)]
    assert measuring.minibatch_size(0, 1024) == 64
    assert sizes == sorted(sizes)
    assert sizes[-1] == 1024
    assert all(size % 64 == 0 for size in sizes)
    assert [measuring.minibatch_size(articles, 10) for articles in (0, 64, 10_000)] == [10, 10, 10]
    assert measuring.minibatch_size(10**9, 16_384) == 16_384


def test_the_first_minibatches_and_a_million_articles_are_measured_like_those_of_any_session():
    assert [n for n in range(1, 40) if measuring.Evaluations(1000).due(n, 0, 0)] == [
        1,
        2,
        4,
        8,
        16,
        32,
    ]
    rule = measuring.Evaluations(1000, at_least_every=10_000)
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
    due = measurements(measuring.Evaluations(1000, half_life, often), counts)
    assert {after // every for after in due} == {after // every for after in counts}


def test_the_next_measurement_is_known_before():
    rule = measuring.Evaluations(1000, at_least_every=10_000)
    counts = [0, *stream(1024, 60_000)]
    due = measurements(rule, counts)
    for n, articles in enumerate(counts[:-12]):
        assert rule.next(n, articles, 1024) == next(point for point in due if point > articles)


def test_the_last_looks_of_models_that_forget_stay():
    kept = []
    for articles in range(10_240, 6_000_000, 10_240):
        kept.append(articles)
        gone = measuring.thinned_snapshots(kept, 1_000_000)
        kept = [one for one in kept if one not in gone]
    whole = measuring.looks(list(range(10_240, 6_000_000, 10_240)), 1_000_000)
    assert measuring.looks(kept, 1_000_000)[-3:] == whole[-3:]
    assert len(kept) < 250


def thinned_stream(batch_size, articles):
    """Article counts of the snapshots of a stream, as they are taken and as they stay."""
    taken = []
    kept = []
    for before, after in itertools.pairwise([0, *stream(batch_size, articles)]):
        if measuring.snapshot_due(kept[-1] if kept else 0, before, after):
            taken.append(after)
            kept.append(after)
            gone = measuring.thinned_snapshots(kept)
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
        assert all(count - before < min(10_000, before / 20) for count in missed)
    assert not measuring.snapshot_due(70_000, 72_000, 73_000)
    assert measuring.snapshot_due(70_000, 73_000, 73_500)


@pytest.mark.parametrize(("batch_size", "articles"), [(64, 300_000), (1024, 7_000_000)])
def test_a_night_of_snapshots_stays_small(batch_size, articles):
    taken, kept = thinned_stream(batch_size, articles)
    assert kept[-60:] == taken[-60:]
    assert len(kept) <= 250
    older, asked = kept[:-60], set(measuring.looks(taken))
    assert all(b >= 1.05 * a or b in asked for a, b in itertools.pairwise(older))


@pytest.mark.parametrize(("batch_size", "articles"), [(64, 60_000), (16_384, 7_000_000)])
def test_it_is_asked_at_each_half_doubling_what_became_of_topics(batch_size, articles):
    taken, kept = thinned_stream(batch_size, articles)
    asked = [
        after
        for before, after in itertools.pairwise([0, *taken])
        if measuring.look_due(before, after)
    ]
    assert asked == measuring.looks(taken) == measuring.looks(kept)
    assert [one for one in asked if one < 200] == [64, 128, 192]
    assert len(asked) <= 2 * math.log2(articles / 64) + 1


WORDS = [other + letter * 3 for letter in "abcdefghijklmnopqrstuvwxyz" for other in "aeiou"]
ORDER = np.linspace(0.2, 0.05, 10, dtype=np.float32)


def snapshot(articles, firsts, shares=(1 / 13,) * 5):
    """Five topics, beside eight that lead with the first words there are."""
    firsts, shares = [*firsts, *[0] * 8], [*shares, *[1 / 13] * 8]
    ids = np.array([np.arange(first, first + 10) for first in firsts], np.int32)
    return TopWords(
        0,
        articles,
        ids,
        np.tile(ORDER, (len(firsts), 1)),
        np.array(shares, np.float32),
    )


FADED = [0.2, 0.1, 0.0838, 0.0002, 0.0]
STORY = [
    snapshot(64, [0, 0, 0, 0, 0]),
    snapshot(91, [20, 0, 0, 0, 0]),
    snapshot(128, [20, 40, 0, 0, 0]),
    snapshot(182, [20, 40, 60, 63, 0], [0.2, 0.1, 0.1, 0.2, 0.0]),
    snapshot(190, [20, 40, 97, 63, 0]),
    *(snapshot(articles, [20, 40, 90, 63, 0]) for articles in (256, 363)),
    *(snapshot(articles, [20, 80, 90, 63, 0]) for articles in (370, 512, 725)),
    snapshot(1024, [20, 80, 90, 63, 0], FADED),
    snapshot(1449, [20, 81, 90, 63, 0], FADED),
    snapshot(2048, [20, 81, 90, 63, 0], FADED),
]


def chronicle(known=None, kept=()):
    return measuring.Chronicle("lda", WORDS, known, kept)


def told(chronicle, snapshots):
    return [(event.articles, event.told()) for one in snapshots for event in chronicle.note(one)]


def name(first):
    """Of a topic that leads with ten words from ``first`` on, all its own."""
    return ", ".join(WORDS[first : first + 3])


def test_births_new_names_and_deaths_are_told_once_they_have_lasted():
    assert told(chronicle(), STORY) == [
        (182, f"#0 {name(20)} is born"),
        (256, f"#1 {name(40)} is born"),
        (363, f"#3 {name(63)} is born"),
        (512, f"#2 {name(90)} is born"),
        (1024, f"#1 is now {name(80)}"),
        (2048, f"#3 {name(63)} died"),
    ]


def test_the_story_is_the_same_wherever_a_trainer_stopped():
    whole = chronicle()
    events = told(whole, STORY)
    for stop in range(1, len(STORY)):
        before = chronicle()
        first = told(before, STORY[:stop])
        points = [one.articles for one in STORY[:stop]]
        last = {*measuring.looks(points)[-OBSERVATIONS:], points[-1]}
        after = chronicle(before.known, [one for one in STORY if one.articles in last])
        assert first + told(after, STORY[stop:]) == events
        assert after.known == whole.known


def test_topics_that_are_forgotten_die_within_three_half_lives():
    faded = [snapshot(20_000 + 100 * n, [20, 40, 90, 63, 0], FADED) for n in range(1, 5)]
    born = [snapshot(10_000 + 100 * n, [20, 40, 90, 63, 0]) for n in range(1, 5)]
    forgetting = measuring.Chronicle("lda", WORDS, None, (), half_life=100)
    assert [place for place, event in told(forgetting, [*born, *faded]) if "died" in event] == [
        20_300
    ]
    assert not any("died" in event for _, event in told(chronicle(), [*born, *faded]))


def test_a_session_from_before_names_gets_them_without_a_flood_of_births():
    late = chronicle(None, STORY[5:10])
    assert (late.known.names[0], late.known.alive) == (name(20), {0, 2, 3})
    assert told(late, STORY[10:]) == [
        (1024, f"#1 {name(80)} is born"),
        (2048, f"#3 {name(63)} died"),
    ]


def test_a_name_that_no_longer_suits_its_topic_is_not_shown():
    """Before births it follows every snapshot, and one from before this rule is put right."""
    one = chronicle()
    told(one, STORY[:5])
    assert one.known.names[2] == name(97)
    told(one, STORY[5:7])
    assert one.known.names[1] == name(40)
    wrong = (*one.known.names[:1], name(100), *one.known.names[2:])
    later = chronicle(replace(one.known, names=wrong, lasting=wrong), STORY[4:7])
    told(later, [snapshot(370, [20, 40, 90, 63, 0])])
    assert later.known.names == one.known.names
    told(one, STORY[7:8])
    assert (one.known.names[1], one.known.lasting[1]) == (name(80), name(40))
    told(one, [snapshot(400, [20, 81, 90, 63, 0])])
    assert one.known.names[1] == name(80), "as it still suits the topic"
    told(one, [snapshot(440, [20, 40, 90, 63, 0])])
    assert one.known.names == one.known.lasting


def born(topic):
    return TopicEvent("lda", 4096, "born", topic, None, f"w{topic}")


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([born(84)], "#84 w84 is born"),
        (
            [TopicEvent("lda", 4096, "split", 13, 46, "slavic"), born(1)],
            "#13 splits: #46 slavic · #1 w1 is born",
        ),
        (
            [born(k) for k in range(12)],
            " · ".join(f"#{k} w{k} is born" for k in range(5)) + " · and 7 more",
        ),
    ],
)
def test_a_line_a_snapshot(events, told):
    assert measuring.event_message(events, "articles") == f"lda at 4,096 articles: {told}"


METRIC = "prequential_log_likelihood"


def measured(path):
    with SessionReader(path) as reader:
        rows = reader.all_metrics()
    return {
        (model, articles): value
        for model, articles, _, _, metric, value in rows
        if metric == METRIC
    }


def test_scores_before_training_survive_every_interruption(undisturbed):
    calm = undisturbed(seeds=1, model=tuple(f"{spec},half_life=300" for spec in MODELS.values()))
    with SessionReader(calm) as reader:
        points = {
            articles for _, articles, _, _, metric, _ in reader.all_metrics() if metric == "npmi"
        }
    assert measured(calm).keys() == {(name, count) for name in MODELS for count in points}


def test_all_models_are_scored_where_one_forgets_and_none_where_none_does(sessions, corpus):
    path = sessions(
        "one", model=("lda:topics=3,batch_size=64", "scvb0:topics=3,batch_size=64,half_life=300")
    )
    Driver(path, corpus).run()
    assert {model for model, _ in measured(path)} == {"lda", "scvb0"}
    path = sessions("plain")
    assert Driver(path, corpus).run().trainer.progress.prequential == ()
    assert measured(path) == {}


def test_the_window_is_the_fewest_minibatches_of_a_thousand_articles_and_nothing_has_no_mean():
    window = ()
    for _ in range(40):
        window = measuring.latest_of_each(window, Scored(64, 10, (-70.0, -80.0)))
    assert sum(one.articles for one in window) == 1024
    assert Progress(prequential=window).predicted(1) == pytest.approx(-8.0)
    assert measuring.latest_of_each(window, Scored(1024, 5, (-1.0, -1.0))) == (
        Scored(1024, 5, (-1.0, -1.0)),
    )
    nothing = Minibatch([0, 0], [], [])
    model = kinds.load("lda").create(4, 40, 1000)
    assert Progress().predicted(0) is None
    assert Progress(prequential=(measuring.scored([model], nothing, 0),)).predicted(0) is None
