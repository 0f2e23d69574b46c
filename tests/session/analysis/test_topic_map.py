"""The report's map, as it is laid out. How a browser shows it: tests/wikitopics/test_report.py."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.maps import grouped, with_topics
from wikitopics.model.areas import OTHER
from wikitopics.session.analysis.report.contents import contents
from wikitopics.session.storage.reader import SessionReader

pytestmark = pytest.mark.interop
for package in ("matplotlib", "jinja2"):
    pytest.importorskip(package)
from wikitopics.session.analysis.report import topic_map  # noqa: E402 - needs both


@pytest.fixture
def model(trained):
    with SessionReader(trained) as reader:
        (model,) = contents(reader)["models"]
    return model


def boxes(layout):
    """(n, 4) left, top, right and bottom of what must not overlap."""
    centres = np.array(layout.centres)
    sizes = np.array([mark.size for mark in layout.marks])
    return np.concatenate([centres - sizes / 2, centres + sizes / 2], axis=1)


@pytest.mark.parametrize("form", [topic_map.WIDE, topic_map.NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("U", [1, 3, 50, 100, 200, 300])
def test_every_topic_is_named_and_nothing_overlaps(model, U, form):
    names = ["a name of your own that is longer than three lines can be" * 2, 60 * "W"]
    model = with_topics(model, grouped(U), names)
    layout = topic_map.layout(model, form)
    left, top, right, bottom = boxes(layout).T
    assert layout.width == form.width
    assert left.min() >= 0
    assert top.min() >= 0
    assert right.max() <= layout.width
    assert bottom.max() <= layout.height
    across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    down = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    overlaps = (across > 0) & (down > 0)
    assert overlaps.sum() == len(layout.marks), "each overlaps only itself"
    for topic, mark in zip(model.topics[2:], layout.marks[2:], strict=False):
        letters = "".join(mark.lines).replace(",", "").replace(" ", "")
        assert letters == topic.row.name.replace(", ", "")
    n_areas = len(model.groups)
    if n_areas == 1:
        n_areas = 0  # a single area has no name
    assert len(layout.marks) == U + n_areas


def test_topics_of_no_area_are_drawn_without_a_name_for_them_all(model):
    areas = grouped(100)
    of_topic = np.where(np.arange(100) % 9 == 0, OTHER, areas.of_topic).astype(np.int16)
    model = with_topics(model, replace(areas, of_topic=of_topic))
    layout = topic_map.layout(model, topic_map.WIDE)
    named = {mark.area for mark in layout.marks if not mark.radius}
    assert named == set(of_topic.tolist()) - {OTHER}
    coasts = dict(topic_map.coasts(layout.land, [OTHER]))
    assert coasts[OTHER]


@pytest.mark.parametrize("U", [100, 180])
def test_neighbours_stay_neighbours(model, U):
    model = with_topics(model, grouped(U))
    centres = np.array(topic_map.layout(model, topic_map.WIDE).centres)[:U]
    far = np.square(centres[:, None] - centres).sum(axis=-1)
    np.fill_diagonal(far, np.inf)  # no topic is its own neighbour
    nearest_on_map = np.argsort(far, axis=1)[:, :5].tolist()
    kept = []
    for on_map, topic in zip(nearest_on_map, model.topics, strict=True):
        both = set(on_map) & set(topic.near)
        kept.append(len(both) / 5)
    assert np.mean(kept) >= 0.45


def test_the_same_session_has_the_same_map_and_the_next_report_a_similar_one(model):
    areas = grouped(100)
    first = topic_map.layout(with_topics(model, areas), topic_map.WIDE)
    again = topic_map.layout(with_topics(model, areas), topic_map.WIDE)
    assert first.marks == again.marks
    assert first.centres == again.centres
    later = topic_map.layout(with_topics(model, grouped(100, 0.1, areas)), topic_map.WIDE)
    ways = np.array(first.centres)[:100] - np.array(later.centres)[:100]
    moved = np.linalg.norm(ways, axis=1)
    assert np.median(moved) < 0.05 * topic_map.WIDE.width
    much_later = topic_map.layout(with_topics(model, grouped(100, 1.0, areas)), topic_map.WIDE)
    assert first.centres != much_later.centres


def test_each_topic_lies_in_the_land_of_its_area(model):
    layout = topic_map.layout(with_topics(model, grouped(100)), topic_map.WIDE)
    for mark, (x, y) in zip(layout.marks, layout.centres, strict=True):
        row = int(y / topic_map.CELL)
        column = int(x / topic_map.CELL)
        assert layout.land[row, column] == mark.area


@pytest.mark.parametrize("form", [topic_map.WIDE, topic_map.NARROW], ids=["wide", "narrow"])
def test_x_leads_to_the_right_and_y_upwards_as_on_the_screen(model, form):
    model = with_topics(model, grouped(100))
    across, down = np.array(topic_map.layout(model, form).centres)[:100].T
    x, y = np.array([topic.place for topic in model.topics]).T
    assert np.corrcoef(across, x)[0, 1] > 0.8
    assert np.corrcoef(down, y)[0, 1] < -0.8


def numbers_in(path):
    return [int(number) for number in re.findall(r"-?\d+", path)]


@pytest.mark.parametrize("form", [topic_map.WIDE, topic_map.NARROW], ids=["wide", "narrow"])
def test_coasts_are_closed_and_bend_little_by_little(model, form):
    model = with_topics(model, grouped(100))
    layout = topic_map.layout(model, form)
    areas = [area.number for area, _ in model.groups]
    for area, path in topic_map.coasts(layout.land, areas):
        for outline in path.removesuffix("z").split("z"):
            start, *bends = outline.split("q")
            start_x, start_y = numbers_in(start)
            x = start_x
            y = start_y
            for bend in bends:
                _, _, right, down = numbers_in(bend)
                assert max(abs(right), abs(down)) <= 6 * topic_map.CELL
                x += right
                y += down
            assert (x, y) == (start_x, start_y)
        assert any(mark.area == area for mark in layout.marks)


def test_names_are_wrapped_where_they_may_be():
    assert topic_map.wrapped("army, war, navy", 12, 60) == ["army", "war", "navy"]
    assert topic_map.wrapped("communications, representatives", 12, 40) == [
        "communications",
        "representatives",
    ]
    assert topic_map.wrapped("", 12) == ["…"]
    for long_name in (1000 * "x", 500 * "x ", 300 * "東京"):
        lines = topic_map.wrapped(long_name, 12)
        assert len(lines) == topic_map.LINES
        assert max(map(len, lines)) <= topic_map.LONGEST
        assert lines[-1].endswith("…")


def test_topics_of_a_damaged_or_very_young_session_can_be_drawn(model):
    topics = []
    for topic in model.topics:
        row = replace(topic.row, share=0.0, name="")
        topics.append(replace(topic, row=row, place=(0.0, 0.0)))
    layout = topic_map.layout(replace(model, topics=topics, groups=[]), topic_map.NARROW)
    assert np.isfinite(boxes(layout)).all()
