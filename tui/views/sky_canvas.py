"""The sky as a panel: the window through which it is seen, its movements, and its drawing."""

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from textual import events
from textual.geometry import Offset, Region
from textual.strip import Strip
from textual.timer import Timer

from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.tui.inks import Drawn, Line, coloured, name
from wikitopics.tui.sky import (
    MOVING,
    SIGN,
    Counts,
    Overlay,
    SkyFrame,
    Written,
    cells_of,
    drawn,
    framed,
)
from wikitopics.tui.sky_index import NOWHERE, UNITS, Window, nearest_to
from wikitopics.tui.sky_motion import Drift, Flight, Sky, bright
from wikitopics.tui.sky_texts import TITLE
from wikitopics.tui.text import cut, visible

AREAS = len(COLOURS)
"""The number of areas, with those of no area, which come last."""
ZOOM = 2.0
"""How many times a key enlarges."""
WHEEL = 1.4
"""How many times a turn of the wheel enlarges."""
FRAME_SECONDS = 1 / 15
MOVE_SECONDS = 0.35
"""How long a movement of the window takes."""


class SkyCanvas(Drawn):
    """Draws a sky, and below it a line of words. A subclass says what is on it."""

    sky: Sky | None = None
    """What is drawn; None: nothing has been read yet, or there is no map of articles."""
    window = Window()
    chosen: int | None = None
    """The number (`seq`) of the article under the cursor."""
    _area_of: NDArray[np.int64] = np.empty(0, np.int64)
    """(K,) the area of each topic."""
    _found: NDArray[np.int64] | None = None
    """What a search has found: where in the sky's arrays; None: nothing is sought."""
    _way: tuple[Window, Window, float] | None = None
    """The movement of the window: from, to, and since when."""
    _drift: Drift | None = None
    _flights: Sequence[Flight] = ()
    _text: Flight | None = None
    """The way of a text that was asked about to where it lies."""
    _timer: Timer | None = None
    _counts: Counts | None = None
    _strips: Sequence[Strip] = ()
    _drawn_before: SkyFrame | None = None
    _line: Strip | None = None
    """The line that describes an article."""

    # What a subclass provides ---------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What the panel shows."""
        raise NotImplementedError

    @property
    def waiting(self) -> Line:
        """The first line until there is a sky."""
        raise NotImplementedError

    @property
    def description(self) -> Line:
        """The line below the sky."""
        raise NotImplementedError

    def _write(self) -> None:
        """Have names and titles written for the window, if they are not."""
        raise NotImplementedError

    def _texts(self, now: float) -> list[Written]:
        """All that is written now."""
        raise NotImplementedError

    # The window -----------------------------------------------------------------------------------

    @property
    def _room(self) -> tuple[int, int]:
        """Columns and rows of the sky, above the line that describes an article."""
        return self.size.width, self.size.height - 1

    @property
    def _target(self) -> Window:
        """The window after the movement."""
        if self._way is None:
            return self.window
        _, target, _ = self._way
        return target

    @property
    def is_enlarged(self) -> bool:
        return self._target.zoom > 1

    def _place_at(self, cell: Offset) -> tuple[float, float]:
        """The place, from 0 to 1, that is drawn in the middle of a cell."""
        width, height = self._room
        left, bottom = self.window.corner
        x = left + (cell.x + 0.5) / width * self.window.side
        y = bottom + (1 - (cell.y + 0.5) / height) * self.window.side
        return x / UNITS, y / UNITS

    def _cell(self, place: tuple[int, int]) -> tuple[int, int] | None:
        """The row and column where a place is drawn; None if it is out of sight."""
        cells, _ = cells_of(np.array([place], np.uint16), self.window, self._room)
        for row, column in cells.tolist():
            return row, column
        return None

    def place_of(self, seq: int) -> tuple[int, int] | None:
        """The place of an article, by its number (`seq`); None if it is not on the map."""
        if self.sky is None:
            return None
        for number in self.sky.find([seq]).tolist():
            x, y = self.sky.places[number].tolist()
            return x, y
        return None

    @property
    def _here(self) -> tuple[int, int] | None:
        """The place of the article under the cursor."""
        return None if self.chosen is None else self.place_of(self.chosen)

    def _marked(self, now: float) -> tuple[int, int] | None:
        """The place of the text that was asked about, or of the article under the cursor; None if
        there is none in sight."""
        place = self._here if self._text is None else self._text.at(now)
        return None if place is None or self._cell(place) is None else place

    # Movement -------------------------------------------------------------------------------------

    def action_zoom(self, into: bool) -> None:
        target = self._target
        place = self._here or self._nearest_to_middle()
        middle = (target.x, target.y)
        if place is not None:
            x, y = place
            middle = (x / UNITS, y / UNITS)
        factor = ZOOM if into else 1 / ZOOM
        self._move_to(target.enlarged(factor, middle))

    def _nearest_to_middle(self) -> tuple[int, int] | None:
        """The place of the article nearest to the middle, so that zooming in does not end where
        there is none."""
        if self.sky is None:
            return None
        target = self._target
        middle = (round(target.x * UNITS), round(target.y * UNITS))
        number = nearest_to(self.sky.articles, middle, target, self._room)
        if number is None:
            return None
        x, y = self.sky.places[number].tolist()
        return x, y

    def action_reset(self) -> None:
        self._move_to(Window())

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._turn_wheel(event, WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._turn_wheel(event, 1 / WHEEL)

    def _turn_wheel(self, event: events.MouseEvent, factor: float) -> None:
        event.stop()
        at = event.get_content_offset(self)
        if at is not None:
            self._move_to(self._target.enlarged(factor, self._place_at(at)))

    def _move_to(self, target: Window) -> None:
        if target == self._target:
            return
        if self._animates:
            self._way = (self.window, target, time.monotonic())
        else:
            self.window = target
            self._counts = None
        self._write()
        self._keep_moving()
        self.redraw()
        self.refresh_bindings()

    def on_resize(self) -> None:
        self._counts = None
        self._write()
        self.redraw()

    @property
    def _animates(self) -> bool:
        return self.app.animation_level != "none"

    def _keep_moving(self) -> None:
        """Draw frame after frame as long as something moves."""
        if self._timer is None:
            self._timer = self.set_interval(FRAME_SECONDS, self._frame, pause=True)
        if self._is_moving:
            self._timer.resume()

    @property
    def _is_moving(self) -> bool:
        goes_on = self._text is not None and not self._text.landed(time.monotonic())
        return goes_on or self._way is not None or self._drift is not None or bool(self._flights)

    def _frame(self) -> None:
        now = time.monotonic()
        if not self.is_on_screen:
            self._flights = ()
            self._drift = None
        if self._way is not None:
            start, target, began = self._way
            part = min((now - began) / MOVE_SECONDS, 1.0)
            self.window = start.towards(target, part * part * (3 - 2 * part))
            self._counts = None
            if part == 1:
                self.window = target
                self._way = None
        if self._drift is not None:
            self._counts = None
            if self._drift.ended(now):
                self._drift = None
        self._flights = [flight for flight in self._flights if not flight.ended(now)]
        if not self._is_moving and self._timer is not None:
            self._timer.pause()
        self._draw()

    # Drawing --------------------------------------------------------------------------------------

    def redraw(self) -> None:
        """Draw again, with the title."""
        name(self, self.title)
        self.refresh_bindings()
        self._line = None
        self._draw()

    def _draw(self) -> None:
        """Draw the lines that have changed."""
        before = self._strips
        self._strips = self._drawn_strips()
        if len(before) != len(self._strips) or not self.is_on_screen:
            self.refresh()
            return
        width, _ = self.size
        changed = [
            Region(0, y, width, 1)
            for y, (old, new) in enumerate(zip(before, self._strips, strict=True))
            if old != new
        ]
        if changed:  # without a region, all would be drawn again
            self.refresh(*changed)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn_before = None
        self._line = None
        if self._strips:
            self._strips = self._drawn_strips()

    def render_line(self, y: int) -> Strip:
        width, height = self.size
        if len(self._strips) != height or self._strips[0].cell_length != width:
            self._line = None
            self._strips = self._drawn_strips()
        return self._strips[y] if y < len(self._strips) else Strip.blank(width, self.pen())

    def _drawn_strips(self) -> Sequence[Strip]:
        width, height = self._room
        sky = self.sky
        counts = None if sky is None or min(width, height) < 1 else self._counted(sky)
        if sky is None or counts is None:
            blank = self.strip([], max(width, 0))
            first = self.strip(self.waiting, max(width, 0))
            return [first, *[blank] * height]
        now = time.monotonic()
        overlay = Overlay(
            lit=NOWHERE if self._found is None else sky.places[self._found],
            bright=bright(self._flights, now),
            chosen=self._marked(now),
        )
        picture = drawn(counts, overlay, coloured=coloured(self.app), ascii_only=self.ascii_only)
        self._drawn_before = framed(picture, self.pen, self._texts(now), self._drawn_before)
        if self._line is None:
            self._line = self.strip(self.description, width)
        return [*self._drawn_before.strips, self._line]

    def _count(self, sky: Sky, most: int | None = None) -> Counts | None:
        """The counts of all articles in the window as it is now; None if not all have a colour."""
        size = self._room
        area_of = self._area_of
        if min(size) < 1 or sky.topic_count > len(area_of):
            return None
        return Counts.of(sky.articles, area_of, AREAS, self.window, size, most)

    def _counted(self, sky: Sky) -> Counts | None:
        """The counts for the next frame."""
        counts = self._counts
        if counts is None or (counts.window, counts.size) != (self.window, self._room):
            if self._drift is not None:
                now = time.monotonic()
                size = self._room
                counts = self._drift.counts(now, self._area_of, AREAS, self.window, size)
            else:
                most = MOVING if self._way is not None else None
                counts = self._count(sky, most)
            self._counts = counts
        return counts

    def _signs(self, places: Sequence[tuple[int, int]]) -> list[Written]:
        """What has to be kept clear of names at these places."""
        cells, _ = cells_of(np.array(places, np.uint16), self.window, self._room)
        return [Written(row, column, SIGN, "") for row, column in cells.tolist()]

    def _beside(self, place: tuple[int, int], title: str, ink: str) -> list[Written]:
        """A title to the right of a place, or to the left if there is no room."""
        width, _ = self._room
        cell = self._cell(place)
        text = cut(visible(title), TITLE)
        if cell is None or not text:
            return []
        row, column = cell
        start = column + 2
        if start + cell_len(text) > width:
            start = column - 1 - cell_len(text)
        return [Written(row, start, text, ink)] if start >= 0 else []
