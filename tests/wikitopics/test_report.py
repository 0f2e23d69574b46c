"""`wikitopics report`: the page itself, as a parser and as a browser see it."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.browsers import show, too_small, wait
from tests.colours import DEFICIENCIES, apart, contrast
from tests.html_pages import Seen, hash_of
from tests.maps import grouped, with_topics
from tests.session.rows import sql
from wikitopics.session.analysis.areas import Area, Branch
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.painted import PaintedText, PaintedWord
from wikitopics.session.analysis.report.contents import ReportArticle, contents
from wikitopics.session.control import write_report
from wikitopics.session.escapes import visible
from wikitopics.session.records import Curve, TopicEvent
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.topics import hide

pytestmark = pytest.mark.interop
for package in ("matplotlib", "jinja2"):
    pytest.importorskip(package)
from wikitopics.session.analysis.report.page import MAPS, page  # noqa: E402 - needs both
from wikitopics.session.analysis.report.pictures import formatted  # noqa: E402

HOSTILE = (
    "<script>document.title='owned'</script>",
    "</style></title></script><img src=x onerror=\"document.title='owned'\">",
    "javascript:document.title='owned'",
    "a\x1b[31m\x00\u202egnp.exe\u2028",
    "{{ 7 * 7 }} $\\frac{1}{2}$ &amp; \"quoted' ",
)


def check(text):
    """What holds of every page."""
    seen = Seen(text)
    ids = seen.all("id")
    links = seen.all("href", "a")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert all(link.startswith(("#", "https://", "http://")) for link in links)
    for _, attrs in seen.tags:
        assert not any(name == "style" or name.startswith("on") for name in attrs)
    assert not seen.all("src")
    assert seen.all("href", "link") == ["data:,"]
    levels = [int(tag[1]) for tag, _ in seen.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    for tag, attrs in seen.tags:
        if tag == "svg":
            assert "aria-label" in attrs or attrs.get("aria-hidden") == "true"
    (policy,) = seen.all("content", "meta")[:1]
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        (block,) = seen.texts[tag]
        assert hash_of(block) in policy
    return seen


@pytest.fixture
def found(trained):
    with SessionReader(trained) as reader:
        return contents(reader)


@pytest.fixture
def hostile(found):
    """The same session with texts of somebody who means harm in every place."""

    def bad(number):
        return visible(HOSTILE[number % len(HOSTILE)])

    (model,) = found["models"]
    topics = [
        replace(
            topic,
            row=replace(topic.row, name=bad(number)),
            words=[(bad(place), *rest) for place, (_, *rest) in enumerate(topic.words)],
            past=[(articles, share, [(bad(number), True)]) for articles, share, _ in topic.past],
            articles=[
                ReportArticle(
                    called=bad(place),
                    url="https://wiki.test/w/index.php?title=%3Cb%3E",
                    typicality=0.4,
                    proportion=0.5,
                    words=[bad(place)],
                    snippet=PaintedText(
                        bad(place),
                        (PaintedWord(1, 3, bad(place), topic.row.topic, 0.9),),
                        (),
                    ),
                )
                for place in range(5)
            ],
        )
        for number, topic in enumerate(model.topics)
    ]
    by_number = {topic.row.topic: topic for topic in topics}
    groups = [
        (replace(area, name=bad(number)), [by_number[topic.row.topic] for topic in members])
        for number, (area, members) in enumerate(model.groups)
    ]
    events = tuple(TopicEvent("lda", 64, "born", 1, None, bad(number)) for number in range(5))
    articles = replace(
        model.articles,
        session=bad(0),
        titles=[bad(number) for number in range(len(model.articles))],
        topics=[replace(row, name=bad(row.topic)) for row in model.articles.topics],
    )
    model = replace(model, topics=topics, groups=groups, events=events, articles=articles)
    settings = [(bad(0), bad(1))]
    return found | {
        "models": [model],
        "source_name": bad(1),
        "session": bad(0),
        "settings": settings,
    }


def test_a_page_is_whole_asks_for_nothing_and_goes_where_exports_go(
    cli,
    trained,
    tmp_path,
    one_line,
):
    target = tmp_path / "night.html"
    outcome = cli("report", "-o", target)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith(f"wrote {target}")
    seen = check(target.read_text(encoding="utf-8"))
    opened = [attrs.get("class", "") for tag, attrs in seen.tags if tag == "details"]
    assert sum(each.startswith("topic a") for each in opened) == 5
    assert "Where the models stand" in seen.texts["caption"]
    assert "Distinct words" in seen.texts["th"]
    assert "Found" not in seen.texts["th"]
    assert {"--seed", "--held-out"} <= set(seen.texts["code"])
    assert check(cli("report").out)
    assert cli("report", "-o", "-").out.startswith("<!doctype html>")
    one_line(cli("report", "-o", trained), 2, "holds a session")
    outcome = cli("report", "-o", tmp_path / "page.pdf")
    one_line(outcome, 2, "page.pdf: the report is a page", "end the name in .html")
    one_line(cli("report", "-o", tmp_path), 1, "a folder, not a regular file")


def test_what_came_from_this_computer_is_not_said_to_be_downloaded(found):
    status = replace(found["status"], bytes_read=12_900_000)
    rows = check(page(found | {"noun": "articles", "status": status})).texts["th"]
    assert "data read" in rows
    assert "downloaded" not in rows


def test_the_page_names_papers_so_that_they_can_be_found(found):
    text = page(found)
    assert "as in Hoffman et al. 2010" in text
    assert "[H10]" not in text


def test_every_model_has_its_topics_and_one_colour(race):
    with SessionReader(race) as reader:
        found = contents(reader)
    seen = check(page(found))
    for model in found["models"]:
        assert {model.anchor, *(topic.anchor for topic in model.topics)} <= set(seen.all("id"))
        (section,) = (attrs for _, attrs in seen.tags if attrs.get("id") == model.anchor)
        assert section["class"] == f"model s{model.place}"


def test_it_has_the_map_of_articles_whose_script_its_policy_allows(trained):
    with SessionReader(trained) as reader:
        text = page(contents(reader))
    seen = check(text)
    (within,) = seen.all("srcdoc", "iframe")
    (sandbox,) = seen.all("sandbox", "iframe")
    assert "allow-same-origin" not in sandbox
    (policy,) = seen.all("content", "meta")[:1]
    of_map = Seen(within)
    _, code = of_map.texts["script"]
    for block in (code, *of_map.texts["style"]):
        assert hash_of(block) in policy
    assert len(within.encode()) <= MAPS
    anchors = seen.all("href", "a")
    for part in ("-map", "-topics"):  # `check` looks for what they lead to
        assert len([anchor for anchor in anchors if anchor.endswith(part)]) == 1


def test_coherence_is_told_however_few_articles_it_is_counted_in(trained, monkeypatch):
    reference = SessionReader.reference
    monkeypatch.setattr(SessionReader, "reference", lambda reader: reference(reader)[:40])
    with SessionReader(trained) as reader:
        found = contents(reader)
    (model,) = found["models"]
    text = page(found)
    for topic in model.topics:
        assert f"<dt>coherence (NPMI)</dt><dd>{formatted(topic.coherence)}</dd>" in text


def test_without_a_map_of_articles_the_report_has_none(found):
    (model,) = found["models"]
    text = page(found | {"models": [replace(model, articles=None)]})
    seen = check(text)
    assert "iframe" not in [tag for tag, _ in seen.tags]
    assert f"#{model.anchor}" in seen.all("href", "a")
    assert f"#{model.anchor}-map" not in seen.all("href", "a")


@pytest.mark.parametrize("many", range(1, 6))
def test_hidden_topics_are_not_on_the_page(trained, many):
    hide(trained, 0, range(many), True)
    with SessionReader(trained) as reader:
        seen = check(page(contents(reader)))
    assert [f"m0-{topic}" in seen.all("id") for topic in range(5)] == [
        topic >= many for topic in range(5)
    ]


def test_a_topic_has_the_colour_of_its_area_everywhere(found):
    text = page(found)
    (model,) = found["models"]
    assert len(model.groups) > 1
    for area, topics in model.groups:
        (own,) = re.findall(f'<section class="a{area.number}">(.*?)</section>', text, re.DOTALL)
        shown_on_maps = re.findall(f'<g class="a{area.number}"><a.*?</g>', text)
        assert len(shown_on_maps) == 2
        for topic in topics:
            link = f'href="#{topic.anchor}"'
            own_card = (
                f'<details class="topic a{area.number}"[^>]*>(?:(?!<details).)*id="{topic.anchor}"'
            )
            assert re.search(own_card, text, re.S)
            assert all(link in part for part in (own, *shown_on_maps))
        assert text.count(f'class="f-area{area.number}"') == len(topics), "the dots in the tree"
        assert f".a{area.number} {{ --a: {COLOURS[area.number]} }}" in text


def test_hostile_texts_are_texts(hostile):
    seen = check(page(hostile))
    assert [tag for tag, _ in seen.tags].count("script") == 1
    assert not any(tag in ("img", "b[31m") for tag, _ in seen.tags)
    (map_of_articles,) = seen.all("srcdoc", "iframe")
    within = Seen(map_of_articles)
    assert [tag for tag, _ in within.tags].count("script") == 2
    assert not any(tag in ("img", "iframe", "b[31m") for tag, _ in within.tags)
    told = "".join(text for texts in seen.texts.values() for text in texts)
    assert HOSTILE[0] in told
    assert "{{ 7 * 7 }}" in told


def test_control_characters_are_written_out(trained, cli):
    sql(trained, "UPDATE articles SET title = ?", "a\x1b[31m\u202egnp")
    text = cli("report").out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert r"a\x1b[31m\u202egnp" in text


def test_a_large_session_is_told_in_three_megabytes(found):
    """3 models of 300 topics, 250 snapshots each, 30,000 measurements."""
    (model,) = found["models"]
    words = [("word" + number * "s", 0.05, number % 3 / 3) for number in range(20)]
    address = f"https://en.wikipedia.org/w/index.php?title={40 * 'a'}&oldid=1234567890"
    text = "It begins with words. " * 13
    spans = [match.span() for match in re.finditer("words", text)]
    article = ReportArticle(
        called="A title that is not too short",
        url=address,
        typicality=0.88,
        proportion=0.9,
        words=[word for word, _, _ in words[:10]],
        snippet=None,
    )
    topic = replace(
        model.topics[0],
        row=replace(model.topics[0].row, name="bridge, river, road", share=1 / 300),
        words=words,
        past=[
            (64 * 2**n, 0.01, [(word, own < 0.3) for word, _, own in words[:8]]) for n in range(9)
        ],
        shares=[(64 * n, 0.003 + n % 7 / 1e4, 0.002) for n in range(1, 49)],
        titles=["A title that is not too short"] * 3,
    )
    numbers = np.arange(1, 10_001)
    curve = Curve(numbers * 64, numbers * 6400, numbers * 1.0, 1000 + 5000 / numbers)

    joined = [Branch(n, 299 + max(n, 1), 0.0, "", 0.0, (n,)) for n in range(300)]
    for n in range(300, 599):
        parent = n + 1 if n < 598 else None
        joined.append(Branch(n, parent, n / 100, "", 0.0, tuple(range(n - 298))))

    def about(n):
        words = tuple(PaintedWord(start, end, "words", n, 0.5) for start, end in spans)
        return article._replace(snippet=PaintedText(text, words, ()))

    def many(place):
        topics = [
            replace(
                topic,
                anchor=f"m{place}-{n}",
                row=replace(topic.row, topic=n),
                articles=[about(n)] * 10,
                area=n % 2,
                place=(np.cos(n), np.sin(3 * n)),
            )
            for n in range(300)
        ]
        return replace(
            model,
            anchor=f"m{place}",
            place=place,
            topics=topics,
            groups=[(Area(n, "bridge, river", 0.5, ()), topics[n::2]) for n in range(2)],
            tree=joined,
            events=[
                TopicEvent("lda", 64, "born", n % 300, None, topic.row.name) for n in range(5000)
            ],
        )

    metrics = [(metric, dict.fromkeys(range(3), curve)) for metric, _ in found["metrics"]]
    text = page(found | {"models": list(map(many, range(3))), "metrics": metrics})
    assert len(text.encode()) < 3_000_000
    assert text.count('<details class="topic a') == 900
    assert text.count(">A title that is not too short<") >= 1800
    check(text)


def test_a_page_is_small_and_harmless_whatever_a_stranger_wrote(trained):
    """Long names and control characters everywhere, 40 metrics with names of 50,000 characters."""
    bad = 10_000 * "\x1b<&\u202e"
    sql(trained, "UPDATE articles SET title = ?", bad)
    sql(trained, "UPDATE told_topics SET name = ?", bad[:1000])
    sql(
        trained,
        "UPDATE settings SET value = ? WHERE key IN ('source_name', 'vocabulary')",
        json.dumps(bad),
    )
    sql(trained, "UPDATE progress SET skipped = 7, skips = ?", json.dumps({bad: 7}))
    sql(trained, "UPDATE metrics SET value = 1.7e308 WHERE metric <> 'log_likelihood'")
    for number in range(40):
        sql(trained, "INSERT INTO metrics VALUES (0, 64, 1, 1, ?, 0.5)", f"{number}{bad}")
    with SessionReader(trained) as reader:
        text = page(contents(reader))
    assert len(text.encode()) < 1_000_000
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    check(text)


def test_a_page_that_no_detail_makes_small_enough_has_fewer_topics(found, monkeypatch):
    monkeypatch.setattr("wikitopics.session.analysis.report.page.LARGEST", 1)
    text = page(found)
    assert text.count('<details class="topic a') == 1
    assert "only the 1 largest" in text
    check(text)


def shown(browser, tmp_path, text, width=1200, scheme="light"):
    """The page in the browser; nothing on it may have been refused or gone wrong."""
    show(browser, tmp_path, text, width, {"prefers-color-scheme": scheme})
    assert browser.get_log("browser") == []


def run(browser, script, *arguments):
    return browser.execute_script(script, *arguments)


OPENED = "return document.getElementById(arguments[0]).closest('details').open"


def test_a_browser_shows_it_by_day_by_night_and_on_a_phone(browser, tmp_path, found):
    text = page(found)
    grounds = []
    for scheme in ("light", "dark"):
        shown(browser, tmp_path, text, 360, scheme)
        run(browser, "document.querySelectorAll('details').forEach(one => one.open = true)")
        assert run(browser, "return document.documentElement.scrollWidth") == 360
        of_body, of_text, of_line = run(
            browser,
            "return [[document.body, 'backgroundColor'], [document.querySelector('.map text'), "
            "'fill'],[document.querySelector('.charts path[class*=series]'), 'stroke']]"
            ".map(([of, what]) => getComputedStyle(of)[what])",
        )
        assert len({of_body, of_text, of_line}) == 3
        grounds.append((of_body, of_text, of_line))
    assert not set(grounds[0]) & set(grounds[1])
    first_letters = (
        "return [...document.querySelectorAll('table.stand thead th')]"
        ".map(head => getComputedStyle(head, '::first-letter').textTransform)"
    )
    assert {*run(browser, first_letters)} == {"uppercase"}


def test_a_thumb_hits_what_can_be_pressed(browser, tmp_path, race):
    with SessionReader(race) as reader:
        shown(browser, tmp_path, page(contents(reader)), 390)
    assert too_small(browser, "nav a, nav input, button, input[type=range], summary") == []
    navigation = "return document.querySelector('nav').offsetHeight"
    assert run(browser, navigation) < 844 / 4, "which stays in sight"


def test_a_chart_tells_its_values_where_a_finger_is_and_otherwise_the_last_ones(
    browser, tmp_path, race
):
    with SessionReader(race) as reader:
        found = contents(reader)
    shown(browser, tmp_path, page(found), 390)
    told = (
        "return [...document.querySelectorAll('.charts figure output')].map(one => "
        "[...one.querySelectorAll('b')].map(part => part.textContent))"
    )
    at_rest = run(browser, told)
    for told_below, (_, curves) in zip(at_rest, found["metrics"], strict=True):
        assert told_below == [
            *(formatted(curve.values[-1]) for curve in curves.values()),
            f"{max(curve.articles[-1] for curve in curves.values()):,.0f}",
        ]
    _, curves = found["metrics"][0]
    starts = [curve.articles[0] for curve in curves.values()]
    chart = browser.find_element("css selector", ".charts svg")
    at_once = "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})"
    run(browser, at_once, chart)
    left = "const box = arguments[0].getBoundingClientRect(); return [box.left + 20, box.top + 60]"
    x, y = run(browser, left, chart)
    for kind, touches in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        event = {"type": kind, "touchPoints": touches}
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)
    wait(browser, lambda: run(browser, told)[0][-1] == f"{min(starts):,.0f}")
    for value, start, curve in zip(run(browser, told)[0], starts, curves.values(), strict=False):
        assert value == (formatted(curve.values[0]) if start == min(starts) else "")
    chart.send_keys("\ue014")  # to the right
    assert run(browser, told)[0][-1] != f"{min(starts):,.0f}"
    assert run(browser, told)[1:] == at_rest[1:]
    run(browser, "document.activeElement.blur()")
    assert run(browser, told) == at_rest


@pytest.fixture
def many(found):
    """The same session with 100 topics in 13 areas."""
    (model,) = found["models"]
    return found | {"models": [with_topics(model, grouped(100), [40 * "long name "])]}


@pytest.fixture
def page_of_many(many, made_once):
    """Its page."""

    def write(folder):
        (folder / "page.html").write_text(page(many), encoding="utf-8")

    return (made_once("page-of-many", write) / "page.html").read_text(encoding="utf-8")


DRAWN = """
const map = [...document.querySelectorAll('.map svg')].filter(one => one.getBoundingClientRect().width);
return map.map(one => [...one.querySelectorAll('a, .names g')].map(mark => {
  const all = [...mark.querySelectorAll('circle, text')].map(part => part.getBoundingClientRect());
  return [Math.min(...all.map(box => box.left)), Math.min(...all.map(box => box.top)),
          Math.max(...all.map(box => box.right)), Math.max(...all.map(box => box.bottom))];
}));"""


@pytest.mark.parametrize("width", [1400, 420])
def test_nothing_on_the_map_overlaps(browser, tmp_path, page_of_many, width):
    shown(browser, tmp_path, page_of_many, width)
    (boxes,) = run(browser, DRAWN)
    left, top, right, bottom = np.array(boxes).T
    across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    down = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    assert len(boxes) == 113
    assert ((across > 0) & (down > 0)).sum() == 113, "each overlaps only itself"
    assert left.min() >= 0
    assert right.max() <= width
    text = run(
        browser, "return document.querySelector('main > section > p').getBoundingClientRect().width"
    )
    least = 1.2 if width == 1400 else 0.9
    assert np.ptp([left.min(), right.max()]) > least * text


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_names_on_the_map_are_legible_and_its_colours_differ_for_everybody(
    browser,
    tmp_path,
    page_of_many,
    scheme,
):
    shown(browser, tmp_path, page_of_many, 1400, scheme)
    if scheme == "print":
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    fills = run(
        browser,
        "return ['a circle', 'a text', '.names text', '.lands path'].map(parts =>"
        "[...document.querySelector('.map .wide').querySelectorAll(parts)].map(part =>"
        "[part.closest('[class^=a]').classList[0], getComputedStyle(part).fill]))",
    )
    circles, names, areas, land = (dict(pairs) for pairs in fills)
    assert len(circles) == len(land) == 13
    for area, ground in land.items():
        assert min(contrast(names[area], ground), contrast(areas[area], ground)) >= 4.5
        assert contrast(names[area], circles[area]) >= 4.5
    for deficiency in DEFICIENCIES:
        for one, other in itertools.combinations(circles.values(), 2):
            assert apart(one, other, deficiency) > 3
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_topic_on_the_map_lights_up_with_its_neighbours_and_tells_its_words(
    browser, tmp_path, many, page_of_many
):
    shown(browser, tmp_path, page_of_many, 1400)
    topic = many["models"][0].topics[7]
    lit = (
        "return [...document.querySelectorAll('.wide .lit .near')].map(one => "
        "one.getAttribute('href'))"
    )
    tip = "const tip = document.querySelector('.tip'); return tip.hidden ? '' : tip.textContent"
    link = run(
        browser, "return document.querySelector(`.wide a[href='#${arguments[0]}']`)", topic.anchor
    )
    for event in ("pointerover", "focusin"):
        assert (run(browser, lit), run(browser, tip)) == ([], "")
        run(
            browser,
            "arguments[0].dispatchEvent(new Event(arguments[1], {bubbles: true}))",
            link,
            event,
        )
        assert set(run(browser, lit)) == {f"#m0-{number}" for number in [7, *topic.near]}
        assert run(browser, tip).startswith(
            f"{topic.row.name}{topic.row.share:.1%}{topic.words[0][0]}"
        )
        run(browser, "document.querySelector('.wide svg').dispatchEvent(new Event('pointerleave'))")


def test_by_keyboard_the_map_is_one_stop_and_arrows_travel_on_it(browser, tmp_path, page_of_many):
    shown(browser, tmp_path, page_of_many, 1400)
    assert run(browser, "return document.querySelectorAll('.wide a[tabindex=\"0\"]').length") == 1
    where = (
        "const one = document.activeElement, box = one.getBoundingClientRect();"
        "return [one.getAttribute('aria-label'), box.left + box.width / 2]"
    )
    run(browser, "document.querySelector('.wide a[tabindex=\"0\"]').focus()")
    for _ in range(40):
        name, x = run(browser, where)
        browser.switch_to.active_element.send_keys("\ue014")  # to the right
        name_after, x_after = run(browser, where)
        if name_after == name:
            break
        assert x_after > x
    assert x > 1000
    anchor = run(browser, "return document.activeElement.getAttribute('href')")
    browser.switch_to.active_element.send_keys("\ue007")  # Enter
    wait(browser, lambda: run(browser, OPENED, anchor[1:]))


def test_the_slider_shows_the_topics_that_were_in_use_by_then(browser, tmp_path, many):
    (model,) = many["models"]
    moments = [(64, 0.0), (128, 0.0005), (256, 0.02), (512, 0.01)]
    row = replace(model.topics[0].row, share=0.01)
    late = replace(model.topics[0], row=row, shares=[(at, share, 0.0) for at, share in moments])
    others = [
        replace(topic, shares=[(at, 0.01, 0.0) for at, _ in moments]) for topic in model.topics[1:]
    ]
    shown(
        browser,
        tmp_path,
        page(many | {"models": [replace(model, topics=[late, *others])]}),
        1400,
    )
    assert (
        run(browser, "return document.querySelector('.replay output').value")
        == "100 topics after 512 documents"
    )
    state = (
        "const slider = document.querySelector('.replay input'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input'));"
        "const one = document.querySelector(`.wide a[href='#${arguments[1]}']`);"
        "return [getComputedStyle(one).visibility, one.querySelector('circle').r.baseVal.value,"
        "document.querySelector('.replay output').value]"
    )
    found = [run(browser, state, step, late.anchor) for step in range(4)]
    assert [visible for visible, _, _ in found] == ["hidden", "hidden", "visible", "visible"]
    assert found[2][1] > found[3][1]
    assert [told for _, _, told in found][1:3] == [
        "99 topics after 128 documents",
        "100 topics after 256 documents",
    ]


def test_finding_shows_what_holds_the_word_and_marks_it(browser, tmp_path, found):
    shown(browser, tmp_path, page(found))
    sought = found["models"][0].topics[2].articles[3].called
    run(browser, "document.querySelector('body').focus()")
    browser.switch_to.active_element.send_keys("/", sought)
    visible = "return [...document.querySelectorAll('details.topic')].filter(one => !one.hidden)"
    (left,) = run(browser, visible)
    assert left.get_attribute("open")
    assert run(browser, "return CSS.highlights.get('found').size") >= 1
    assert run(browser, "return document.querySelector('output').value") == "1 topic"
    browser.switch_to.active_element.send_keys("\ue00c")  # Escape
    assert len(run(browser, visible)) == 5
    for regular in ("(", "a|b", "[x]-", "\\", "/"):
        run(
            browser,
            "const i = document.querySelector('#find'); i.value = arguments[0];"
            "i.dispatchEvent(new Event('input'))",
            regular,
        )
    assert browser.get_log("browser") == []


def test_the_map_of_articles_is_drawn_within_the_page(browser, tmp_path, found):
    shown(browser, tmp_path, page(found))
    frame = browser.find_element("css selector", ".dots iframe")
    browser.execute_script("arguments[0].scrollIntoView()", frame)
    browser.switch_to.frame(frame)
    drawn = "return performance.getEntriesByName('drawn').length"
    wait(browser, lambda: browser.execute_script(drawn))
    browser.switch_to.default_content()
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [1400, 360])
def test_a_link_leads_to_its_heading_at_the_first_click(
    browser, tmp_path, many, page_of_many, width
):
    shown(browser, tmp_path, page_of_many, width)
    (model,) = many["models"]
    where = (
        "const one = document.getElementById(arguments[0]), part = one.closest('details.topic') ?? "
        "one;const below = part.getBoundingClientRect().top;"
        "return [scrollY, below - document.querySelector('nav').getBoundingClientRect().bottom]"
    )
    for anchor in ("settings", *(topic.anchor for topic in model.topics[5::24])):
        run(browser, "scrollTo({top: 0, behavior: 'instant'}); history.replaceState(null, '', '#')")
        run(
            browser,
            "document.querySelector(`a[href='#${arguments[0]}']`).dispatchEvent("
            "new MouseEvent('click', {bubbles: true, cancelable: true}))",
            anchor,
        )
        before = []

        def still(anchor=anchor, before=before):
            before.append(run(browser, where, anchor))
            return len(before) > 5 and before[-1][0] > 0 and before[-1] == before[-4]

        wait(browser, still)
        assert 0 <= before[-1][1] < 40, anchor


def test_a_link_chosen_again_shows_its_topic_that_a_search_has_hidden(browser, tmp_path, found):
    shown(browser, tmp_path, page(found))
    anchor = found["models"][0].topics[0].anchor
    choose = (
        "document.querySelector(`.wide a[href='#${arguments[0]}']`).dispatchEvent("
        "new MouseEvent('click', {bubbles: true, cancelable: true}))"
    )
    run(browser, choose, anchor)
    wait(browser, lambda: run(browser, OPENED, anchor))
    hidden = "return document.getElementById(arguments[0]).closest('details').hidden"
    run(
        browser,
        "const i = document.querySelector('#find'); i.value = 'qqqq'; i.dispatchEvent(new "
        "Event('input'))",
    )
    assert run(browser, hidden, anchor)
    run(browser, choose, anchor)
    assert not run(browser, hidden, anchor)


def test_what_is_found_stands_out_under_a_pointer_on_the_map(browser, tmp_path, many, page_of_many):
    shown(browser, tmp_path, page_of_many, 1400)
    first, *others = many["models"][0].topics
    far = next(topic for topic in others if topic.row.topic not in first.near)
    link = run(
        browser, "return document.querySelector(`.wide a[href='#${arguments[0]}']`)", first.anchor
    )
    run(browser, "arguments[0].dispatchEvent(new Event('pointerover', {bubbles: true}))", link)
    assert not run(browser, "return document.querySelector('.tip').hidden")
    run(
        browser,
        "const i = document.querySelector('#find'); i.value = arguments[0];"
        "i.dispatchEvent(new Event('input'))",
        far.row.name,
    )
    opacity = (
        "return [...document.querySelectorAll('.wide a')].filter(one => "
        "one.classList.contains('found')).map(one => getComputedStyle(one).opacity)"
    )
    wait(browser, lambda: set(run(browser, opacity)) == {"1"})
    assert run(browser, "return document.querySelector('.tip').hidden")


@pytest.mark.parametrize(("width", "height"), [(718, 1047), (740, 980), (1047, 718)])
def test_the_map_is_on_the_first_sheet_of_paper(browser, tmp_path, page_of_many, width, height):
    """Where the paper ends is where the window ends: A4, letter, and A4 turned."""
    shown(browser, tmp_path, page_of_many)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    bottom = run(browser, "return document.querySelector('.map').getBoundingClientRect().bottom")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert 0.4 * height < bottom < height


def test_hostile_texts_do_nothing_in_a_browser(browser, tmp_path, hostile):
    shown(browser, tmp_path, page(hostile))
    assert run(browser, "return document.title") != "owned"
    assert run(browser, "return document.querySelectorAll('script').length") == 1
    # Not even what gets onto the page runs.
    run(
        browser,
        "document.body.insertAdjacentHTML('beforeend', '<p style=\"color: red\" id=bad>x</p>"
        '<img src=x onerror="document.title=&quot;owned&quot;">\')',
    )
    refused = [line["message"] for line in browser.get_log("browser")]
    assert any("Content Security Policy" in line for line in refused)
    assert (
        run(browser, "return getComputedStyle(document.querySelector('#bad')).color")
        != "rgb(255, 0, 0)"
    )
    assert run(browser, "return document.title") != "owned"


def test_a_screen_that_has_the_report_written_is_told_what_it_says(trained, tmp_path):
    told = []
    message = write_report(trained, tmp_path / "it.html", told.append)
    assert told[-1] == message
    assert "wrote" in message
