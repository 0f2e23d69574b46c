"""The command palette: what it finds, and in which order."""

import pytest
from textual.command import CommandList, CommandPalette
from textual.widgets import Input

from tests.tui import seeing
from wikitopics.tui.palette import COMMAND, TITLE, fitness, fitness_of_title, is_scattered


async def test_the_palette_finds_topics_and_titles(shown, live):
    async with shown(live, size=(120, 40), words="film, actor") as (app, pilot):
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        await seeing.press(pilot, *"cephe", shows="Cepheid variable")
        await pilot.press("escape")
        await seeing.until_true(lambda: app.screen is app.main)
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        await seeing.press(pilot, *"galax", shows="planet, galaxy, sun")


@pytest.mark.parametrize(
    "typed", ["log", "the", "ma", "save", "#12", "7", "Change the theme: dark, light and others"]
)
async def test_the_palette_puts_what_was_typed_as_it_stands_first(shown, live, typed):
    """Whole words first, then beginnings, then letters in a row; scattered letters last."""
    async with shown(live, size=(120, 40), words="film, actor") as (app, pilot):
        await seeing.in_front(pilot, CommandPalette, "ctrl+p")
        app.screen.query_one(Input).value = typed
        found = app.screen.query_one(CommandList)
        await seeing.until_true(
            lambda: (
                found.option_count and typed.casefold() in str(found.options[0].prompt).casefold()
            )
        )
        await pilot.pause(0.5)
        texts = [str(option.hit.text) for option in found.options]
        scores = [option.hit.score for option in found.options]
        assert scores == sorted(scores, reverse=True)
        contiguous = [typed.casefold() in str(option.prompt).casefold() for option in found.options]
        assert contiguous == sorted(contiguous, reverse=True), texts  # the contiguous ones first
        assert contiguous[0]


def test_letters_in_a_row_outdo_scattered_ones():
    assert (
        fitness("Save", "save")
        > fitness("save", "Save the session")
        > fitness("sav", "Save the session")
    )
    assert (
        fitness("sav", "Save the session")
        > fitness("ave", "Save the session")
        > fitness("svs", "Save the session")
    )
    assert is_scattered("svs", "Save the session")
    assert not is_scattered("sss!", "Save the session")


def test_commands_and_topics_outdo_long_titles_with_the_same_word():
    assert (
        fitness("top", "Open Topics") + COMMAND
        > fitness_of_title("top", "List of Top 25 singles") + TITLE
    )
    assert fitness_of_title("top", "Top") > fitness("top", "Open Topics") + COMMAND
    assert fitness_of_title("ingle", "List of Top 25 singles") == fitness(
        "ingle", "List of Top 25 singles"
    )
