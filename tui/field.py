"""A field for a text of many lines."""

import re
from typing import Any

from textual.widgets import TextArea

from wikitopics.tui.text import visible

LONGEST = 20_000
"""Characters, four pages: with more, the screen would fall behind the keys."""
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class Field(TextArea):
    """Leaves out of what is typed or pasted whatever does not fit, and characters that could
    control the terminal."""

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
