"""A server of one file by ranges on loopback, under several names: a large dump that takes no disk.

    python -m benchmarks.range_server FILE

prints its address. Every path is this file, with a version of its own.
"""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aiohttp import web

from benchmarks.served import serving as in_a_thread


@contextmanager
def serving(path: Path) -> Iterator[tuple[str, int]]:
    """(the address of such a server, in a process of its own, and its process id)."""
    command = [sys.executable, "-m", "benchmarks.range_server", str(path)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process.pid
    finally:
        process.terminate()
        process.wait()


def _serve(path: Path) -> None:
    size = path.stat().st_size

    async def answer(request: web.Request) -> web.Response:
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
        if asked is None:
            return web.Response(status=403)
        start = int(asked[1])
        stop = min(int(asked[2]) + 1, size)
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(stop - start)
        headers = {"Content-Range": f"bytes {start}-{stop - 1}/{size}", "ETag": f'"{request.path}"'}
        return web.Response(status=206, body=data, headers=headers)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    with in_a_thread(app) as url:
        print(url.removesuffix("/w/api.php"), flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
