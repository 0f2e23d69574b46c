"""How a topic's words developed: top words by number of articles read, side by side ([H10] figure 1)."""

from collections.abc import Sequence

from wikitopics.tui.inks import Line, Lines
from wikitopics.tui.words import count, padded, share

History = Sequence[tuple[int, float, tuple[tuple[str, float], ...]]]
"""(articles, share, words with probabilities) of every stored snapshot, oldest first."""
COLUMN = 15


def doublings(history: History) -> list[int]:
    """Indices of the snapshots nearest to 2,048, 4,096, 8,192 … and to the smaller powers of two, and of
    the newest: one column per doubling, as the papers print it."""
    chosen: list[int] = []
    goal = 1
    for index, (articles, _, _) in enumerate(history):
        if articles >= goal:
            chosen.append(index)
            while goal <= articles:
                goal *= 2
    newest = len(history) - 1
    if newest >= 0 and (not chosen or chosen[-1] != newest):
        chosen.append(newest)
    return chosen


class Evolution(Lines, can_focus=True):
    """One column per doubling of the articles read; a word that is missing from the column before has a +."""

    _history: History = ()
    _columns: Sequence[int] = ()
    selected: int | None = None
    """Articles of the selected column; None: the newest, as it changes."""
    _own: int | None = None
    """Articles of the snapshot that has a column of its own."""
    _why = ""

    def show(self, history: History, why: str = "no snapshot yet", at: int | None = None) -> None:
        """Draw this history; a selected column stays selected by its article count.

        ``why``: shown in place of an empty history. ``at``: articles of a snapshot that has a column, too,
        which is selected first.
        """
        self._why, self._history, self._columns = why, history, doublings(history)
        own = [index for index, (articles, _, _) in enumerate(history) if articles == at]
        self._columns = sorted({*self._columns, *own})
        if at != self._own:
            self._own = self.selected = at
        if self.selected not in self._articles():
            self.selected = None
        self.redraw()

    def _articles(self) -> list[int]:
        return [self._history[index][0] for index in self._columns]

    @property
    def _place(self) -> int:
        """Index of the selected column."""
        return len(self._columns) - 1 if self.selected is None else self._articles().index(self.selected)

    def step(self, by: int) -> None:
        """Select the previous or next column."""
        if self._columns:
            last = len(self._columns) - 1
            goal = min(max(self._place + by, 0), last)
            self.selected = None if goal == last else self._articles()[goal]
            self.redraw()

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """The words of the selected column."""
        return self._history[self._columns[self._place]][2] if self._columns else ()

    def lines(self, width: int, height: int) -> list[Line]:
        if not self._columns:
            return [[(f" {self._why}", "muted")]]
        room = max((width - 1) // COLUMN, 1)
        chosen = self._place
        first = max(min(chosen - room // 2, len(self._columns) - room), 0)
        shown = range(first, min(first + room, len(self._columns)))
        out = []
        for y in range(height):
            parts: Line = [("‹" if first and y == 0 else " ", "faint")]
            for place in shown:
                parts += self._cell(place, y, place == chosen and self.selected is not None)
            out.append(parts)
        return out

    def _cell(self, place: int, y: int, chosen: bool) -> Line:
        articles, part, words = self._history[self._columns[place]]
        if y == 0:
            return [(f"{count(articles):<{COLUMN}}", "accent" if chosen else "strong")]
        if y == 1:
            return [(f"{share(part):<{COLUMN}}", "muted")]
        if y - 2 >= len(words):
            return [(" " * COLUMN, "")]
        word = words[y - 2][0]
        before = {w for w, _ in self._history[self._columns[place - 1]][2]} if place else None
        new = before is not None and word not in before
        text = f"{'+' if new else ''}{word}"
        return [(padded(text, COLUMN - 1) + " ", "new" if new else ("accent" if chosen else ""))]
