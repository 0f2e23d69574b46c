"""Starts the embedded wiki as a child process and learns its address."""

import subprocess
from collections.abc import Sequence

from wikitopics.crawler.child import start_python
from wikitopics.crawler.errors import WikiUnreachable


class EmbeddedWiki:
    """A running embedded wiki; it ends with `stop`, or with this process, however that ends.

    ``options`` are those of `python -m wikitopics.crawler.embedded`, for instance ``["--size", "3000"]``.
    Raises `WikiUnreachable` if it does not start.
    """

    def __init__(self, options: Sequence[str] = ()) -> None:
        self._process = start_python(
            "wikitopics.crawler.embedded", options, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode().strip()
        if not line.startswith("http://"):
            self.stop()
            raise WikiUnreachable("the embedded wiki did not start")
        self.url = line
        """Its api.php."""

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def stop(self) -> None:
        """End it and wait for that; safe to call twice."""
        process = self._process
        process.terminate()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
