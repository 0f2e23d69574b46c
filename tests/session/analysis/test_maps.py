"""The report's map, as it is laid out. How a browser shows it: tests/wikitopics/test_report.py."""

import re

import numpy as np
import pytest

from tests.maps import grouped, with_topics
from wikitopics.session.analysis.report.contents import contents
from wikitopics.session.storage.reader import SessionReader

pytestmark = pytest.mark.interop
for package in ("matplotlib", "jinja2"):
    pytest.importorskip(package)
from wikitopics.session.analysis.report import maps  # noqa: E402 - needs both


@pytest.fixture
def model(trained):
    with SessionReader(trained) as reader:
        (model,) = contents(reader)["models"]
    return model


def boxes(drawn):
    """(n, 4) left, top, right and bottom of what must not overlap."""
    centres, sizes = np.array(drawn.centres), np.array([mark.size for mark in drawn.marks])
    return np.concatenate([centres - sizes / 2, centres + sizes / 2], axis=1)


@pytest.mark.parametrize("form", [maps.WIDE, maps.NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("U", [1, 3, 50, 100, 200, 300])
def test_every_topic_is_named_and_nothing_overlaps(model, U, form):
    names = ["a name of your own that is longer than three lines can be" * 2, 60 * "W"]
    model = with_topics(model, grouped(U), names)
    drawn = maps.layout(model, form)
    left, top, right, bottom = boxes(drawn).T
    assert drawn.width == form.width
    assert (
        min(left.min(), top.min())
        >= 0
        <= min(drawn.width - right.max(), drawn.height - bottom.max())
    )
    across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    down = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    overlaps = (across > 0) & (down > 0)
    assert overlaps.sum() == len(drawn.marks), "each overlaps only itself"
    for topic, mark in zip(model.topics[2:], drawn.marks[2:], strict=False):
        assert "".join(mark.lines).replace(",", "").replace(" ", "") == "".join(
            topic.row.name.split(", ")
        )
    assert len(drawn.marks) == U + (len(model.groups) if len(model.groups) > 1 else 0)


@pytest.mark.parametrize("U", [100, 180])
def test_neighbours_stay_neighbours(model, U):
    model = with_topics(model, grouped(U))
    centres = np.array(maps.layout(model, maps.WIDE).centres)[:U]
    far = np.square(centres[:, None] - centres).sum(axis=-1)
    near = np.argsort(far + np.diag(np.full(U, np.inf)), axis=1)[:, :5].tolist()
    kept = [
        len({*found} & {*topic.near}) / 5 for found, topic in zip(near, model.topics, strict=True)
    ]
    assert np.mean(kept) >= 0.45


def test_the_same_session_has_the_same_map_and_the_next_report_a_similar_one(model):
    areas = grouped(100)
    every = areas, areas, grouped(100, 0.1, areas)
    then, again, now = (maps.layout(with_topics(model, of), maps.WIDE) for of in every)
    assert (then.marks, then.centres) == (again.marks, again.centres)
    moved = np.linalg.norm(np.array(then.centres)[:100] - np.array(now.centres)[:100], axis=1)
    assert 0 < np.median(moved) < 0.05 * maps.WIDE.width


def test_each_topic_lies_in_the_land_of_its_area(model):
    drawn = maps.layout(with_topics(model, grouped(100)), maps.WIDE)
    for mark, (x, y) in zip(drawn.marks, drawn.centres, strict=True):
        assert drawn.land[int(y / maps.CELL), int(x / maps.CELL)] == mark.area


@pytest.mark.parametrize("form", [maps.WIDE, maps.NARROW], ids=["wide", "narrow"])
def test_coasts_are_closed_and_bend_little_by_little(model, form):
    model = with_topics(model, grouped(100))
    drawn = maps.layout(model, form)
    for area, path in maps.coasts(drawn.land, [area.number for area, _ in model.groups]):
        for outline in path.removesuffix("z").split("z"):
            start, *bends = outline.split("q")
            x, y = first = [int(number) for number in re.findall(r"-?\d+", start)]
            for bend in bends:
                *_, right, down = (int(number) for number in re.findall(r"-?\d+", bend))
                assert max(abs(right), abs(down)) <= 6 * maps.CELL
                x, y = x + right, y + down
            assert [x, y] == first
        assert any(mark.area == area for mark in drawn.marks)


def test_names_are_wrapped_where_they_may_be():
    assert maps.wrapped("army, war, navy", 12, 60) == ["army", "war", "navy"]
    assert maps.wrapped("communications, representatives", 12, 40) == [
        "communications",
        "representatives",
    ]
    assert maps.wrapped("", 12) == ["…"]
    for long in (1000 * "x", 500 * "x ", 300 * "東京"):
        lines = maps.wrapped(long, 12)
        assert len(lines) == maps.LINES
        assert max(map(len, lines)) <= maps.LONGEST
        assert lines[-1].endswith("…")


def test_topics_of_a_damaged_or_very_young_session_can_be_drawn(model):
    from dataclasses import replace

    topics = [
        replace(topic, row=replace(topic.row, share=0.0, name=""), place=(0.0, 0.0))
        for topic in model.topics
    ]
    assert np.isfinite(
        boxes(maps.layout(replace(model, topics=topics, groups=[]), maps.NARROW))
    ).all()
