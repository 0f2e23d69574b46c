"""A line to type into."""

from typing import Literal

from textual.widgets import Input

MOST = 1_000
"""Characters. A line is drawn anew at each key, which takes long for one of a megabyte."""
NOTHING_TURNED = "[^\u202a-\u202e\u2066-\u2069]*"
"""No character that reverses what the terminal shows after it."""


class Entry(Input):
    """An input for names, addresses and files; what is pasted beyond its limits is refused."""

    def __init__(
        self,
        value: str = "",
        placeholder: str = "",
        *,
        id: str | None = None,
        type: Literal["text", "integer", "number"] = "text",
    ) -> None:
        super().__init__(
            value,
            placeholder,
            id=id,
            type=type,
            compact=True,
            max_length=MOST,
            restrict=NOTHING_TURNED,
        )
