"""The page of the map of articles, as a parser and as a browser see it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.browsers import show, too_small, wait
from tests.html_pages import Seen, hash_of
from tests.map_pages import unpacked
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.report.map_page import (
    MOST_DOTS,
    NO_TOPIC,
    Area,
    Articles,
    Topic,
    coloured,
    map_page,
)
from wikitopics.session.analysis.report.parts import LARGEST

HOSTILE = (
    "<script>document.title='owned'</script>",
    "</style></title></script><img src=x onerror=\"document.title='owned'\">",
    "javascript:document.title='owned'",
    "a\x1b[31m\x00\u202egnp.exe\u2028\nb\x01\udc80",
    "$heading {{ 7 * 7 }} &amp; \"quoted' $$ $packed",
    "(A) b's! *c* ~ ü 木",
)
AREAS = (Area("north", (0.5, 0.8), "#578db2"), Area("south", (0.5, 0.2), "#edb333"))


def topics_of(K):
    return [
        Topic(f"topic {k}", [f"word{k}", "other"], k % 2, (k / K, 0.5), AREAS[k % 2].colour)
        for k in range(K)
    ]


def articles_of(n, K=10, **more):
    random = np.random.default_rng(5)
    places = random.integers(0, 2**16, (n, 2)).astype(np.uint16)
    given = {"titles": [f"Article {i}" for i in range(n)], "topics": random.integers(0, K, n)}
    return Articles(places, **(given | more))


def check(text):
    """What holds of every page."""
    assert len(text.encode()) <= LARGEST
    seen = Seen(text)
    for _, attrs in seen.tags:
        assert not any(name in ("style", "src") or name.startswith("on") for name in attrs)
        assert attrs.get("href", "data:,") == "data:,"
    (policy,) = [attrs["content"] for _, attrs in seen.tags if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none';")
    packed, script = seen.texts["script"]
    assert re.fullmatch("[A-Za-z0-9+/=]+", packed)
    for block in (script, *seen.texts["style"]):
        assert hash_of(block) in policy
    return seen


@pytest.mark.parametrize("K", [3, 300])
def test_the_page_has_the_places_topics_and_titles_in_the_order_of_reading(K):
    random = np.random.default_rng(2)
    topics = random.integers(-1, K, (50, 3))
    articles = articles_of(50, topics=topics)
    text = map_page("A map", articles, topics_of(K), AREAS)
    check(text)
    head, found = unpacked(text)
    np.testing.assert_array_equal(found["x"], articles.places[:, 0])
    np.testing.assert_array_equal(found["y"], articles.places[:, 1])
    missing = 255 if head["width"] == 1 else NO_TOPIC
    for column in range(2):
        told = topics[:, column]
        np.testing.assert_array_equal(found[f"topic{column}"], np.where(told < 0, missing, told))
    assert found["titles"] == articles.titles
    assert [topic["name"] for topic in head["topics"]] == [f"topic {k}" for k in range(K)]
    assert text == map_page("A map", articles, topics_of(K), AREAS)


def test_typical_articles_of_each_topic_come_first():
    topics = np.repeat([0, 1], 8)
    typical = np.tile(np.arange(8), 2) / 8
    _, found = unpacked(
        map_page("", articles_of(16, topics=topics, typical=typical), topics_of(2), AREAS)
    )
    assert found["levels"].tolist() == 2 * [3, 2, 2, 2, 2, 1, 1, 0]


def test_only_addresses_of_the_web_are_in_it():
    addresses = [
        "https://wiki.test/index.php?title=Article_0&oldid=7",
        "javascript:alert(1)",
        "https://wiki.test/a b",
        None,
        "http://wiki.test/\u2028",
    ]
    _, found = unpacked(map_page("", articles_of(5, addresses=addresses), topics_of(10), AREAS))
    assert found["addresses"] == ["https://wiki.test/index.php?title=\x01&oldid=7", "", "", "", ""]


def test_hostile_texts_are_only_texts():
    n = len(HOSTILE)
    colouring = coloured(HOSTILE, np.arange(n))
    articles = articles_of(
        n, K=1, titles=HOSTILE, snippets=HOSTILE, colouring=colouring, addresses=HOSTILE
    )
    for bad in HOSTILE:
        topics = [Topic(bad, [bad], 0, (0.5, 0.5))]
        text = map_page(bad, articles, topics, [Area(bad, (0.5, 0.5))], noun=bad, credit=bad)
        seen = check(text)
        assert sum(tag == "script" for tag, _ in seen.tags) == 2
        assert not any(tag == "img" for tag, _ in seen.tags)
        _, found = unpacked(text)
        assert len(found["titles"]) == n
        assert len(found["snippets"]) == n
        assert all(text.isprintable() for text in found["titles"] + found["snippets"])


def test_the_most_frequent_labels_have_colours():
    label_of = np.arange(100) % 30
    label_of[95:] = -1
    colouring = coloured([f"label {i}" for i in range(30)], label_of)
    articles = articles_of(100, colouring=colouring)
    head, found = unpacked(map_page("", articles, topics_of(10), AREAS))
    names = [label["name"] for label in head["labels"]]
    assert names[:5] == [f"label {i}" for i in range(5)]
    assert names[-1] == "others"
    assert set(found["labels"][95:].tolist()) == {len(names) - 1}


def test_what_does_not_fit_is_left_out_and_said():
    random = np.random.default_rng(1)
    titles = [random.bytes(12).hex() for _ in range(3000)]
    articles = articles_of(
        3000, titles=titles, snippets=titles, addresses=[f"https://a.test/{t}" for t in titles]
    )
    text = map_page("", articles, topics_of(10), AREAS, largest=70_000)
    assert len(text.encode()) <= 70_000
    assert "he beginnings of their texts are left out" in text
    _, found = unpacked(text)
    told = [title for title in found["titles"] if title]
    assert 0 < len(told) < 3000
    assert f"{len(told):,} of them, the most typical of each topic, have titles here" in text
    assert "heir addresses are left out" in text


def test_snippets_are_cut_before_titles_are_left_out():
    random = np.random.default_rng(1)
    snippets = [random.bytes(150).hex() for _ in range(3000)]
    articles = articles_of(3000, snippets=[None, *snippets[1:]])
    lengths = []
    for largest in (3_000_000, 500_000, 350_000):
        text = map_page("", articles, topics_of(10), AREAS, largest=largest)
        assert len(text.encode()) <= largest
        _, found = unpacked(text)
        assert found["titles"] == articles.titles
        assert found["snippets"][0] == ""
        lengths.append(len(found["snippets"][1]))
    assert lengths == [300, 160, 80]


def test_of_too_many_articles_some_are_drawn():
    n = MOST_DOTS + 10
    text = map_page("", articles_of(n, titles=n * [""]), topics_of(10), AREAS)
    check(text)
    head, _ = unpacked(text)
    assert head["n"] == n // 2
    assert f"{n // 2:,} of {n:,} articles are drawn" in text


@pytest.mark.parametrize("n", [0, 1])
def test_few_articles_are_a_page_too(n):
    check(map_page("", articles_of(n), topics_of(10), AREAS))


@pytest.mark.parametrize(
    ("more", "topics", "message"),
    [
        ({"titles": ["one"]}, topics_of(10), "titles"),
        ({"topics": np.array([0, 10])}, topics_of(10), "indices"),
        ({"topics": np.array([0, -2])}, topics_of(10), "indices"),
        ({}, [Topic("", [], 5, (0, 0))] * 10, "area"),
        ({}, [Topic("", [], 0, (0, 0), "red;}")] * 10, "colour"),
        ({}, [Topic("", [], 0, (np.nan, 0))] * 10, "finite"),
    ],
)
def test_what_does_not_fit_together_is_refused(more, topics, message):
    with pytest.raises(ValueError, match=message):
        map_page("", articles_of(2, **more), topics, AREAS)


def shown(browser, tmp_path, text, width=1200, scheme="light"):
    """The page in the browser; nothing on it may have been refused or gone wrong."""
    features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    show(browser, tmp_path, text, width, features)
    drawn = "return performance.getEntriesByName('drawn').length"
    wait(browser, lambda: browser.execute_script(drawn))
    assert browser.get_log("browser") == []


def eventually(browser, script, expected):
    wait(browser, lambda: browser.execute_script(script) == expected)


DRAWN = "return document.querySelector('canvas').drawn"
ZOOM = """
const canvas = document.querySelector("canvas");
const box = canvas.getBoundingClientRect();
const [clientX, clientY] = [box.left + box.width / 2, box.top + box.height / 2];
const how = { deltaY: -240, clientX, clientY, cancelable: true };
for (let k = 0; k < arguments[0]; k += 1) canvas.dispatchEvent(new WheelEvent("wheel", how));
"""


@pytest.mark.interop
@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_zooming_shows_areas_then_topics_then_titles_and_none_overlap(
    browser, tmp_path, width, scheme
):
    shown(
        browser, tmp_path, map_page("A map", articles_of(4000), topics_of(10), AREAS), width, scheme
    )
    kinds = []
    for steps in (0, 3, 3):
        browser.execute_script(ZOOM, steps)
        zoom = f"{DRAWN}.view.zoom.toFixed(3)"
        eventually(browser, zoom, f"{np.exp(0.48 * sum((0, 3, 3)[: len(kinds) + 1])):.3f}")
        names = browser.execute_script(f"{DRAWN}.names")
        kinds.append({name["kind"] for name in names})
        if steps == 0:
            tops = {name["text"]: name["box"][1] for name in names}
            assert tops["NORTH"] < tops["SOUTH"]
        boxes = np.array([name["box"] for name in names])
        for place, (left, top, right, bottom) in enumerate(boxes):
            others = np.delete(boxes, place, axis=0)
            across = (others[:, 0] < right) & (left < others[:, 2])
            down = (others[:, 1] < bottom) & (top < others[:, 3])
            assert not (across & down).any()
    assert "area" in kinds[0]
    assert "title" not in kinds[0]
    assert "title" in kinds[2]
    assert "area" not in kinds[2]


@pytest.mark.interop
@pytest.mark.parametrize("n", [0, 1])
def test_few_articles_are_shown_too(browser, tmp_path, n):
    shown(browser, tmp_path, map_page("A map", articles_of(n), topics_of(10), AREAS))
    assert browser.execute_script(f"{DRAWN}.shown") == n


@pytest.mark.interop
def test_a_thumb_hits_what_can_be_pressed_and_nothing_is_too_wide(browser, tmp_path):
    text = map_page("A map", articles_of(500), topics_of(10), AREAS)
    shown(browser, tmp_path, text, 390)
    browser.find_element("id", "sought").send_keys("article 7")
    eventually(browser, "return document.querySelectorAll('[role=option]').length", 8)
    assert too_small(browser, "button, input, [role=option]") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") == 390


@pytest.mark.interop
def test_the_whole_legend_is_in_sight_beside_a_mouse(browser, tmp_path):
    areas = [Area(f"an area with a name {k}", (k / 18, 0.5), COLOURS[k]) for k in range(18)]
    topics = [Topic(f"topic {k}", ["word"], k, (k / 18, 0.5), areas[k].colour) for k in range(18)]
    shown(browser, tmp_path, map_page("A map", articles_of(500, 18), topics, areas), 1280)
    rights = (
        "return [...document.querySelectorAll('.legend button')].map(one => "
        "one.getBoundingClientRect().right)"
    )
    told = browser.execute_script(rights)
    assert len(told) == 18
    assert max(told) <= 1280


@pytest.mark.interop
def test_on_a_phone_the_legend_fades_where_it_goes_on(browser, tmp_path):
    areas = [Area(f"an area with a name {k}", (k / 9, 0.5), COLOURS[k]) for k in range(9)]
    topics = [Topic(f"topic {k}", ["word"], k, (k / 9, 0.5), areas[k].colour) for k in range(9)]
    shown(browser, tmp_path, map_page("A map", articles_of(500, 9), topics, areas), 390)
    legend = "const legend = document.querySelector('.legend'); "
    fades = browser.execute_script(legend + "return getComputedStyle(legend).maskImage")
    assert "100% - 48px" in fades
    right = "return legend.lastChild.getBoundingClientRect().right"
    assert browser.execute_script(legend + right) > 390
    end = "legend.scrollLeft = legend.scrollWidth; "
    assert browser.execute_script(legend + end + right) <= 390 - 48


@pytest.mark.interop
@pytest.mark.parametrize(("named", "told"), [(2, ["north", "south", "other"]), (0, [])])
def test_grey_articles_are_in_the_legend_beside_areas(browser, tmp_path, named, told):
    topics = [replace(topic, area=k if k < named else -1) for k, topic in enumerate(topics_of(3))]
    page = map_page("A map", articles_of(500, 3), topics, AREAS[:named])
    shown(browser, tmp_path, page)
    names = "return [...document.querySelectorAll('.legend button')].map(one => one.textContent)"
    assert browser.execute_script(names) == told


@pytest.mark.interop
def test_on_paper_it_is_light_and_without_controls(browser, tmp_path):
    text = map_page("A map", articles_of(4000), topics_of(10), AREAS)
    shown(browser, tmp_path, text, scheme="dark")
    corner = """
    const canvas = document.querySelector("canvas");
    return [...canvas.getContext("2d").getImageData(0, 0, 1, 1).data];
    """
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(ground) == "rgb(21, 23, 27)"
    assert browser.execute_script(corner) == [0, 0, 0, 0]
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(corner)[:3] == [255, 255, 255]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = "return document.querySelector(arguments[0]).checkVisibility()"
    assert browser.execute_script(visible, "canvas")
    assert not browser.execute_script(visible, ".time")
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert browser.execute_script(corner) == [0, 0, 0, 0]


@pytest.mark.interop
def test_search_keys_and_growth(browser, tmp_path):
    addresses = [f"https://wiki.test/?title=Article_{i}" for i in range(1000)]
    articles = articles_of(1000, addresses=addresses)
    shown(browser, tmp_path, map_page("A map", articles, topics_of(10), AREAS))
    search = browser.find_element("id", "sought")
    search.send_keys("ARTICLE 77")
    eventually(browser, "return document.querySelectorAll('[role=option]').length", 8)
    first = "return document.querySelector('[role=option] span').textContent"
    assert browser.execute_script(first) == "Article 77"
    search.submit()
    tip = "return document.querySelector('.tip a')?.href"
    eventually(browser, tip, "https://wiki.test/?title=Article_77")
    canvas = browser.find_element("tag name", "canvas")
    canvas.send_keys("\ue014")  # arrow to the right
    eventually(browser, f"{tip} !== 'https://wiki.test/?title=Article_77'", True)
    set_slider = """
    const slider = document.querySelector(".time input");
    slider.value = 500;
    slider.dispatchEvent(new Event("input"));
    """
    browser.execute_script(set_slider)
    eventually(browser, f"{DRAWN}.shown", 500)
    search.send_keys(" nowhere")
    said = "return document.querySelector('#suggested').innerText.trim()"
    eventually(browser, said, "nothing found")


@pytest.mark.interop
def test_a_click_opens_an_article_and_a_finger_tells_of_it(browser, tmp_path):
    articles = articles_of(1, addresses=["https://wiki.test/?title=Article_0"])
    places = np.full((1, 2), 2**15, np.uint16)
    text = map_page("A map", replace(articles, places=places), topics_of(10), AREAS)
    shown(browser, tmp_path, text)
    opened = "globalThis.opened = []; window.open = (...what) => opened.push(what);"
    browser.execute_script(opened)
    middle = """
    const box = document.querySelector("canvas").getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
    """
    x, y = browser.execute_script(middle)

    def touched(kind, *points):
        told = [{"x": x + right, "y": y, "id": number} for number, right in enumerate(points)]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": told})

    touched("touchStart", 0)
    touched("touchEnd")
    eventually(browser, "return document.querySelector('.tip.held a')?.textContent", "Article 0")
    assert browser.execute_script("return opened") == []
    touched("touchStart", -50, 50)
    for step in range(1, 11):
        touched("touchMove", -50 - 5 * step, 50 + 5 * step)
    touched("touchEnd")
    eventually(browser, f"{DRAWN}.view.zoom.toFixed(1)", "2.0")
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        how = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", how)
    expected = [["https://wiki.test/?title=Article_0", "_blank", "noopener,noreferrer"]]
    eventually(browser, "return opened", expected)


@pytest.mark.interop
def test_a_browser_obeys_nothing_hostile(browser, tmp_path):
    n = len(HOSTILE)
    addresses = [f"https://wiki.test/{i}?a=<b>" for i in range(n)]
    articles = articles_of(n, K=1, titles=HOSTILE, snippets=HOSTILE, addresses=addresses)
    topics = [Topic(HOSTILE[1], HOSTILE, 0, (0.5, 0.5))]
    shown(browser, tmp_path, map_page("A map", articles, topics, [Area(HOSTILE[0], (0.5, 0.9))]))
    browser.find_element("id", "sought").send_keys("script")
    eventually(browser, "return document.querySelectorAll('[role=option]').length > 1", True)
    browser.find_element("tag name", "canvas").send_keys("\ue014")
    eventually(browser, "return Boolean(document.querySelector('.tip q')?.textContent)", True)
    assert browser.title == "A map"
    assert browser.get_log("browser") == []


@pytest.mark.interop
def test_an_address_with_its_title_comes_back_as_it_was(browser, tmp_path):
    from urllib.parse import quote

    title = HOSTILE[-1]
    address = f"https://wiki.test/index.php?title={quote(title.replace(' ', '_'), safe='')}&oldid=3"
    articles = articles_of(1, K=1, titles=[title], addresses=[address])
    shown(browser, tmp_path, map_page("A map", articles, topics_of(1), AREAS))
    search = browser.find_element("id", "sought")
    search.send_keys("b's!")
    eventually(browser, "return document.querySelectorAll('[role=option]').length", 1)
    search.submit()
    link = "return document.querySelector('.tip a')?.getAttribute('href')"
    eventually(browser, link, address)
