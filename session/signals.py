"""Signals that ask a program to end: recorded, and acted on when the program is ready to."""

import contextlib
import signal
from collections.abc import Callable
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals(contextlib.AbstractContextManager["Signals"]):
    """Within the block signals are recorded and passed to the callback, once :meth:`tell` has named one.

    So a signal that arrives while a trainer is being started does not leave it behind, unknown to anybody.
    """

    def __init__(self) -> None:
        self.noted: list[signal.Signals] = []
        self._call: Callable[[signal.Signals], object] = lambda _: None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> "Signals":
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup SIGHUP stays ignored
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def tell(self, call: Callable[[signal.Signals], object]) -> None:
        """Have ``call`` called, in the main thread, for each signal noted so far and from now on."""
        self._call = call
        for number in self.noted.copy():
            call(number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        noted = signal.Signals(number)
        self.noted.append(noted)
        self._call(noted)
