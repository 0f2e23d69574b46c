"""A Dask cluster on loopback, of processes that tests may kill."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import pytest


class DaskProcesses:
    """A scheduler, and workers of one thread each, without a nanny that would start them again."""

    def __init__(self, folder):
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._started: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self):
        """Start the scheduler; return once it listens."""
        process = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                return process
            time.sleep(0.1)
        raise AssertionError("the scheduler has ended")

    def start_worker(self, path=None):
        """Start a worker; ``path``: where its Python looks for modules and installed packages
        first."""
        directory = str(self.folder / f"worker{len(self.workers)}")
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", directory)
        worker = self._start("worker", self.address, *options, path=path)
        self.workers.append(worker)
        return worker

    def end(self):
        for process in self._started:
            process.kill()
            process.wait()

    def _start(self, what, *arguments, path=None):
        command = [
            sys.executable,
            "-P",
            "-m",
            f"distributed.cli.dask_{what}",
            *arguments,
            "--no-dashboard",
        ]
        environment = {**os.environ, "PYTHONPATH": str(path or "")}
        with open(self.folder / f"{what}.log", "ab") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=environment,
            )
        self._started.append(process)
        return process


@pytest.fixture
def dask(tmp_path):
    """A cluster of which nothing is started yet."""
    pytest.importorskip("distributed")
    processes = DaskProcesses(tmp_path)
    yield processes
    processes.end()


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()
