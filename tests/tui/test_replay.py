"""A replay: the session as it was, snapshot after snapshot."""

from tests.session.rows import sql
from tests.tui import canned, seeing
from wikitopics.tui.session_view import Replay
from wikitopics.tui.views.articles import Reading
from wikitopics.tui.views.log import Story


def test_a_replay_goes_to_its_end_and_can_begin_again():
    replay = Replay((64, 128, 256))
    seen = [replay.articles]
    while replay.tick():
        seen.append(replay.articles)
    assert seen == [64, 128, 256]
    assert not replay.playing
    replay.step(-1)
    assert (replay.articles, replay.tick()) == (128, False)
    replay.step(5)
    replay.play()
    assert (replay.articles, replay.playing) == (64, True)


async def test_what_was_learnt_goes_back_and_comes_again(shown, live):
    async with shown(live, size=(120, 40), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "left", shows="at 12,480 articles")
        await seeing.press(pilot, "r", "space", shows="REPLAY")
        await seeing.until(pilot, "space Play")
        await seeing.press(pilot, *["left"] * 20, shows="REPLAY  16 of 12,480 articles")
        seen = await seeing.until(pilot, Story.empty)
        assert "LIVE" not in seen
        assert "at 12,480" not in seen, "the crosshair is beyond the replay"
        assert "lda 1,3" not in seen
        early = app.latest
        await seeing.press(pilot, *["right"] * 5, shows="REPLAY  512 of 12,480 articles")
        await seeing.until(pilot, "at 512 ▴ ● lda #3 film,")
        assert app.latest.topics["lda"] != early.topics["lda"]
        assert max(app.latest.curves["lda", "perplexity"].articles) == 512
        await pilot.press("2", "right")  # in every view
        await seeing.until(pilot, "REPLAY  1,024 of 12,480 articles")
        await pilot.press(
            "slash",
            "space",
            "x",
            "left",
            "escape",
        )  # where one types, these keys type
        await seeing.until(pilot, "REPLAY  1,024 of 12,480 articles")
        seen = await seeing.press(pilot, "1", "escape", shows="LIVE")
        await seeing.until(pilot, "lda 1,3")
        assert "REPLAY" not in seen


async def test_it_plays_by_itself(shown, two_models, monkeypatch):
    real = Replay.tick
    reached = list[int]()

    def tick(replay):
        moved = real(replay)
        if moved:
            reached.append(replay.articles)
        return moved

    monkeypatch.setattr(Replay, "tick", tick)
    async with shown(two_models, size=(80, 24), words="lda 1,3") as (app, pilot):
        await seeing.press(pilot, "r", shows="REPLAY  12,480 of 12,480")
        assert reached == [*app.watched.replay.points[1:]]
        await seeing.press(pilot, "r", shows="TRAINER DIED")


async def test_log_and_flow_are_those_of_then(shown, live):
    began = "(SELECT min(started_at) FROM runs)"
    # It had trained on 512 articles after 251 s.
    sql(live, f"UPDATE events SET at = {began} + 5000 WHERE message LIKE 'saved%'")
    async with shown(live, size=(120, 40), words="lda 1,3") as (_, pilot):
        await pilot.press("r", "space", *["left"] * 20, *["right"] * 5)
        seen = await seeing.until(pilot, "REPLAY  512 of 12,480 articles")
        assert "wait" not in seen
        assert " 512 articles learnt" in seen  # of how many, the first line says alone
        assert "of running time" in seen
        seen = await seeing.press(pilot, "5", shows="Log · ")
        assert "training began at article 0" in seen
        assert "saved at" not in seen
        await seeing.press(pilot, "4", shows="Crawl · now")
        await seeing.press(pilot, "escape", "5", shows="saved at 12,288")


async def test_articles_are_those_of_then_and_no_box_is_empty(shown, live):
    """The trained articles have the numbers from 6 on, after five that are held out."""
    began = "Read by then"
    async with shown(live, size=(200, 60), words="lda 1,3") as (app, pilot):
        await pilot.press("r", "space", *["left"] * 20)
        await seeing.until(pilot, "REPLAY  16 of 12,480 articles")
        seen = await seeing.until(pilot, "List of things (15)")
        assert began in seen
        assert [article.seq for article in app.latest.recent][:2] == [21, 20]
        assert all(article.topics for article in app.latest.recent if article.role == "trained")
        for panel in app.main.focus_chain:
            assert isinstance(panel, Story) or getattr(panel, "rows", True), panel
        await seeing.press(pilot, "3", shows="Articles read, newest first · by then")
        assert "List of things (16)" not in seeing.text(app)
        await seeing.press(pilot, *["right"] * 2, shows="List of things (63)")
        await seeing.press(pilot, "escape", "1", shows="Now reading")


async def test_now_reading_is_at_the_newest_again_once_it_is_left(shown, growing):
    async with shown(growing, size=(120, 40), words="lda 1,3") as (app, pilot):
        reading = app.main.view.query_one(Reading)
        reading.focus()
        await pilot.press("end")
        assert reading.scroll_offset.y > 0
        await pilot.press("tab")
        await seeing.until_true(lambda: reading.scroll_offset.y == 0)
        reading.focus()
        await pilot.press("end")
        canned.grow(growing, canned.Recipe(), 512, tuple(f"New {i}" for i in range(120)))
        app.watched.read_again()
        await seeing.until(pilot, "New 119")
        assert not reading.held
