"""The map of articles on the screen: dots and names, travelling, zooming, searching, what has just
been read, and the topics alone where there are no places."""

import asyncio
import threading

import numpy as np
import pytest
from textual import events
from textual.geometry import Offset

from tests.tui import canned, seeing
from wikitopics.session.analysis.answers import Answer
from wikitopics.session.analysis.article_map import MapFollower
from wikitopics.session.storage.reader import SessionReader
from wikitopics.tui.sky_index import Window
from wikitopics.tui.sky_texts import TITLE
from wikitopics.tui.text import cut
from wikitopics.tui.views.atlas import Maps, TopicAtlas
from wikitopics.tui.views.sky_map import SkyMap

RECIPE = canned.Recipe(models=("lda", "hdp"))
ARTICLES = 208 + len(canned.TITLES)


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory):
    """A session whose articles have places; nobody may write to it."""
    path = canned.build(tmp_path_factory.mktemp("canned") / "placed.db", RECIPE)
    return canned.lay_out(path, RECIPE)


@pytest.fixture
def placed(laid_out):
    with canned.live(laid_out):
        yield laid_out


@pytest.fixture
def changing(tmp_path):
    """The same, to which the test may write."""
    path = canned.lay_out(canned.build(tmp_path / "changing.db", RECIPE), RECIPE)
    with canned.live(path):
        yield path


async def opened(pilot):
    """The sky, once it is drawn with its names."""
    await pilot.press("7")
    sky = pilot.app.main.view.query_one(SkyMap)
    await seeing.until_true(lambda: sky.sky is not None and sky._names.written)
    await pilot.pause()
    return sky


def inside(app):
    """What the panel of the map shows, without its frame."""
    return "\n".join(line[1:-1] for line in seeing.lines(app)[2:-3])


async def test_articles_are_dots_and_areas_have_their_names(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        seen = seeing.text(app)
        assert f"Atlas · {ARTICLES} articles · lda" in seen
        assert sum("⠀" <= sign <= "⣿" for sign in inside(app)) > 15
        names = [area.name.upper() for area in app.latest.atlases["lda"].areas]
        assert sum(name in seen for name in names) >= 5
        newest = app.latest.recent[0].title
        assert newest in sky._strips[-1].text
        assert sky.chosen is None


async def test_while_the_map_is_read_it_says_so(shown, placed, monkeypatch):
    read = MapFollower.read
    may_begin = threading.Event()
    may_end = threading.Event()

    def slowly(follower, reader):
        assert may_begin.wait(30)
        found = read(follower, reader)
        follower.is_complete = may_end.is_set()
        return found

    monkeypatch.setattr(MapFollower, "read", slowly)
    async with shown(placed, size=(120, 40), words="lda 1,3") as (_, pilot):
        await seeing.press(pilot, "7", shows="reading the map …")
        may_begin.set()
        seen = await seeing.until(pilot, f"Atlas · reading: {ARTICLES} articles so far")
        assert "reading the map" not in seen
        may_end.set()
        await seeing.until(pilot, f"Atlas · {ARTICLES} articles")


@pytest.mark.parametrize("size", [(80, 24), (300, 90), (40, 12)])
async def test_each_line_is_as_wide_as_the_panel(shown, placed, size):
    async with shown(placed, size=size, words="LIVE") as (app, pilot):
        sky = await opened(pilot)
        for key in ("plus", "plus", "right", "plus", "down"):
            await pilot.press(key)
            await pilot.pause()
            assert [strip.cell_length for strip in sky._strips] == [
                sky.size.width
            ] * sky.size.height
            assert "●" in inside(app) or sky.chosen is None


async def test_arrows_lead_to_articles_and_enter_opens_the_card(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        visited = []
        for key in ("right", "right", "down", "left", "up"):
            await pilot.press(key)
            await seeing.until_true(lambda: sky.card is not None)
            visited.append(sky.chosen)
        assert len(set(visited)) >= 4
        x, _y = sky.place_of(visited[1])
        before = sky.place_of(visited[0])
        assert x > before[0]
        title = sky.card.title
        (topic, _), *_ = sky._leading[sky.chosen]
        line = await seeing.until(pilot, f" {title} · ")
        assert app.latest.topics["lda"][topic].name.split(",")[0] in line
        assert app.main.view.chosen_article() == sky.card
        assert app.main.view.chosen_topic() is None
        await seeing.press(pilot, "enter", shows=f"{title}: its topics")
        await seeing.press(pilot, "escape", shows="Atlas · ")
        assert sky.has_focus
        assert sky.card.title == title


async def test_plus_zooms_until_titles_appear_and_minus_and_0_go_back(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        await pilot.press("right")
        for zoom in (2, 4, 8):
            await seeing.press(pilot, "plus", shows=f"articles · lda · {zoom}x")
        x, y = sky.place_of(sky.chosen)
        (left, bottom), (right, top) = sky.window.corners
        assert left <= x < right
        assert bottom <= y < top
        found = sky.sky.articles.within(sky.window).numbers
        with SessionReader(placed) as reader:
            rows = reader.numbered(sky.sky.seqs[found].tolist())
        await seeing.until_true(lambda: any(row.title[:20] in inside(app) for row in rows.values()))
        await seeing.press(pilot, "minus", shows="articles · lda · 4x")
        await pilot.press("0")
        assert sky.window == Window()
        await seeing.press(pilot, "plus", shows=" · 2x")
        await pilot.press("escape")
        assert sky.window == Window()


async def test_a_click_chooses_the_nearest_article_and_the_wheel_zooms_there(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (_app, pilot):
        sky = await opened(pilot)
        number = 100
        row, column = sky._cell(tuple(sky.sky.places[number].tolist()))
        frame = 1
        await pilot.click(sky, offset=(column + frame, row + frame))
        x, y = sky.place_of(sky.chosen)
        here = sky._cell((x, y))
        assert here == (row, column)
        at = Offset(column, row)
        place = sky._place_at(at)
        wheel = {"x": 0, "y": 0, "delta_x": 0, "delta_y": -1, "button": 0}
        keys = {"shift": False, "meta": False, "ctrl": False}
        x, y = sky.content_region.offset + at
        event = events.MouseScrollUp(
            sky, **(wheel | keys | {"x": column + 1, "y": row + 1, "screen_x": x, "screen_y": y})
        )
        sky.post_message(event)
        await seeing.until_true(lambda: sky.window.zoom > 1)
        assert np.allclose(sky._place_at(at), place, atol=0.02)


async def test_what_is_found_is_lit_by_titles_and_by_topics_words(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        await seeing.press(
            pilot, "slash", *"things (12", "enter", shows="and 0 topics with “things (12”"
        )
        await seeing.until_true(lambda: sky.card is not None)
        assert "things (12" in sky.card.title
        titled = sky.sky.seqs[sky._found].tolist()
        assert len(titled) == 11
        await pilot.press("right")
        assert sky.chosen in titled, "arrows travel among what was found"
        await pilot.press("escape")
        await seeing.until_true(lambda: sky._found is None)
        await seeing.press(pilot, "slash", *"galax", "enter", shows="4 topics with “galax”")
        topics = {row.topic for row in app.latest.topics["lda"] if "galax" in str(row.words)}
        assert set(sky.sky.topics[sky._found].tolist()) <= topics


async def test_until_a_search_has_answered_the_title_says_what_was_found_before(
    shown, placed, monkeypatch
):
    find = SessionReader.find_articles
    answers = threading.Event()

    def waiting(reader, sought, limit):
        assert answers.wait(30)
        return find(reader, sought, limit)

    async with shown(placed, size=(120, 40), words="lda 1,3") as (_, pilot):
        sky = await opened(pilot)
        await seeing.press(pilot, "slash", *"galax", "enter", shows="4 topics with “galax”")
        with monkeypatch.context() as patch:
            patch.setattr(SessionReader, "find_articles", waiting)
            await pilot.press("slash", *"things (12", "enter")
            await seeing.until_true(lambda: sky._search.sought == "things (12")
            assert "4 topics with “galax”" in sky.title
            answers.set()
            await seeing.until(pilot, "and 0 topics with “things (12”")


async def test_the_titles_on_the_map_are_those_of_what_is_lit_now(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (_, pilot):
        sky = await opened(pilot)

        def titles():
            return {text for _, _, text, ink in sky._names.written if not ink}

        for alike in (sky.sky.seqs[:20].tolist(), sky.sky.seqs[50:70].tolist()):
            with SessionReader(placed) as reader:
                lit = {cut(row.called, TITLE) for row in reader.numbered(alike).values()}
            sky.show_text(None, alike)
            await seeing.until_true(lambda lit=lit: titles() and titles() <= lit)


async def test_what_was_found_is_not_lit_among_another_model_s_articles(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (_, pilot):
        sky = await opened(pilot)
        sky.show_text(None, sky.sky.seqs[:3].tolist())
        assert len(sky._found) == 3
        await seeing.press(pilot, "m", "m", shows=f"Atlas · {ARTICLES} articles · hdp")
        assert sky._found is None


async def test_a_search_shows_all_that_is_found_however_the_map_was_enlarged(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (_, pilot):
        sky = await opened(pilot)
        await seeing.press(pilot, "plus", "plus", "plus", shows="8x")
        await seeing.press(pilot, "slash", *"things (12", "enter", shows="11 articles")
        await seeing.until_true(lambda: sky._found is not None)
        assert sky._target == Window()


async def test_the_bottom_line_offers_what_one_does_on_a_map(shown, placed):
    async with shown(placed, size=(80, 24), words="LIVE") as (app, pilot):
        await opened(pilot)
        seen = seeing.lines(app)[-1]
        assert all(key in seen for key in ("+- Zoom", "v Other map", "? Help"))
        await pilot.press("plus")
        await seeing.until(pilot, "esc Whole map")


async def test_v_shows_the_topics_and_the_articles_again(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        assert "v Other map" in await seeing.press(pilot, "v", shows="Atlas · 49 topics")
        assert app.main.focused is app.main.view.query_one(TopicAtlas)
        assert app.main.view.chosen_topic() is not None
        await seeing.press(pilot, "v", shows=f"Atlas · {ARTICLES} articles")
        assert app.main.focused is sky


async def test_without_places_the_topics_are_shown_and_the_reason(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "7", shows="Atlas · 49 topics")
        seen = await seeing.until(pilot, "articles have no places yet")
        assert "Other map" not in seen
        maps = app.main.view.query_one(Maps)
        assert maps.shown is maps.topics
        assert app.main.focused is maps.topics


async def test_what_was_just_read_flies_to_its_place_and_then_nothing_moves(shown, changing):
    async with shown(changing, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        app.animation_level = "full"
        assert not sky._is_moving
        canned.grow(changing, RECIPE, 1, titles=("A title never seen before",))
        await seeing.until_true(lambda: sky._flights)
        (flight,) = sky._flights
        assert flight.seq == sky.sky.seqs[-1]
        assert len(sky.sky) == ARTICLES + 1
        await seeing.until(pilot, "A title never seen before")
        await seeing.until_true(lambda: not sky._is_moving)
        drawn = list(sky._strips)
        frames = []
        sky._frame = lambda: frames.append(1)
        await asyncio.sleep(0.3)
        assert not frames
        assert sky._strips == drawn


async def test_a_session_that_is_gone_leaves_the_map_as_it_is(shown, tmp_path):
    path = canned.lay_out(canned.build(tmp_path / "gone.db", RECIPE), RECIPE)
    async with shown(path, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        path.unlink()
        await pilot.press("right", "plus", "plus", "plus", "enter")
        await seeing.press(pilot, "slash", *"things", "enter", shows="removed or replaced")
        assert app.is_running
        assert len(sky.sky) == ARTICLES


async def test_the_trainer_is_asked_for_another_layout(shown, placed, told):
    async with shown(placed, size=(120, 40)) as (_, pilot):
        await opened(pilot)
        await pilot.press("D")
        await seeing.until_true(lambda: told == [{"lay_out": True}])


async def test_another_layout_is_seen_as_a_movement(shown, changing):
    async with shown(changing, size=(120, 40), words="lda 1,3") as (app, pilot):
        sky = await opened(pilot)
        app.animation_level = "full"
        before = sky.sky.places.copy()
        canned.lay_out(changing, RECIPE, turned=True)
        await seeing.until_true(lambda: sky._drift is not None)
        assert (sky._drift.before == before).all()
        await seeing.until_true(lambda: sky._drift is None)
        assert (sky.sky.places != before).any()
        assert sky._counted(sky.sky).dots.sum() == ARTICLES


async def test_a_replay_without_articles_says_that_the_map_is_of_now(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (_, pilot):
        await opened(pilot)
        await seeing.press(pilot, "r", shows=f"{ARTICLES} articles · lda · now")


async def test_ascii_and_no_colour(shown, placed, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        app.action_ascii()
        await opened(pilot)
        await pilot.press("right")
        assert "@" in inside(app)
        assert any(sign in inside(app) for sign in ":+*#")
        assert not {sign for sign in inside(app) if not sign.isascii()} - set("āōä日本の鉄道駅一覧")
        for strip in seeing.strips(app):
            for segment in strip:
                colour = segment.style.color if segment.style else None
                assert colour is None or len(set(colour.get_truecolor())) == 1


async def test_the_dashboard_s_panel_shows_where_a_selected_topic_is(shown, placed):
    async with shown(placed, size=(200, 60), words=f"Atlas · {ARTICLES} articles") as (app, pilot):
        sky = app.main.view.query_one(SkyMap)
        await pilot.press("down", "down")
        topic = app.main.view.chosen_topic().topic
        await seeing.until_true(lambda: sky._topic == topic)
        assert set(sky.sky.topics[sky._found].tolist()) <= {topic}
        assert f"most about #{topic}" in sky.title
        sky.show_topic(None)
        assert sky._found is None


class Told:
    """Answers that depend on how long a text is."""

    def __init__(self, reader, model, before, advance):
        pass

    def still_hold(self, reader, model, commit):
        return True

    def of_text(self, text):
        if not text:
            return Answer()
        theta = np.zeros(canned.N_TOPICS)
        theta[7 * len(text)] = 1
        return Answer(topics=[(7 * len(text), 1.0, ())], theta=theta)

    def painted(self, answer, question):
        return answer


async def test_ask_marks_where_a_text_lies_and_the_mark_moves_as_one_types(
    shown, placed, monkeypatch
):
    monkeypatch.setattr("wikitopics.tui.follow.Answers", Told)
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        await pilot.press("i")
        sky = app.main.view.query_one(SkyMap)
        await seeing.until_true(lambda: sky.sky is not None)
        assert sky._text is None
        places = set()
        for _ in range(2):
            before = sky._text
            await pilot.press("a")
            await seeing.until_true(lambda before=before: sky._text not in (None, before))
            places.add(sky._text.end)
            await seeing.until(pilot, "● your text")
        assert len(places) == 2
        await pilot.press("backspace", "backspace")
        await seeing.until_true(lambda: sky._text is None)


async def test_the_card_of_an_article_shows_where_it_is(shown, placed):
    async with shown(placed, size=(120, 40), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "3", "down", "enter", shows=": its topics")
        sky = app.main.view.query_one(SkyMap)
        article = app.main.view.trail[-1]
        await seeing.until_true(lambda: sky.place_of(article.seq) is not None)
        assert sky.chosen == article.seq
        await seeing.until(pilot, f"● {article.title[:20]}")
