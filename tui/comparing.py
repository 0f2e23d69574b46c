"""The marked sessions: their curves, read in a thread of their own beside the session on screen."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.session.errors import SessionError
from wikitopics.session.paths import session_name
from wikitopics.tui.look import Beside

if TYPE_CHECKING:
    from wikitopics.session.storage.reader import SessionReader

MOST = 8
"""The most sessions; with more, their lines could not be told apart."""

Read = tuple[tuple[Beside, ...], dict[Path, str]]
"""The sessions, and the reasons why some cannot be read."""


class Comparing:
    """Reads the curves of some sessions. Its methods are for the event loop; its readers belong to the
    thread."""

    def __init__(self, open_reader: "Callable[[Path], SessionReader]") -> None:
        self._open = open_reader
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="compared-sessions")
        self._readers: dict[Path, SessionReader] = {}
        self._known: dict[Path, tuple[object, Beside]] = {}
        """What was read, with its commit and metric."""
        self._closed = False

    async def look(self, paths: Sequence[Path], metric: str) -> Read:
        """The sessions as of their last commits. A commit that was read before gives the same object
        again."""
        if self._closed:
            return (), {}
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._look, paths, metric)

    def close(self, *, wait: bool = False) -> None:
        """Close all files. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._thread.submit(self._let_go, ())
        self._thread.shutdown(wait=wait)

    def _look(self, paths: Sequence[Path], metric: str) -> Read:
        self._let_go(paths)
        found, failed = [], {}
        for path in paths[:MOST]:
            try:
                found.append(self._read(path, metric))
            except SessionError as error:
                failed[path] = str(error)
        return tuple(found), failed

    def _read(self, path: Path, metric: str) -> Beside:
        reader = self._readers.get(path)
        if reader is None:
            reader = self._readers[path] = self._open(path)
        of = reader.status().committed_at, metric
        if path not in self._known or self._known[path][0] != of:
            models = tuple(reader.models())
            curves = {(model, metric): reader.curve(model, metric) for model in models}
            settings = reader.settings()
            words = settings.fingerprint, settings.rule
            self._known[path] = of, Beside(session_name(path), words, models, curves)
        return self._known[path][1]

    def _let_go(self, but: Sequence[Path]) -> None:
        for path in [path for path in self._readers if path not in but]:
            self._readers.pop(path).leave()
            self._known.pop(path, None)
