"""`python -m wikitopics.crawler.embedded`: the embedded wiki as a separate process.

Prints the address of its api.php on standard output. Ends on SIGTERM, and when its standard input
does, so that it never outlives the process that started it; a file or /dev/null as standard input
does not end it.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import sys

from aiohttp import web

from wikitopics.crawler.embedded.api import EmbeddedApi, make_app
from wikitopics.crawler.embedded.corpus import SampleArticles, load_sample
from wikitopics.processes import end_with_parent


def main() -> None:
    """Read the options, serve, and exit quietly."""
    end_with_parent()
    parser = argparse.ArgumentParser(
        prog="python -m wikitopics.crawler.embedded", description=__doc__
    )
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--size", type=int, default=1_000_000, help="number of articles")
    options = parser.parse_args()
    try:
        articles = SampleArticles(load_sample(), options.size)
    except ValueError as error:
        parser.error(str(error))
    asyncio.run(serve(make_app(EmbeddedApi(articles)), options.port))


async def serve(app: web.Application, port: int) -> None:
    """Serve on loopback until told to end; print the address on standard output."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        sys.exit(
            f"cannot listen on port {port}: {os.strerror(error.errno or 0).lower()}; try another "
            "--port"
        )
    over = _asked_to_end()  # before any client knows its address
    if _told(f"http://127.0.0.1:{runner.addresses[0][1]}/w/api.php"):
        await over.wait()
    await runner.cleanup()


def _told(address: str) -> bool:
    """Print the address; False if whoever wanted to read it is gone."""
    try:
        print(address, flush=True)  # noqa: T201
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes once more at exit
        return False
    return True


def _asked_to_end() -> asyncio.Event:
    """An event set by the end of standard input, SIGTERM or SIGINT.

    The end of a file, or of /dev/null, which a shell gives to commands run with ``&`` in a script,
    does not count.
    """
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)

    def read() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            over.set()
            loop.remove_reader(sys.stdin.fileno())

    with contextlib.suppress(PermissionError):  # from epoll: there is nothing to wait for
        loop.add_reader(sys.stdin.fileno(), read)
    return over


if __name__ == "__main__":
    main()
