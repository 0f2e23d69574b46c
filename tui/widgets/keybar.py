"""The bottom line: the views and the keys that apply now; every word of it can be clicked."""

from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.strip import Strip

from wikitopics.tui.inks import Drawn, Part

KEYS = 32
"""Cells that the names of the views leave to the keys: there is room for Help, Quit and Unfreeze."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A key, what it does, and the action that a click runs."""

    key: str
    label: str
    action: str
    active: bool = False
    stays: bool = False
    """Whether it goes before others that there is no room for."""


class KeyBar(Drawn):
    """Shows as many hints as fit; the first are the most important, but for those that stay anyway."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self._views: list[Hint] = []
        self._keys: list[Hint] = []
        self._spots: list[tuple[int, int, str]] = []

    def show(self, views: list[Hint], keys: list[Hint]) -> None:
        """The views first, then the keys."""
        self._views, self._keys = views, keys
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return self.strip([], width)
        brief = sum(len(_text(hint)) for hint in self._views) + KEYS > width
        parts: list[Part] = []
        self._spots = []
        at = 0
        owed = sum(len(_text(hint)) for hint in self._keys if hint.stays)
        for hint in [*self._views, *self._keys]:
            is_view = hint in self._views
            text = _text(hint, brief=is_view and brief)
            if hint.stays:
                owed -= len(text)
            elif not is_view and at + len(text) + owed > width:
                continue
            if at + len(text) > width:
                break
            ink = "cursor" if hint.active else ""
            parts += [
                (f" {hint.key}", ink or "accent"),
                (text[len(hint.key) + 1 :], ink or ("muted" if is_view else "")),
            ]
            self._spots.append((at, at + len(text), hint.action))
            at += len(text)
        return self.strip(parts, width)

    async def on_click(self, event: events.Click) -> None:
        for start, end, action in self._spots:
            if start <= event.x < end:
                await self.app.run_action(action)
                return


def _text(hint: Hint, *, brief: bool = False) -> str:
    """The hint as it is written; ``brief``: no more than its key, unless it is active."""
    if brief:
        return f" {hint.key} {hint.label}" if hint.active else f" {hint.key}"
    return f" {hint.key} {hint.label} "


def shown_key(binding: Binding, display: str) -> str:
    """How a binding's key is written in hints."""
    names = {"space": "space", "question_mark": "?", "slash": "/", "circumflex_accent": "^"}
    return binding.key_display or names.get(binding.key, display)
