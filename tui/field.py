"""A field for a text of many lines."""

import re
from typing import Any

from rich.style import Style
from rich.text import Text
from textual.widgets import TextArea

from wikitopics.session.analysis.painted import PaintedText, PaintedWord
from wikitopics.tui.inks import coloured, made_style
from wikitopics.tui.painted import moved, topic_inks, word_at, word_ink
from wikitopics.tui.text import visible

LONGEST = 20_000
"""Characters, four pages: with more, the screen would fall behind the keys."""
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


Strokes = dict[int, list[tuple[int, int, str]]]
"""For each line: (first column, the column after the last, ink) of its painted words."""


class Field(TextArea):
    """Leaves out of what is typed or pasted whatever does not fit, and characters that could
    control the terminal. Its words can be painted, and stay so while others are typed."""

    _painted: PaintedText | None = None
    _strokes: tuple[str, Strokes] = ("", {})
    """The text that strokes are for, and those of each line."""

    def paint(self, painted: PaintedText | None) -> None:
        """Paint the words from now on."""
        if painted is not self._painted:
            self._painted = painted
            self._strokes = ("", {})
            self.notify_style_update()  # forgets the lines drawn so far
            self.refresh()

    def word_at_cursor(self) -> PaintedWord | None:
        """The painted word at the cursor, or just before it."""
        if self._painted is None or self._painted.text != self.text:
            return None
        row, column = self.cursor_location
        lines_above = self.document.lines[:row]
        place = column + sum(len(line) + 1 for line in lines_above)
        return word_at(self._painted, place)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        painted = self._painted
        if painted is None:
            return line
        text = self.text
        drawn_for, strokes = self._strokes
        if drawn_for != text:
            strokes = self._strokes_of(painted, text)
            self._strokes = (text, strokes)
        for start, end, ink in strokes.get(line_index, ()):
            styles = [made_style(self.app, part) for part in ink.split("+")]
            line.stylize(Style.combine(style for style in styles if style), start, end)
        return line

    def _strokes_of(self, painted: PaintedText, text: str) -> Strokes:
        inks = topic_inks(painted, coloured=coloured(self.app))
        strokes: Strokes = {}
        line = 0
        begin = 0
        for word in moved(painted, text):
            while (end := text.find("\n", begin)) >= 0 and end < word.start:
                line += 1
                begin = end + 1
            ink = word_ink(word, inks)
            if ink:
                strokes.setdefault(line, []).append((word.start - begin, word.end - begin, ink))
        return strokes

    def replace(self, insert: str, start: Any, end: Any, **more: Any) -> Any:
        replaced = self.get_text_range(start, end)
        room = LONGEST - (len(self.text) - len(replaced))
        fitting = _LINE_ENDS.sub("\n", insert[:room])
        text = "".join(sign for sign in fitting if sign in "\n\t" or visible(sign) == sign)
        if len(insert) > room:
            self.app.notify(f"cut: only {LONGEST:,} characters fit")
        elif text != fitting:
            self.app.notify("left out: characters that cannot be shown")
        return super().replace(text, start, end, **more)
