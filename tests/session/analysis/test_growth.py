"""The growth of the map as an animated SVG: all of it, in order, harmless, and small."""

import re
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.report.growth import (
    FINER,
    MOST_DOTS,
    STEPS,
    growth_svg,
)
from wikitopics.session.analysis.report.map_page import Area

SVG = "{http://www.w3.org/2000/svg}"
AREAS = (
    Area("rivers", (0.2, 0.8), COLOURS[0]),
    Area("film", (0.7, 0.3), COLOURS[1]),
    Area("chess", (0.7, 0.3), COLOURS[2]),
)


def articles(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Places, and areas: of ten articles six are about rivers, three about film; of 100 three about
    chess; the others are in no area."""
    rng = np.random.default_rng(8)
    places = rng.integers(0, 65_536, (n, 2)).astype(np.uint16)
    owners = rng.choice(4, n, p=[0.6, 0.3, 0.03, 0.07])
    return places, np.where(owners == 3, -1, owners)


def drawn(n: int, **more: str) -> ET.Element:
    return ET.fromstring(growth_svg("night", *articles(n), AREAS, **more))


def dots(group: ET.Element) -> list[tuple[float, float, str]]:
    """The dots of a step, each with its colour."""
    found = []
    for path in group.findall(f"{SVG}path"):
        x = 0
        y = 0
        for command, across, down in re.findall(r"([Mm])(-?\d+) ?(-?\d+)h0", path.get("d", "")):
            if command == "M":
                x = 0
                y = 0
            x += int(across)
            y += int(down)
            found.append((x / FINER, y / FINER, path.get("stroke", "")))
    return found


def steps(svg: ET.Element) -> dict[int, ET.Element]:
    """The groups of dots by the number of their step."""
    groups = svg.findall(f"{SVG}g[@class='map']/{SVG}g")
    return {int(group.get("class", "").removeprefix("step s")): group for group in groups}


def counted(svg: ET.Element) -> list[int]:
    """The numbers of articles that are told, step by step."""
    told = svg.findall(f"{SVG}svg/{SVG}g/{SVG}text")
    return [int((text.text or "").split()[0].replace(",", "")) for text in told]


def names(svg: ET.Element) -> dict[str, int]:
    """The step with which each name appears."""
    found = {}
    for group in svg.findall(f"{SVG}g"):
        text = group.find(f"{SVG}text[@class='name']")
        if text is not None:
            found[text.text or ""] = int(group.get("class", "").removeprefix("step s"))
    return found


def test_articles_appear_in_the_order_of_reading_each_in_its_colour():
    places, owners = articles(1000)
    svg = drawn(1000)
    counts = counted(svg)
    assert (counts[0], counts[-1], len(counts)) == (0, 1000, STEPS + 1)
    colours = [area.colour for area in AREAS] + [COLOURS[-1]]
    for step, group in steps(svg).items():
        first = counts[step - 1]
        last = counts[step]
        x = 24 + 1152 * (places[first:last, 0] / 65_535)
        y = 84 + 772 * (1 - places[first:last, 1] / 65_535)
        its_colours = [colours[owner] for owner in owners[first:last]]
        wanted = zip(
            np.rint(x * FINER) / FINER, np.rint(y * FINER) / FINER, its_colours, strict=True
        )
        assert sorted(dots(group)) == sorted(wanted)
    assert sum(len(dots(group)) for group in steps(svg).values()) == 1000


def test_an_area_has_its_name_once_its_land_has_grown():
    found = names(drawn(2000))
    assert list(found) == ["rivers", "film", "chess"]
    assert 1 < found["rivers"] < found["film"] < found["chess"] <= STEPS
    text = growth_svg("night", *articles(2000), AREAS)
    assert len(set(re.findall(r'class="name" x="(\d+)" y="(\d+)"', text))) == 3, "none overlaps"


def test_without_animation_it_is_the_finished_map():
    text = growth_svg("night", *articles(300), AREAS)
    still, moving = text.split("@media (prefers-reduced-motion:no-preference)")
    assert "animation" not in still
    moving = moving.partition("</style>")[0]
    assert "opacity:0;" in moving
    assert "opacity:0;" not in text.replace(moving, "")
    svg = drawn(300)
    counter = svg.find(f"{SVG}svg/{SVG}g")
    assert counter is not None
    last = counter.findall(f"{SVG}text")[-1]
    up = -int(re.findall(r"-\d+", counter.get("transform", ""))[0])
    height = int(svg.find(f"{SVG}svg").get("height", ""))
    assert 0 < int(last.get("y", "")) - up < height, "the last number is in sight"


def test_a_million_articles_take_less_than_two_megabytes():
    text = growth_svg("night", *articles(1_000_000), AREAS)
    assert len(text.encode()) < 2_000_000
    svg = ET.fromstring(text)
    assert sum(len(dots(group)) for group in steps(svg).values()) == MOST_DOTS
    assert counted(svg)[-1] == 1_000_000
    said = f"{MOST_DOTS:,} of 1,000,000 articles are drawn"
    assert said in "".join(svg.itertext())
    assert f"{MOST_DOTS:,} of them, evenly chosen, are drawn" in svg.findtext(f"{SVG}desc", "")


@pytest.mark.parametrize("n", [0, 1, 2, 61])
def test_few_articles_grow_too(n):
    svg = drawn(n)
    assert counted(svg)[-1] == n
    assert sum(len(dots(group)) for group in steps(svg).values()) == n


def test_foreign_text_does_no_harm():
    bad = 'a<script>&"\x00\x1b[31m\u202e\ud800\ufffe]]>'
    areas = [Area(bad, (0.5, 0.5))]
    text = growth_svg(
        bad,
        np.zeros((3, 2), np.uint16),
        np.zeros(3, np.int64),
        areas,
        noun=bad,
        credit=bad,
    )
    svg = ET.fromstring(text.encode())
    assert "<script" not in text
    assert 'a<script>&"\\x00\\x1b[31m' in svg.findtext(f"{SVG}title", "")
    assert {element.tag.removeprefix(SVG) for element in svg.iter()} <= {
        "svg",
        "title",
        "desc",
        "style",
        "rect",
        "text",
        "g",
        "path",
    }
    assert not re.search(r"href|url\(|@import|//", text.replace("http://www.w3.org/2000/svg", ""))


@pytest.mark.parametrize(
    ("places", "owners"),
    [
        (np.zeros((2, 2)), np.zeros(2, np.int64)),
        (np.zeros((2, 3), np.uint16), np.zeros(2, np.int64)),
        (np.zeros((2, 2), np.uint16), np.zeros(3, np.int64)),
        (np.zeros((2, 2), np.uint16), np.full(2, 3)),
        (np.zeros((2, 2), np.uint16), np.full(2, -2)),
    ],
)
def test_what_does_not_fit_together_is_refused(places, owners):
    with pytest.raises(ValueError, match="must"):
        growth_svg("night", places, owners, AREAS)


@pytest.mark.interop
def test_it_grows_in_a_browser_unless_motion_is_unwanted(browser, tmp_path: Path):
    picture = tmp_path / "growth.svg"
    picture.write_text(growth_svg("night", *articles(5000), AREAS))
    page = tmp_path / "page.html"
    page.write_text('<body><img src="growth.svg" width="800">')
    browser.get(page.as_uri())
    sizes: list[int] = []
    end = time.monotonic() + 30  # more than a period; a busy browser draws few pictures of it
    while len(sizes) < 2 or max(sizes) < 3 * min(sizes):
        assert time.monotonic() < end, sizes
        sizes.append(len(browser.get_screenshot_as_png()))
    reduced = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": reduced})
    try:
        browser.get(picture.as_uri())
        first = browser.get_screenshot_as_png()
        time.sleep(1)
        assert browser.get_screenshot_as_png() == first
        assert len(first) > 3 * min(sizes)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
