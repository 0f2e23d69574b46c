"""A replay: the session as it was, snapshot after snapshot."""

from tests.session.rows import sql
from tests.tui import seeing
from wikitopics.tui.follow import Replay
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
        await pilot.press("slash", "space", "x", "left", "escape")  # where one types, these keys type
        await seeing.until(pilot, "REPLAY  1,024 of 12,480 articles")
        seen = await seeing.press(pilot, "1", "escape", shows="LIVE")
        await seeing.until(pilot, "lda 1,3")
        assert "REPLAY" not in seen


async def test_it_plays_by_itself(shown, two_models, monkeypatch):
    real, reached = Replay.tick, list[int]()

    def tick(replay):
        if moved := real(replay):
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
        assert "a replay shows no rates" in seen
        seen = await seeing.press(pilot, "5", shows="Log · ")
        assert "training began at article 0" in seen
        assert "saved at" not in seen
        await seeing.press(pilot, "4", shows="Crawl · now")
        await seeing.press(pilot, "escape", "5", shows="saved at 12,288")
