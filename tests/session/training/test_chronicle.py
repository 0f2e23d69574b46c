"""What a trainer tells of topics: their names, and what happened to them."""

import numpy as np
import pytest

from wikitopics.model.changes import OBSERVATIONS
from wikitopics.session.records import TopicEvent, TopWords
from wikitopics.session.training.chronicle import Chronicle, event_message
from wikitopics.session.training.schedule import observations

WORDS = [other + letter * 3 for letter in "abcdefghijklmnopqrstuvwxyz" for other in "aeiou"]
ORDER = np.linspace(0.2, 0.05, 10, dtype=np.float32)


def snapshot(articles, firsts, shares=(1 / 13,) * 5):
    """Five topics, beside eight that lead with the first words there are."""
    firsts = [*firsts, *[0] * 8]
    shares = [*shares, *[1 / 13] * 8]
    ids = np.array([np.arange(first, first + 10) for first in firsts], np.int32)
    words = (ids, np.tile(ORDER, (len(firsts), 1)))
    return TopWords(0, articles, words, words, np.array(shares, np.float32))


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
    return Chronicle("lda", WORDS, known, kept)


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


def test_a_name_that_changes_word_by_word_is_told_too():
    drift = {91: 20, 128: 20, 182: 20, 256: 21, 363: 22, 512: 23, 725: 24}
    snapshots = [snapshot(articles, [first, 0, 0, 0, 0]) for articles, first in drift.items()]
    start = snapshot(64, [20, 0, 0, 0, 0])
    assert told(chronicle(), [start, *snapshots])[1:] == [(725, f"#0 is now {name(24)}")]


def test_the_story_is_the_same_wherever_a_trainer_stopped():
    whole = chronicle()
    events = told(whole, STORY)
    for stop in range(1, len(STORY)):
        before = chronicle()
        first = told(before, STORY[:stop])
        points = [one.articles for one in STORY[:stop]]
        last = {*observations(points)[-OBSERVATIONS:], points[-1]}
        after = chronicle(before.told, [one for one in STORY if one.articles in last])
        assert first + told(after, STORY[stop:]) == events
        assert after.told == whole.told


def restarted(snapshots, start):
    """A chronicle of which topics start over at a snapshot, and all that it tells."""
    one = chronicle()
    events = []
    for taken in snapshots:
        note = one.start_over if taken.articles == start else one.note
        events += note(taken)
    return one, events


def test_topics_that_start_over_are_no_births_but_later_ones_are():
    after = [
        *(snapshot(articles, [20, 40, 0, 0, 0]) for articles in (1024, 1449, 2048, 2897)),
        *(snapshot(articles, [20, 40, 60, 0, 0]) for articles in (4096, 5793, 8192)),
    ]
    one, events = restarted([*STORY[:7], snapshot(800, [20, 40, 0, 0, 0]), *after], 800)
    assert [event.event for event in events] == [*["born"] * 3, "started_over", "born"]
    start, birth = events[-2:]
    assert (start.articles, start.topic, start.other) == (800, 0, None)
    assert start.name == name(20)
    assert (birth.articles, birth.topic) == (8192, 2)
    assert one.told.alive == {0, 1, 2}
    assert event_message([start], "articles") == (
        "lda at 800 articles: all topics started over, from what the texts have in common"
    )


@pytest.mark.parametrize("start", [182, 190, 370])
def test_a_story_with_a_start_is_the_same_wherever_a_trainer_stopped(start):
    whole, events = restarted(STORY, start)
    for stop in range(1, len(STORY)):
        before, first = restarted(STORY[:stop], start)
        points = [one.articles for one in STORY[:stop]]
        last = {*observations(points)[-OBSERVATIONS:], points[-1]}
        snapshots = [one for one in STORY if one.articles in last]
        began = start if start <= points[-1] else 0
        after = Chronicle("lda", WORDS, before.told, snapshots, start=began)
        rest = []
        for taken in STORY[stop:]:
            note = after.start_over if taken.articles == start else after.note
            rest += note(taken)
        assert first + rest == events
        assert after.told == whole.told


def test_topics_that_are_forgotten_die_within_three_half_lives():
    faded = [snapshot(20_000 + 100 * n, [20, 40, 90, 63, 0], FADED) for n in range(1, 5)]
    born = [snapshot(10_000 + 100 * n, [20, 40, 90, 63, 0]) for n in range(1, 5)]
    forgetting = Chronicle("lda", WORDS, None, (), half_life=100)
    assert [place for place, event in told(forgetting, [*born, *faded]) if "died" in event] == [
        20_300
    ]
    assert not any("died" in event for _, event in told(chronicle(), [*born, *faded]))


def test_a_session_from_before_names_gets_them_without_a_flood_of_births():
    late = chronicle(None, STORY[5:10])
    assert (late.told.names[0], late.told.alive) == (name(20), {0, 2, 3})
    assert told(late, STORY[10:]) == [
        (1024, f"#1 {name(80)} is born"),
        (2048, f"#3 {name(63)} died"),
    ]


def test_a_topic_is_told_under_another_name_only_once_that_has_lasted():
    """Before it is born, its name follows every snapshot."""
    one = chronicle()
    told(one, STORY[:5])
    assert one.told.names[2] == name(97)
    told(one, STORY[5:8])
    assert one.told.names[1] == name(40)
    told(one, [snapshot(400, [20, 81, 90, 63, 0])])
    assert one.told.names[1] == name(40)


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
    assert event_message(events, "articles") == f"lda at 4,096 articles: {told}"
