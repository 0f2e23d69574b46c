"""Signals that ask a program to end: recorded, and acted on when the program is ready."""

import asyncio
import contextlib
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
POLL_SECONDS = 0.01
"""Seconds after which `Signals.wait` notices that a process has ended, or a signal has come."""
WAKE_SECONDS = 0.2
"""Seconds after which an event loop that waits notices a signal at the latest."""


class Signals(contextlib.AbstractContextManager["Signals"]):
    """Within the block, signals are recorded, and passed to the callback once `tell` has set one.

    No signal is lost while one part of the program hands over to another. One that arrives while a
    trainer is starting still stops that trainer. Only the main thread hears signals: in others
    nothing is recorded.
    """

    def __init__(self) -> None:
        self.noted: list[signal.Signals] = []
        self.at_once: Callable[[signal.Signals], object] = lambda _: None
        """Called for each signal from within its handler, even while the event loop is blocked."""
        self._call: Callable[[signal.Signals], object] = lambda _: None
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> "Signals":
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in ENDING:
            # Under nohup SIGHUP stays ignored. None means a handler that was not installed from
            # Python.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                self._before[number] = signal.signal(number, lambda number, _: self._note(number))
        return self

    def __exit__(self, *_: object) -> None:
        # In reverse: Ctrl+C, whose handler may raise here, comes last.
        for number, handler in reversed(self._before.items()):
            signal.signal(number, handler)

    def wait(
        self,
        process: subprocess.Popen[bytes],
        seconds: float,
        until: Collection[signal.Signals] = ENDING,
    ) -> int | None:
        """The exit code of a process; None if it still runs after ``seconds``, or when one of the
        signals ``until`` is recorded.

        An exception from a signal handler can leave `Popen`'s own lock locked for ever, so that
        every later `wait` hangs. So processes are polled and waited for only where signals are
        recorded.
        """
        deadline = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < deadline:
            if not set(until).isdisjoint(self.noted):
                break
            time.sleep(POLL_SECONDS)
        return process.returncode

    def tell(self, call: Callable[[signal.Signals], object]) -> None:
        """Have the running event loop call ``call``, and only that, for each signal recorded so far
        and from now on."""
        loop = asyncio.get_running_loop()

        def pass_on(number: signal.Signals) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(call, number)

        def stay_awake() -> None:
            if self._call is pass_on:
                loop.call_later(WAKE_SECONDS, stay_awake)

        self._call = pass_on
        # A signal that comes just before the loop waits, or in another thread, does not wake it.
        stay_awake()
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


@contextlib.contextmanager
def acting_later() -> Iterator[Signals]:
    """Record the signals that arrive within the block, and let them take effect at its end."""
    signals = Signals()
    try:
        with signals:
            yield signals
    finally:
        with contextlib.ExitStack() as stack:  # if one raises, the next ones still take effect
            for number in reversed(signals.noted):
                stack.callback(signal.raise_signal, number)
