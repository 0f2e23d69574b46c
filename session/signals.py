"""Signals that ask a program to end: recorded, and acted on when the program is ready."""

import asyncio
import contextlib
import signal
from collections.abc import Callable

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals(contextlib.AbstractContextManager["Signals"]):
    """Within the block, signals are recorded, and passed to the callback once `tell` has set one.

    No signal is lost while one part of the program hands over to another. One that arrives while a trainer is
    starting still stops that trainer.
    """

    def __init__(self) -> None:
        self.noted: list[signal.Signals] = []
        self.at_once: Callable[[signal.Signals], object] = lambda _: None
        """Called for each signal from within its handler, even while the event loop is blocked."""
        self._call: Callable[[signal.Signals], object] = lambda _: None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> "Signals":
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup SIGHUP stays ignored
                self._before[number] = signal.signal(number, lambda number, _: self._note(number))
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def tell(self, call: Callable[[signal.Signals], object]) -> None:
        """Have the running event loop call ``call``, and only that, for each signal recorded so far and
        from now on."""
        loop = asyncio.get_running_loop()

        def pass_on(number: signal.Signals) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(call, number)

        self._call = pass_on
        for number in self.noted.copy():
            pass_on(number)

    def hang_up(self) -> None:
        """Record that the terminal is gone, although no signal said so."""
        self._note(signal.SIGHUP)

    def _note(self, number: int) -> None:
        noted = signal.Signals(number)
        self.noted.append(noted)
        self.at_once(noted)
        self._call(noted)
