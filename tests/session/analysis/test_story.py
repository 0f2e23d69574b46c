"""What a session's story tells, and what it does not."""

import numpy as np
import pytest

from wikitopics.session.analysis import story
from wikitopics.session.analysis.areas import Area
from wikitopics.session.records import Curve, Event, Flow, PastRun, TopicEvent

RUNS = [PastRun(1_000.0, 1_100.0, 0, "stopped"), PastRun(5_000.0, 5_000.0, 2_000, "killed")]


def curve(*points):
    """Measured every tenth of a second for each article."""
    articles, values = np.array(points, np.float64).T
    return Curve(articles, articles * 137, articles / 10, values)


def words(moments):
    return [moment.words for moment in moments]


def test_two_nearly_equal_curves_do_not_take_turns():
    lda = curve((100, 2000), (200, 1500), (300, 1400), (400, 1401), (500, 1400), (600, 1390))
    hdp = curve((100, 2500), (200, 1501), (300, 1399), (400, 1400), (500, 1401), (600, 1300))
    at_last = ["hdp overtook lda after 600 articles: 1,300 against 1,390"]
    assert words(story.overtakings({"lda": lda, "hdp": hdp}, "articles")) == at_last
    assert words(story.overtakings({"hdp": hdp, "lda": lda}, "articles")) == at_last


def test_records_come_at_doublings_and_only_if_the_value_became_better():
    falling = curve((64, 2000), (100, 1900), (128, 1800), (256, 1900), (300, 1700), (512, 1750))
    assert words(story.records("lda", falling)) == [
        "best perplexity so far: 1,800, 10.0% lower than at 64",
        "best perplexity so far: 1,700, 5.6% lower than at 256",
    ]
    rising = curve((64, 1700), (100, 1800), (128, 1900))
    assert story.records("lda", rising) == []


def test_the_newest_round_numbers():
    newest = ["2,000 document reads", "5,000 document reads", "10,000 document reads"]
    assert words(story.round_numbers(12_480, "document reads")) == newest
    assert story.round_numbers(999, "articles") == []


def test_a_wait_of_a_minute_is_told_with_its_cause_and_its_place_in_the_stream():
    lines = (
        "resumed after 59 s: x",
        "resumed after 12 min: a.b refuses connections",
        "resumed after 1.5 h",
    )
    log = [Event(5_100.0, "info", line) for line in lines]
    first, second = story.waits(log, curve((1_000, 9), (3_000, 8), (4_000, 7)), RUNS)
    assert (first.words, first.articles) == ("waited 12 min: a.b refuses connections", 3_000)
    assert second.words == "waited 1.5 h"
    without_times, _ = story.waits(log, None, [])
    assert without_times.at == 5_100.0


@pytest.mark.parametrize("number", [".", "1.2.3"])
def test_what_is_no_span_of_time_is_no_wait(number):
    assert story.waits([Event(0.0, "info", f"resumed after {number} s")], None, []) == []


def test_a_restart_tells_only_what_is_known():
    died = PastRun(6_000.0, None, 3_000, None)
    flow = [Flow(5_997.0, 1, 1, 0)]
    assert words(story.restarts([*RUNS, died], flow, "articles")) == [
        "the trainer restarted after 65 min from 2,000 articles",
        "the trainer died; restarted after 3 s from 3,000 articles",
    ]
    (told,) = words(story.restarts([RUNS[1], died], [], "articles"))
    assert told == "the trainer died; restarted from 3,000 articles"


def test_what_rose_and_fell_most_since_the_last_doubling():
    before = np.array([0.5, 0.3, 0.2])
    now = np.array([0.4, 0.3, 0.3])
    areas = [Area(0, "war", 0.7, (0, 1)), Area(1, "film", 0.3, (2,))]
    names = ["navy, ship", "army", "film, actor"]
    up, down, *of_areas = story.movements("lda", [(640, before), (1300, now)], names, areas)
    assert (up.words, up.topic) == ("#2 film 20.00 to 30.00%, biggest rise since 640", 2)
    assert (down.kind, down.words) == ("down", "#0 navy 50.00 to 40.00%, biggest fall since 640")
    assert [moment.topic for moment in of_areas] == [2, 0]
    within_doubling = story.movements("lda", [(640, before), (1000, now)], names, areas)
    assert len(within_doubling) == 2, "none of areas"
    with_other = [areas[0], Area(18, "other", 0.3, (2,))]
    of_areas = story.movements("lda", [(640, before), (1300, now)], names, with_other)[2:]
    assert "other" not in " ".join(moment.words for moment in of_areas)
    assert story.movements("lda", [(64, before), (64, before)], names, areas) == []


def test_a_movement_is_told_from_three_standard_errors_on():
    """Of a share of a tenth, after 900 articles and 900 more: sqrt(0.1 * 0.9 * 2 / 900)."""
    before = np.array([0.1, 0.9])
    errors = story.standard_errors(900, before, 1_800, before)
    assert errors.tolist() == pytest.approx([0.01414, 0.01414], abs=1e-5)
    names = ["navy", "film"]

    def told(change):
        now = before + np.array([change, -change])
        return story.movements("lda", [(900, before), (1_800, now)], names, [])

    assert told(0.042) == []
    assert [moment.kind for moment in told(0.05)] == ["up", "down"]
    # A large topic moves by more than a small one, whose movement alone is no accident.
    shares = np.array([0.5, 0.49, 0.01])
    later = shares + np.array([0.02, -0.029, 0.009])
    (moved,) = story.movements("lda", [(4_000, shares), (8_000, later)], ["a", "b", "c"], [])
    assert (moved.kind, moved.topic) == ("up", 2)


def test_the_births_of_one_look_are_one_moment():
    names = {"born": ("film, actor", "navy, ship", "river"), "died": ("theorem", "wine, bottle")}
    changes = [TopicEvent("lda", 2_000, "split", 3, 9, "opera")]
    for event, topics in names.items():
        for topic, name in enumerate(topics):
            changes.append(TopicEvent("lda", 2_000, event, topic, None, name))
    changes.append(TopicEvent("lda", 1_000, "born", 7, None, "war"))
    changes.append(TopicEvent("hdp", 1_000, "born", 8, None, "art"))
    moments = story.happenings(changes)
    assert words(moments) == [
        "#3 splits: #9 opera",
        "3 topics are born: #0 film, #1 navy, #2 river",
        "2 topics died: #0 theorem, #1 wine",
        "#7 war is born",
        "#8 art is born",
    ]
    assert [moment.topic for moment in moments] == [9, 0, 0, 7, 8]


def test_overtakings_and_new_areas_are_brief_enough_for_the_chart():
    area = TopicEvent("lda", 1_500, "area_born", 3, None, "river, jewish")
    born = TopicEvent("lda", 1_500, "born", 3, None, "film")
    lda = curve((100, 2000), (200, 1500))
    hdp = curve((100, 1900), (200, 1600))
    moments = story.story({"lda": lda, "hdp": hdp}, [area, born], RUNS, [], [], [])
    assert {moment.brief for moment in moments} == {"", "area river, jewish", "lda overtakes hdp"}


def test_the_first_point_after_each_power_of_two():
    points = [16, 32, *range(1024, 9_000, 1024), 9_480]
    assert story.doublings(points) == [16, 32, 1024, 2048, 4096, 8192, 9_480]
    assert story.doublings([]) == []


def test_that_topics_started_over_is_about_none_of_them():
    start = TopicEvent("lda", 1_500, "started_over", 3, None, "film")
    moments = story.story({}, [start], RUNS, [], [], [])
    (moment,) = (moment for moment in moments if moment.kind == "started_over")
    assert (moment.model, moment.topic) == ("lda", None)
    assert moment.words.startswith("all topics started over")


def test_the_story_is_newest_first_and_nothing_is_no_story():
    born = TopicEvent("lda", 1_500, "born", 3, None, "film")
    moments = story.story({"lda": curve((64, 9), (3_000, 5))}, [born], RUNS, [], [], [])
    assert [moment.kind for moment in moments] == ["best", "restart", "count", "born", "count"]
    assert (moments[3].topic, moments[3].at) == (3, 1_150.0)
    assert story.story({}, [], [], [], [], []) == ()
