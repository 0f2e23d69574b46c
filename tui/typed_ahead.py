"""Keys that are typed before the view or the dialog that they are meant for can take them."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from weakref import WeakSet

from textual.app import App
from textual.events import Key
from textual.screen import Screen
from textual.widget import Widget

from wikitopics.tui.main_screen import Main


class TypedAhead:
    """The keys that wait, in order."""

    def __init__(self, app: App[Any], type_key: Callable[[Key], Awaitable[None]]) -> None:
        """``type_key``: gives a key to whatever takes it now."""
        self._app = app
        self._type_key = type_key
        self._keys: list[Key] = []
        self._opened = WeakSet[Screen[Any]]()
        """The dialogs that can take keys."""

    def __bool__(self) -> bool:
        return bool(self._keys)

    def must_wait(self) -> bool:
        """Whether a key that is typed now has to wait: what it is meant for cannot take it yet, or
        others wait before it."""
        return bool(self._keys) or self._is_opening()

    def closes_at_once(self, key: Key) -> bool:
        """Whether this key closes the screen without waiting. A printable one waits if a search is
        to open before it, as it may be a letter of what is sought."""
        active = self._app.screen.active_bindings.get(key.key)
        if active is None or active.binding.action != "leave":
            return False
        begin_search = ("slash", self._app.COMMAND_PALETTE_BINDING)
        search_is_to_open = any(waiting.key in begin_search for waiting in self._keys)
        return not (key.is_printable and search_is_to_open)

    def add(self, key: Key) -> None:
        """Let this key wait behind the others."""
        self._keys.append(key)

    async def type_next(self) -> None:
        """Type the first key that waits. The next one follows once what this key does has begun,
        which may be to open the dialog that the next one is meant for."""
        if not self._keys or self._is_opening():
            return
        key = self._keys.pop(0)
        taker = self._app.focused or self._app.screen  # before the key moves the focus
        await self._type_key(Key(key.key, key.character))  # Textual handles each event once
        if self._keys:
            self._type_next_after(taker)

    def _is_opening(self) -> bool:
        """Whether the view or the dialog in front cannot take keys yet.

        A dialog is then also sent a message: once that has been handled, the dialog can take keys,
        and those that wait are typed. (A view has them typed when it is ready.)
        """
        main = self._app.screen_stack[0]
        if not isinstance(main, Main):
            return False
        if not main.ready:
            return True
        front = self._app.screen
        if front is main or front in self._opened:
            return False

        def opened() -> None:
            if front in self._opened:
                return  # the message was sent twice; keys typed in two turns would overtake
            self._opened.add(front)
            self._app.call_later(self.type_next)

        # The call is queued behind the message that gives a field of the dialog the focus. False
        # means that it cannot be queued, because the dialog is closing: then no key has to wait.
        return front.call_later(opened)

    def _type_next_after(self, widget: Widget) -> None:
        """Type the next key once the one that this widget has been given has been handled.

        An ordinary key goes through the queues of all widgets from the one with the focus to the
        app. A key with priority, such as that of the palette, does not, and would overtake it.
        """
        # Made from the end: each step queues a call at one widget, and that call is the next step.
        # The last one, at the app, types the key; the first one, at this widget, is taken here.
        after: Callable[[], object] = partial(self._app.call_later, self.type_next)
        for ancestor in reversed(widget.ancestors_with_self):
            after = partial(ancestor.call_later, after)
        after()
