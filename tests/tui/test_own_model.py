"""A model of somebody else's package on the screen, while the package is there and when it is
gone."""

from tests.tui import seeing
from wikitopics.tui.chart import Chart


async def look(app, metric):
    """Walk through the views, and through the chart's metrics to the one with this title."""
    async with app.run_test(size=(140, 45)) as pilot:
        await seeing.until(pilot, "unigrams 4")  # the last perplexity, at the end of its curve
        assert [series.name for series in app.screen.query_one(Chart).drawing.series] == [
            "unigrams",
            "lda",
        ]
        chart = app.screen.query_one(Chart)
        for _ in range(20):
            if metric in seeing.text(app):
                break
            drawn = chart.drawing
            await pilot.press("v")
            await seeing.until_true(lambda drawn=drawn: chart.drawing is not drawn)
            await pilot.pause()
        await seeing.until(pilot, metric)
        await seeing.until(pilot, "unigrams 0.")
        await seeing.press(pilot, "2", shows="20 topics after")
        await seeing.press(pilot, "3", shows="document 698")


async def test_it_is_shown_like_ours(open_app, race):
    await look(open_app(race), "Share of the main topic, mean of 40 held-out documents")


async def test_it_is_shown_without_its_package(open_app, race, unigrams, monkeypatch):
    unigrams.uninstall(monkeypatch)
    await look(open_app(race), "Certainty")
